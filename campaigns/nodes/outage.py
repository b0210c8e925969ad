"""An outage: PostgreSQL is stopped hard under load, and started again after a while."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, final

import httpx
from attrs import frozen
from campaigns.crash.traffic import Kind, Sending
from campaigns.nodes.cluster import LOOK_S, Cluster, Node, asking, cluster, unreadable
from campaigns.nodes.load import PER_S, Exchange, Load
from campaigns.nodes.reckoning import Report, reckon, runs_ended
from tests.postgres import PrivateServer

NODES: Final = 3
#: The time of load before and after the outage, in seconds.
_BEFORE_S: Final = 2.0
_AFTER_S: Final = 2.0
#: The longest time from the database's return to the first 200 of each node, in seconds: two on a quiet machine.
BACK_S: Final = 30.0
#: The longest time of an answer during an outage, in seconds: nodes wait five for a database.
SLOWEST_S: Final = 18.0
#: The bytes that a node may log about an outage without its request lines, and the bytes of one line.
LOG_BYTES: Final = 200_000
LINE_BYTES: Final = 2_000
_OF_A_REQUEST: Final = '"request_id"'


@final
@frozen(kw_only=True)
class Outage:
    """The times of an outage, by a monotonic clock."""

    began: float
    #: The start of the database; from now on any answer is allowed.
    ending: float
    back: float


def run_outage(
    folder: Path, *, seed: int, away_s: float, per_s: float = PER_S, on_stage: Callable[[], None] = lambda: None
) -> Report:
    """Stop the database of a new installation's nodes.

    Args:
        folder: An empty folder, for the ledger and the nodes' logs.
        seed: Decides the deliveries.
        away_s: The length of the outage, in seconds.
        per_s: New deliveries a second.
        on_stage: Called when the database is stopped, and when it has started again.
    """
    with PrivateServer() as server, cluster(folder, server.url, through=[server.url] * NODES) as nodes:
        load = Load(nodes.prepared.hook, nodes.nodes, folder, seed=seed, per_s=per_s)
        try:
            return asyncio.run(_Campaign(nodes, load, server).run(away_s, on_stage))
        finally:
            load.close()


@final
class _Campaign:
    def __init__(self, nodes: Cluster, load: Load, server: PrivateServer) -> None:
        self._cluster = nodes
        self._load = load
        self._server = server

    async def run(self, away_s: float, on_stage: Callable[[], None]) -> Report:
        nodes = self._cluster.nodes
        for node in nodes:
            node.start()
        async with asking() as client, asyncio.TaskGroup() as group:
            for node in nodes:
                await node.until_ready(client)
            group.create_task(self._load.run())
            await asyncio.sleep(_BEFORE_S)
            sizes = [node.log_size for node in nodes]
            await asyncio.to_thread(self._server.stop)
            began = time.monotonic()
            on_stage()
            await asyncio.sleep(away_s)
            ending = time.monotonic()
            await asyncio.to_thread(self._server.start)
            outage = Outage(began=began, ending=ending, back=time.monotonic())
            on_stage()
            back_s = max(await asyncio.gather(*(self._back(client, node, outage) for node in nodes)))
            await asyncio.sleep(_AFTER_S)
            self._load.stop()
        logs = [node.log(since=size) for node, size in zip(nodes, sizes, strict=True)]
        self._load.faults.extend(faults_of(outage, self._load.exchanges, logs, back_s))
        await self._load.redeliver()
        ended_s = await runs_ended(self._cluster, self._load, since=outage.back)
        during = [each for each in self._load.exchanges if _overlaps(each, outage)]
        return await reckon(
            "outage",
            self._cluster,
            self._load,
            away_s=away_s,
            refused=sum(each.status == 503 for each in during),
            slowest_s=round(max((each.ended - each.began for each in during), default=0.0), 1),
            back_s=round(back_s, 1),
            ended_s=round(ended_s, 1),
            log_kb=round(max(_beside_requests(log) for log in logs) / 1000, 1),
        )

    async def _back(self, client: httpx.AsyncClient, node: Node, outage: Outage) -> float:
        """Return the time until a node answers 200 to a delivery of its own, in seconds."""
        number = self._cluster.nodes.index(node)
        sending = Sending(delivery=f"back-{number}", kind=Kind.PUSH)
        while not await self._load.send(client, sending, node):
            await asyncio.sleep(LOOK_S)
        seconds = time.monotonic() - outage.back
        await node.until_ready(client)
        return seconds


def faults_of(outage: Outage, exchanges: Sequence[Exchange], logs: Sequence[str], back_s: float) -> list[str]:
    """Return the nodes' faults during an outage of the database.

    Args:
        outage: The times of the outage.
        exchanges: All requests; no node was killed.
        logs: Each node's log since the outage began.
        back_s: The time until every node answered 200, in seconds.
    """
    faults: list[str] = []
    for each in exchanges:
        seconds = each.ended - each.began
        if each.status is None:
            faults.append(f"a node gave no answer within {seconds:.1f} s: {each.error}")
        if _overlaps(each, outage) and seconds > SLOWEST_S:
            faults.append(f"an answer took {seconds:.1f} s while the database was away")
        if outage.began < each.began and each.ended < outage.ending and each.status not in {None, 503}:
            faults.append(f"a node answered {each.status} while the database was away")
    if back_s > BACK_S:
        faults.append(f"a node answered 200 only {back_s:.1f} s after the database was back")
    for log in logs:
        if _beside_requests(log) > LOG_BYTES:
            faults.append(f"a node wrote {_beside_requests(log)} bytes beside its requests' lines")
        faults.extend(f"a node wrote {line[:300]!r}…" for line in log.splitlines() if len(line.encode()) > LINE_BYTES)
        faults.extend(f"a node wrote {line[:300]!r}" for line in unreadable(log))
    if not any(outage.began < each.began and each.ended < outage.ending for each in exchanges):
        faults.append("nothing was sent while the database was away")
    return faults


def _overlaps(exchange: Exchange, outage: Outage) -> bool:
    return exchange.ended > outage.began and exchange.began < outage.back


def _beside_requests(log: str) -> int:
    return sum(len(line.encode()) + 1 for line in log.splitlines() if _OF_A_REQUEST not in line)
