import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict, final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter

from contentsvc_core.lists.cursors import Cursor, read_cursor, written_cursor
from contentsvc_core.lists.pagination import read_limit
from contentsvc_core.lists.parameters import bad_query
from contentsvc_core.refusals import Refusal
from contentsvc_core.search import HITS_DEFAULT, HITS_LIMIT
from contentsvc_core.search.excerpts import HitBody, record_hit_body
from contentsvc_core.search.questions import read_context_search
from contentsvc_core.workflows.context import ContextRecord, RecordBody, is_custom_id
from contentsvc_http.errors import Refused, accepted
from contentsvc_http.v1.bodies import encoded
from contentsvc_http.v1.gate import Caller, Gate
from contentsvc_http.v1.operations import Operations, Query
from contentsvc_http.v1.pages import read_parameters

#: Maximum size of all events of one response, in bytes. Further hits are on the next page.
MAX_BYTES: Final = 32 * 1024 * 1024
#: The same of a response with the text of each record.
MAX_TEXT_BYTES: Final = 8 * 1024 * 1024
_PARAMETERS: Final[Mapping[str, Query]] = {
    "query": "Words to search for. All words must match. Use `word*` for a prefix, `-word` to exclude a word.",
    "repository": "Only records of this repository (`owner/name`).",
    "eventType": (
        list[Literal["push", "release"]],
        "Only these event types: a comma-separated list of `push`, `release`.",
    ),
    "since": "Only records that arrived at this date or time (ISO 8601) or later.",
    "content": (
        bool,
        "`true` adds the text of each record, the one that AI agents read. A page has fewer records then.",
    ),
    "limit": (
        int,
        f"Number of records, 1 to {HITS_LIMIT}. Default: {HITS_DEFAULT}.",
    ),
    "before": "Cursor: the `next` of the previous page.",
}


@final
class FoundRecordBody(HitBody):
    """A matching context record."""

    content: NotRequired[str]


class HitListBody(TypedDict):
    """Search hits, newest first."""

    context: list[FoundRecordBody]
    next: str | None
    behind: int


class OneRecordBody(TypedDict):
    """A context record."""

    context: RecordBody


def context_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "context")
    search, contexts, shares = gate.app.stores.search, gate.app.stores.contexts, gate.app.shares

    @operation("GET /v1/context", "searchContext", "Search context records, newest first", query=_PARAMETERS)
    async def search_context(request: Request[Any, Any, Any], key: Caller) -> Response[HitListBody]:
        parameters = read_parameters(request, "eventType")
        context_search = accepted(read_context_search(parameters))
        limit = read_limit(parameters.get("limit"), default=HITS_DEFAULT)
        before = read_before(parameters.get("before", ""))
        has_text = accepted(_has_text(parameters.get("content", "")))
        max_bytes = MAX_TEXT_BYTES if has_text else MAX_BYTES

        async def read_hits() -> HitListBody:
            hits = await search.records(
                key.organization_id, context_search, limit=limit, max_bytes=max_bytes, before=before
            )

            def found(record: ContextRecord) -> FoundRecordBody:
                hit = record_hit_body(record, context_search.terms)
                return {**hit, "content": record.content} if has_text else {**hit}

            # Off the event loop: the words of many commits are compared.
            bodies = await asyncio.to_thread(lambda: [encoded(found(record)) for record in hits.found])
            following = written_cursor(Cursor.of(hits.found[-1])) if hits.has_more else None
            return {"context": bodies, "next": following, "behind": hits.behind}

        return await gate.answer(key, await shares.heavy(key.organization_id, read_hits))

    @operation("GET /v1/context/{custom_id:path}", "getContext", "Get a context record")
    async def get_context(
        key: Caller, custom_id: Annotated[str, Parameter(description="Custom id of the record.")]
    ) -> Response[OneRecordBody]:
        record_id = custom_id.removeprefix("/")

        async def read_stored() -> OneRecordBody:
            record = await contexts.record(key.organization_id, record_id) if is_custom_id(record_id) else None
            if record is None:
                raise Refused(404, {"error": "Context record not found"})
            body = await asyncio.to_thread(lambda: encoded(RecordBody.of(record)))
            return {"context": body}

        return await gate.answer(key, await shares.heavy(key.organization_id, read_stored))

    return operation.routes


def _has_text(text: str) -> bool | Refusal:
    if text not in {"", "true", "false"}:
        return bad_query("content", "it is neither true nor false")
    return text == "true"


def read_before(text: str) -> Cursor | None:
    """Return the cursor that the parameter ``before`` contains; ``None``: the list begins with the newest item."""
    if not text:
        return None
    cursor = read_cursor(text)
    if cursor is None:
        raise Refused(400, {"error": "Invalid before: send the next of the previous page"})
    return cursor
