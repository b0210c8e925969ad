"""The interface between worker and engine, and the worker's limits."""

from typing import Protocol, final

from attrs import frozen

from contentsvc_core.ports import Workflow
from contentsvc_core.workflows.runs import WorkflowRun


class Execution(Protocol):
    async def open(self) -> None: ...

    async def perform(self, run: WorkflowRun, workflow: Workflow) -> None: ...

    async def check(self) -> None:
        """Check whether runs can be performed now; raise :class:`StoreUnavailable` if not."""
        ...

    async def close(self) -> None: ...


class EventSink(Protocol):
    def __call__(self, event: str, /, **details: object) -> None: ...


@final
@frozen(kw_only=True)
class WorkerConfig:
    concurrency: int = 32
    #: Of these, the most of one organization. The rest is for other organizations, which must not wait for slow runs.
    per_organization: int = 24
    #: The interval of polling the ledger when no notification arrives, in seconds; it grows fourfold while idle.
    poll_s: float = 0.5
    heartbeat_s: float = 2.0
    #: The interval of the engine's health check, in seconds.
    check_s: float = 5.0
    #: The time limit of an attempt, in seconds: a writer that hangs must not hold a place.
    deadline_s: float = 300.0
    #: The time, in seconds, for which a run keeps its place after a failure of the store or the engine.
    pause_s: float = 2.0
