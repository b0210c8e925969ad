import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

import click

from contentsvc_cli.servers import Server, chosen_server
from contentsvc_cli.terminal.completing import IDS
from contentsvc_core.on_demand import late

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_KINDS: Final = {
    **dict.fromkeys(("brand", "brand_id", "brand_identity_id"), ("brand", "brand_")),
    **dict.fromkeys(("integration_id", "integrations", "integration"), ("integration", "int_")),
    "endpoint_id": ("endpoint", "whe_"),
    "log_id": ("log", "log_"),
    "post_id": ("post", "post_"),
    "run_id": ("run", ""),
    "schedule_id": ("schedule", "sch_"),
    "trigger_id": ("trigger", "trg_"),
}
#: An id that this service generates: the prefix of its kind and a UUIDv7.
COMPLETE: Final = re.compile(r"(?:[a-z]+_)?[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)
#: Hexadecimal digits that a beginning needs, as in git.
_FEWEST: Final = 4
_BEGUN: Final = late(rf"(?:[a-z]+_)?[0-9a-f]{{{_FEWEST},8}}(?:-[0-9a-f-]*)?", re.ASCII)
_MOST: Final = 5
#: The list of each kind in ``/v1``, and the name of its items; ``None``: they are in groups.
_LISTS: Final = {
    "brand": ("/v1/brand-identities", "brandIdentities"),
    "endpoint": ("/v1/webhook-endpoints", "webhookEndpoints"),
    "integration": ("/v1/integrations", None),
    "log": ("/v1/webhook-logs", "logs"),
    "post": ("/v1/posts", "posts"),
    "run": ("/v1/runs", "runs"),
    "schedule": ("/v1/schedules", "schedules"),
    "trigger": ("/v1/event-triggers", "eventTriggers"),
}
#: The lists that have pages; the others return all items.
_PAGED: Final = frozenset({"log", "post", "run"})
_TIMEOUT_S: Final = 10.0
#: The shortest id in a table, without the prefix of its kind, in characters: the milliseconds of a UUIDv7.
_SHORTEST: Final = 13


@final
class ShortId(click.ParamType[str]):
    name = "id"

    def __init__(self, kind: str, prefix: str) -> None:
        self.kind: Final = kind
        self._prefix: Final = prefix

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the whole id; an unknown id is returned unchanged, for the error of the command."""
        if COMPLETE.fullmatch(value) or not _BEGUN.fullmatch(value):
            return value
        beginning = value if value.startswith(self._prefix) else f"{self._prefix}{value}"
        candidates = _ids_beginning_with(self.kind, beginning)
        if len(candidates) > 1:
            more = ", …" if len(candidates) > _MOST else ""
            self.fail(f"'{value}' is ambiguous: {', '.join(candidates[:_MOST])}{more}", param, ctx)
        return candidates[0] if candidates else value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem[str]]":
        named = IDS.get(self.kind)
        return [] if named is None else named(ctx, param, incomplete)


def take_short_ids(command: click.Command) -> click.Command:
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            take_short_ids(subcommand)
    for param in command.params:
        if param.name in _KINDS and isinstance(param.type, click.types.StringParamType):
            param.type = ShortId(*_KINDS[param.name])
    return command


def shortened(ids: Sequence[str]) -> dict[str, str]:
    """Return the shortest beginnings that distinguish ids, by id. Other texts are not shortened."""
    complete = sorted({id_ for id_ in ids if COMPLETE.fullmatch(id_)})
    short_ids: dict[str, str] = {}
    for index, id_ in enumerate(complete):
        beside = [*complete[max(0, index - 1) : index], *complete[index + 1 : index + 2]]
        shared = max((_shared(id_, other) for other in beside), default=0)
        short_ids[id_] = id_[: max(id_.find("_") + 1 + _SHORTEST, shared + 1)]
    return short_ids


def _shared(one: str, other: str) -> int:
    return next((index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def _ids_beginning_with(kind: str, beginning: str) -> Sequence[str]:
    from contentsvc_http.settings import load_settings  # noqa: PLC0415  # only for short ids
    from contentsvc_http.wiring.diagnostics import open_as_it_is  # noqa: PLC0415  # as above

    settings = load_settings()
    has_database = not settings.is_sqlite or settings.database_file.exists()
    if (server := chosen_server(has_database=has_database)) is not None:
        return _listed_beginning_with(server, kind, beginning)
    if not has_database:
        return ()

    async def read_ids() -> Sequence[str]:
        async with open_as_it_is(settings) as database, asyncio.timeout(_TIMEOUT_S):
            return await database.ids(kind, beginning, limit=_MOST + 1)

    return asyncio.run(read_ids())


def _listed_beginning_with(server: Server, kind: str, beginning: str) -> Sequence[str]:
    from contentsvc_cli.remote import Api  # noqa: PLC0415  # only for short ids on a server

    path, name = _LISTS[kind]
    with Api(server) as api:
        if name is None:
            listed = [integration for _, integration in api.integrations()]
        else:
            listed = api.list(path, name, 100) if kind in _PAGED else api.all(path, name)
    return [item["id"] for item in listed if item["id"].startswith(beginning)]
