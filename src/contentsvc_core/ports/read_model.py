from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from contentsvc_core.content.posts import Post
from contentsvc_core.events.normalized import Event
from contentsvc_core.journal import ListedEntry
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.read_model import LogCount, LogSearch
from contentsvc_core.search.questions import ContextSearch, Hits, PostSearch
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.runs import ListedRun, RunState, RunStatus


class ReadModel(Protocol):
    """Queries about the log. Lists do not read events, which may have 25 MiB."""

    async def log(
        self,
        organization_id: str,
        search: LogSearch,
        *,
        limit: int,
        before: Cursor | None = None,
        after: Cursor | None = None,
    ) -> Sequence[ListedEntry]:
        """Return the newest entries that match, newest first, older than ``before`` and newer than ``after``."""
        ...

    async def entry(self, organization_id: str, log_id: str) -> ListedEntry | None: ...

    async def newest_entries(self, organization_id: str) -> Mapping[str, ListedEntry]:
        """Return the newest entry of each integration in the log, removed ones included, by the integration's id."""
        ...

    async def log_counts(self, organization_id: str, *, since: datetime, span: timedelta) -> Sequence[LogCount]:
        """Count entries by stretch (:data:`~contentsvc_core.read_model.COUNTED_SPANS`), integration and status."""
        ...


class RunLists(Protocol):
    """Queries about runs and their posts. Lists do not read events, which may have 25 MiB."""

    async def runs(
        self,
        organization_id: str,
        *,
        statuses: Collection[RunStatus] = (),
        limit: int,
        before: Cursor | None = None,
    ) -> Sequence[ListedRun]:
        """Return at most ``limit`` runs of these statuses (empty: of all) older than ``before``, newest first."""
        ...

    async def run(self, organization_id: str, run_id: str) -> ListedRun | None: ...

    async def event_of(self, organization_id: str, run_id: str, *, max_bytes: int) -> Event | None:
        """Return the event of a run; ``None``: no delivery started it, or it has more than about ``max_bytes``."""
        ...

    async def runs_of(self, organization_id: str, log_id: str) -> Sequence[ListedRun]:
        """Return the runs that the delivery of a log entry has started, oldest first."""
        ...

    async def run_counts(self, organization_id: str, *, since: datetime) -> Mapping[RunStatus, int]:
        """Count the runs that were created at ``since`` or later, by status; statuses without runs are left out."""
        ...

    async def log_of(self, organization_id: str, run: RunState) -> str | None:
        """Return the id of the log entry of a run's delivery; ``None``: no delivery, or the entry was swept."""
        ...

    async def post_titles(self, organization_id: str, post_ids: Collection[str]) -> Mapping[str, str]:
        """Return the titles of posts by their ids; deleted posts are left out."""
        ...


class Search(Protocol):
    """Full-text search whose matches depend on the words alone: every store returns the same matches.

    A search finds all documents written before it began, except the documents that :attr:`~.Hits.behind` counts.
    """

    async def records(
        self, organization_id: str, search: ContextSearch, *, limit: int, max_bytes: int, before: Cursor | None = None
    ) -> Hits[ContextRecord]:
        """Return matching context records older than ``before``, newest first.

        Their stored events have about ``max_bytes`` together; the first record is returned whatever its size.
        """
        ...

    async def posts(
        self, organization_id: str, search: PostSearch, *, limit: int, before: Cursor | None = None
    ) -> Hits[Post]:
        """Return matching posts, newest first by creation."""
        ...

    async def catch_up(self, *, limit: int) -> int:
        """Index at most ``limit`` new documents; return their number. Results of searches do not depend on it."""
        ...
