"""The runner of scripts: each step runs on all stores at once, each with a model of its own."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime  # noqa: TC003
from typing import Any, ClassVar

from campaigns.model import editing, operations, runs, work
from campaigns.model.bench import Bench
from campaigns.model.choices import (
    Cancelling,
    Change,
    Completing,
    Creating,
    Doing,
    Ending,
    GivingBack,
    Move,
    Remembering,
    Retargeting,
    Retrying,
    Settling,
    Switching,
    Taking,
)
from campaigns.model.material import INTEGRATIONS, ORGANIZATIONS, Arrival, Fault, Lane, Sending
from campaigns.model.sides import Side, Step
from hypothesis.stateful import RuleBasedStateMachine
from tests.golden import delivered

from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.testing import ManualClock
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun
from contentsvc_core.workflows.triggers import Trigger

#: The executors that are registered at the beginning.
_EXECUTORS = 2


class Script(RuleBasedStateMachine):
    """Runs a script; its rules are in the subclass.

    A script names values by their positions, never by an id that a store returned: after a race the stores may differ,
    but the script must be the same.
    """

    #: Set by the runner.
    bench: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self._agrees = True
        #: The number of the current step.
        self.number = 0
        self.executors = [f"exe-{number}" for number in range(_EXECUTORS)]
        #: The sent deliveries.
        self.sent: list[Sending] = []
        #: The processed deliveries and their times, by the first store: in memory, the order is deterministic.
        self.processed: list[tuple[Sending, datetime]] = []
        self.sides = [Side(name, stores, self.clock) for name, stores in self.bench.fresh()]
        for organization in ORGANIZATIONS:
            self.each(lambda side, value=organization: operations.add_organization(side.stores, value))
        for integration in INTEGRATIONS:
            self.each(lambda side, value=integration: operations.connect(side.stores, value))
        self.add(self.trigger("org_acme", [1, 2]))
        self.add(self.trigger("org_acme", [1]))
        self.add(self.trigger("org_zenith", [1], event_types=["push"]))
        for executor in self.executors:
            self.each(lambda side, name=executor: work.join(side.stores, name))
        for to in ("acme/a/1", "zenith/z/1"):
            self.receive(Sending(to=to, delivery_id="d-0", label="one commit"))

    def teardown(self) -> None:
        """Check that the visible state of each store equals its model."""
        if not self._agrees:
            # The fault was reported already.
            return
        for organization in ORGANIZATIONS:
            self.each(
                lambda side, owner=organization.id: operations.read_page(side.stores, owner, PostQuery(), PageRequest())
            )
        self._on_all(lambda side: side.look())
        self.bench.done(self.number)

    def each(self, make: Callable[[Side], Step | None]) -> Any:
        """Perform a step on each store; return the answer of the first store."""
        self.number += 1

        async def do(side: Side) -> Any:
            step = make(side)
            return None if step is None else await side.do(step, self.number)

        answer = self._on_all(do)
        self._count(answer)
        return answer

    def each_taken(self, which: int, make: Callable[[Side, WorkflowRun], Step]) -> Any:
        """Perform a step with the ``which``-th latest taken run; another executor may own it now."""

        def make_one(side: Side) -> Step | None:
            run = side.taken_as(which)
            return None if run is None else make(side, run)

        return self.each(make_one)

    def take_what_is_pending(self, limit: int, executor: str) -> None:
        """Claim the first due runs for an executor."""

        def take(side: Side) -> Step:
            due = runs.pending(side.model, self.clock.now(), limit=limit, per_organization=limit, without=())
            return work.take(side, [each.id for each in due], executor)

        self.each(take)

    def take_again(self, executor: str) -> None:
        """Claim the last taken run again."""
        self.each(lambda side: (run := side.taken_as(0)) and work.take(side, [run.id], executor))

    def take_whatever(self, places: Sequence[int], executor: str) -> None:
        """Claim runs in any order, some twice, or unknown ones."""
        self.each(lambda side: work.take(side, [side.run_at(place) for place in places], executor))

    def join(self) -> str:
        """Register one more executor."""
        self.executors.append(f"exe-{len(self.executors)}")
        self.each(lambda side: work.join(side.stores, self.executors[-1]))
        return self.executors[-1]

    def executor(self, place: int) -> str:
        """Return the name of an executor, or an unknown name."""
        names = [*self.executors, "stranger"]
        return names[place % len(names)]

    def change(self, change: Change) -> None:
        """Change the settings of an organization."""

        def make(side: Side) -> Step:
            match change:
                case Switching():
                    return self.switch(side, change)
                case Creating():
                    trigger = self.trigger(
                        change.owner, change.repositories, provider=change.provider, event_types=change.kinds
                    )
                    return editing.add_trigger(side.stores, trigger)
                case Retargeting():
                    return self.retarget(side, change)
                case Organization():
                    return operations.add_organization(side.stores, change)
                case Integration():
                    return operations.connect(side.stores, change)

        self.each(make)

    def do(self, doing: Doing, which: int) -> None:
        """Apply an operation to a taken run."""
        if isinstance(doing, Cancelling):
            self.each(lambda side: work.cancel(side.stores, doing.owner, side.run_at(which)))
            return

        def do(side: Side, run: WorkflowRun) -> Step:
            match doing:
                case Completing():
                    return work.complete(side.stores, run, self.post(run, published=doing.published), doing.once)
                case Ending():
                    return work.end(side.stores, run, doing.status)
                case Retrying():
                    return work.retry(side.stores, run, self.clock.now() + doing.wait)
                case Remembering():
                    return work.remember(side.stores, run, doing.step, doing.result)
                case GivingBack():
                    return work.requeue(side.stores, run)

        self.each_taken(which, do)

    def race(self, moves: Sequence[Move]) -> None:
        """Perform concurrent operations on each store."""
        self.number += 1

        async def race(side: Side) -> list[Any]:
            steps = {lane: step for lane, move in enumerate(moves) if (step := self._move(side, move, lane))}
            lanes = [Lane(step=self.number, number=lane) for lane in steps]
            return await side.race(list(steps.values()), lanes)

        self.bench.figures["races"] += 1
        for answer in self._on_all(race):
            self._count(answer)

    def receive(self, sending: Sending, fault: Fault = Fault.NONE) -> None:
        """Send a delivery."""
        at = self.clock.now()
        self.sent.append(sending)
        answer = self.each(
            lambda side: operations.receive(side, Arrival(sending=sending, at=at, step=self.number, fault=fault))
        )
        match answer:
            case (200, {"data": {"processed": _}}):
                self.processed.append((sending, at))
            case _:
                pass

    def add(self, trigger: Trigger) -> None:
        self.each(lambda side: editing.add_trigger(side.stores, trigger))

    def trigger(
        self, owner: str, repository_ids: Sequence[int], *, provider: str = "codehost", event_types: Sequence[str] = ()
    ) -> Trigger:
        """Create a trigger."""
        return Trigger(
            id=f"trg_{self.number:08d}",
            organization_id=owner,
            source_type=f"{provider}_webhook",
            repository_ids=repository_ids,
            event_types=event_types,
            output_type=ContentType.CHANGELOG,
            created_at=self.clock.now(),
        )

    def post(self, run: WorkflowRun, lane: int = 0, *, published: bool = False) -> Post:
        now = self.clock.now()
        return Post(
            id=f"post_{self.number:08d}-{lane}",
            organization_id=run.organization_id,
            title=delivered(run).event.type,
            content="<p>A lamp.</p>",
            markdown="A lamp.",
            content_type=[*ContentType][self.number % 2],
            source_metadata={"repositories": [delivered(run).repository]} if self.number % 3 else None,
            status=PostStatus.PUBLISHED if published else PostStatus.DRAFT,
            created_at=now,
            updated_at=now,
        )

    def switch(self, side: Side, move: Switching) -> Step:
        """Create the step that switches a trigger or an integration."""
        triggers = sorted(side.model.triggers)
        if move.trigger is None:
            return operations.switch_integration(side.stores, move.owner, move.integration, enabled=move.enabled)
        trigger_id = triggers[move.trigger % len(triggers)]
        return operations.switch_trigger(side.stores, move.owner, trigger_id, enabled=move.enabled)

    def retarget(self, side: Side, change: Retargeting) -> Step:
        """Create the step that changes a trigger, or removes it; the last one stays."""
        triggers = sorted(side.model.triggers)
        trigger_id = triggers[change.which % len(triggers)] if len(triggers) > 1 else "trg_unknown"
        if change.repositories is None:
            return editing.remove_trigger(side.stores, change.owner, trigger_id)
        return editing.change_trigger(side.stores, change.owner, trigger_id, change.repositories, change.kinds)

    def edit_post(self, which: int, owner: str | None, *, stale: bool) -> None:
        """Change a post, or have an owner remove it."""
        now = self.clock.now()
        if owner is None:
            self.each(lambda side: editing.change_post(side, which, now, stale=stale))
        else:
            self.each(lambda side: editing.remove_post(side, owner, which))

    def _move(self, side: Side, move: Move, lane: int) -> Step | None:
        match move:
            case Sending():
                arrival = Arrival(sending=move, at=self.clock.now(), step=self.number, lane=lane)
                return operations.receive(side, arrival)
            case Switching():
                return self.switch(side, move)
            case Settling():
                return operations.settle_again(side, move.which)
            case Taking():
                return self._take_at_once(side, move.place, lane)
            case Completing():
                run = side.taken_as(lane)
                return run and work.complete(side.stores, run, self.post(run, lane), move.once)

    def _take_at_once(self, side: Side, place: int, lane: int) -> Step | None:
        free = sorted(name for name in side.model.executors if not runs.running(side.model, name))
        # An unregistered executor gets no runs, and takes none from the others.
        takers = [*free, "exe_stranger"]
        waiting = sorted(run.id for run in side.model.runs.values() if run.status is RunStatus.PENDING)
        # An executor takes runs in one place at a time: the guarantee about suspects is for such executors.
        return (
            work.take(side, [waiting[place % len(waiting)]], takers[lane]) if waiting and lane < len(takers) else None
        )

    def _on_all(self, do: Callable[[Side], Coroutine[Any, Any, Any]]) -> Any:
        async def on_all() -> list[Any]:
            # All of them end: the next example must not meet operations of this one.
            return await asyncio.gather(*(do(side) for side in self.sides), return_exceptions=True)

        answers = self.bench.run(on_all())
        for answer in answers:
            if isinstance(answer, BaseException):
                self._agrees = False
                raise answer
        return answers[0]

    def _count(self, answer: Any) -> None:
        figures = self.bench.figures
        match answer:
            case (200, {"data": {**data}}):
                endings = [ending for ending in ("processed", "duplicate", "filtered", "ignored") if ending in data]
                figures[endings[0] if endings else "pinged"] += 1
            case (int(), {"error": _}):
                figures["refused"] += 1
            case "StoreUnavailable" | "ReceivingFailed":
                figures["failed"] += 1
            case [WorkflowRun(), *more]:
                figures["runs taken"] += 1 + len(more)
            case _:
                pass
