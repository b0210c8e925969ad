import asyncio
import re
from collections.abc import Sequence
from typing import Any, Final

from litestar import Response, get
from litestar.params import FromPath
from markupsafe import Markup, escape

from contentsvc_core.access.rates import SEARCHING
from contentsvc_core.lists.terms import QUERY_LIMIT, Term
from contentsvc_core.lists.words import words_of
from contentsvc_core.ports import Search
from contentsvc_core.refusals import Refusal
from contentsvc_core.search.excerpts import post_excerpts, record_excerpts
from contentsvc_core.search.questions import EVENT_TYPES, ContextSearch, PostSearch, read_context_search
from contentsvc_core.workflows.context import ContextRecord, is_custom_id
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.payloads import visible
from contentsvc_http.dashboard.session import ROOT, DashboardSession, Visitor
from contentsvc_http.errors import Refused
from contentsvc_http.words import CONTENT

_SECTION: Final = "search"
_POSTS: Final = 10
_RECORDS: Final = 20
#: The limit of the stored events of all shown records together, in bytes.
_MAX_BYTES: Final = 16 * 1024 * 1024
_FIELDS: Final = ("query", "repository", "eventType", "since")
#: The shown part of a record's text, in characters.
_SHOWN: Final = 20_000
_PIECE: Final = re.compile(r"\S+")


@get(f"{ROOT}/search")
async def search(session: Visitor) -> Response[Any]:
    parameters = {name: session.query.get(name, "") for name in _FIELDS}
    context: dict[str, Any] = {
        "asked": parameters,
        "is_asked": any(value.strip() for value in parameters.values()),
        "event_types": EVENT_TYPES,
        "content_types": CONTENT,
        "most": QUERY_LIMIT,
    }
    records = read_context_search(parameters, session.organization.time_zone)
    if isinstance(records, Refusal):
        context["error"] = records.message()
        return pages.page(session, "search.html", context, title="Search", section=_SECTION, status=400)
    if context["is_asked"]:
        await counting.admit(session, SEARCHING)
        organization_id = session.organization_id
        context |= await session.heavy(lambda: _shown(session.app.stores.search, organization_id, records))
    return pages.page(session, "search.html", context, title="Search", section=_SECTION)


@get(f"{ROOT}/context/{{custom_id:path}}")
async def show(session: Visitor, custom_id: FromPath[str]) -> Response[Any]:
    record_id = custom_id.removeprefix("/")
    record, text = await session.heavy(lambda: _record(session, record_id))
    title = f"{record.repository}: {record.event.type}"
    context = {"record": record, "text": visible(text), "is_cut": len(text) == _SHOWN, "most": _SHOWN}
    return pages.page(session, "record.html", context, title=title, section=_SECTION)


async def _record(session: DashboardSession, custom_id: str) -> tuple[ContextRecord, str]:
    contexts = session.app.stores.contexts
    record = await contexts.record(session.organization_id, custom_id) if is_custom_id(custom_id) else None
    if record is None:
        raise Refused(404, {"error": "This context record is not there."})
    return record, await asyncio.to_thread(lambda: record.content[:_SHOWN])


async def _shown(search: Search, organization_id: str, records: ContextSearch) -> dict[str, Any]:
    hits = await search.records(organization_id, records, limit=_RECORDS, max_bytes=_MAX_BYTES)
    is_of_posts = bool(records.terms) and not (records.repository or records.event_types)
    written = await search.posts(organization_id, PostSearch(terms=records.terms, since=records.since), limit=_POSTS)

    def shown() -> dict[str, Any]:
        terms = records.terms
        marked_records = [
            (record, [(each.get("ref", ""), marked(each["text"], terms)) for each in record_excerpts(record, terms)])
            for record in hits.found
        ]
        posts = [
            (post, [marked(each["text"], terms) for each in post_excerpts(post.markdown, terms)[:2]])
            for post in (written.found if is_of_posts else ())
        ]
        return {
            "records": marked_records,
            "posts": posts,
            "more_records": hits.has_more,
            "more_posts": written.has_more,
            "behind": hits.behind,
        }

    # In a thread: the words of many commits are compared.
    return await asyncio.to_thread(shown)


def marked(text: str, terms: Sequence[Term]) -> Markup:
    words_sought = [
        Term(words=(word,), is_prefix=term.is_prefix) for term in terms if not term.is_excluded for word in term.words
    ]
    html, end = Markup(), 0
    for piece in _PIECE.finditer(text):
        words = words_of([piece[0]])
        if any(term.matches(words) for term in words_sought):
            html += escape(text[end : piece.start()]) + Markup("<mark>{}</mark>").format(piece[0])
            end = piece.end()
    return html + escape(text[end:])
