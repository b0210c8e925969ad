"""The load: 64 connections to all nodes, and the record of requests and answers."""

import asyncio
import random
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, final

import httpx
from attrs import frozen
from campaigns.crash.traffic import Attempt, Ledger, Sending, Traffic, read_answer, read_ledger, unacknowledged
from campaigns.nodes.cluster import Node, asking
from tests.server_process import Hook

CONNECTIONS: Final = 64
#: New deliveries a second: fewer than nodes on a small machine can process.
PER_S: Final = 32.0
#: The seconds between two bursts: with bursts, many deliveries are in flight when a node is killed.
_BURST_EVERY_S: Final = 2.0
#: The share of deliveries that are sent to two nodes at once.
_TO_TWO: Final = 0.1
#: The number of times that an unacknowledged delivery is sent to another node: immediately, and at the end.
_AT_ONCE: Final = 2
_IN_THE_END: Final = 5
_BREATH_S: Final = 0.05
#: The timeout of a request, longer than any answer may take: a request to a suspended node is abandoned.
_ANSWER_S: Final = 20.0
_NOT_NOW: Final = 503


@final
@frozen(kw_only=True)
class Exchange:
    """One request that reached a node; its times are of a monotonic clock."""

    began: float
    ended: float
    #: ``None``: no answer came.
    status: int | None
    #: Why no answer came.
    error: str = ""


@final
class Load:
    """Sends deliveries until it is stopped."""

    def __init__(self, hook: Hook, nodes: Sequence[Node], folder: Path, *, seed: int, per_s: float = PER_S) -> None:
        """Create the load.

        Args:
            hook: The hook.
            nodes: The nodes.
            folder: The folder of the ledger.
            seed: Decides the deliveries, and the first node of each.
            per_s: New deliveries a second.
        """
        self._hook = hook
        self._nodes = nodes
        self._path = folder / "ledger.jsonl"
        self._ledger = Ledger(self._path)
        self._chance = random.Random(seed)  # noqa: S311  # no secret
        self._traffic = Traffic(random.Random(self._chance.getrandbits(64)))  # noqa: S311  # no secret
        self._burst = round(per_s * _BURST_EVERY_S)
        self._over = asyncio.Event()
        self._begun = asyncio.Event()
        self.exchanges: list[Exchange] = []
        #: Answers that no client should get.
        self.faults: list[str] = []
        self.redelivered = 0

    @property
    def attempts(self) -> list[Attempt]:
        return read_ledger(self._path)

    def close(self) -> None:
        self._ledger.close()

    def stop(self) -> None:
        """End :meth:`run` once all requests in flight are answered."""
        self._over.set()

    async def run(self) -> None:
        """Send bursts until it is stopped."""
        waiting: asyncio.Queue[Sending | None] = asyncio.Queue(self._burst)
        async with asking(connections=CONNECTIONS, within_s=_ANSWER_S) as client, asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(self._work(client, waiting))
            while not self._over.is_set():
                self._begun.set()
                self._begun = asyncio.Event()
                for _ in range(self._burst):
                    await waiting.put(self._traffic.next())
                await _within(self._over, _BURST_EVERY_S)
            for _ in range(CONNECTIONS):
                await waiting.put(None)

    async def next_burst(self) -> None:
        """Wait until the next burst begins, or the load ends."""
        await self._begun.wait()

    async def redeliver(self) -> None:
        """Send unacknowledged deliveries again, a few times at most."""
        async with asking(connections=CONNECTIONS, within_s=_ANSWER_S) as client:
            for _ in range(_IN_THE_END):
                again = unacknowledged(self.attempts)
                self.redelivered += len(again)
                await self.send_all(client, again)

    async def send_all(self, client: httpx.AsyncClient, sendings: Iterable[Sending]) -> None:
        """Send deliveries at once, each to a random node."""
        async with asyncio.TaskGroup() as group:
            for sending in sendings:
                group.create_task(self.send(client, sending, self._any()))

    async def _work(self, client: httpx.AsyncClient, waiting: "asyncio.Queue[Sending | None]") -> None:
        while (sending := await waiting.get()) is not None:
            first = self._any()
            if self._chance.random() < _TO_TWO:
                other = self._other(first)
                await asyncio.gather(self._insist(client, sending, first), self._insist(client, sending, other))
            else:
                await self._insist(client, sending, first)

    async def _insist(self, client: httpx.AsyncClient, sending: Sending, node: Node) -> None:
        """Send a delivery, and again to another node if it is not acknowledged."""
        for _ in range(1 + _AT_ONCE):
            if await self.send(client, sending, node):
                return
            await asyncio.sleep(_BREATH_S)
            node = self._other(node)

    async def send(self, client: httpx.AsyncClient, sending: Sending, node: Node) -> bool:
        """Send a delivery to a node; return whether it got an answer other than 503."""
        attempt = self._ledger.intend(sending)
        body = sending.body
        headers = self._hook.headers(body, sending.delivery, sending.kind.event)
        if sending.forged:
            headers["X-Hub-Signature-256"] = f"sha256={'0' * 64}"
        began = time.monotonic()
        status: int | None = None
        error = ""
        try:
            response = await client.post(f"{node.url}{self._hook.path}", content=body, headers=headers)
            status = response.status_code
            self._ledger.answered(attempt, status, read_answer(status, response.json()))
            if status == _NOT_NOW and not response.headers.get("Retry-After", "").isdecimal():
                self.faults.append(f"{sending} was answered {_NOT_NOW} without Retry-After")
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            # Nothing was sent.
            return False
        except httpx.TransportError as exc:
            # The outcome is unknown.
            error = repr(exc)
        self.exchanges.append(Exchange(began=began, ended=time.monotonic(), status=status, error=error))
        return status not in {None, _NOT_NOW}

    def _any(self) -> Node:
        return self._chance.choice([node for node in self._nodes if not node.stands_still])

    def _other(self, than: Node) -> Node:
        others = [node for node in self._nodes if node is not than and not node.stands_still]
        return self._chance.choice(others or [than])


async def _within(something: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await something.wait()
    except TimeoutError:
        pass
