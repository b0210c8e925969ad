"""What is read and written: context records, posts, and what turns one into the other."""

from collections.abc import Sequence
from typing import Protocol

from contentsvc_core.content.pagination import InvalidPage, PageRequest, Pagination
from contentsvc_core.content.posts import Post
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.workflows.context import ContextRecord


class ContextLibrary(Protocol):
    """The context records (specification 2.5)."""

    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None:
        """Give one record."""
        ...

    async def before(self, record: ContextRecord, *, limit: int) -> Sequence[ContextRecord]:
        """List at most ``limit`` records of the same repository that arrived before ``record``, newest first."""
        ...

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        """List records, newest first; all of them without a limit."""
        ...


class PostLibrary(Protocol):
    """The posts (specification 2.1)."""

    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | InvalidPage:
        """Give one page, ordered by creation time and then id; count and page are of one moment."""
        ...

    async def posts(self, organization_id: str, *, limit: int | None = None) -> Sequence[Post]:
        """List posts, newest first; all of them without a limit."""
        ...


class ContentWriter(Protocol):
    """Writes content."""

    #: Names the writer in a post's metadata.
    name: str
    #: Whether a draft costs something, or comes out otherwise the next time: it is kept, and not written again.
    costly: bool

    async def write(self, brief: Brief) -> Draft | None:
        """Write from a brief; ``None``: there is nothing to report. May raise anything: the run is tried again."""
        ...


class MarkupRenderer(Protocol):
    """Turns Markdown into HTML that is safe to show, whoever wrote it."""

    async def render(self, markdown: str) -> str:
        """Give the HTML."""
        ...
