from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.events.normalized import Event
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.workflows.runs import ListedRun, RunState, RunStatus


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

    async def run_of_post(self, organization_id: str, post_id: str) -> str | None:
        """Return the id of the run that has written a post; ``None``: the post is unknown, or no run has written it."""
        ...

    async def post_titles(self, organization_id: str, post_ids: Collection[str]) -> Mapping[str, str]:
        """Return the titles of posts by their ids; deleted posts are left out."""
        ...
