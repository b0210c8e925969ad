"""The interface between worker and engine, and the worker's limits."""

from typing import Protocol, final

from attrs import frozen

from contentsvc_core.ports import Workflow
from contentsvc_core.workflows.runs import WorkflowRun


class Execution(Protocol):
    """An engine: performs taken runs, with durable steps."""

    async def open(self) -> None:
        """Prepare the engine, before the first run."""
        ...

    async def perform(self, run: WorkflowRun, workflow: Workflow) -> None:
        """Perform a run, or resume it; raise the exceptions of the run.

        On cancellation, the run stays resumable.
        """
        ...

    async def check(self) -> None:
        """Check whether runs can be performed now.

        Raises:
            StoreUnavailable: They cannot.
        """
        ...

    async def close(self) -> None:
        """Shut the engine down, after the last run."""
        ...


class Note(Protocol):
    """Receives events for operators: a name and details."""

    def __call__(self, event: str, /, **details: object) -> None:
        """Log an event."""
        ...


@final
@frozen(kw_only=True)
class Pace:
    """The worker's limits and intervals."""

    #: The most runs at a time.
    concurrency: int = 16
    #: Of these, the most of one organization. The rest is for other organizations, which must not wait for slow runs.
    per_organization: int = 12
    #: The interval of polling the ledger when no notification arrives, in seconds; it grows fourfold while idle.
    poll_s: float = 0.5
    #: The heartbeat interval, in seconds.
    beat_s: float = 2.0
    #: The interval of the engine's health check, in seconds.
    check_s: float = 5.0
    #: The time limit of an attempt, in seconds: a writer that hangs must not hold a place.
    deadline_s: float = 300.0
    #: How long a run keeps its place after a failure of the store or the engine, before it is given back, in seconds.
    pause_s: float = 2.0
