"""What the worker asks of an engine, and how much it does at a time."""

from typing import Protocol, final

from attrs import frozen

from contentsvc_core.ports import Workflow
from contentsvc_core.workflows.runs import WorkflowRun


class Execution(Protocol):
    """How an engine performs runs that were taken: with steps that last."""

    async def open(self) -> None:
        """Get ready, before anything is performed."""
        ...

    async def perform(self, run: WorkflowRun, workflow: Workflow) -> None:
        """Perform a run, resuming it when it was begun before; raise what it raises.

        Cancelled, it leaves the run so that it can be resumed.
        """
        ...

    async def check(self) -> None:
        """Find out whether anything can be performed now.

        Raises:
            StoreUnavailable: Nothing can.
        """
        ...

    async def close(self) -> None:
        """End, after everything that was being performed."""
        ...


class Note(Protocol):
    """Told of what an operator wants to know: a word for what has happened, and its details."""

    def __call__(self, event: str, /, **details: object) -> None:
        """Take note."""
        ...


@final
@frozen(kw_only=True)
class Pace:
    """How much is done at a time, and how often is looked."""

    #: How many runs are worked on at a time.
    concurrency: int = 16
    #: Of one organization. The rest is for the others, who must not wait for its slowest runs.
    per_organization: int = 12
    #: Nobody has to nudge: this often the ledger is looked at all the same, in seconds.
    poll_s: float = 0.5
    #: How often an executor says that it lives, in seconds.
    beat_s: float = 2.0
    #: How often is looked whether the engine can perform anything, in seconds.
    check_s: float = 5.0
    #: How long a run may take, in seconds; then it has failed this time. A writer that hangs must not hold a slot.
    deadline_s: float = 300.0
    #: How long a run whose store or engine is away keeps its slot before it is given back, in seconds.
    pause_s: float = 2.0
