"""Shell completion of slugs and ids from the database. Errors are silent: the shell would print them."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar

import click

from contentsvc_core.text import one_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from contentsvc_core.organizations import Organization
    from contentsvc_core.ports import Stores

_Named: TypeAlias = tuple[str, str]
_Object = TypeVar("_Object", bound="_Identified")
_Completion: TypeAlias = "Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]"
_HELP_LENGTH: Final = 60
#: Number of posts and runs to choose from, newest first.
_NEWEST: Final = 50
_TIMEOUT_S: Final = 1.0


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


def organization_slugs(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    async def read(stores: "Stores") -> Sequence[_Named]:
        return [(organization.slug, organization.name) for organization in await stores.directory.organizations()]

    return _beginning_with(incomplete, read)


def time_zones(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # only for a completion

    from contentsvc_core.zones import zone_names  # noqa: PLC0415  # as above

    return [CompletionItem(zone) for zone in zone_names() if zone.lower().startswith(incomplete.lower())]


def _ids(
    objects: "Callable[[Stores, str], Awaitable[Sequence[_Object]]]", name: "Callable[[_Object], str]"
) -> _Completion:
    """Return the completion of ids of the chosen organization, or of all; ``objects`` lists those of one."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
        async def read(stores: "Stores") -> Sequence[_Named]:
            owners = await _owners(stores, ctx)
            return [(each.id, name(each)) for owner in owners for each in await objects(stores, owner.id)]

        return _beginning_with(incomplete, read)

    return complete


#: The completions of ids, by kind.
IDS: Final[Mapping[str, _Completion]] = {
    "brand": _ids(lambda stores, owner: stores.brands.identities(owner), lambda brand: brand.name),
    "endpoint": _ids(
        lambda stores, owner: stores.endpoints.endpoints(owner), lambda each: each.description or each.format.value
    ),
    "integration": _ids(
        lambda stores, owner: stores.directory.integrations(owner),
        lambda integration: ", ".join(repository.full_name for repository in integration.repositories),
    ),
    "post": _ids(lambda stores, owner: stores.posts.posts(owner, limit=_NEWEST), lambda post: post.title),
    "run": _ids(lambda stores, owner: stores.run_lists.runs(owner, limit=_NEWEST), lambda run: run.status.value),
    "schedule": _ids(lambda stores, owner: stores.schedules.all_of(owner), lambda schedule: schedule.name),
    "trigger": _ids(
        lambda stores, owner: stores.triggers.all_of(owner), lambda trigger: trigger.name or trigger.output_type.value
    ),
}


def connected_repository_ids(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    async def read(stores: "Stores") -> Sequence[_Named]:
        return [
            (str(repository.id), repository.full_name)
            for owner in await _owners(stores, ctx)
            for integration in await stores.directory.integrations(owner.id)
            for repository in integration.repositories
        ]

    return _beginning_with(incomplete, read)


async def _owners(stores: "Stores", ctx: click.Context) -> "Sequence[Organization]":
    slug = ctx.params.get("organization")
    organizations = await stores.directory.organizations()
    return [owner for owner in organizations if not slug or owner.slug == slug]


def _beginning_with(
    incomplete: str, read: "Callable[[Stores], Awaitable[Sequence[_Named]]]"
) -> "list[CompletionItem[str]]":
    # Imported here: only a shell calls this.
    import asyncio  # noqa: PLC0415

    from click.shell_completion import CompletionItem  # noqa: PLC0415

    candidates: Sequence[_Named] = ()
    with contextlib.suppress(Exception):
        candidates = asyncio.run(_read(read))
    return [
        CompletionItem(value, help=one_line(name, _HELP_LENGTH) or None)
        for value, name in candidates
        if value.startswith(incomplete)
    ]


async def _read(read: "Callable[[Stores], Awaitable[Sequence[_Named]]]") -> Sequence[_Named]:
    import asyncio  # noqa: PLC0415  # as above

    from contentsvc_http.settings import load_settings  # noqa: PLC0415  # as above
    from contentsvc_http.wiring.diagnostics import open_as_it_is  # noqa: PLC0415  # as above

    settings = load_settings()
    if settings.is_sqlite and not settings.database_file.exists():
        return ()
    async with open_as_it_is(settings, patience_s=_TIMEOUT_S) as database, asyncio.timeout(_TIMEOUT_S):
        return await read(database.stores)
