"""Cuts: connections that are cut at a commit, so that a node cannot know whether it was done."""

import asyncio
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, final

import httpx
from campaigns.crash.traffic import Kind, Sending
from campaigns.nodes.cluster import Cluster, asking, cluster
from campaigns.nodes.load import Load
from campaigns.nodes.proxy import Cut, Proxy, Trap
from campaigns.nodes.reckoning import Report, reckon, runs_ended
from tests.postgres import PrivateServer
from tests.server_process import LOOPBACK, PATIENCE_S

#: A part of a statement of the transaction that is cut: of deliveries, which a node writes several of at once in one
#: statement; then of their runs: taken, ended. These runs have no steps, so the engine commits nothing.
_DELIVERY: Final = "INSERT INTO claims"
_OF_RUNS: Final = ("takes=", "INSERT INTO posts")
#: The number of rounds after which a transaction of a run is also cut.
_ROUNDS_FOR_A_RUN: Final = 2
#: The numbers of concurrent deliveries to the node behind the proxy, and to the other node.
_BEHIND: Final = 4
_BESIDE: Final = 2
#: The longest time of an answer, in seconds: a node starts a transaction again, on a machine that may be busy.
SLOWEST_S: Final = 18.0


def run_cuts(folder: Path, *, rounds: int, seed: int, on_cut: Callable[[], None] = lambda: None) -> Report:
    """Cut the connections of one of two nodes of a new installation.

    Args:
        folder: An empty folder, for the ledger and the nodes' logs.
        rounds: The number of transactions to cut before their commit, and after it.
        seed: Decides the deliveries.
        on_cut: Called after each cut.
    """
    with PrivateServer() as server:
        proxy = Proxy(server.port)
        behind = server.url.replace(f"{LOOPBACK}:{server.port}", f"{LOOPBACK}:{proxy.port}")
        with cluster(folder, server.url, through=[behind, server.url]) as nodes:
            load = Load(nodes.prepared.hook, nodes.nodes, folder, seed=seed)
            try:
                campaign = _Campaign(nodes, load, proxy, random.Random(seed))  # noqa: S311  # no secret
                return asyncio.run(campaign.run(rounds, on_cut))
            finally:
                load.close()


@final
class _Campaign:
    def __init__(self, nodes: Cluster, load: Load, proxy: Proxy, chance: random.Random) -> None:
        self._cluster = nodes
        self._load = load
        self._proxy = proxy
        self._chance = chance
        #: The numbers of cut transactions, by place, and by whether a delivery's transaction was cut.
        self._cuts: Counter[tuple[Cut, bool]] = Counter()

    async def run(self, rounds: int, on_cut: Callable[[], None]) -> Report:
        async with self._proxy, asking() as client:
            for node in self._cluster.nodes:
                node.start()
            for node in self._cluster.nodes:
                await node.until_ready(client)
            for number in range(rounds):
                for cut in Cut:
                    await self._cut(client, cut, _DELIVERY)
                    if number % _ROUNDS_FOR_A_RUN == 0:
                        await self._cut(client, cut, _OF_RUNS[number // _ROUNDS_FOR_A_RUN % len(_OF_RUNS)])
                    on_cut()
            ended_s = await runs_ended(self._cluster, self._load, since=time.monotonic())
            slowest_s = max(each.ended - each.began for each in self._load.exchanges)
            if slowest_s > SLOWEST_S:
                self._load.faults.append(f"an answer took {slowest_s:.1f} s")
            unanswered = [each.error for each in self._load.exchanges if each.status is None]
            self._load.faults.extend(f"a node gave no answer: {error}" for error in unanswered)
            return await reckon(
                "cuts",
                self._cluster,
                self._load,
                before=self._cuts[Cut.BEFORE, True],
                after=self._cuts[Cut.AFTER, True],
                before_in_runs=self._cuts[Cut.BEFORE, False],
                after_in_runs=self._cuts[Cut.AFTER, False],
                slowest_s=round(slowest_s, 1),
                ended_s=round(ended_s, 1),
            )

    async def _cut(self, client: httpx.AsyncClient, cut: Cut, statement: str) -> None:
        """Send until a transaction is cut; then resend refused deliveries, and copies of the others."""
        behind, beside = self._cluster.nodes
        trap = self._proxy.set(Trap(cut, statement))
        deadline = time.monotonic() + PATIENCE_S
        sent: list[Sending] = []
        while not trap.sprung.is_set():
            assert time.monotonic() < deadline, f"nothing was cut {cut.value} the commit of {statement}"
            sent = [self._made() for _ in range(_BEHIND)]
            # Another delivery, and a copy of a delivery that the other node receives at the same time.
            others = [self._made() for _ in range(_BESIDE - 1)] + sent[:1]
            async with asyncio.TaskGroup() as group:
                for each in sent:
                    group.create_task(self._load.send(client, each, behind))
                for each in others:
                    group.create_task(self._load.send(client, each, beside))
            if statement != _DELIVERY:
                # Its runs start later.
                await asyncio.sleep(0.2)
        self._cuts[cut, statement == _DELIVERY] += 1
        await self._load.send(client, self._chance.choice(sent), self._chance.choice(self._cluster.nodes))
        await self._load.redeliver()

    def _made(self) -> Sending:
        delivery = str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        if self._chance.random() < 0.2:
            return Sending(delivery=delivery, kind=Kind.RELEASE, tag=f"v{delivery}")
        return Sending(delivery=delivery, kind=Kind.PUSH)
