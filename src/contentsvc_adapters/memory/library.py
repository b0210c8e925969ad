from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final, final

from attrs import evolve

from contentsvc_adapters.memory.containment import contain
from contentsvc_adapters.memory.outgoing import enqueue
from contentsvc_adapters.memory.state import MemoryStore, of_organization, own, refuse_unstorable
from contentsvc_core.content.posts import CHANGED_FIELDS, Post, PostStatus
from contentsvc_core.content.public.facets import facets_of, folded
from contentsvc_core.content.queries import PostOrder, PostQuery
from contentsvc_core.content.versions import PostVersion, versions_after
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.lists.pagination import PageRequest, Pagination, how_many_fit, paginate
from contentsvc_core.lists.terms import Term
from contentsvc_core.outgoing.events import post_published, post_written
from contentsvc_core.refusals import Refusal
from contentsvc_core.search.documents import post_words
from contentsvc_core.timestamps import is_within
from contentsvc_core.workflows.context import ContextRecord


@final
class MemoryContextLibrary(MemoryStore):
    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None:
        return self._state.contexts.get((organization_id, custom_id))

    async def repository(self, organization_id: str, custom_id: str) -> str | None:
        record = self._state.contexts.get((organization_id, custom_id))
        return None if record is None else record.repository

    async def before(self, record: ContextRecord, *, limit: int, max_bytes: int) -> Sequence[ContextRecord]:
        older = [
            other
            for other in of_organization(self._state.contexts.values(), record.organization_id)
            if (other.provider, other.repository_id) == (record.provider, record.repository_id)
            and Cursor.of(other) < Cursor.of(record)
        ]
        return _bounded(older, limit, max_bytes)

    async def within(
        self,
        organization_id: str,
        *,
        provider: str,
        repository_id: int,
        window: LookbackWindow,
        limit: int,
        max_bytes: int,
    ) -> tuple[Sequence[ContextRecord], int]:
        arrived = [
            record
            for record in of_organization(self._state.contexts.values(), organization_id)
            if (record.provider, record.repository_id) == (provider, repository_id)
            and window.since <= record.created_at < window.until
        ]
        records = _bounded(arrived, limit, max_bytes)
        return records, len(arrived) - len(records)

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        return of_organization(self._state.contexts.values(), organization_id, limit=limit)


@final
class MemoryPostLibrary(MemoryStore):
    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | Refusal:
        posts = self._found(organization_id, query)
        pagination = paginate(request, len(posts))
        if isinstance(pagination, Refusal):
            return pagination
        return posts[request.offset : request.offset + request.limit], pagination

    def _found(self, organization_id: str, query: PostQuery) -> list[Post]:
        at = _ORDERS[query.order_by]
        posts = [
            post
            for post in of_organization(self._state.posts.values(), organization_id)
            if (not query.statuses or post.status in query.statuses)
            and (not query.content_types or post.content_type in query.content_types)
            and (not query.brand_identity_ids or _brand(post) in query.brand_identity_ids)
            and is_within(at(post).at, query.since, query.until)
            and _has_facet(post, [f"label:{label.value}" for label in query.labels])
            and _has_facet(post, [f"repository:{folded(name)}" for name in query.repositories])
            and (not query.terms or _has_words(post, query.terms))
        ]
        return sorted(posts, key=at, reverse=not query.ascending)

    async def chosen(
        self, organization_id: str, query: PostQuery, *, limit: int
    ) -> tuple[Sequence[tuple[str, str]], int]:
        posts = self._found(organization_id, query)
        return [(post.id, post.title) for post in posts[:limit]], len(posts)

    async def waiting(self, organization_id: str) -> int:
        drafts = self._found(organization_id, PostQuery(statuses=(PostStatus.DRAFT,)))
        return sum(post.publish_at is None for post in drafts)

    async def due(self, now: datetime, *, limit: int) -> Sequence[tuple[str, str]]:
        scheduled = [
            (post.publish_at, post.id, post.organization_id)
            for post in self._state.posts.values()
            if post.status is PostStatus.DRAFT and post.publish_at is not None and post.publish_at <= now
        ]
        return [(owner, id_) for _, id_, owner in sorted(scheduled)[:limit]]

    async def versions(self, organization_id: str, post_id: str) -> Sequence[PostVersion]:
        post = await self.post(organization_id, post_id)
        return () if post is None else self._state.post_versions.get(post_id, ())

    async def posts(self, organization_id: str, *, limit: int | None = None) -> Sequence[Post]:
        return of_organization(self._state.posts.values(), organization_id, limit=limit)

    async def post(self, organization_id: str, post_id: str) -> Post | None:
        return own(self._state.posts, organization_id, post_id)

    async def add(self, post: Post, *, author: str | None = None) -> None:
        refuse_unstorable(post, author)
        self._state.refuse_stranger(post.organization_id)
        if post.id in self._state.posts:
            return
        self._state.posts[post.id] = post
        first = PostVersion(number=1, text=post.text, saved_at=post.updated_at, author=author)
        self._state.post_versions[post.id] = (first,)
        self._state.address(post.id)
        self._state.count_public(post)
        enqueue(self._state, post_written(post, by_editor=True))

    async def change(self, post: Post, *, unchanged_since: datetime, author: str | None = None) -> bool:
        refuse_unstorable(post, author)
        stored = await self.post(post.organization_id, post.id)
        if stored is None or stored.updated_at != unchanged_since or post.updated_at <= unchanged_since:
            return False
        changed = evolve(stored, **{name: getattr(post, name) for name in CHANGED_FIELDS})
        self._state.posts[post.id] = changed
        _, versions = versions_after(self._state.post_versions.get(post.id, ()), stored, changed, author)
        self._state.post_versions[post.id] = tuple(versions)
        contain(self._state, post.organization_id, self._state.released.get(post.id, ()))
        self._state.address(post.id)
        self._state.count_public(stored, changed)
        if stored.status is not PostStatus.PUBLISHED and changed.status is PostStatus.PUBLISHED:
            enqueue(self._state, [post_published(changed)])
        return True

    async def remove(
        self, organization_id: str, post_id: str, *, unchanged_since: datetime | None = None, at: datetime | None = None
    ) -> bool:
        stored = await self.post(organization_id, post_id)
        if stored is None or unchanged_since not in {None, stored.updated_at}:
            return False
        del self._state.posts[post_id]
        self._state.post_versions.pop(post_id, None)
        contain(self._state, organization_id, self._state.released.pop(post_id, ()))
        self._state.count_public(stored)
        for key in [key for key, holder in self._state.paths.items() if holder == post_id]:
            del self._state.paths[key]
        if at is not None:
            for changelog in self._state.changelogs_of(organization_id):
                self._state.changelogs[changelog.id] = evolve(changelog, updated_at=max(at, changelog.updated_at))
        return True


_ORDERS: Final[dict[PostOrder, Callable[[Post], Cursor]]] = {
    PostOrder.CREATED_AT: Cursor.of,
    PostOrder.OCCURRED_AT: attrgetter("cursor"),
}


def _has_facet(post: Post, facets: Sequence[str]) -> bool:
    return not facets or not set(facets).isdisjoint(facets_of(post))


def _has_words(post: Post, terms: Sequence[Term]) -> bool:
    words = set(post_words(post))
    return all(term.matches(words) for term in terms)


def _brand(post: Post) -> str | None:
    return (post.source_metadata or {}).get("brandIdentityId")


def _bounded(records: list[ContextRecord], limit: int, max_bytes: int) -> list[ContextRecord]:
    sizes = (len(event_to_json(record.event)) for record in records[:limit])
    return records[: how_many_fit(sizes, max_bytes)]
