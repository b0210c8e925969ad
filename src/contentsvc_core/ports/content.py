"""What is read and written: context records, posts, and what turns one into the other."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.content.pagination import InvalidPage, PageRequest, Pagination
from contentsvc_core.content.posts import Post
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.content.writing import Brief, Draft, Silence
from contentsvc_core.workflows.context import ContextRecord


class ContextLibrary(Protocol):
    """The context records (specification 2.5)."""

    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None:
        """Give one record."""
        ...

    async def repository(self, organization_id: str, custom_id: str) -> str | None:
        """Return the repository of a record, without its event; ``None``: there is no such record."""
        ...

    async def before(self, record: ContextRecord, *, limit: int, max_bytes: int) -> Sequence[ContextRecord]:
        """List records of the same repository that arrived before ``record``, newest first.

        At most ``limit``, and no more than their events have ``max_bytes`` together as they are stored, about; the
        first one is given whatever its size.
        """
        ...

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
        """List the records of a repository that arrived in a window, newest first, and count those that are left out.

        As with :meth:`before`, at most ``limit``, and no more than ``max_bytes`` hold.
        """
        ...

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        """List records, newest first; all of them without a limit."""
        ...


class PostLibrary(Protocol):
    """The posts (specification 2.1)."""

    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | InvalidPage:
        """Return one page, sorted by the time that the query names and then by id; count and page are of one moment.

        A page of posts in the order of creation costs about the same wherever it stands. In the other order, the keys
        of all posts before the page are passed over.
        """
        ...

    async def post(self, organization_id: str, post_id: str) -> Post | None:
        """Find a post."""
        ...

    async def change(self, post: Post, *, seen: datetime) -> bool:
        """Store a post as it is after a change, if its last change was at ``seen``, and is earlier than this one.

        Title, content, Markdown, status and the time of the change are written. False: it is gone, or was changed
        since; nothing was written. Of any number of changes of one version, one is written; it is not to be written
        again, since it has itself changed the post. Where a draft is published by it, the organization's webhook
        endpoints are told, in the same transaction.
        Title, content, Markdown, status, the first publication and the time of the change are written. False: it is
        gone, or was changed since; nothing was written. Of any number of changes of one version, one is written; it is
        not to be written again, since it has itself changed the post.
        """
        ...

    async def remove(
        self, organization_id: str, post_id: str, *, seen: datetime | None = None, at: datetime | None = None
    ) -> bool:
        """Delete a post, if its last change was at ``seen`` or that does not matter; False: it is not so, or gone.

        ``at`` is when: the organization's public changelog has changed then, if it has one.

        Its run stays as it ended, and no other run writes what this post had told once
        (:meth:`~contentsvc_core.ports.RunLedger.complete`).
        """
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

    async def write(self, brief: Brief) -> Draft | Silence:
        """Write from a brief, or say why there is nothing to write. May raise anything: the run is tried again."""
        ...


class MarkupRenderer(Protocol):
    """Turns Markdown into HTML that is safe to show, whoever wrote it."""

    async def render(self, markdown: str) -> str | None:
        """Return the HTML; ``None``: it would have more than :data:`~.editing.CONTENT_LIMIT` characters."""
        ...
