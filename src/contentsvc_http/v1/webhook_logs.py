import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypedDict

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter

from contentsvc_core.journal import UNKNOWN_LOG, LogBody, LogOutcome, LogStatus, log_body, read_log_query
from contentsvc_core.lists.pagination import PageRequest, PaginationBody
from contentsvc_core.usecases.replay_many import ReplayDeliveries, read_replay_filter
from contentsvc_http.errors import accepted
from contentsvc_http.v1.bodies import encoded
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import Operations, Query
from contentsvc_http.v1.pages import INVALID_LIST, PAGE, read_parameters
from contentsvc_http.v1.schemas_webhook_logs import OneLogBody, ReplayCountBody, ReplayedBatchBody

#: Maximum size of all payloads of a page, in stored bytes: its response takes less than 100 MiB of memory.
MAX_BYTES: Final = 8 * 1024 * 1024
_PAYLOADS: Final = (
    "The payloads of a page have at most 8 MiB in total. The smallest ones are included, the others are null. To get a "
    "payload that is null, request its entry with `limit=1`: a page of one entry always includes the payload."
)

_BULK: Final = (
    "Replays up to 25 entries and names the cursor of the next batch: repeat the request with it until `next` is null. "
    "Processed deliveries are replayed once for a `requestId`, and failed messages are sent again. Entries that cannot "
    "be replayed are named with the reason: the body of a refused delivery is not stored."
)

_OUTCOMES: Final = ", ".join(f"`{outcome.value}`" for outcome in LogOutcome)
_STATUSES: Final = "Only entries with these statuses: a comma-separated list of `success`, `failed`, `pending`."
_TIMES: Final[Mapping[str, Query]] = {
    "since": "Only entries of this date or time (ISO 8601) or later.",
    "until": "Only entries before this date or time.",
}
_FILTER: Final[Mapping[str, Query]] = {
    "outcomes": (
        list[LogOutcome],
        f"Only deliveries with these outcomes: a comma-separated list of {_OUTCOMES}.",
    ),
    "statuses": (list[LogStatus], _STATUSES),
    "integrationId": "Only entries of this integration or webhook endpoint.",
    "event": "Only entries of this event type, e.g. `push`.",
    "text": "Only entries with this text in title, delivery id, error or reason.",
    **_TIMES,
}


class LogListBody(TypedDict):
    """A page of the webhook log."""

    logs: list[LogBody]
    pagination: PaginationBody


class ReplayBody(TypedDict):
    """The id of the new delivery, or of the message that is sent again."""

    deliveryId: str


def webhook_log_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "webhook logs")
    app = gate.app
    journal, shares, replayer = app.stores.journal, app.shares, app.replayer

    @operation(
        "GET /v1/webhook-logs",
        "listWebhookLogs",
        "List webhook log entries, newest first",
        description=_PAYLOADS,
        query={
            **PAGE,
            "integrationId": (
                list[str],
                "Only entries of these integrations and webhook endpoints: a comma-separated list of ids.",
            ),
            "status": (list[LogStatus], _STATUSES),
            **_TIMES,
        },
        responses={400: INVALID_LIST},
    )
    async def list_webhook_logs(request: Request[Any, Any, Any], key: Caller) -> Response[LogListBody]:
        parameters = read_parameters(request, "integrationId", "status")
        query = accepted(read_log_query(parameters))
        page_request = PageRequest.read(limit=parameters.get("limit"), page=parameters.get("page"))

        async def listed() -> LogListBody:
            entries, pagination = accepted(
                await journal.page(key.organization_id, query, page_request, max_bytes=MAX_BYTES)
            )
            # Off the event loop: a hundred deliveries may hold two hundred thousand commits.
            logs = await asyncio.to_thread(lambda: [encoded(log_body(entry)) for entry in entries])
            return {"logs": logs, "pagination": pagination.body}

        return await gate.answer(key, await shares.lists(key.organization_id, listed))

    @operation(
        "POST /v1/webhook-logs/{log_id:str}/replay",
        "replayWebhookLog",
        "Replay a processed delivery, or send a message again",
        status=202,
        fails=[409],
    )
    async def replay_webhook_log(
        key: Caller, log_id: Annotated[str, Parameter(description="Id of the log entry.")]
    ) -> Response[ReplayBody]:
        replayed = accepted(await replayer.replay(key.organization_id, log_id))
        return await gate.answer(key, {"deliveryId": replayed.delivery_id})

    @operation(
        "GET /v1/webhook-logs/{log_id:str}",
        "getWebhookLog",
        "Get a log entry, the cause of its outcome, and the remedy",
    )
    async def get_webhook_log(
        key: Caller, log_id: Annotated[str, Parameter(description="Id of the log entry.")]
    ) -> Response[OneLogBody]:
        owner = key.organization_id

        async def shown() -> OneLogBody | None:
            entry = await journal.entry(owner, log_id, max_bytes=MAX_BYTES)
            if entry is None:
                return None
            explained = await app.diagnoses.explain(entry)
            return await asyncio.to_thread(lambda: OneLogBody.of(entry, explained))

        shape = accepted(await shares.heavy(owner, shown) or UNKNOWN_LOG)
        return await gate.answer(key, shape)

    @operation(
        "POST /v1/webhook-logs/replay",
        "replayWebhookLogs",
        "Replay the log entries of a filter, one batch a request",
        description=_BULK,
        body=ReplayDeliveries,
        status=202,
    )
    async def replay_webhook_logs(key: Caller, command: Sent[ReplayDeliveries]) -> Response[ReplayedBatchBody]:
        batch = accepted(await app.bulk_replayer.replay(key.organization_id, command))
        return await gate.answer(key, ReplayedBatchBody.of(batch))

    @operation(
        "GET /v1/webhook-logs/replay",
        "countWebhookLogReplay",
        "Count the log entries that a filter would replay",
        query=_FILTER,
    )
    async def count_replay(request: Request[Any, Any, Any], key: Caller) -> Response[ReplayCountBody]:
        command = accepted(read_replay_filter(read_parameters(request, "outcomes", "statuses")))
        counted = accepted(await app.bulk_replayer.count(key.organization_id, command))
        return await gate.answer(key, ReplayCountBody.of(counted))

    return operation.routes
