from collections.abc import Sequence
from typing import Protocol

from contentsvc_core.workflows.jobs import Job, JobEvent


class Jobs(Protocol):
    """The jobs. A job's status is that of its run in the ledger (:class:`~contentsvc_core.ports.RunLedger`)."""

    async def start(self, job: Job) -> None:
        """Store a job, its run and its first events in one transaction. A repeated call changes nothing."""
        ...

    async def job(self, organization_id: str, job_id: str) -> Job | None:
        """Return a job with its current run, and its events in the order in which they were added."""
        ...

    async def note(self, events: Sequence[JobEvent]) -> None:
        """Append events to their jobs. Each event is stored once, even when several processes add it."""
        ...
