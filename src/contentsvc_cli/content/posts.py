import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TextIO

import click
from msgspec import to_builtins

from contentsvc_cli.searching import HITS, SINCE, UNTIL, show_hits, show_list, warn
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.options import check_changes, given, options
from contentsvc_cli.terminal.output import (
    JSON,
    LIMIT,
    ORGANIZATION,
    fail,
    fetched,
    hint,
    list_output,
    misused,
    say,
    show,
    show_rows,
    wants_json,
)
from contentsvc_cli.wiring import Api, accepted, organization_named, owned, with_app
from contentsvc_core.application import Application
from contentsvc_core.commands import read_command
from contentsvc_core.content.editing import UNKNOWN_VERSION, ChangePost, CreatePost
from contentsvc_core.content.posts import Label, Post, PostStatus, post_body
from contentsvc_core.content.queries import PostQuery, read_post_query
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.refusals import Refusal
from contentsvc_core.text import storable

_SHORT: Final = ("id", "title", "contentType", "status", "updatedAt", "publishAt")
_AUTHOR: Final = "command"
_NAMES: Final = {"labels": "--label", "content_type": "--content-type"}
_WITHOUT: Final = ("markdown", "status")
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "labels": {"type": click.Choice([label.value for label in Label])},
    "publish_at": {"metavar": "TIME"},
    "repository": {"metavar": "OWNER/NAME"},
}
_MARKDOWN: Final[Mapping[str, Any]] = {
    "type": click.File(encoding="utf-8"),
    "metavar": "FILE|-",
    "help": "File with the Markdown; '-' for standard input.",
}
_FILTERS: Final = {
    "query": "Only posts with all these words in title or text.",
    "status": "Only posts with these statuses: draft, published.",
    "contentType": "Only these content types, separated by commas.",
    "label": "Only posts with one of these labels, separated by commas.",
    "repository": "Only posts about these repositories, separated by commas.",
}
_PAGE: Final = 100


@click.group()
def post() -> None:
    """Create, list, show, change, publish and delete posts."""


def _filtered(function: Callable[..., None]) -> Callable[..., None]:
    function = SINCE(UNTIL(function))
    for name, text in reversed(_FILTERS.items()):
        option = "--content-type" if name == "contentType" else f"--{name}"
        function = click.option(option, name, default="", metavar="TEXT", help=text)(function)
    return function


@post.command()
@ORGANIZATION
@options(CreatePost, _NAMES, _MORE, without=_WITHOUT)
@click.option("--markdown", required=True, **_MARKDOWN)
@click.option("--publish", is_flag=True, help="Publish the post at once.")
@JSON
def create(
    organization: str,
    markdown: TextIO,
    *,
    publish: bool,
    **fields: Any,  # noqa: ANN401  # one for each field
) -> None:
    """Create a post with your own text, as a draft."""
    if publish and fields["publish_at"] is not None:
        misused("use either --publish or --publish-at")
    status = PostStatus.PUBLISHED if publish else PostStatus.DRAFT
    typed = {**given(fields), "markdown": _text(markdown), "status": status.value}
    command = accepted(read_command(CreatePost, typed))

    async def work(app: Application) -> dict[str, Any]:
        owner = await organization_named(app, organization)
        return post_body(accepted(await app.post_editor.create(owner.id, command, author=_AUTHOR)))

    body = with_app(work, remote=lambda api: api.send("POST", "/v1/posts", to_builtins(command))["post"])
    _show(body)
    hint("contentsvc open post", body["id"])


@post.command("list")
@ORGANIZATION
@_filtered
@LIMIT
@list_output
def list_posts(organization: str, limit: int | None, **filters: str) -> None:
    """List posts, newest first."""
    query = accepted(read_post_query(filters))
    at_most = fetched(limit)

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        if query == PostQuery():
            return _scheduled([post_body(post) for post in await app.stores.posts.posts(owner, limit=at_most)])
        listed: list[Post] = []
        page, pages = 1, 1
        while page <= pages and (at_most is None or len(listed) < at_most):
            posts, pagination = accepted(await app.stores.posts.page(owner, query, PageRequest(limit=_PAGE, page=page)))
            listed += posts
            page, pages = page + 1, pagination.total_pages
        return _scheduled([post_body(post) for post in listed[:at_most]])

    show_list(
        organization,
        rows,
        ("createdAt", "id", "contentType", "status", "publishAt", "title"),
        optional=("publishAt", "contentType"),
        limit=limit,
        remote=lambda api: _scheduled(api.list("/v1/posts", "posts", at_most, **filters)),
    )


@post.command()
@click.argument("action", type=click.Choice(["publish", "unpublish", "delete"]))
@ORGANIZATION
@_filtered
@click.option("--yes", is_flag=True, help="Do not ask: for scripts.")
@JSON
def bulk(action: str, organization: str, *, yes: bool, **filters: str) -> None:
    """Publish, unpublish or delete all matching posts.

    At most 500 posts are changed. Name at least one filter.
    """
    from contentsvc_core.usecases.edit import MAX_BULK, BulkAction  # noqa: PLC0415  # only this command needs it

    query = accepted(read_post_query(filters))
    if query == PostQuery():
        misused("name at least one filter, such as --status draft")

    async def choose(app: Application) -> tuple[str, Sequence[tuple[str, str]], int]:
        owner = (await organization_named(app, organization)).id
        return (owner, *await app.post_editor.chosen(owner, query))

    def choose_remotely(api: Api) -> tuple[str, Sequence[tuple[str, str]], int]:
        total = api.get("/v1/posts", limit=1, **filters)["pagination"]["totalItems"]
        posts = api.list("/v1/posts", "posts", MAX_BULK, **filters)
        return "", [(post["id"], post["title"]) for post in posts], total

    owner, posts, total = with_app(choose, remote=choose_remotely)
    names = dict(posts)
    if posts and not yes:
        if not sys.stdin.isatty():
            number = "1 post matches" if len(posts) == 1 else f"{len(posts)} posts match"
            misused(f"{number}, and there is no terminal to ask on: add --yes")
        click.confirm(f"{action.capitalize()} {len(posts)} of {total} posts?", abort=True, err=True)

    async def work(app: Application) -> dict[str, Any]:
        result = await app.post_editor.bulk(owner, BulkAction(action), list(names), author=_AUTHOR)
        failed = [{"id": id_, "title": names[id_], "error": fault.message()} for id_, fault in result.failed]
        return {"action": action, "done": list(result.done), "failed": failed, "remaining": total - len(posts)}

    def work_remotely(api: Api) -> dict[str, Any]:
        changed = api.send("POST", "/v1/posts/bulk", {"action": action, "ids": list(names)})
        failed = [{**failure, "title": names[failure["id"]]} for failure in changed["failed"]]
        return {**changed, "failed": failed, "remaining": total - len(posts)}

    done: dict[str, Any] = {"action": action, "done": [], "failed": [], "remaining": 0}
    if posts:
        done = with_app(work, remote=work_remotely)
    _show_bulk(done)


def _show_bulk(done: Mapping[str, Any]) -> None:
    if wants_json():
        show(done)
    else:
        show({**done, "done": len(done["done"]), "failed": len(done["failed"])})
        for failure in done["failed"]:
            say(f"{failure['id']} ({failure['title']}): {failure['error']}", err=True)
    if done["failed"]:
        raise click.exceptions.Exit(1)


@post.command("search")
@click.argument("words", nargs=-1)
@ORGANIZATION
@click.option("--status", default="", metavar="LIST", help="Only posts with these statuses: draft, published.")
@click.option("--content-type", default="", metavar="LIST", help="Only these content types, separated by commas.")
@SINCE
@HITS
@list_output
def search_posts(
    words: tuple[str, ...], organization: str, status: str, content_type: str, since: str, limit: int
) -> None:
    """Search posts by WORDS. All words must match.

    Use word* for a prefix and -word to exclude a word. Put -- before the first word that begins with a hyphen.
    """
    from contentsvc_core.search.excerpts import post_hit_body  # noqa: PLC0415  # only this command needs it
    from contentsvc_core.search.questions import read_post_search  # noqa: PLC0415  # only this command needs it

    post_search = accepted(
        read_post_search({"query": " ".join(words), "status": status, "contentType": content_type, "since": since})
    )

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        hits = await app.stores.search.posts(owner, post_search, limit=limit)
        warn(behind=hits.behind, has_more=hits.has_more)
        return [post_hit_body(post_body(found), post_search.terms) for found in hits.found]

    def remote(api: Api) -> list[dict[str, Any]]:
        filters = {"status": status, "contentType": content_type, "since": since}
        posts = api.list("/v1/posts", "posts", limit + 1, query=" ".join(words), **filters)
        warn(behind=0, has_more=len(posts) > limit)
        return [post_hit_body(post, post_search.terms) for post in posts[:limit]]

    columns = ("createdAt", "id", "contentType", "status", "title")
    show_hits(organization, rows, columns, remote=remote)


@post.command("show")
@click.argument("post_id")
@JSON
def show_post(post_id: str) -> None:
    """Show a post. Without --json, only its Markdown."""

    async def work(app: Application) -> dict[str, Any]:
        return post_body(await owned(app, "post", post_id, app.stores.posts.post))

    body = with_app(work, remote=lambda api: api.get(f"/v1/posts/{part(post_id)}")["post"])
    if wants_json():
        show(body)
    else:
        say(body["markdown"])
        if at := _publish_at(body):
            click.echo(f"Scheduled for {at}.", err=True)


@post.command()
@click.argument("post_id")
@options(ChangePost, _NAMES, _MORE, without=_WITHOUT)
@click.option("--markdown", **_MARKDOWN)
@JSON
def edit(
    post_id: str,
    markdown: TextIO | None,
    **fields: Any,  # noqa: ANN401  # one for each field
) -> None:
    """Change a post. Options that you leave out stay unchanged.

    --summary none removes the summary, and --publish-at none the schedule.
    """
    changes: dict[str, Any] = {name: None if value == "none" else value for name, value in given(fields).items()}
    if markdown is not None:
        changes["markdown"] = _text(markdown)
    check_changes(changes)
    _change(post_id, accepted(read_command(ChangePost, changes)))


@post.command()
@click.argument("post_id")
@JSON
def versions(post_id: str) -> None:
    """List the versions of a post's text, newest first."""
    from contentsvc_core.content.versions import VersionBody  # noqa: PLC0415  # only this command needs it

    async def work(app: Application) -> list[dict[str, Any]]:
        versions = await owned(app, "post", post_id, app.post_editor.versions)
        return [to_builtins(VersionBody.of(version)) for version in versions]

    rows = with_app(work, remote=lambda api: api.all(f"/v1/posts/{part(post_id)}/versions", "versions"))
    show_rows(rows, columns=("number", "savedAt", "author", "title"), empty="No versions.")


@post.command()
@click.argument("post_id")
@click.argument("number", type=click.IntRange(1))
@JSON
def restore(post_id: str, number: int) -> None:
    """Restore version NUMBER of a post, as a new version."""

    async def work(app: Application) -> dict[str, Any]:
        async def restored(owner: str, id_: str) -> Post | Refusal:
            post = await app.post_editor.restore(owner, id_, number, author=_AUTHOR)
            if post == UNKNOWN_VERSION:
                fail(f"the post has no version {number}: see 'contentsvc post versions {id_}'")
            return post

        return post_body(await owned(app, "post", post_id, restored))

    path = f"/v1/posts/{part(post_id)}/versions/{number}/restore"
    _show(with_app(work, remote=lambda api: api.send("POST", path)["post"]))


@post.command()
@click.argument("post_id")
@click.option("--at", "publish_at", metavar="TIME", help="Publish the draft at this time, such as 2026-11-22T08:30Z.")
@JSON
def publish(post_id: str, publish_at: str | None) -> None:
    """Publish a post, now or at a later time."""
    change = ChangePost(status=PostStatus.PUBLISHED) if publish_at is None else ChangePost(publish_at=publish_at)
    _change(post_id, change)
    hint("contentsvc open post", post_id)


@post.command()
@click.argument("post_id")
@JSON
def unpublish(post_id: str) -> None:
    """Turn a post back into a draft, or cancel its schedule."""
    _change(post_id, ChangePost(status=PostStatus.DRAFT))


@post.command()
@click.argument("post_id")
@JSON
def delete(post_id: str) -> None:
    """Delete a post. Its run is kept and does not write it again."""

    async def remove(app: Application) -> None:
        post = await owned(app, "post", post_id, app.stores.posts.post)
        accepted(await app.post_editor.remove(post.organization_id, post_id))

    with_app(remove, remote=lambda api: api.send("DELETE", f"/v1/posts/{part(post_id)}"))
    show({"postId": post_id, "deleted": True})


def _change(post_id: str, change: ChangePost) -> None:
    async def work(app: Application) -> dict[str, Any]:
        editor = app.post_editor
        changed = await owned(
            app, "post", post_id, lambda owner, id_: editor.change(owner, id_, change, author=_AUTHOR)
        )
        return post_body(changed)

    def remote(api: Api) -> dict[str, Any]:
        return api.send("PATCH", f"/v1/posts/{part(post_id)}", to_builtins(change))["post"]

    _show(with_app(work, remote=remote))


def _show(changed: Mapping[str, Any]) -> None:
    # People get a summary; 'post show' prints the text.
    at = _publish_at(changed)
    row: Mapping[str, Any] = {**changed, "publishAt": at} if at else changed
    show(changed if wants_json() else {name: row[name] for name in _SHORT if name in row})


def _scheduled(posts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return posts with the times of their schedules for a table; JSON stays as in ``/v1``."""
    return posts if wants_json() else [{**post, "publishAt": _publish_at(post)} for post in posts]


def _publish_at(post: Mapping[str, Any]) -> str | None:
    metadata: Mapping[str, Any] = post["sourceMetadata"] or {}
    return metadata.get("publishAt")


def _text(markdown: TextIO) -> str:
    try:
        return storable(markdown.read())
    except UnicodeDecodeError:
        fail("the Markdown is not valid UTF-8")
