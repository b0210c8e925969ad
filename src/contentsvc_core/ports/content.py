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
    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None: ...

    async def repository(self, organization_id: str, custom_id: str) -> str | None:
        """Return the repository of a record, without its event; ``None``: there is no such record."""
        ...

    async def before(self, record: ContextRecord, *, limit: int, max_bytes: int) -> Sequence[ContextRecord]:
        """List earlier records of the repository, newest first, of about ``max_bytes`` together, but at least one."""
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
        """List the records of a repository in a window as :meth:`before` does, and count the records left out."""
        ...

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        """List records, newest first; all of them without a limit."""
        ...


class PostLibrary(Protocol):
    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | Refusal:
        """Return one page, sorted by the time that the query names and then by id.

        Count and page are read at one moment. A page in the order of creation costs the same at any offset.
        """
        ...

    async def post(self, organization_id: str, post_id: str) -> Post | None: ...

    async def add(self, post: Post, *, author: str | None = None) -> None:
        """Store a new post that no run has written, with its first version by ``author`` and its messages.

        A repeated call changes nothing. ``Unstorable``: a value cannot be stored, or the organization is unknown.
        """
        ...

    async def change(self, post: Post, *, unchanged_since: datetime, author: str | None = None) -> bool:
        """Store a changed post, if the stored post's last change was at ``unchanged_since``, before this one.

        Of concurrent changes of one version, one is written. A change of the text adds a version by ``author``. If the
        change publishes a draft, messages for the organization's webhook endpoints are written in the same transaction.
        ``False``: the post is deleted, or was changed since. Do not repeat a call that succeeded: its own change makes
        ``unchanged_since`` outdated.
        """
        ...

    async def remove(
        self, organization_id: str, post_id: str, *, unchanged_since: datetime | None = None, at: datetime | None = None
    ) -> bool:
        """Delete a post if its last change was at ``unchanged_since`` (``None``: always).

        ``False``: the post was changed, or is gone.

        ``at`` is the time of the deletion, and counts as a change of the organization's public changelog. The run stays
        completed, and no other run writes about the same event (:meth:`~contentsvc_core.ports.RunLedger.complete`).
        """
        ...

    async def posts(self, organization_id: str, *, limit: int | None = None) -> Sequence[Post]:
        """List posts, newest first, and those of one time by id, the greatest first; all of them without a limit."""
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
        """List the drafts of all organizations whose time to be published has come: organization and id.

        The draft that waits longest is first; drafts of one time are sorted by id.
        """
        ...

    async def versions(self, organization_id: str, post_id: str) -> Sequence[PostVersion]:
        """Return the kept texts of a post, newest first; none before the first change of a post that a run wrote."""
        ...


class ContentWriter(Protocol):
    """Writes drafts of posts: by rule, or with a model."""

    @property
    def name(self) -> str:
        """Return the name of the writer, which posts have as their source."""
        ...

    @property
    def costly(self) -> bool:
        """Return whether a draft costs money or differs each time: if it fails too often, a fallback writes."""
        ...

    async def write(self, brief: Brief, steps: Steps, /) -> Draft | Silence:
        """Write a draft, or explain why there is nothing to write. Any exception makes the run be tried again.

        A writer that pays for answers asks for them in ``steps``, so that a resumed run does not pay again.
        """
        ...


class MarkupRenderer(Protocol):
    """Turns Markdown from any author into HTML that is safe to show."""

    async def render(self, markdown: str) -> str | None:
        """Return the HTML; ``None``: it would have more than :data:`~.editing.CONTENT_LIMIT` characters."""
        ...
