"""An upgrade: the next version migrates the database under a node of this one, and serves beside it."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, final

import httpx
from campaigns.crash.traffic import Kind, Sending
from campaigns.nodes.cluster import LOOK_S, Cluster, Node, asking, cluster
from campaigns.nodes.load import PER_S, Load
from campaigns.nodes.reckoning import Report, reckon, runs_ended
from tests.server_process import COMMAND, NEXT_VERSION

#: The time of load on each stage, in seconds.
_STAGE_S: Final = 2.0
#: The column, table and index of the migration.
_ADDED: Final = "SELECT count(*) AS tables FROM information_schema.tables WHERE table_name = 'added'"


def run_upgrade(
    folder: Path, url: str, *, seed: int, per_s: float = PER_S, on_stage: Callable[[], None] = lambda: None
) -> Report:
    """Migrate the database of a new installation while a node serves.

    Args:
        folder: An empty folder, for the ledger and the nodes' logs.
        url: A database, without a schema.
        seed: Decides the deliveries.
        per_s: New deliveries a second.
        on_stage: Called when the database is migrated, and when the new node has served.
    """
    programs = ((COMMAND,), NEXT_VERSION)
    with cluster(folder, url, through=[url] * len(programs), programs=programs) as nodes:
        receiving = [nodes.nodes[0]]
        load = Load(nodes.prepared.hook, receiving, folder, seed=seed, per_s=per_s)
        try:
            return asyncio.run(_Campaign(nodes, receiving, load).run(on_stage))
        finally:
            load.close()


@final
class _Campaign:
    def __init__(self, nodes: Cluster, receiving: list[Node], load: Load) -> None:
        self._cluster = nodes
        self._old, self._new = nodes.nodes
        #: The nodes that get the load.
        self._receiving = receiving
        self._load = load
        self._looks = 0

    async def run(self, on_stage: Callable[[], None]) -> Report:
        async with asking() as client, asyncio.TaskGroup() as group:
            self._old.start()
            await self._old.until_ready(client)
            group.create_task(self._load.run())
            looking = group.create_task(self._look(client))
            await asyncio.sleep(_STAGE_S)
            await self._migrate()
            on_stage()
            await asyncio.sleep(_STAGE_S)
            self._new.start()
            await self._new.until_ready(client)
            self._receiving.append(self._new)
            await asyncio.sleep(_STAGE_S)
            for number, node in enumerate(self._cluster.nodes):
                if not await self._load.send(client, Sending(delivery=f"to-{number}", kind=Kind.PUSH), node):
                    self._load.faults.append(f"node {number} did not settle beside the other version")
            on_stage()
            looking.cancel()
            self._load.stop()
        await self._load.redeliver()
        ended_s = await runs_ended(self._cluster, self._load, since=time.monotonic())
        # Without the lists: this version's commands now refuse the schema.
        return await reckon("upgrade", self._cluster, self._load, looks=self._looks, ended_s=round(ended_s, 1))

    async def _migrate(self) -> None:
        installation = self._cluster.prepared.installation
        done = await asyncio.to_thread(installation.run, "migrate", program=NEXT_VERSION)
        if done.returncode:
            self._load.faults.append(f"the migration failed: {done.stderr[-300:]}")
        if await self._cluster.rows(_ADDED) != [{"tables": 1}]:
            self._load.faults.append("the migration has added nothing")

    async def _look(self, client: httpx.AsyncClient) -> None:
        """Check that the node of this version stays ready during the migration."""
        while True:
            with contextlib.suppress(httpx.PoolTimeout):
                answered = await client.get(f"{self._old.url}/health/ready")
                self._looks += 1
                if answered.status_code != 200:
                    self._load.faults.append(f"the node of this version was not ready: {answered.text}")
            await asyncio.sleep(LOOK_S)
