"""Processes with an engine on the same stores; a test can kill one of them."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import count
from typing import Any, Final, cast, final

from contract_values import Stores, Tenant, later, take

from contentsvc_adapters.engine.execution import Execution, WorkerConfig
from contentsvc_adapters.engine.membership import Membership
from contentsvc_adapters.engine.worker import Worker
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import Executors, RunLedger, RunStateStore, Steps, Workflow
from contentsvc_core.testing import ManualClock
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun

_NAMES: Final = count(1)
PATIENCE_S: Final = 30.0


@final
class Cut:
    """A port of a process that may be killed: after the kill, none of its calls arrives."""

    def __init__(self, port: object) -> None:
        self._port = port
        self.dead = False
        #: The number of calls of each method.
        self.calls = Counter[str]()
        #: The number of calls after the kill.
        self.refused = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        async def call(*arguments: object, **named: object) -> Any:
            self.calls[name] += 1
            if self.dead:
                self.refused += 1
                message = "this process is dead"
                raise StoreUnavailable(message)
            return await method(*arguments, **named)

        return call


class Names:
    """Unique names of processes."""

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{next(_NAMES)}"

    def token(self, length: int) -> str:
        return "0" * length


@final
class Script:
    """A workflow of named steps with counters; a step may fail, wait, or be interrupted by a kill."""

    def __init__(self, ledger: RunLedger, clock: ManualClock, *names: str) -> None:
        self._ledger = ledger
        self._clock = clock
        self._names = names
        self.begun = 0
        self.done: list[str] = []
        self.failures: list[str] = []
        #: The remaining failures of each step.
        self.fails: dict[str, int] = {}
        #: The event that a step waits for after its beginning.
        self.gates: dict[str, asyncio.Event] = {}
        self.reached: dict[str, asyncio.Event] = {name: asyncio.Event() for name in names}
        #: The number of runs that have begun each step: the results of earlier steps are kept.
        self.entered = Counter[str]()

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        self.begun += 1
        results = [await steps.run(name, self._step(name)) for name in self._names]
        await self._ledger.end(run, RunStatus.SKIPPED, ",".join(results))

    def _step(self, name: str) -> Callable[[], Awaitable[str]]:
        async def step() -> str:
            self.reached[name].set()
            self.entered[name] += 1
            if (gate := self.gates.get(name)) is not None:
                await gate.wait()
            self.done.append(name)
            if self.fails.get(name, 0):
                self.fails[name] -= 1
                message = f"{name} failed"
                raise RuntimeError(message)
            return f"{name} {self.done.count(name)}"

        return step

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        self.failures.append(str(exc))
        await self._ledger.retry(run, due_at=self._clock.now() + timedelta(seconds=5), error=str(exc))


@final
class Process:
    """A process with an engine."""

    def __init__(
        self,
        stores: Stores,
        execution: Callable[[RunLedger, RunStateStore], Execution],
        clock: ManualClock,
        *,
        workflow: Workflow | Callable[[RunLedger, RunStateStore], Workflow],
        alone: bool = True,
        **pace: float,
    ) -> None:
        self._ports = [Cut(stores.ledger), Cut(stores.executors), Cut(stores.run_state)]
        ledger, executors, memory = self._ports
        self.execution = execution(cast("RunLedger", ledger), cast("RunStateStore", memory))
        self.faults: list[Exception] = []
        self.notes: list[tuple[str, dict[str, object]]] = []
        self.worker = Worker(
            self.execution,
            workflow(cast("RunLedger", ledger), cast("RunStateStore", memory)) if callable(workflow) else workflow,
            Membership(cast("Executors", executors), Names(), alone=alone, patience_s=0.5),
            ledger=cast("RunLedger", ledger),
            clock=clock,
            on_fault=self.faults.append,
            on_note=self._noted,
            pace=WorkerConfig(poll_s=0.05, heartbeat_s=0.05, pause_s=0.1, **cast("dict[str, Any]", pace)),
        )
        self._ended = False

    async def launch(self) -> "Process":
        await self.worker.launch()
        return self

    def _noted(self, event: str, /, **details: object) -> None:
        self.notes.append((event, details))

    def cut_off(self, *, away: bool) -> None:
        """Make the stores unavailable for this process, or available again."""
        for port in self._ports:
            port.dead = away

    async def looks(self, times: int = 3) -> None:
        """Wait until the worker has read pending runs ``times`` times."""
        ledger = self._ports[0]
        before = ledger.calls["pending"]

        async def looked() -> bool:
            return ledger.calls["pending"] >= before + times

        await until(looked, f"the worker has asked {times} times for pending runs")

    async def is_refused(self, calls: int) -> None:
        """Wait until ``times`` calls have failed because the stores are unavailable."""

        async def refused() -> bool:
            return sum(port.refused for port in self._ports) >= calls

        await until(refused, f"{calls} calls were refused")

    async def kill(self) -> None:
        """End as by `kill -9`: no run is returned, and the executor stays registered."""
        self.cut_off(away=True)
        await self.close()

    async def close(self, *, within_s: float = 0) -> None:
        if not self._ended:
            self._ended = True
            await self.worker.close(within_s=within_s)


async def started(owner: Tenant, number: int = 1, *, first: int = 0) -> list[str]:
    """Start runs; return their ids, oldest first."""
    ids: list[str] = []
    for each in range(first, first + number):
        settling = await owner.processed(f"d-{each}", at=later(milliseconds=each))
        await owner.stores.deliveries.settle(settling)
        ids.extend(run.id for run in settling.runs)
    return ids


async def run_of(owner: Tenant, id_: str) -> WorkflowRun:
    return next(run for run in await owner.stores.ledger.runs(owner.id) if run.id == id_)


async def until(holds: Callable[[], Awaitable[bool]], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not await holds():
                await asyncio.sleep(0.01)  # engines send no event: poll the rows
    except TimeoutError:
        raise AssertionError(what) from None


async def until_status(owner: Tenant, id_: str, status: RunStatus) -> WorkflowRun:
    async def holds() -> bool:
        return (await run_of(owner, id_)).status is status

    await until(holds, f"the run is {status.value}")
    return await run_of(owner, id_)


async def kills(owner: Tenant, id_: str, number: int) -> None:
    """Kill a run's process this many times."""
    for _ in range(number):
        await take(owner.stores, [id_])
        await owner.stores.executors.recover("killed", lost=await owner.stores.executors.heartbeat("nobody"))
