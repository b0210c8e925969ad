"""A loader of our own, in a process of its own: at a fixed rate, or as fast as answers come.

At a fixed rate a delivery has a time at which it is meant to be sent, whatever became of those before it. Its latency
counts from that time, so that a server which stands still makes everything late that was meant to be sent meanwhile
(otherwise it would be left out: "coordinated omission"). The loop never sleeps: it has a core of its own, and a timer
would be late by more than the latencies that are measured.
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

#: How long answers are waited for after the last delivery was sent, in seconds.
_GRACE_S: Final = 10.0
_PERCENTILES: Final = (50.0, 90.0, 99.0, 99.9)
_OK: Final = b"200"
_LENGTH: Final = b"content-length:"


@final
class _Tally:
    """What has come back until now."""

    def __init__(self) -> None:
        self.ok = 0
        self.other = 0
        self.failed = 0
        self.latencies: list[float] = []
        self.last = 0.0

    def answered(self, meant: float, now: float, *, ok: bool) -> None:
        """Count an answer to what was meant to be sent at a time."""
        if ok:
            self.ok += 1
        else:
            self.other += 1
        self.latencies.append((now - meant) * 1000)
        self.last = now


@final
class _Connection(asyncio.Protocol):
    """One connection with one delivery under way at most."""

    def __init__(self, tally: _Tally, idle: Callable[["_Connection"], None]) -> None:
        self._tally = tally
        self._idle = idle
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._meant: float | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether it can be sent on."""
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        # uvloop's transports are of no class of asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def send(self, request: bytes, meant: float) -> None:
        """Send, meant for a time."""
        assert self._transport is not None
        self._meant = meant
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Wait for the end of an answer, by its length: every side gives it."""
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
        """Count what was under way as failed."""
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
    """The requests, made as they are needed."""

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
        """Make one, with an id that none had before."""
        self._turn = (self._turn + 1) % len(self._tails)
        path = self._paths[0] if len(self._paths) == 1 else self._random.choice(self._paths)
        id_ = uuid.UUID(int=self._random.getrandbits(128), version=4)
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nX-Host-Delivery: {id_}".encode()
        return head + self._tails[self._turn]


async def run(load: Load) -> Answers:
    """Send all, wait for the answers that are due, and tell."""
    requests = _Requests(load)
    tally = _Tally()
    idle: deque[_Connection] = deque()
    loop = asyncio.get_running_loop()
    connections: list[_Connection] = []
    for _ in range(load.connections):
        _, made = await loop.create_connection(lambda: _Connection(tally, idle.append), "127.0.0.1", load.port)
        connections.append(made)
    idle.extend(connections)
    began = time.perf_counter()
    if load.rate is None:
        await _as_fast_as_answered(load, requests, idle, began)
        meant_to_be = 0
    else:
        meant_to_be = await _at_a_rate(load, load.rate, requests, idle, began)
    deadline = time.perf_counter() + _GRACE_S
    # All back: nothing is under way any more.
    while len(idle) + sum(not made.is_open for made in connections) < len(connections):
        if time.perf_counter() > deadline:
            break
        await asyncio.sleep(0)
    for made in connections:
        made.close()
    answered = tally.ok + tally.other
    return Answers(
        ok=tally.ok,
        other=tally.other,
        failed=tally.failed,
        seconds=max(tally.last - began, 1e-9),
        percentiles=percentiles(tally.latencies),
        unanswered=max(0, meant_to_be - answered - tally.failed),
    )


async def _as_fast_as_answered(load: Load, requests: _Requests, idle: "deque[_Connection]", began: float) -> None:
    until = began + load.seconds
    while (now := time.perf_counter()) < until:
        while idle:
            connection = idle.popleft()
            if connection.is_open:
                connection.send(requests.next(), now)
        await asyncio.sleep(0)


async def _at_a_rate(load: Load, rate: float, requests: _Requests, idle: "deque[_Connection]", began: float) -> int:
    """Send each as soon after its time as a connection is free; give how many were meant to be sent."""
    total = max(1, round(rate * load.seconds))
    sent = 0
    give_up = began + load.seconds + _GRACE_S
    while sent < total:
        now = time.perf_counter()
        if now > give_up:
            break
        due = min(total, int((now - began) * rate) + 1)
        while sent < due and idle:
            connection = idle.popleft()
            if connection.is_open:
                connection.send(requests.next(), began + sent / rate)
                sent += 1
        await asyncio.sleep(0)
    return total


def percentiles(latencies: list[float]) -> dict[str, float]:
    """Give the latencies' percentiles, each by the nearest rank."""
    ordered = sorted(latencies)
    if not ordered:
        return {}
    ranks = {part: min(len(ordered) - 1, max(0, -int(-part * len(ordered) // 100) - 1)) for part in _PERCENTILES}
    return {f"{part:g}": ordered[rank] for part, rank in ranks.items()}


def send(load: Load, core: int | None) -> Answers:
    """Send from a process of its own.

    Raises:
        RuntimeError: It failed; the message says how.
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
    # A collection in the middle would be told as the server's latency.
    gc.disable()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        answers = runner.run(run(load))
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(asdict(answers)))


if __name__ == "__main__":
    _main()
