"""``post``: posts."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TextIO, TypeVar

import click

from contentsvc_cli.searching import HITS, SINCE, show_hits, warn
from contentsvc_cli.terminal.output import JSON, LIMIT, ORGANIZATION, say, show
from contentsvc_cli.watch.listings import show_list
from contentsvc_cli.wiring import accepted, with_app
from contentsvc_core.application import Application
from contentsvc_core.content.editing import UNKNOWN_POST, PostChange, read_post_change
from contentsvc_core.content.posts import Post, PostStatus, post_body
from contentsvc_core.refusals import Refusal
from contentsvc_core.text import storable

_T = TypeVar("_T")


#: Fields printed after a change.
_SHORT: Final = ("id", "title", "contentType", "status", "updatedAt")


@click.group()
def post() -> None:
    """List, show, change, publish and delete posts."""


@post.command("list")
@ORGANIZATION
@LIMIT
@JSON
def list_posts(organization: str, limit: int | None, *, as_json: bool) -> None:
    """List posts, newest first."""

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        return [post_body(found) for found in await app.stores.posts.posts(owner, limit=limit)]

    show_list(organization, rows, ("createdAt", "id", "contentType", "status", "title"), as_json=as_json)


@post.command("search")
@click.argument("words", nargs=-1)
@ORGANIZATION
@click.option("--status", default="", metavar="LIST", help="Only posts with these statuses: draft, published.")
@click.option("--content-type", default="", metavar="LIST", help="Only these content types, separated by commas.")
@SINCE
@HITS
@JSON
def search_posts(  # its options
    words: tuple[str, ...], organization: str, status: str, content_type: str, since: str, limit: int, *, as_json: bool
) -> None:
    """Search posts by WORDS. All words must match.

    Use word* for a prefix and -word to exclude a word. Put -- before the first word that begins with a hyphen.
    """
    from contentsvc_core.search.excerpts import post_hit_body  # noqa: PLC0415  # this command alone
    from contentsvc_core.search.questions import read_post_search  # noqa: PLC0415  # this command alone

    asked = accepted(
        read_post_search({"query": " ".join(words), "status": status, "contentType": content_type, "since": since})
    )

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        hits = await app.stores.search.posts(owner, asked, limit=limit)
        warn(hits)
        return [post_hit_body(found, asked.terms) for found in hits.found]

    show_hits(organization, rows, ("createdAt", "id", "contentType", "status", "title"), as_json=as_json)


@post.command("show")
@click.argument("post_id")
@JSON
def show_post(post_id: str, *, as_json: bool) -> None:
    """Show a post. Without --json, only its Markdown."""

    async def work(app: Application, owner: str) -> Post | Refusal:
        return await app.stores.posts.post(owner, post_id) or UNKNOWN_POST

    found = _of(post_id, work)
    if as_json:
        show(post_body(found), as_json=True)
    else:
        say(found.markdown)


@post.command()
@click.argument("post_id")
@click.option("--title", help="One line of 1 to 120 characters.")
@click.option(
    "--markdown",
    type=click.File(encoding="utf-8"),
    metavar="FILE|-",
    help="File with the new Markdown; '-' for standard input.",
)
@JSON
def edit(post_id: str, title: str | None, markdown: TextIO | None, *, as_json: bool) -> None:
    """Change a post's title or Markdown."""
    try:
        text = None if markdown is None else storable(markdown.read())
    except UnicodeDecodeError as exc:
        message = "the Markdown is not valid UTF-8"
        raise click.ClickException(message) from exc
    if title is None and text is None:
        message = "there is nothing to change: name --title or --markdown"
        raise click.UsageError(message)
    _change(post_id, accepted(read_post_change(title=title, markdown=text)), as_json=as_json)


@post.command()
@click.argument("post_id")
@JSON
def publish(post_id: str, *, as_json: bool) -> None:
    """Publish a post."""
    _change(post_id, PostChange(status=PostStatus.PUBLISHED), as_json=as_json)


@post.command()
@click.argument("post_id")
@JSON
def unpublish(post_id: str, *, as_json: bool) -> None:
    """Turn a post back into a draft."""
    _change(post_id, PostChange(status=PostStatus.DRAFT), as_json=as_json)


@post.command()
@click.argument("post_id")
@JSON
def delete(post_id: str, *, as_json: bool) -> None:
    """Delete a post. Its run is kept and does not write it again."""

    async def work(app: Application, owner: str) -> Refusal | None:
        return await app.post_editor.remove(owner, post_id)

    _of(post_id, work)
    show({"postId": post_id, "deleted": True}, as_json=as_json)


def _change(post_id: str, change: PostChange, *, as_json: bool) -> None:
    async def work(app: Application, owner: str) -> Post | Refusal:
        return await app.post_editor.change(owner, post_id, change)

    changed = _of(post_id, work)
    body = post_body(changed)
    # People get a summary; 'post show' prints the text.
    show(body if as_json else {name: body[name] for name in _SHORT}, as_json=as_json)


def _of(post_id: str, work: Callable[[Application, str], Awaitable[_T | Refusal]]) -> _T:
    """Call ``work`` with a post.

    Raises:
        ClickException: No post has this id.
    """

    async def run(app: Application) -> _T | Refusal:
        owner = await app.stores.directory.owner_of(post_id)
        return UNKNOWN_POST if owner is None else await work(app, owner)

    return accepted(with_app(run), missing=f"there is no post '{post_id}'")
