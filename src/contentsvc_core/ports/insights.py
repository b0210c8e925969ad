"""What people who look ask for, and nothing else does."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from contentsvc_core.insights import LogCount, LogSearch, Place
from contentsvc_core.journal import ListedEntry
from contentsvc_core.webhooks.events import Event
from contentsvc_core.workflows.runs import ListedRun, RunState, RunStatus


class Insights(Protocol):
    """Questions about what has happened. Nothing is written, and who delivers waits for none of them.

    Lists read no event: an event may have 25 MiB, and a list shows a line of it
    (:class:`~contentsvc_core.webhooks.summaries.EventSummary`).
    """

    async def log(
        self,
        organization_id: str,
        search: LogSearch,
        *,
        limit: int,
        before: Place | None = None,
        after: Place | None = None,
    ) -> Sequence[ListedEntry]:
        """Return the newest entries that ``search`` finds, newest first, at most ``limit``.

        Args:
            organization_id: Whose.
            search: Which.
            limit: How many.
            before: Only entries that are older than this place: the next part of a list that ended there.
            after: Only entries that are newer than this place: what came since.
        """
        ...

    async def entry(self, organization_id: str, log_id: str) -> ListedEntry | None:
        """Return one entry, as lists show it."""
        ...

    async def newest_entries(self, organization_id: str) -> Mapping[str, ListedEntry]:
        """Return the newest entry of each integration that has any, by the integration's id.

        Those that were removed are among them, as long as the log has entries of theirs.
        """
        ...

    async def log_counts(self, organization_id: str, *, since: datetime, span: timedelta) -> Sequence[LogCount]:
        """Count entries by stretches of time that begin at ``since`` or later, integrations and statuses.

        Oldest stretch first; where there is nothing, there is no count.

        Raises:
            ValueError: ``span`` is none of :data:`~contentsvc_core.insights.COUNTED_SPANS`.
        """
        ...

    async def runs(
        self,
        organization_id: str,
        *,
        statuses: Collection[RunStatus] = (),
        limit: int,
        before: Place | None = None,
    ) -> Sequence[ListedRun]:
        """Return the newest runs, newest first, at most ``limit``; with statuses, only the runs that have one of them.

        ``before``: only runs that are older than this place.
        """
        ...

    async def run(self, organization_id: str, run_id: str) -> ListedRun | None:
        """Return one run, as lists show it."""
        ...

    async def event_of(self, organization_id: str, run_id: str, *, max_bytes: int) -> Event | None:
        """Return the whole event of a run.

        ``None``: no delivery has started the run, or the stored event has more than about ``max_bytes``.
        """
        ...

    async def runs_of(self, organization_id: str, log_id: str) -> Sequence[ListedRun]:
        """Return the runs that the delivery of a log entry has started, oldest first.

        A replay is a delivery of its own, with its own entry: its runs are found by that one, and not by the entry of
        what was replayed. Nothing is found by an entry that was swept, or of a delivery that was not processed.
        """
        ...

    async def run_counts(self, organization_id: str, *, since: datetime) -> Mapping[RunStatus, int]:
        """Count the runs that were created at ``since`` or later by their statuses; one that none has is left out."""
        ...

    async def log_of(self, organization_id: str, run: RunState) -> str | None:
        """Return the id of the log entry of the delivery that started a run.

        ``None``: no delivery has started it, or the entry was swept.
        """
        ...

    async def run_of_post(self, organization_id: str, post_id: str) -> str | None:
        """Give the id of the run that has written a post; ``None``: the post is not there, or no run has written it."""
        ...
