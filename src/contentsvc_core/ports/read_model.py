"""The port for the read-only queries of lists and overviews."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from contentsvc_core.events.normalized import Event
from contentsvc_core.journal import ListedEntry
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.read_model import LogCount, LogSearch
from contentsvc_core.workflows.runs import ListedRun, RunState, RunStatus


class ReadModel(Protocol):
    """Queries about the log, runs and posts. Nothing is written, and deliveries never wait for a query.

    Lists do not read events: an event may have 25 MiB, and a list shows one line of it
    (:class:`~contentsvc_core.events.summaries.EventSummary`).
    """

    async def log(
        self,
        organization_id: str,
        search: LogSearch,
        *,
        limit: int,
        before: Cursor | None = None,
        after: Cursor | None = None,
    ) -> Sequence[ListedEntry]:
        """Return the newest entries that match ``search``, newest first.

        Args:
            organization_id: The organization.
            search: The filter.
            limit: The largest number of entries.
            before: Only entries older than this place: the next part of a list that ended there.
            after: Only entries newer than this place.
        """
        ...

    async def entry(self, organization_id: str, log_id: str) -> ListedEntry | None:
        """Return one entry in its list form; ``None``: it is unknown."""
        ...

    async def newest_entries(self, organization_id: str) -> Mapping[str, ListedEntry]:
        """Return the newest entry of each integration, by the integration's id.

        Integrations without entries are left out. Removed integrations are included as long as the log has entries of
        them.
        """
        ...

    async def log_counts(self, organization_id: str, *, since: datetime, span: timedelta) -> Sequence[LogCount]:
        """Count entries by stretch of time (from ``since`` on), integration and status.

        Oldest stretch first; groups without entries are left out.

        Raises:
            ValueError: ``span`` is not in :data:`~contentsvc_core.read_model.COUNTED_SPANS`.
        """
        ...

    async def runs(
        self,
        organization_id: str,
        *,
        statuses: Collection[RunStatus] = (),
        limit: int,
        before: Cursor | None = None,
    ) -> Sequence[ListedRun]:
        """Return the newest runs, newest first, at most ``limit``; ``statuses`` restricts the runs to these statuses.

        ``before``: only runs that are older than this place.
        """
        ...

    async def run(self, organization_id: str, run_id: str) -> ListedRun | None:
        """Return one run in its list form; ``None``: it is unknown."""
        ...

    async def event_of(self, organization_id: str, run_id: str, *, max_bytes: int) -> Event | None:
        """Return the whole event of a run.

        ``None``: the run was not started by a delivery, or the stored event has more than about ``max_bytes``.
        """
        ...

    async def runs_of(self, organization_id: str, log_id: str) -> Sequence[ListedRun]:
        """Return the runs that the delivery of a log entry has started, oldest first.

        A replay is a separate delivery with a log entry of its own: its runs belong to that entry. An entry that was
        swept, or whose delivery was not processed, has no runs.
        """
        ...

    async def run_counts(self, organization_id: str, *, since: datetime) -> Mapping[RunStatus, int]:
        """Count the runs that were created at ``since`` or later, by status; statuses without runs are left out."""
        ...

    async def log_of(self, organization_id: str, run: RunState) -> str | None:
        """Return the id of the log entry of the delivery that started a run.

        ``None``: the run was not started by a delivery, or the entry was swept.
        """
        ...

    async def run_of_post(self, organization_id: str, post_id: str) -> str | None:
        """Return the id of the run that has written a post; ``None``: the post is unknown, or no run has written it."""
        ...

    async def post_titles(self, organization_id: str, post_ids: Collection[str]) -> Mapping[str, str]:
        """Return the titles of posts by their ids; deleted posts are left out."""
        ...
