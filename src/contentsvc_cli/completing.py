"""Shell completion of slugs and ids from the database.

Nothing is ever said of what goes wrong: the shell would print it into the line that is being typed.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import click

from contentsvc_core.text import one_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from contentsvc_core.organizations import Organization
    from contentsvc_core.ports import Directory

#: An id, or a slug, and what people call it.
_Named: TypeAlias = tuple[str, str]
_HELP_LENGTH = 60


def organization_slugs(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    """Return completions of an organization's slug."""

    async def look(directory: "Directory") -> Sequence[_Named]:
        return [(each.slug, each.name) for each in await directory.organizations()]

    return _beginning_with(incomplete, look)


def integration_ids(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    """Return completions of an integration's id."""

    async def look(directory: "Directory") -> Sequence[_Named]:
        return [
            (found.id, ", ".join(repository.full_name for repository in found.repositories))
            for owner in await _owners(directory, ctx)
            for found in await directory.integrations(owner.id)
        ]

    return _beginning_with(incomplete, look)


def trigger_ids(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    """Return completions of a trigger's id."""

    async def look(directory: "Directory") -> Sequence[_Named]:
        return [
            (found.id, found.name or found.output_type.value)
            for owner in await _owners(directory, ctx)
            for found in await directory.triggers(owner.id)
        ]

    return _beginning_with(incomplete, look)


def connected_repository_ids(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    """Return completions of a connected repository's id."""

    async def look(directory: "Directory") -> Sequence[_Named]:
        return [
            (str(repository.id), repository.full_name)
            for owner in await _owners(directory, ctx)
            for found in await directory.integrations(owner.id)
            for repository in found.repositories
        ]

    return _beginning_with(incomplete, look)


async def _owners(directory: "Directory", ctx: click.Context) -> "Sequence[Organization]":
    slug = ctx.params.get("organization")
    found = await directory.organizations()
    return [owner for owner in found if slug in {None, owner.slug}]


def _beginning_with(
    incomplete: str, look: "Callable[[Directory], Awaitable[Sequence[_Named]]]"
) -> "list[CompletionItem[str]]":
    # Imported here, so that --help does not import database code.
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # a shell asks for it, nothing else

    from contentsvc_cli.wiring import glance  # noqa: PLC0415  # the stores come with it

    return [
        CompletionItem(value, help=one_line(name, _HELP_LENGTH) or None)
        for value, name in glance(look)
        if value.startswith(incomplete)
    ]
