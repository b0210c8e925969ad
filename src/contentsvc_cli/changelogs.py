"""``changelog``: what everybody may read of an organization's posts."""

import sys
from collections.abc import Mapping
from typing import Any, Final

import click

from contentsvc_cli.output import JSON, ORGANIZATION, show
from contentsvc_cli.wiring import Desk, at_desk
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import PublicChangelog, changelog_body
from contentsvc_core.content.public.faults import InvalidChangelog
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.text import one_line

#: How much of a name or a title is printed, in characters: a line of an 80-column terminal.
_LINE: Final = 64
_TYPES: Final = [kind.value for kind in ContentType]


@click.group()
def changelog() -> None:
    """Show, set, publish and hide an organization's public changelog."""


@changelog.command("show")
@ORGANIZATION
@JSON
def show_changelog(organization: str, *, as_json: bool) -> None:
    """Show an organization's public changelog, and where it is."""

    async def work(desk: Desk) -> dict[str, Any]:
        owner = await desk.organization(organization)
        return _body(desk, await desk.changelogs.standing(owner))

    show(at_desk(work), as_json=as_json)


@changelog.command("set")
@ORGANIZATION
@click.option("--slug", help="Names it in its address; unique over all organizations.")
@click.option("--title", help="One line of 1 to 100 characters.")
@click.option("--description", help="One line of at most 300 characters; '' for none.")
@click.option("--product-url", metavar="URL", help="The product's own site; '' for none.")
@click.option(
    "--type",
    "content_types",
    type=click.Choice(_TYPES),
    multiple=True,
    help="A type of content that is shown; may be repeated.",
)
@JSON
def set_changelog(organization: str, *, as_json: bool, **options: Any) -> None:  # noqa: ANN401  # one for each field
    """Change a public changelog: what is not named stays. A slug that was public redirects to the new one."""
    given = {field: value for field, value in options.items() if value not in {None, ()}}
    if not given:
        message = "there is nothing to change: name at least one option"
        raise click.UsageError(message)
    if "content_types" in given:
        given["content_types"] = tuple(ContentType(kind) for kind in given["content_types"])
    _change(organization, given, as_json=as_json)


@changelog.command()
@ORGANIZATION
@click.option("--yes", is_flag=True, help="Do not ask: for scripts.")
@JSON
def publish(organization: str, *, yes: bool, as_json: bool) -> None:
    """Let everybody read a changelog, after showing which posts become public."""
    # Programs that ask for JSON read standard output: what people need to see goes beside it.
    shown, question = at_desk(lambda desk: _question(desk, organization))
    if question:
        click.echo(shown, err=True)
        if not yes and not sys.stdin.isatty():
            message = "there is no terminal to ask on: check the list above, then add --yes"
            raise click.UsageError(message)
        if not yes:
            click.confirm(question, abort=True, err=True)
    _change(organization, {"is_public": True}, as_json=as_json)


async def _question(desk: Desk, organization: str) -> tuple[str, str]:
    """Return what becomes public, and what to ask; nothing where it is public already."""
    owner = await desk.organization(organization)
    standing = await desk.changelogs.standing(owner)
    if standing.is_public:
        return "", ""
    exposure, newest = await desk.changelogs.preview(owner)
    number = f"{exposure.posts:,} post{'' if exposure.posts == 1 else 's'}"
    home = ChangelogLinks(base_url=desk.settings.base_url, slug=standing.slug).home
    lines = [
        f"{number} of {owner.slug} will be public at {home}, and what is published from now on.",
        *(f"  {count:>7,}  {one_line(name, _LINE)}" for name, count in exposure.repositories),
        *(["The newest:"] if newest else []),
        *(f"  {post.occurred_at:%Y-%m-%d}  {one_line(post.title, _LINE)}" for post in newest),
    ]
    return "\n".join(lines), f"Make {number} public?"


@changelog.command()
@ORGANIZATION
@JSON
def hide(organization: str, *, as_json: bool) -> None:
    """Take a changelog back: its addresses lead to what unknown ones lead to."""
    _change(organization, {"is_public": False}, as_json=as_json)


def _change(organization: str, given: Mapping[str, Any], *, as_json: bool) -> None:
    async def work(desk: Desk) -> dict[str, Any]:
        owner = await desk.organization(organization)
        changed = await desk.changelogs.change(owner, given)
        if isinstance(changed, InvalidChangelog):
            raise click.ClickException(changed.reason)
        return _body(desk, changed)

    show(at_desk(work), as_json=as_json)


def _body(desk: Desk, found: PublicChangelog) -> dict[str, Any]:
    return {**changelog_body(found), "url": ChangelogLinks(base_url=desk.settings.base_url, slug=found.slug).home}
