"""A store, its model, and the visible state of the store."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from itertools import permutations
from pprint import pformat
from typing import Any, Final, Protocol, final

from attrs import frozen
from campaigns.model.lists import Visible, modelled, visible
from campaigns.model.material import LANE, Fault, Lane, LaneIds
from campaigns.model.model import Model

from contentsvc_core import ports
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import DeliveryStore, Directory
from contentsvc_core.testing import START, ManualClock
from contentsvc_core.usecases.expire import Sweeper
from contentsvc_core.usecases.receive import Receiver
from contentsvc_core.webhooks.delivery import Address, HookConfiguration
from contentsvc_core.webhooks.settlement import Settled, Settlement
from contentsvc_core.workflows.runs import WorkflowRun


class Stores(ports.Stores, Protocol):
    """A family of stores over one state, which the campaign closes."""

    async def close(self) -> None: ...


class Disagreement(AssertionError):
    """The results of a store and of its model differ."""


@final
@frozen(kw_only=True)
class Step:
    """One operation on a store and on the model."""

    what: str
    perform: Callable[[], Awaitable[Any]]
    predict: Callable[[Model], Any]
    fault: Fault = Fault.NONE


@final
class _Watched:
    """A delivery store that records settlements, and whose connection fails by the script."""

    def __init__(self, store: DeliveryStore, directory: Directory) -> None:
        self._store = store
        self._directory = directory
        #: The settlements, and the first result of each.
        self.settled: Final[list[tuple[Settlement, Settled]]] = []

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        lane = LANE.get()
        # A delivery that is decided again gets the same ids, so that they are predictable. A stale settlement has
        # written nothing, or its ids are taken now.
        lane.counts.clear()
        if lane.fault is Fault.BROKEN:
            message = "the row cannot be read"
            raise ValueError(message)
        endpoint = await self._store.configuration(address, now, allow_cached=allow_cached)
        # Concurrent deliveries all read before one settles, even if the store is fast.
        await asyncio.sleep(0)
        return endpoint

    async def settle(self, settlement: Settlement) -> Settled:
        lane, log = LANE.get(), settlement.log
        fault = lane.fault
        if fault is Fault.CUT_BEFORE:
            raise StoreUnavailable
        if fault is Fault.SWITCHED_OFF:
            lane.fault = Fault.NONE
            await self._directory.enable_integration(log.organization_id, log.integration_id, enabled=False)
        answer = await self._store.settle(settlement)
        if answer is not Settled.STALE:
            self.settled.append((settlement, answer))
        # Only a written settlement can be cut off afterwards: a stale one is decided again.
        if fault is Fault.CUT_AFTER and answer is not Settled.STALE:
            raise StoreUnavailable
        return answer


@final
class Side:
    """One store, and a model of its own.

    Each store has a model of its own, because concurrent operations may have another order on each.
    """

    def __init__(self, name: str, stores: Stores, clock: ManualClock) -> None:
        self.name: Final = name
        self.stores: Final = stores
        self.model = Model()
        #: Runs as the store returned them when they were taken, the latest last.
        self.taken: list[WorkflowRun] = []
        self._watched: Final = _Watched(stores.deliveries, stores.directory)
        self.receiver: Final = Receiver(self._watched, stores.journal, clock, LaneIds())
        self.sweeper: Final = Sweeper(stores, clock)

    @property
    def settled(self) -> Sequence[tuple[Settlement, Settled]]:
        """Return the settlements, oldest first."""
        return self._watched.settled

    def taken_as(self, which: int) -> WorkflowRun | None:
        """Return the ``which``-th latest taken run."""
        return self.taken[-1 - which % len(self.taken)] if self.taken else None

    def run_at(self, place: int) -> str:
        """Return the id of a run, or an unknown id."""
        ids = [*sorted(self.model.runs), "unknown"]
        return ids[place % len(ids)]

    def key_at(self, place: int) -> str:
        """Return the prefix of an API key, or an unknown one."""
        prefixes = [*sorted(self.model.keys), "csk_unknown"]
        return prefixes[place % len(prefixes)]

    async def do(self, step: Step, number: int) -> Any:
        """Perform one operation, check that the answer is the model's, and return it."""
        answer = await _in(Lane(step=number, fault=step.fault), step)
        expected = step.predict(self.model)
        if answer != expected:
            raise Disagreement(self._difference(step.what, "the answer", expected, answer))
        return answer

    async def race(self, steps: Sequence[Step], lanes: Sequence[Lane]) -> list[Any]:
        """Perform concurrent operations; check that the model gives the same answers for one of their orders."""
        answers = await asyncio.gather(*(_in(lane, step) for lane, step in zip(lanes, steps, strict=True)))
        left = await seen(self.stores)
        for order in permutations(range(len(steps))):
            model = self.model.copy()
            if all(steps[n].predict(model) == answers[n] for n in order) and visible(model) == left:
                self.model = model
                return answers
        what = " | ".join(step.what for step in steps)
        model = self.model.copy()
        expected = [step.predict(model) for step in steps]
        raise Disagreement(
            self._difference(what, "no order gives the answers; in the order as written:", expected, answers)
            + _differences(visible(model), left)
        )

    async def look(self) -> None:
        """Check that the visible state is that of the model."""
        found, expected = await seen(self.stores), visible(self.model)
        if found != expected:
            what = f"{self.name}: what can be seen is not what the model has"
            raise Disagreement(what + _differences(expected, found))

    def _difference(self, what: str, where: str, expected: object, found: object) -> str:
        return f"{self.name}: {what}: {where}\n  expected {pformat(expected)}\n  found    {pformat(found)}"


async def _in(lane: Lane, step: Step) -> Any:
    LANE.set(lane)
    return await step.perform()


async def seen(stores: Stores) -> Visible:
    """Read the visible state of a store, in the form of :func:`~campaigns.model.lists.visible`."""
    organizations = await stores.directory.organizations()
    result: Visible = {"organizations": list(organizations), "keys": list(await stores.keys.keys())}
    parts = await asyncio.gather(*(_seen_of(stores, organization.id) for organization in organizations))
    for part in parts:
        result |= part
    return result


async def _seen_of(stores: Stores, organization_id: str) -> Visible:
    directory = stores.directory
    triggers = stores.triggers
    keys, integrations, triggers = await asyncio.gather(
        stores.keys.keys(organization_id), directory.integrations(organization_id), triggers.all_of(organization_id)
    )
    contexts, runs, posts, entries = await asyncio.gather(
        stores.contexts.records(organization_id),
        stores.ledger.runs(organization_id),
        stores.posts.posts(organization_id),
        stores.journal.entries(organization_id),
    )
    secrets = await asyncio.gather(*(directory.secrets(organization_id, each.id, START) for each in integrations))
    return {
        f"{organization_id} keys": list(keys),
        f"{organization_id} integrations": list(integrations),
        f"{organization_id} secrets": secrets,
        f"{organization_id} triggers": list(triggers),
        f"{organization_id} contexts": list(contexts),
        f"{organization_id} runs": list(runs),
        f"{organization_id} posts": list(posts),
        f"{organization_id} log": [(entry, entry.payload) for entry in modelled(entries)],
    }


def _differences(expected: Visible, found: Visible) -> str:
    """Return the differences of the lists, value by value."""
    lines: list[str] = []
    for name in sorted({*expected, *found}):
        wanted, given = expected.get(name, []), found.get(name, [])
        if wanted != given:
            lines.append(f"\n  {name}: {len(wanted)} expected, {len(given)} found")
            lines.extend(f"\n    missing {pformat(value)}" for value in wanted if value not in given)
            lines.extend(f"\n    strange {pformat(value)}" for value in given if value not in wanted)
            if all(value in given for value in wanted) and len(wanted) == len(given):
                lines.append("\n    the same values in another order, or as often not")
    return "".join(lines)
