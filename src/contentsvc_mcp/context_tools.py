import asyncio
from typing import Annotated, Any, Final, Literal, TypedDict

from msgspec import Meta, Struct

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.access.rates import SEARCHING
from contentsvc_core.application import Application
from contentsvc_core.lists.cursors import Cursor, read_cursor, written_cursor
from contentsvc_core.lists.terms import QUERY_LIMIT
from contentsvc_core.search.excerpts import HitBody, MetadataBody, record_hit_body
from contentsvc_core.search.questions import read_context_search
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.workflows.context import is_custom_id
from contentsvc_mcp.toolbox import ToolAnswer, ToolRefused, accepted, tool
from contentsvc_mcp.untrusted import SLICE, part_of

#: Maximum size of all events of one answer, in bytes. Further hits are on the next page.
_MAX_BYTES: Final = 32 * 1024 * 1024
#: Maximum number of hits in one answer; a model reads all of them.
MOST_HITS: Final = 25
QUERY: Final = (
    "Words to search for; case is ignored. All words must match. Use 'word*' for a prefix, '-word' to exclude a word. "
    "Empty: everything, newest first."
)
BEFORE: Final = "Cursor: the 'next' of the previous answer. Leave it out to start with the newest."
OFFSET: Final = "Where to continue reading, in characters: the 'nextOffset' of the previous answer."
SINCE: Final = "Only items from this date or time (ISO 8601) or later, for example 2026-11-22."
UNTIL: Final = "Only items before this date or time (ISO 8601)."
INVALID_CURSOR: Final = "Invalid before: send the next of a previous answer of this tool"

Limit = Annotated[int, Meta(ge=1, le=MOST_HITS, description="Maximum number of items.")]
Since = Annotated[str, Meta(max_length=64, description=SINCE)]
Until = Annotated[str, Meta(max_length=64, description=UNTIL)]
Before = Annotated[str, Meta(max_length=100, description=BEFORE)]
Offset = Annotated[int, Meta(ge=0, le=10**9, description=OFFSET)]
Query = Annotated[str, Meta(max_length=QUERY_LIMIT, description=QUERY)]
Notice = Annotated[str, Meta(description="What 'untrusted' means.")]
Next = Annotated[str | None, Meta(description="Send it as 'before' to get older items; null: there are no more.")]
Unindexed = Annotated[int, Meta(description="Number of new items that are not searchable yet.")]
NextOffset = Annotated[int | None, Meta(description="Send it as 'offset' to read on; null: this is the end.")]


class SearchContext(Struct, forbid_unknown_fields=True, rename="camel"):
    query: Query = ""
    repository: Annotated[
        str, Meta(max_length=201, description="Only this repository (owner/name), from list_sources.")
    ] = ""
    event_types: Annotated[
        list[Literal["push", "release"]], Meta(max_length=2, description="Only events of these types; empty: both.")
    ] = []
    since: Since = ""
    limit: Limit = 10
    before: Before = ""


class ReadContext(Struct, forbid_unknown_fields=True, rename="camel"):
    custom_id: Annotated[
        str, Meta(min_length=1, max_length=400, description="The customId of the record, from search_context.")
    ]
    offset: Offset = 0


class HitsBody(TypedDict):
    """The matching records."""

    context: list[HitBody]


class SearchedContext(TypedDict):
    notice: Notice
    next: Next
    behind: Unindexed
    untrusted: HitsBody


class RecordBody(TypedDict):
    """A part of a record."""

    customId: str
    metadata: MetadataBody
    content: Annotated[str, Meta(description="The event's text and its data as JSON, starting at 'offset'.")]
    createdAt: str


class ContextPart(TypedDict):
    notice: Notice
    offset: int
    nextOffset: NextOffset
    totalChars: int
    untrusted: RecordBody


def read_before(text: str) -> Cursor | None:
    """Return the cursor of a list; ``None`` for the start. Raise ``ToolRefused`` for an invalid cursor."""
    cursor = read_cursor(text) if text else None
    if text and cursor is None:
        raise ToolRefused(INVALID_CURSOR)
    return cursor


@tool(
    "Search pushes and releases",
    "Find pushes and releases of the connected repositories, newest first. Searches commit messages, commit "
    "hashes, authors, branches, tags and release notes. Use it to answer 'which commit changed X?', 'when was "
    "Y released?', 'what did Z do lately?'. Each hit has up to five excerpts, commits with their hash first. "
    "Use read_context to read a complete record, and read_delivery to see the runs and posts it led to. If "
    "you find nothing, use fewer words or a prefix: 'limit*'.",
    returns=SearchedContext,
    rate=SEARCHING,
)
async def search_context(app: Application, key: ApiKey, arguments: SearchContext) -> ToolAnswer:
    context_search = accepted(
        read_context_search(
            {
                "query": arguments.query,
                "repository": arguments.repository,
                "eventType": ",".join(arguments.event_types),
                "since": arguments.since,
            }
        )
    )
    before = read_before(arguments.before)

    async def read_hits() -> ToolAnswer:
        organization_id = key.organization_id
        hits = await app.stores.search.records(
            organization_id, context_search, limit=arguments.limit, max_bytes=_MAX_BYTES, before=before
        )
        # Off the event loop: the words of many commits are compared.
        bodies = await asyncio.to_thread(
            lambda: [record_hit_body(record, context_search.terms) for record in hits.found]
        )
        return ToolAnswer(
            facts={"next": written_cursor(Cursor.of(hits.found[-1])) if hits.has_more else None, "behind": hits.behind},
            untrusted={"context": bodies},
        )

    return await app.shares.heavy(key.organization_id, read_hits)


@tool(
    "Read a context record",
    f"Read one push or release as received: all commits with messages, authors and times, or the complete "
    f"release notes. Use it after search_context if the excerpts are not enough. A long record comes in parts "
    f"of {SLICE:,} characters: continue with 'offset' until 'nextOffset' is null.",
    returns=ContextPart,
)
async def read_context(app: Application, key: ApiKey, arguments: ReadContext) -> ToolAnswer:
    return await app.shares.heavy(key.organization_id, lambda: _record(app, key, arguments))


async def _record(app: Application, key: ApiKey, arguments: ReadContext) -> ToolAnswer:
    record_id = arguments.custom_id
    record = await app.stores.contexts.record(key.organization_id, record_id) if is_custom_id(record_id) else None
    if record is None:
        message = "Context record not found. Use search_context to find the customId of a record"
        raise ToolRefused(message)
    content, where = await asyncio.to_thread(lambda: part_of(record.content, arguments.offset))
    body: dict[str, Any] = {
        "customId": record.custom_id,
        "metadata": record.metadata,
        "content": content,
        "createdAt": iso_ms(record.created_at),
    }
    return ToolAnswer(facts=where, untrusted=body)
