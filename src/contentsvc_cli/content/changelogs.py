import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from msgspec import Struct, to_builtins

from contentsvc_cli.servers import part
from contentsvc_cli.terminal.options import check_changes, given, options
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, fail, hint, list_output, misused, show, show_rows
from contentsvc_cli.wiring import Api, accepted, near, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.commands import read_command
from contentsvc_core.content.public.changelogs import (
    ChangelogBody,
    ExposureBody,
    LinkBody,
    PublicChangelog,
    exposure_body,
)
from contentsvc_core.content.public.changes import ChangeChangelog, CreateChangelog
from contentsvc_core.content.public.images import ImageKind
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.organizations import Organization
from contentsvc_core.text import one_line

_Command = TypeVar("_Command", bound=Struct)
_PATH: Final = "/v1/changelogs"
#: The maximum length of a printed name or title, in characters: a line of an 80-column terminal.
_LINE: Final = 64
_WHICH: Final = click.option(
    "--changelog", "which", metavar="SLUG", help="Slug or id of the changelog.  [default: the first one]"
)
_NAMES: Final = {
    "content_types": "--type",
    "repositories": "--repository",
    "scopes": "--scope",
    "show_details": "--details",
}
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "product_url": {"metavar": "URL"},
    "repositories": {"metavar": "OWNER/NAME"},
    "scopes": {"metavar": "NAME"},
    "accent": {"metavar": "COLOUR"},
}
#: Fields without an option of their own: links have two texts each, and there are commands to publish and to hide.
_WITHOUT: Final = ("header_links", "is_public")
_LINKS: Final = click.option(
    "--link",
    "links",
    nargs=2,
    metavar="LABEL URL",
    multiple=True,
    help="A link in the header. Repeat for several; '' '' for none.",
)


@click.group()
def changelog() -> None:
    """Create, change, publish and hide public changelogs."""


@changelog.command("list")
@ORGANIZATION
@list_output
def list_changelogs(organization: str) -> None:
    """List an organization's public changelogs."""

    async def work(app: Application) -> list[dict[str, Any]]:
        changelogs = await app.changelog_editor.all_of(await organization_named(app, organization))
        return [_body(app, changelog) for changelog in changelogs]

    rows = with_app(work, remote=lambda api: api.all(_PATH, "changelogs"))
    columns = ("slug", "title", "isPublic", "url")
    show_rows(rows, columns=columns, empty="There is no changelog.")


@changelog.command("show")
@ORGANIZATION
@_WHICH
@JSON
def show_changelog(organization: str, which: str | None) -> None:
    """Show a public changelog and its URL."""

    async def work(app: Application) -> dict[str, Any]:
        _, changelog = await _named(app, organization, which)
        return _body(app, changelog)

    show(with_app(work, remote=lambda api: _on_server(api, which)))


@changelog.command("create")
@ORGANIZATION
@options(CreateChangelog, _NAMES, _MORE, without=_WITHOUT)
@_LINKS
@JSON
def create_changelog(organization: str, **fields: Any) -> None:  # noqa: ANN401  # one for each field
    """Create another public changelog. It is hidden until you publish it."""
    command = _command(CreateChangelog, fields)

    async def work(app: Application) -> dict[str, Any]:
        owner = await organization_named(app, organization)
        return _body(app, accepted(await app.changelog_editor.create(owner, command)))

    def remote(api: Api) -> dict[str, Any]:
        return api.send("POST", _PATH, to_builtins(command))["changelog"]

    show(with_app(work, remote=remote))
    hint("contentsvc changelog publish --changelog", fields["slug"])


@changelog.command("set")
@ORGANIZATION
@_WHICH
@options(ChangeChangelog, _NAMES, _MORE, without=_WITHOUT)
@_LINKS
@JSON
def set_changelog(organization: str, which: str | None, **fields: Any) -> None:  # noqa: ANN401  # as above
    """Change a public changelog. Other options stay unchanged. A previous public slug redirects to the new one."""
    check_changes(given(fields))
    _change(organization, which, _command(ChangeChangelog, fields))


@changelog.command("image")
@ORGANIZATION
@_WHICH
@click.argument("kind", type=click.Choice([kind.value for kind in ImageKind]))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option("--delete", is_flag=True, help="Delete the picture.")
@JSON
def set_image(organization: str, which: str | None, kind: str, file: Path | None, *, delete: bool) -> None:
    """Set the logo, the icon or the card of a changelog. Other sites show the card in link previews.

    FILE is a PNG, JPEG or WebP picture of at most 512 KiB.
    """
    if (file is None) is not delete:
        misused("name a file, or add --delete")
    content = None if file is None else file.read_bytes()

    async def work(app: Application) -> dict[str, Any]:
        _, changelog = await _named(app, organization, which)
        return _body(app, accepted(await app.changelog_editor.set_image(changelog, ImageKind(kind), content)))

    def remote(api: Api) -> dict[str, Any]:
        path = f"{_PATH}/{part(_on_server(api, which)['id'])}/images/{kind}"
        return api.send("DELETE" if content is None else "PUT", path, content=content)["changelog"]

    show(with_app(work, remote=remote))


@changelog.command()
@ORGANIZATION
@_WHICH
@click.option("--yes", is_flag=True, help="Do not ask: for scripts.")
@JSON
def publish(organization: str, which: str | None, *, yes: bool) -> None:
    """Make a changelog public. You see the posts that become public, and are asked first."""

    async def work(app: Application) -> tuple[dict[str, Any], ExposureBody]:
        owner, changelog = await _named(app, organization, which)
        return _body(app, changelog), exposure_body(*await app.changelog_editor.preview(owner, changelog))

    def remote(api: Api) -> tuple[dict[str, Any], ExposureBody]:
        changelog = _on_server(api, which)
        return changelog, api.get(f"{_PATH}/{part(changelog['id'])}/exposure")

    changelog, exposure = with_app(work, remote=remote)
    if not changelog["isPublic"]:
        shown, question = _question(changelog, exposure)
        # Text for people goes to standard error, because programs read JSON from standard output.
        click.echo(shown, err=True)
        if not yes and not sys.stdin.isatty():
            misused("there is no terminal to ask on: check the list above, then add --yes")
        if not yes:
            click.confirm(question, abort=True, err=True)
    _change(organization, which, ChangeChangelog(is_public=True))
    hint("contentsvc open changelog")


def _question(changelog: Mapping[str, Any], exposure: ExposureBody) -> tuple[str, str]:
    number = f"{exposure['posts']:,} post{'' if exposure['posts'] == 1 else 's'}"
    newest, about, scopes = exposure["newest"], changelog["repositories"], changelog["scopes"]
    rest = exposure["posts"] - len(newest)
    lines = [
        f"{number} will be public at {changelog['url']}, and what is published from now on.",
        *([f"Only posts about: {', '.join(about)}"] if about else []),
        *([f"Only posts with the scopes or packages: {', '.join(scopes)}"] if scopes else []),
        *(f"  {row['posts']:>7,}  {one_line(row['repository'], _LINE)}" for row in exposure["repositories"]),
        *(["The newest:"] if newest else []),
        *(f"  {post['occurredAt'][:10]}  {one_line(post['title'], _LINE)}" for post in newest),
        *([f"  and {rest:,} more"] if newest and rest > 0 else []),
    ]
    return "\n".join(lines), f"Make {number} public?"


@changelog.command()
@ORGANIZATION
@_WHICH
@JSON
def hide(organization: str, which: str | None) -> None:
    """Hide a changelog. Its pages answer 404."""
    _change(organization, which, ChangeChangelog(is_public=False))


@changelog.command()
@ORGANIZATION
@click.option("--changelog", "which", metavar="SLUG", required=True, help="Slug or id of the changelog.")
@JSON
def delete(organization: str, which: str) -> None:
    """Delete a changelog. Its posts stay. You can only hide the first changelog."""

    async def work(app: Application) -> dict[str, Any]:
        _, changelog = await _named(app, organization, which)
        accepted(await app.changelog_editor.remove(changelog))
        return {"id": changelog.id}

    show(with_app(work, remote=lambda api: api.send("DELETE", f"{_PATH}/{part(which)}")))


def _change(organization: str, which: str | None, command: ChangeChangelog) -> None:
    async def work(app: Application) -> dict[str, Any]:
        owner, changelog = await _named(app, organization, which)
        return _body(app, accepted(await app.changelog_editor.change(owner, command, changelog)))

    def remote(api: Api) -> dict[str, Any]:
        path = f"{_PATH}/{part(_on_server(api, which)['id'])}"
        return api.send("PATCH", path, to_builtins(command))["changelog"]

    show(with_app(work, remote=remote))


def _on_server(api: Api, which: str | None) -> dict[str, Any]:
    if which is not None:
        return api.get(f"{_PATH}/{part(which)}")["changelog"]
    return api.all(_PATH, "changelogs")[0]


def _command(kind: type[_Command], fields: Mapping[str, Any]) -> _Command:
    values = given(fields)
    values |= {
        name: tuple(each for each in values[name] if each) for name in ("repositories", "scopes") if name in values
    }
    links = values.pop("links", None)
    ready = {} if links is None else {"header_links": tuple(LinkBody(*link) for link in links if link != ("", ""))}
    return accepted(read_command(kind, values, **ready))


async def _named(app: Application, organization: str, which: str | None) -> tuple[Organization, PublicChangelog]:
    owner = await organization_named(app, organization)
    changelog = await app.changelog_editor.find(owner, which)
    if changelog is None:
        slugs = [changelog.slug for changelog in await app.changelog_editor.all_of(owner)]
        fail(f"{owner.slug} has no changelog '{which}'{near(which or '', slugs)}: see 'contentsvc changelog list'")
    return owner, changelog


def _body(app: Application, changelog: PublicChangelog) -> dict[str, Any]:
    url = ChangelogLinks(base_url=app.base_url, slug=changelog.slug).home
    return to_builtins(ChangelogBody.of(changelog, url=url))
