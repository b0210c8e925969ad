"""The ports for context records, posts and the writer that turns a brief into a draft."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.content.posts import Post
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.content.versions import PostVersion
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.content.writing import Brief, Draft, Silence
from contentsvc_core.lists.pagination import PageRequest, Pagination
from contentsvc_core.ports.runs import Steps
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.context import ContextRecord


class ContextLibrary(Protocol):
    """The context records (specification 2.5)."""

    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None:
        """Return one record; ``None``: it is unknown."""
        ...

    async def repository(self, organization_id: str, custom_id: str) -> str | None:
        """Return the repository of a record, without its event; ``None``: there is no such record."""
        ...

    async def before(self, record: ContextRecord, *, limit: int, max_bytes: int) -> Sequence[ContextRecord]:
        """List at most ``limit`` records of the same repository that arrived before ``record``, newest first.

        Their stored events have at most about ``max_bytes`` together; the first record is returned whatever its size.
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
        """List the records of a repository that arrived in a window, newest first, and count the records left out.

        The list has at most ``limit`` records and about ``max_bytes``, as with :meth:`before`.
        """
        ...

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        """List records, newest first; all of them without a limit."""
        ...


class PostLibrary(Protocol):
    """The posts (specification 2.1)."""

    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | Refusal:
        """Return one page, sorted by the time that the query names and then by id.

        Count and page are read at one moment. A page in the order of creation costs the same at any offset. In the
        other order, the store skips the keys of all posts before the page.
        """
        ...

    async def post(self, organization_id: str, post_id: str) -> Post | None:
        """Return a post; ``None``: it is unknown."""
        ...

    async def add(self, post: Post, *, author: str | None = None) -> None:
        """Store a new post that no run has written, with its first version by ``author``.

        In the same transaction, messages for webhook endpoints are written. A repeated call changes nothing.

        Raises:
            Unstorable: The organization does not exist, or a value cannot be stored.
        """
        ...

    async def change(self, post: Post, *, seen: datetime, author: str | None = None) -> bool:
        """Store a changed post, if the stored post's last change was at ``seen`` and is earlier than this one.

        Title, content, Markdown, summary, labels, status, the schedule, the times of the events and of the first
        publication, and the time of the change are written. Of concurrent changes of one version, one is written. A
        change of the text adds a version by ``author``. If the change publishes a draft, messages for the
        organization's webhook endpoints are written in the same transaction.

        ``False``: the post is deleted, or was changed since ``seen``; nothing was written. Do not repeat a call that
        succeeded: its own change makes ``seen`` outdated.
        """
        ...

    async def remove(
        self, organization_id: str, post_id: str, *, seen: datetime | None = None, at: datetime | None = None
    ) -> bool:
        """Delete a post if its last change was at ``seen`` (``None``: always); ``False``: it was changed, or is gone.

        ``at`` is the time of the deletion, and counts as a change of the organization's public changelog. The run stays
        completed, and no other run writes about the same event (:meth:`~contentsvc_core.ports.RunLedger.complete`).
        """
        ...

    async def posts(self, organization_id: str, *, limit: int | None = None) -> Sequence[Post]:
        """List posts, newest first; all of them without a limit."""
        ...

    async def chosen(
        self, organization_id: str, query: PostQuery, *, limit: int
    ) -> tuple[Sequence[tuple[str, str]], int]:
        """Return the ids and titles of the first posts of a list, and the number of all its posts."""
        ...

    async def waiting(self, organization_id: str) -> int:
        """Return the number of drafts that are not scheduled."""
        ...

    async def due(self, now: datetime, *, limit: int) -> Sequence[tuple[str, str]]:
        """List the drafts of all organizations whose time to be published has come: organization and id."""
        ...

    async def versions(self, organization_id: str, post_id: str) -> Sequence[PostVersion]:
        """Return the kept texts of a post, newest first; none before its first change."""
        ...


class ContentWriter(Protocol):
    """Writes drafts from briefs."""

    #: The writer's name in a post's metadata.
    name: str
    #: Whether a draft costs money or differs each time. Where a costly writer fails too often, a fallback writes.
    costly: bool

    async def write(self, brief: Brief, steps: Steps, /) -> Draft | Silence:
        """Write a draft, or explain why there is nothing to write. Any exception makes the run be tried again.

        A run is resumed after a kill or an exception, and calls the writer again. A writer that pays for answers asks
        for them in ``steps``, so that a resumed run does not pay for a finished answer again.
        """
        ...


class MarkupRenderer(Protocol):
    """Turns Markdown from any author into HTML that is safe to show."""

    async def render(self, markdown: str) -> str | None:
        """Return the HTML; ``None``: it would have more than :data:`~.editing.CONTENT_LIMIT` characters."""
        ...
