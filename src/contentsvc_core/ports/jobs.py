"""What clients have asked for, and follow."""

from collections.abc import Sequence
from typing import Protocol

from contentsvc_core.content.jobs import Job, JobEvent


class Jobs(Protocol):
    """The jobs. A job's run is in the ledger (:class:`~contentsvc_core.ports.RunLedger`), and tells where it stands."""

    async def start(self, job: Job) -> None:
        """Store a job, its run and its first events, all of it or nothing. The same once more changes nothing."""
        ...

    async def job(self, organization_id: str, job_id: str) -> Job | None:
        """Give a job with its run as it is now, and its events in the order in which they were noted."""
        ...

    async def note(self, events: Sequence[JobEvent]) -> None:
        """Add events to their jobs, each once, whoever notes it how often."""
        ...
