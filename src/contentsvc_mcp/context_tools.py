"""Tools over the context records: searching what has happened, and a record whole."""

import asyncio
from typing import Annotated, Any, Final, Literal, TypedDict, final

from msgspec import Meta, Struct

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.rates import SEARCHING
from contentsvc_core.content.queries import InvalidQuery
from contentsvc_core.insights import Place
from contentsvc_core.places import read_place, written_place
from contentsvc_core.search.excerpts import HitBody, MetadataBody, record_hit_body
from contentsvc_core.search.questions import read_context_search
from contentsvc_core.search.terms import QUERY_LIMIT
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.workflows.context import is_custom_id
from contentsvc_mcp.toolbox import Answer, Refused, Tool, Toolbox
from contentsvc_mcp.untrusted import SLICE, part_of

#: How much the events of one answer have together, in bytes; what does not fit is for the next part.
_MAX_BYTES: Final = 32 * 1024 * 1024
#: How many items an answer has at most: a model reads all of them.
MOST_HITS: Final = 25
QUERY: Final = (
    "words, all of which have to be there, whatever their case; 'word*' for the beginning of a word, '-word' for what "
    "must not be there; empty: everything, newest first"
)
BEFORE: Final = "where to go on: the 'next' of the answer before this one; left out: from the newest"
OFFSET: Final = "where to go on reading: the 'nextOffset' of the answer before this one, in characters"
SINCE: Final = "only what came then or later: a date or a point in time (ISO 8601), such as 2026-11-22"
NO_SUCH_PLACE: Final = "Invalid before: it is not what an answer of this tool gave as its next"

Limit = Annotated[int, Meta(ge=1, le=MOST_HITS, description="how many at most")]
Since = Annotated[str, Meta(max_length=64, description=SINCE)]
Before = Annotated[str, Meta(max_length=100, description=BEFORE)]
Offset = Annotated[int, Meta(ge=0, le=10**9, description=OFFSET)]
Query = Annotated[str, Meta(max_length=QUERY_LIMIT, description=QUERY)]
Notice = Annotated[str, Meta(description="what 'untrusted' means")]
Next = Annotated[str | None, Meta(description="give it as 'before' for what is older; null: there is nothing more")]
Behind = Annotated[int, Meta(description="how many could not be searched yet, because they were written just now")]
NextOffset = Annotated[int | None, Meta(description="give it as 'offset' for what follows; null: this is the end")]


class SearchContext(Struct, forbid_unknown_fields=True, rename="camel"):
    """What ``search_context`` takes."""

    query: Query = ""
    repository: Annotated[str, Meta(max_length=201, description="only of this one: owner/name")] = ""
    event_types: Annotated[
        list[Literal["push", "release"]], Meta(max_length=2, description="only events of these types; empty: both")
    ] = []
    since: Since = ""
    limit: Limit = 10
    before: Before = ""


class ReadContext(Struct, forbid_unknown_fields=True, rename="camel"):
    """What ``read_context`` takes."""

    custom_id: Annotated[
        str, Meta(min_length=1, max_length=400, description="the record's customId, as search_context gives it")
    ]
    offset: Offset = 0


@final
class HitsBody(TypedDict):
    """The records that were found."""

    context: list[HitBody]


@final
class SearchedContext(TypedDict):
    """What ``search_context`` gives."""

    notice: Notice
    next: Next
    behind: Behind
    untrusted: HitsBody


@final
class RecordBody(TypedDict):
    """A part of a record."""

    customId: str
    metadata: MetadataBody
    content: Annotated[str, Meta(description="the event's text and its data as JSON, from 'offset' on")]
    createdAt: str


@final
class ContextPart(TypedDict):
    """What ``read_context`` gives."""

    notice: Notice
    offset: int
    nextOffset: NextOffset
    totalChars: int
    untrusted: RecordBody


def read_before(text: str) -> Place | None:
    """Read where a list goes on.

    Raises:
        Refused: It is no place.
    """
    place = read_place(text) if text else None
    if text and place is None:
        raise Refused(NO_SUCH_PLACE)
    return place


async def _search(box: Toolbox, key: ApiKey, wanted: SearchContext) -> Answer:
    asked = read_context_search(
        {
            "query": wanted.query,
            "repository": wanted.repository,
            "eventType": ",".join(wanted.event_types),
            "since": wanted.since,
        }
    )
    if isinstance(asked, InvalidQuery):
        raise Refused(asked.error)
    before = read_before(wanted.before)

    async def found() -> Answer:
        mine = key.organization_id
        hits = await box.search.records(mine, asked, limit=wanted.limit, max_bytes=_MAX_BYTES, before=before)
        # Not on the loop: the words of many commits are compared.
        bodies = await asyncio.to_thread(lambda: [record_hit_body(record, asked.terms) for record in hits.found])
        return Answer(
            facts={"next": written_place(Place.of(hits.found[-1])) if hits.has_more else None, "behind": hits.behind},
            untrusted={"context": bodies},
        )

    return await box.shares.heavy(key.organization_id, found)


async def _read(box: Toolbox, key: ApiKey, wanted: ReadContext) -> Answer:
    return await box.shares.heavy(key.organization_id, lambda: _record(box, key, wanted))


async def _record(box: Toolbox, key: ApiKey, wanted: ReadContext) -> Answer:
    asked = wanted.custom_id
    record = await box.contexts.record(key.organization_id, asked) if is_custom_id(asked) else None
    if record is None:
        message = "Context record not found: search_context gives the customId of each record"
        raise Refused(message)
    # Not on the loop: a record may hold two thousand commits.
    content, where = await asyncio.to_thread(lambda: part_of(record.content, wanted.offset))
    body: dict[str, Any] = {
        "customId": record.custom_id,
        "metadata": record.metadata,
        "content": content,
        "createdAt": iso_ms(record.created_at),
    }
    return Answer(facts=where, untrusted=body)


CONTEXT_TOOLS: Final = (
    Tool(
        name="search_context",
        title="Search what has happened",
        description=(
            "Find pushes and releases of the connected repositories by the words of their commit messages, commit "
            "hashes, authors, branches, tags and release notes; newest first. Use it to answer 'which commit changed "
            "X?', 'when was Y released?', 'what did Z do lately?'. Each record that is found comes with up to five "
            "excerpts, commits with their hash first of all; read_context gives a record whole, read_delivery what "
            "became of it. Finding nothing, use fewer words, or the beginning of a word: 'limit*'."
        ),
        takes=SearchContext,
        gives=SearchedContext,
        scope=Scope.READ,
        rate=SEARCHING,
        work=_search,
    ),
    Tool(
        name="read_context",
        title="Read a context record",
        description=(
            f"Give one push or release as it was received: all its commits with messages, authors and times, or the "
            f"whole release notes. Use it after search_context, when its excerpts are not enough. A long record comes "
            f"in parts of {SLICE:,} characters: go on with 'offset' until 'nextOffset' is null."
        ),
        takes=ReadContext,
        gives=ContextPart,
        scope=Scope.READ,
        work=_read,
    ),
)
