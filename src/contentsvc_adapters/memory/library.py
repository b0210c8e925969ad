"""Posts and context records."""

from collections.abc import Sequence
from typing import final

from contentsvc_adapters.memory.state import State, of_organization, place
from contentsvc_core.content.pagination import InvalidPage, PageRequest, Pagination, paginate
from contentsvc_core.content.posts import Post
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.workflows.context import ContextRecord


@final
class MemoryContextLibrary:
    """The context library."""

    def __init__(self, state: State) -> None:
        """Take the shared state."""
        self._state = state

    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None:
        """Read one record."""
        return self._state.contexts.get((organization_id, custom_id))

    async def before(self, record: ContextRecord, *, limit: int) -> Sequence[ContextRecord]:
        """List the records of one repository that are older than ``record``."""
        older = [
            other
            for other in of_organization(self._state.contexts.values(), record.organization_id)
            if (other.provider, other.repository_id) == (record.provider, record.repository_id)
            and place(other) < place(record)
        ]
        return older[:limit]

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        """List an organization's records."""
        return of_organization(self._state.contexts.values(), organization_id, limit=limit)


@final
class MemoryPostLibrary:
    """The post library."""

    def __init__(self, state: State) -> None:
        """Take the shared state."""
        self._state = state

    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | InvalidPage:
        """Count the posts and give one page of them."""
        found = [
            post
            for post in of_organization(self._state.posts.values(), organization_id, newest_first=not query.ascending)
            if (not query.statuses or post.status in query.statuses)
            and (not query.content_types or post.content_type in query.content_types)
        ]
        pagination = paginate(request, len(found))
        if isinstance(pagination, InvalidPage):
            return pagination
        return found[request.offset : request.offset + request.limit], pagination

    async def posts(self, organization_id: str, *, limit: int | None = None) -> Sequence[Post]:
        """List an organization's posts."""
        return of_organization(self._state.posts.values(), organization_id, limit=limit)
