"""Kills: nodes end with `kill -9` or are suspended for a while, one after the other, while deliveries stream in."""

import asyncio
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, final

import httpx
from campaigns.nodes.cluster import Cluster, Node, asking, cluster, until
from campaigns.nodes.load import PER_S, Load
from campaigns.nodes.reckoning import Report, reckon, runs_ended
from tests.percentiles import p99
from tests.server_process import PATIENCE_S

NODES: Final = 3
#: The share of kills of a node that is starting, and the usual time of a start, in seconds.
_IN_STARTUP: Final = 0.25
_STARTUP_S: Final = 3.0
#: The pause from the readiness of the previous node, and the time from the beginning of a burst, in seconds.
_SERVED_S: Final = 1.0
_IN_BURST_S: Final = 0.8
#: The number of kills for one suspended node.
_KILLS_FOR_A_STOP: Final = 6
#: The number of running runs, on all nodes, at which a node is suspended; the wait for it is limited.
_AT_WORK: Final = (4, 24)
_AT_WORK_WITHIN_S: Final = 5.0
#: The time that a node stays suspended after others have taken over its runs, in seconds.
_BEYOND_S: Final = 2.0
#: The first one that is killed has runs: it is stopped to see which are still there so much later, in seconds, and let
#: go on when none is, so often at most.
_STILL_S: Final = 1.0
_LOOKS: Final = 20
#: How long load goes on after the last kill, in seconds.
_AFTER_S: Final = 1.0


def run_kills(
    folder: Path, url: str, *, count: int, seed: int, per_s: float = PER_S, on_kill: Callable[[], None] = lambda: None
) -> Report:
    """Kill nodes of a new installation.

    Args:
        folder: An empty folder, for the ledger and the nodes' logs.
        url: A database, without a schema.
        count: The number of kills.
        seed: Decides the deliveries, and the nodes and times of kills; the interleaving depends on the machine.
        per_s: New deliveries a second.
        on_kill: Called after each kill.
    """
    with cluster(folder, url, through=[url] * NODES) as nodes:
        load = Load(nodes.prepared.hook, nodes.nodes, folder, seed=seed, per_s=per_s)
        try:
            campaign = _Campaign(nodes, load, random.Random(seed))  # noqa: S311  # no secret
            return asyncio.run(campaign.run(count, on_kill))
        finally:
            load.close()


@final
class _Campaign:
    """Kills and suspends nodes."""

    def __init__(self, nodes: Cluster, load: Load, plan: random.Random) -> None:
        self._cluster = nodes
        self._load = load
        self._plan = plan
        #: Nodes that were started again after a kill, and are not ready yet.
        self._starting: tuple[Node, float] | None = None
        #: From each kill to that node's readiness, in seconds.
        self._ready_s: list[float] = []
        self._stops = 0
        #: The number of runs that were taken over from suspended nodes.
        self._taken_from_stopped = 0

    async def run(self, count: int, on_kill: Callable[[], None]) -> Report:
        stops = set(self._plan.sample(range(count), max(1, count // _KILLS_FOR_A_STOP)))
        for node in self._cluster.nodes:
            node.start()
        async with asking() as client, asyncio.TaskGroup() as group:
            for node in self._cluster.nodes:
                await node.until_ready(client)
            group.create_task(self._load.run())
            killed_at = 0.0
            for number in range(count):
                if number in stops:
                    await self._stop(client)
                killed_at = await self._kill(client)
                on_kill()
            await self._until_started(client)
            await asyncio.sleep(_AFTER_S)
            self._load.stop()
        await self._load.redeliver()
        ended_s = await runs_ended(self._cluster, self._load, since=killed_at)
        return await reckon(
            "kills",
            self._cluster,
            self._load,
            lists=True,
            kills=count,
            stops=self._stops,
            taken_from_stopped=self._taken_from_stopped,
            ready_s_p99=round(p99(self._ready_s), 1),
            ready_s_max=round(max(self._ready_s), 1),
            ended_s=round(ended_s, 1),
        )

    async def _kill(self, client: httpx.AsyncClient) -> float:
        """Kill a node and start it again; return the time of the kill."""
        # All numbers are drawn, even unused ones: the speed of the machine must not change later kills.
        in_startup, startup_s, served_s = (self._plan.random() for _ in range(3))
        in_burst_s = self._plan.uniform(0, _IN_BURST_S)
        node = self._plan.choice(self._cluster.nodes)
        if self._starting is not None and in_startup < _IN_STARTUP:
            node = self._starting[0]
            await asyncio.sleep(startup_s * _STARTUP_S)
        else:
            await self._until_started(client)
            await asyncio.sleep(served_s * _SERVED_S)
            await self._into_burst(in_burst_s)
            if not self._ready_s:
                await self._into_runs(node)
        node.kill()
        killed_at = time.monotonic()
        node.start()
        self._starting = (node, killed_at)
        return killed_at

    async def _into_burst(self, seconds: float) -> None:
        await self._load.next_burst()
        await asyncio.sleep(seconds)

    async def _into_runs(self, node: Node) -> None:
        """Suspend a node while it works on runs."""
        for _ in range(_LOOKS):
            await self._until_at_work(1)
            node.stop()
            held = await self._running()
            await asyncio.sleep(_STILL_S)
            if held & await self._running():
                return
            node.resume()
            await self._load.next_burst()

    async def _running(self) -> set[str]:
        return {row["id"] for row in await self._cluster.rows("SELECT id FROM workflow_runs WHERE status = 'running'")}

    async def _until_at_work(self, runs: int) -> None:
        deadline = time.monotonic() + _AT_WORK_WITHIN_S
        while time.monotonic() < deadline:
            if len(await self._running()) >= runs:
                return

    async def _until_started(self, client: httpx.AsyncClient) -> None:
        if self._starting is not None:
            node, killed_at = self._starting
            await node.until_ready(client)
            self._ready_s.append(time.monotonic() - killed_at)
            self._starting = None

    async def _stop(self, client: httpx.AsyncClient) -> None:
        """Suspend a node until other nodes have recovered its runs, and continue it."""
        node = self._plan.choice(self._cluster.nodes)
        at_work, beyond_s = self._plan.randint(*_AT_WORK), self._plan.uniform(0, _BEYOND_S)
        await self._until_started(client)
        # Until the names of killed nodes are gone, and each running node has a name.
        await until(self._is_complete, "each node works under one name")
        before = await self._cluster.executors()
        await self._until_at_work(at_work)
        node.stop()
        self._stops += 1
        held = await self._cluster.rows("SELECT id, executor FROM workflow_runs WHERE status = 'running'")

        async def gone() -> set[str]:
            return before - await self._cluster.executors()

        await until(gone, "the one that stands still is given up")
        given_up = await gone()
        taken = [run["id"] for run in held if run["executor"] in given_up]
        self._taken_from_stopped += len(taken)

        async def ended() -> bool:
            return not await self._unended(taken)

        await until(ended, "others end the runs of the one that stands still", within_s=4 * PATIENCE_S)
        await asyncio.sleep(beyond_s)
        node.resume()

        async def is_back() -> bool:
            return bool(await self._cluster.executors() - before)

        await until(is_back, "it works under another name")
        await node.until_ready(client)
        if given_up & await self._cluster.executors():
            self._load.faults.append("a node that was given up works on under its old name")

    async def _unended(self, ids: list[str]) -> bool:
        query = "SELECT id FROM workflow_runs WHERE status IN ('pending', 'running')"
        return not {row["id"] for row in await self._cluster.rows(query)}.isdisjoint(ids)

    async def _is_complete(self) -> bool:
        return len(await self._cluster.executors()) == len(self._cluster.nodes)
