"""One episode: nodes, a code host and faults for some simulated minutes; then the data is checked."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from hashlib import blake2b
from typing import Final, final

from attrs import Factory, define, frozen
from campaigns.simulate.faults import Faults
from campaigns.simulate.host import CodeHost, Hook, Kind, Sent
from campaigns.simulate.loop import VirtualLoop
from campaigns.simulate.node import Lost, Node, SharedClock, SimulatedWriter, owning_tasks
from campaigns.simulate.verdict import Expected, examine
from tests.contracts.contract_values import RotatingSealer

from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_adapters.memory.state import State
from contentsvc_core.content.posts import ContentType
from contentsvc_core.errors import ReceivingFailed, StoreUnavailable
from contentsvc_core.organizations import Integration, Organization, Repository
from contentsvc_core.testing import START, CountingIds, switched
from contentsvc_core.webhooks.delivery import Delivery
from contentsvc_core.workflows.runs import RunStatus
from contentsvc_core.workflows.triggers import Trigger

#: The time in which deliveries are created, in simulated seconds.
_LASTS_S: Final = 240.0
#: The timeout of a code host, in seconds.
_PATIENCE_S: Final = 10.0
#: The time limit until all work is done after the faults end, in simulated seconds.
_DRAINS_S: Final = 600
#: The share of calls of a store that meet a fault.
_RATE: Final = 0.02
_NODES: Final = 3

#: Builds stores over a state: the product's stores, or stores with a planted fault.
Build = Callable[[State], MemoryStores]


def sound(state: State) -> MemoryStores:
    """Build the product's own stores."""
    return memory_stores(RotatingSealer(), state)


@final
@frozen(kw_only=True)
class Report:
    """The result of an episode."""

    figures: Counter[str]
    #: The faults, as sentences.
    faults: list[str]
    #: A digest of all stored data and answers: the same seed has the same digest.
    digest: str


def run_episode(seed: int, *, deliveries: int, build: Build = sound) -> Report:
    """Run an episode.

    Args:
        seed: Decides everything.
        deliveries: The number of deliveries.
        build: Builds the stores.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        owning_tasks(runner.get_loop())
        return runner.run(_Episode(seed, deliveries, build).run())


def _generator(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # reproducible from the seed


@final
@define(kw_only=True)
class _Setting:
    """The nodes, the code host, and the hooks."""

    hooks: list[Hook] = Factory(list[Hook])
    triggers: list[Trigger] = Factory(list[Trigger])
    expected: Expected = Factory(Expected)


@final
class _Episode:
    def __init__(self, seed: int, deliveries: int, build: Build) -> None:
        self._rng = _generator(seed)
        self._deliveries = deliveries
        self._state = State()
        self._build = build
        self._stores = build(self._state)
        self._clock = SharedClock()
        self._ids = CountingIds()
        self._faults = Faults(_generator(self._rng.getrandbits(64)), _RATE)
        self._healed = False
        chance = _generator(self._rng.getrandbits(64))
        self._writer = SimulatedWriter(
            chance, costly=self._rng.random() < 0.5, fails=lambda: not self._healed and chance.random() < 0.05
        )
        self._nodes: list[Node] = []
        self._named = 0
        self._restarts: set[asyncio.Task[None]] = set()
        self._figures = Counter[str]()

    async def run(self) -> Report:
        setting = await self._set_up()
        host = CodeHost(_generator(self._rng.getrandbits(64)), setting.hooks)
        for _ in range(_NODES):
            await self._start_node()
        sent: list[Sent] = []
        disturbing = asyncio.create_task(self._disturb(setting))
        sending: list[asyncio.Task[None]] = []
        while len(sent) < self._deliveries:
            created = host.everywhere() if self._rng.random() < 0.1 else [host.next()]
            sent += created
            sending += [asyncio.create_task(self._deliver(each)) for each in created]
            await asyncio.sleep(self._rng.expovariate(self._deliveries / _LASTS_S))
        disturbing.cancel()
        await self._heal()
        await asyncio.gather(*sending)
        await self._drain()
        faults = examine(self._state, sent, setting.expected)
        await self._a_day_later(sent, setting.expected, faults)
        for node in self._nodes:
            await node.stop()
        return self._report(sent, faults)

    async def _set_up(self) -> _Setting:
        setting = _Setting()
        for number in range(1, 4):
            organization_id = f"org_{number}"
            await self._stores.directory.add_organization(
                Organization(id=organization_id, slug=f"o{number}", name=f"O{number}", created_at=START)
            )
            # The first two organizations have the same repositories, and the third one has others.
            repositories = [1, 2] if number < 3 else [3]
            for repository_id in repositories:
                hook = Hook(
                    organization_id=organization_id,
                    integration_id=f"int_{number}_{repository_id}",
                    repository_id=repository_id,
                    secret=f"secret of {number} and {repository_id}",
                )
                named = Repository(id=repository_id, full_name=f"acme/r{repository_id}", branch=None)
                connected = Integration(
                    id=hook.integration_id,
                    organization_id=organization_id,
                    provider="codehost",
                    repositories=(named,),
                    created_at=START,
                )
                await self._stores.directory.add_integration(connected, hook.secret)
                setting.hooks.append(hook)
            for place, (types, output) in enumerate(
                [((), ContentType.CHANGELOG), (("push",), ContentType.BLOG_POST), (("release",), ContentType.CHANGELOG)]
            ):
                trigger = Trigger(
                    id=f"trg_{number}_{place}",
                    organization_id=organization_id,
                    source_type="codehost_webhook",
                    repository_ids=repositories if place else repositories[:1],
                    event_types=types,
                    output_type=output,
                    created_at=START,
                )
                if await self._stores.triggers.add(trigger) != trigger:
                    message = "the setting itself is refused"
                    raise ValueError(message)
                setting.triggers.append(trigger)
        setting.expected.triggers = {trigger.id: trigger for trigger in setting.triggers}
        return setting

    async def _start_node(self) -> None:
        self._named += 1
        skew = timedelta(milliseconds=self._rng.randint(-1500, 1500))
        node = Node(
            f"node {self._named}",
            self._build(self._state),
            self._clock.of_node(skew),
            self._ids,
            self._writer,
            self._faults,
        )
        self._nodes.append(node)
        await node.start()

    async def _disturb(self, setting: _Setting) -> None:
        """Kill, stop and replace nodes, and change the configuration."""
        if self._rng.random() < 0.1:
            # Once, and by an hour: work that is due by the earlier clock waits that long.
            await asyncio.sleep(self._rng.uniform(0, _LASTS_S))
            self._clock.step(timedelta(hours=-1))
            self._figures["clock steps"] += 1
        while True:
            await asyncio.sleep(self._rng.expovariate(1 / 15))
            draw = self._rng.random()
            living = [node for node in self._nodes if not node.is_dead]
            if draw < 0.3 and living:
                self._rng.choice(living).kill()
                self._figures["kills"] += 1
            elif draw < 0.5 and living:
                # Usually longer than the time after which the other nodes take its runs over.
                self._rng.choice(living).cut_off(self._rng.uniform(5, 40))
                self._figures["nodes cut off"] += 1
            elif draw < 0.6 and len(living) > 1:
                node = self._rng.choice(living)
                self._nodes.remove(node)
                await node.stop()
                self._figures["stops"] += 1
            elif draw < 0.8:
                trigger = self._rng.choice(setting.triggers)
                setting.expected.toggled.add(trigger.id)
                enabled = self._rng.random() < 0.6
                await self._stores.triggers.change(trigger.organization_id, trigger.id, switched(enabled=enabled))
                self._figures["changes of configuration"] += 1
            await self._fill_up()

    async def _fill_up(self) -> None:
        """Replace killed and stopped nodes."""
        self._nodes = [node for node in self._nodes if not node.is_dead]
        while len(self._nodes) < _NODES:
            self._figures["nodes replaced"] += 1
            await self._start_node()

    async def _deliver(self, sent: Sent) -> None:
        """Send a delivery until it is acknowledged; sometimes send it again, or several times at once."""
        copies = self._rng.choice((2, 3, 4)) if self._rng.random() < 0.1 else 1
        await asyncio.gather(*(self._until_acknowledged(sent) for _ in range(copies)))
        if self._rng.random() < 0.1:
            await asyncio.sleep(self._rng.uniform(0, 120))
            await self._until_acknowledged(sent)

    async def _until_acknowledged(self, sent: Sent) -> None:
        while not await self._send(sent):
            await asyncio.sleep(self._rng.uniform(0.5, 30))

    async def _send(self, sent: Sent) -> bool:
        """Send a delivery once; return whether it was acknowledged or finally refused."""
        if not self._nodes:
            return False
        sent.tries += 1
        self._figures["requests"] += 1
        answer = await self._answer_of(self._rng.choice(self._nodes), sent.delivery)
        if answer is None:
            sent.unknown += 1
            self._figures["without an answer"] += 1
            return False
        sent.answers.append(answer)
        return True

    async def _answer_of(self, node: Node, delivery: Delivery) -> str | None:
        try:
            outcome = await node.receive(delivery, within_s=_PATIENCE_S)
        except (Lost, StoreUnavailable, ReceivingFailed):
            return None
        if not self._healed and self._rng.random() < 0.01:
            # The answer is lost.
            self._figures["answers lost"] += 1
            return None
        return type(outcome).__name__

    async def _heal(self) -> None:
        self._faults.heal()
        self._healed = True
        await self._fill_up()

    async def _drain(self) -> None:
        """Wait until no work is left; the final check reports the rest."""
        # After a clock was set back, due work waits until the clock has caught up.
        left_s = _DRAINS_S + 3600 * self._figures["clock steps"]
        while self._state.unfinished and left_s > 0:
            await asyncio.sleep(1.0)
            left_s -= 1

    async def _a_day_later(self, sent: list[Sent], expected: Expected, faults: list[str]) -> None:
        """Send some deliveries again when their claims have ended: each is processed exactly once more."""
        # Claims end by the clocks, so the wait includes the time by which the clocks were set back.
        self._clock.step(timedelta(days=1, hours=self._figures["clock steps"], seconds=5))
        again = self._rng.sample(sent, min(5, len(sent)))
        runs = {run.id for run in self._state.runs.values()}
        await asyncio.gather(*(self._until_acknowledged(each) for each in again for _ in range(2)))
        await self._drain()
        wanted = {each.key for each in again if each.kind is Kind.WANTED}
        started = [run for run in self._state.runs.values() if run.id not in runs]
        faults += expected.second_time(self._state, wanted, started)

    def _report(self, sent: list[Sent], faults: list[str]) -> Report:
        figures = self._figures
        figures["episodes"] = 1
        figures["deliveries"] = len(sent)
        for fault, number in self._faults.met.items():
            figures["faults"] += number
            figures[f"faults: {fault.value}"] += number
        figures["runs"] = len(self._state.runs)
        figures["posts"] = len(self._state.posts)
        figures["taken over"] = sum(run.kills > 0 for run in self._state.runs.values())
        figures["failed runs"] = sum(run.status is RunStatus.FAILED for run in self._state.runs.values())
        stored = (self._state.log, self._state.runs, self._state.posts, self._state.contexts, self._state.claims)
        answered = [(each.key, each.answers, each.unknown) for each in sent]
        digest = blake2b(repr((stored, answered)).encode(), digest_size=16).hexdigest()
        return Report(figures=figures, faults=faults, digest=digest)
