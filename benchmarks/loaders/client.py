"""Our loader, in a process of its own: at a fixed rate, or as fast as answers come.

At a fixed rate, each delivery has an intended time of sending, independent of earlier answers. Its latency counts from
that time, so that a stalled server makes all deliveries late that were due meanwhile; otherwise the stall would be left
out ("coordinated omission"). Between deliveries the loader sleeps on a timer of the kernel: an event loop's own timer
is late by a millisecond, and a busy loop would take its core from the database.
"""

import asyncio
import contextlib
import gc
import json
import random
import subprocess
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Final, cast, final

import uvloop
from attrs import asdict

from benchmarks.cores import pinned
from benchmarks.loaders.load import Answers, Load
from benchmarks.loaders.ticker import ticking

#: The wait for answers after the last delivery, in seconds.
_GRACE_S: Final = 10.0
#: The interval of checks for the end, in seconds, for answers that never come.
_LOOK_S: Final = 0.05
_PERCENTILES: Final = (50.0, 90.0, 99.0, 99.9)
_OK: Final = b"200"
_LENGTH: Final = b"content-length:"


@final
class _Tally:
    """The counts until now."""

    def __init__(self) -> None:
        self.ok = 0
        self.other = 0
        self.failed = 0
        self.latencies: list[float] = []
        self.last = 0.0

    def answered(self, meant: float, now: float, *, ok: bool) -> None:
        """Count an answer to the delivery with an intended time."""
        if ok:
            self.ok += 1
        else:
            self.other += 1
        self.latencies.append((now - meant) * 1000)
        self.last = now


@final
class _Connection(asyncio.Protocol):
    """A connection with at most one delivery in flight."""

    def __init__(self, tally: _Tally, idle: Callable[["_Connection"], None]) -> None:
        self._tally = tally
        self._idle = idle
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._meant: float | None = None

    @property
    def is_open(self) -> bool:
        """Check whether the connection can send."""
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        # uvloop's transports are of no class of asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def send(self, request: bytes, meant: float) -> None:
        """Send the delivery of an intended time."""
        assert self._transport is not None
        self._meant = meant
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Read until the end of an answer, by its ``Content-Length``, which every side sends."""
        received = self._received + data if self._received else data
        head, end, body = received.partition(b"\r\n\r\n")
        if not end or len(body) < _length(head):
            self._received = received
            return
        self._received = b""
        assert self._meant is not None
        meant, self._meant = self._meant, None
        self._tally.answered(meant, time.perf_counter(), ok=received[9:12] == _OK)
        self._idle(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count the current request as failed."""
        _ = exc
        self._transport = None
        if self._meant is not None:
            self._meant = None
            self._tally.failed += 1

    def close(self) -> None:
        """End it."""
        if self._transport is not None:
            self._transport.close()


def _length(head: bytes) -> int:
    lowered = head.lower()
    at = lowered.find(_LENGTH)
    if at < 0:
        message = f"an answer without a length: {head[:200]!r}"
        raise ValueError(message)
    return int(lowered[at + len(_LENGTH) :].partition(b"\r\n")[0])


@final
class _Requests:
    """Creates the requests."""

    def __init__(self, load: Load) -> None:
        self._random = random.Random(load.seed)  # noqa: S311  # ids that differ, not secrets
        self._paths = [load.path.replace("%d", str(place)) for place in range(load.places)]
        self._host = f"127.0.0.1:{load.port}"
        self._tails = [
            f"\r\nContent-Type: application/json\r\nX-Host-Event: push\r\nX-Hub-Signature-256: {body.signature}\r\n"
            f"Content-Length: {len(body.body)}\r\n\r\n".encode()
            + body.body
            for body in load.bodies
        ]
        self._turn = 0

    def next(self) -> bytes:
        """Create a delivery with a new id."""
        self._turn = (self._turn + 1) % len(self._tails)
        path = self._paths[0] if len(self._paths) == 1 else self._random.choice(self._paths)
        id_ = uuid.UUID(int=self._random.getrandbits(128), version=4)
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nX-Host-Delivery: {id_}".encode()
        return head + self._tails[self._turn]


@final
class _Sending:
    """Sends each delivery on a free connection when its time has come."""

    def __init__(self, load: Load, requests: _Requests) -> None:
        self.idle: deque[_Connection] = deque()
        self.connections: list[_Connection] = []
        #: The deliveries that were due by the end, at a fixed rate.
        self.meant_to_be = 0 if load.rate is None else max(1, round(load.rate * load.seconds))
        self._rate = load.rate
        self._requests = requests
        self._sent = 0
        self._began = self._until = float("inf")
        self._over = load.seconds
        self._changed = asyncio.Event()

    def begin(self) -> float:
        """Begin now; return the time."""
        self._began = time.perf_counter()
        self._until = self._began + self._over
        self.idle.extend(self.connections)
        return self._began

    def on_idle(self, connection: _Connection) -> None:
        """Add a connection to the free ones."""
        self.idle.append(connection)
        self.send_due()
        self._changed.set()

    def send_due(self) -> None:
        """Send due deliveries on the free connections."""
        while self.idle and (meant := self._next()) is not None:
            connection = self.idle.popleft()
            if connection.is_open:
                connection.send(self._requests.next(), meant)
                self._sent += 1

    def _next(self) -> float | None:
        """Return the intended time of the next delivery; ``None``: it is in the future."""
        now = time.perf_counter()
        if self._rate is None:
            return now if now < self._until else None
        meant = self._began + self._sent / self._rate
        return meant if self._sent < self.meant_to_be and meant <= now else None

    async def ended(self) -> None:
        """Wait until all deliveries are sent and answered."""
        while not self._is_over() or self._under_way():
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), _LOOK_S)

    def _is_over(self) -> bool:
        if self._rate is None:
            return time.perf_counter() >= self._until
        # Without a connection, nothing can be sent.
        return self._sent == self.meant_to_be or not any(connection.is_open for connection in self.connections)

    def _under_way(self) -> bool:
        closed = sum(not connection.is_open for connection in self.connections)
        return len(self.idle) + closed < len(self.connections)


async def run(load: Load) -> Answers:
    """Send all deliveries, wait for their answers, and return the results."""
    tally = _Tally()
    loop = asyncio.get_running_loop()
    sending = _Sending(load, _Requests(load))
    for _ in range(load.connections):
        _, connection = await loop.create_connection(
            lambda: _Connection(tally, sending.on_idle), "127.0.0.1", load.port
        )
        sending.connections.append(connection)
    with contextlib.ExitStack() as stack:
        began = sending.begin()
        if load.rate is not None:
            stack.enter_context(ticking(loop, load.rate, sending.send_due))
        sending.send_due()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(load.seconds + _GRACE_S):
                await sending.ended()
    for connection in sending.connections:
        connection.close()
    answered = tally.ok + tally.other
    return Answers(
        ok=tally.ok,
        other=tally.other,
        failed=tally.failed,
        seconds=max(tally.last - began, 1e-9),
        percentiles=percentiles(tally.latencies),
        unanswered=max(0, sending.meant_to_be - answered - tally.failed),
    )


def percentiles(latencies: list[float]) -> dict[str, float]:
    """Return percentiles of the latencies, by the nearest rank."""
    ordered = sorted(latencies)
    if not ordered:
        return {}
    ranks = {part: min(len(ordered) - 1, max(0, -int(-part * len(ordered) // 100) - 1)) for part in _PERCENTILES}
    return {f"{part:g}": ordered[rank] for part, rank in ranks.items()}


def send(load: Load, core: int | None) -> Answers:
    """Send from a process of its own.

    Raises:
        RuntimeError: The loader failed; the message has the reason.
    """
    with pinned(core):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.loaders.client"],
            input=json.dumps(load.to_json()),
            check=False,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        message = f"the loader failed: {done.stderr[-2000:]}"
        raise RuntimeError(message)
    return Answers(**json.loads(done.stdout))


def _main() -> None:
    load = Load.from_json(json.load(sys.stdin))
    # A garbage collection would count as the server's latency.
    gc.disable()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        answers = runner.run(run(load))
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(asdict(answers)))


if __name__ == "__main__":
    _main()
