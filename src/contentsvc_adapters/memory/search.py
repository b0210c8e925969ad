from collections.abc import Sequence
from typing import TypeVar, final

from contentsvc_adapters.memory.state import MemoryStore, of_organization, place
from contentsvc_core.content.posts import Post
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.lists.pagination import how_many_fit
from contentsvc_core.lists.terms import Term
from contentsvc_core.read_model import folded
from contentsvc_core.search.documents import post_words, record_words
from contentsvc_core.search.questions import ContextSearch, Hits, PostSearch
from contentsvc_core.workflows.context import ContextRecord

_Item = TypeVar("_Item", ContextRecord, Post)


@final
class MemorySearch(MemoryStore):
    async def records(
        self, organization_id: str, search: ContextSearch, *, limit: int, max_bytes: int, before: Cursor | None = None
    ) -> Hits[ContextRecord]:
        records = [
            record
            for record in _older(of_organization(self._state.contexts.values(), organization_id), before)
            if (not search.repository or folded(record.repository) == search.repository)
            and (not search.event_types or record.event.type in search.event_types)
            and (search.since is None or record.created_at >= search.since)
            and _matches(search.terms, record_words(record))
        ]
        sizes = (len(event_to_json(record.event)) for record in records[:limit])
        fitting = how_many_fit(sizes, max_bytes)
        return Hits(found=records[:fitting], has_more=len(records) > fitting)

    async def posts(
        self, organization_id: str, search: PostSearch, *, limit: int, before: Cursor | None = None
    ) -> Hits[Post]:
        posts = [
            post
            for post in _older(of_organization(self._state.posts.values(), organization_id), before)
            if (not search.statuses or post.status in search.statuses)
            and (not search.content_types or post.content_type in search.content_types)
            and (search.since is None or post.created_at >= search.since)
            and _matches(search.terms, post_words(post))
        ]
        return Hits(found=posts[:limit], has_more=len(posts) > limit)

    async def catch_up(self, *, limit: int) -> int:
        _ = limit
        return 0


def _older(items: Sequence[_Item], before: Cursor | None) -> list[_Item]:
    return [item for item in items if before is None or place(item) < place(before)]


def _matches(terms: Sequence[Term], words: Sequence[str]) -> bool:
    having = frozenset(words)
    return all(term.matches(having) for term in terms)
