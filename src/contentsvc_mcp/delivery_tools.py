"""Tools that read the webhook log: deliveries, their outcomes, and the runs and posts they led to."""

import asyncio
from typing import Annotated, Any, Final, Literal, TypedDict

from msgspec import Meta, Struct

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.application import Application
from contentsvc_core.content.posts import Post, post_body
from contentsvc_core.journal import Direction, ListedEntry, LogStatus
from contentsvc_core.lists.cursors import Cursor, written_cursor
from contentsvc_core.lists.parameters import read_time
from contentsvc_core.read_model import LogSearch
from contentsvc_core.search.excerpts import record_hit_body
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.workflows.runs import ListedRun
from contentsvc_mcp.context_tools import Before, HitBody, Next, Notice, Since, Until, read_before
from contentsvc_mcp.toolbox import ToolAnswer, ToolRefused, accepted, chosen, tool

_MOST: Final = 50
#: Maximum number of log entries shown for one delivery; a delivery has several if it was sent again.
_ENTRIES: Final = 20
_TEXT: Final = 500
_UNKNOWN: Final = (
    "Delivery not found: no log entry, delivery or context record has this id, or it has been deleted from the log"
)


class ListDeliveries(Struct, forbid_unknown_fields=True, rename="camel"):
    statuses: Annotated[
        list[LogStatus], Meta(max_length=3, description="Only deliveries with these statuses; empty: all.")
    ] = []
    event: Annotated[
        Literal["", "push", "release", "ping"], Meta(description="Only deliveries of this event type; empty: all.")
    ] = ""
    text: Annotated[
        str,
        Meta(
            max_length=200,
            description="Only deliveries with this text in title, delivery id, error or reason; empty: all.",
        ),
    ] = ""
    since: Since = ""
    until: Until = ""
    limit: Annotated[int, Meta(ge=1, le=_MOST, description="Maximum number of items.")] = 20
    before: Before = ""


class ReadDelivery(Struct, forbid_unknown_fields=True, rename="camel"):
    id: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=400,
            description="Id of a log entry (log_…), a deliveryId, or the customId of a context record.",
        ),
    ]


class EntryBody(TypedDict):
    """An entry of the webhook log."""

    id: str
    deliveryId: str | None
    title: str
    integrationId: str
    integrationType: str
    repositoryId: str
    status: str
    statusCode: int | None
    errorMessage: str | None
    reason: str | None
    createdAt: str


class EntriesBody(TypedDict):
    """Entries of the webhook log."""

    deliveries: list[EntryBody]


class ListedDeliveries(TypedDict):
    notice: Notice
    next: Next
    untrusted: EntriesBody


class WrittenBody(TypedDict):
    """The post that a run wrote."""

    id: str
    title: str
    contentType: str
    status: str


class RunBody(TypedDict):
    """A run that the delivery started."""

    id: str
    status: str
    trigger: Annotated[str | None, Meta(description="Name of the trigger; null: it was deleted.")]
    attempts: int
    error: str | None
    createdAt: str
    post: WrittenBody | None


class TrailBody(TypedDict):
    """A delivery with its log entries, context record and runs."""

    entries: Annotated[list[EntryBody], Meta(description="Newest first. Several entries: the delivery was sent again.")]
    context: Annotated[HitBody | None, Meta(description="Its context record: send customId to read_context.")]
    runs: list[RunBody]


class DeliveryTrail(TypedDict):
    notice: Notice
    isProcessed: Annotated[bool, Meta(description="Whether the delivery was processed.")]
    isUnderWay: Annotated[bool, Meta(description="Whether a run is still pending or running. If so, look again later.")]
    runCount: Annotated[int, Meta(description="Number of runs it started; the first 50 are shown.")]
    untrusted: TrailBody


@tool(
    "List deliveries",
    "List recent deliveries from code hosts, newest first: each with its status and, if it was refused or "
    "filtered, the reason. Use it to see what arrived, or why a delivery did not lead to a post. The log is "
    "kept for 7 or 30 days. To find changes in the repositories, use search_context.",
    returns=ListedDeliveries,
)
async def list_deliveries(app: Application, key: ApiKey, arguments: ListDeliveries) -> ToolAnswer:
    search = LogSearch(
        statuses=arguments.statuses,
        direction=Direction.INCOMING,
        event=arguments.event,
        text=arguments.text.strip(),
        since=accepted(read_time("since", arguments.since)),
        until=accepted(read_time("until", arguments.until)),
    )
    organization_id, before = key.organization_id, read_before(arguments.before)
    entries = await app.shares.lists(
        organization_id,
        lambda: app.stores.read_model.log(organization_id, search, limit=arguments.limit + 1, before=before),
    )
    shown = entries[: arguments.limit]
    return ToolAnswer(
        facts={"next": written_cursor(Cursor.of(shown[-1])) if len(entries) > arguments.limit else None},
        untrusted={"deliveries": [_entry_body(entry) for entry in shown]},
    )


@tool(
    "Follow a delivery",
    "Get the trail of a delivery: its log entries, its context record, the runs that it started, and "
    "the posts that they wrote. Use it to find the post about a commit, or why there is none.",
    returns=DeliveryTrail,
)
async def read_delivery(app: Application, key: ApiKey, arguments: ReadDelivery) -> ToolAnswer:
    return await app.shares.heavy(key.organization_id, lambda: _trail(app, key, arguments))


async def _trail(app: Application, key: ApiKey, arguments: ReadDelivery) -> ToolAnswer:
    entries = await app.delivery_trails.entries(key.organization_id, arguments.id.strip())
    if not entries:
        raise ToolRefused(_UNKNOWN)
    processed = next((entry for entry in entries if entry.event is not None), None)
    led = None if processed is None else await app.delivery_trails.record_trail(processed)
    record = None if led is None else await app.stores.contexts.record(key.organization_id, led.custom_id)
    hit = None if record is None else await asyncio.to_thread(lambda: record_hit_body(record, ()))
    return ToolAnswer(
        facts={
            "isProcessed": led is not None,
            "isUnderWay": led is not None and led.is_under_way,
            "runCount": 0 if led is None else led.number,
        },
        untrusted={
            "entries": [_entry_body(entry) for entry in entries[:_ENTRIES]],
            "context": hit,
            "runs": [] if led is None else [_run_body(*run) for run in led.runs],
        },
    )


def _entry_body(entry: ListedEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "deliveryId": entry.reference_id,
        "title": one_line(entry.title, _TEXT),
        "integrationId": entry.integration_id,
        "integrationType": entry.integration_type,
        "repositoryId": str(entry.repository_id),
        "status": entry.status.value,
        "statusCode": entry.status_code,
        "errorMessage": _short(entry.error_message),
        "reason": _short(entry.reason),
        "createdAt": iso_ms(entry.created_at),
    }


def _run_body(run: ListedRun, trigger: str, post: Post | None) -> dict[str, Any]:
    return {
        "id": run.id,
        "status": run.status.value,
        "trigger": trigger or None,
        "attempts": run.attempts,
        "error": _short(run.error),
        "createdAt": iso_ms(run.created_at),
        "post": None if post is None else chosen(post_body(post), WrittenBody),
    }


def _short(text: str | None) -> str | None:
    return None if text is None else one_line(text, _TEXT)
