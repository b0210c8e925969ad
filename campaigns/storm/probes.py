"""Probes during a storm: the latency of good requests, and the server's memory."""

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Final, final

import httpx
from attrs import Factory, define
from tests.percentiles import p99
from tests.server_process import Hook

from contentsvc_core.testing import push_body

_PATIENCE_S: Final = 60.0
_MEMORY_EVERY_S: Final = 0.02


@final
@define(kw_only=True)
class Probed:
    """The results of the probes."""

    #: How long each answer took, in seconds, in the order of sending.
    took_s: list[float] = Factory(list[float])
    #: Unexpected answers.
    faults: list[str] = Factory(list[str])
    #: The most memory that the server had, in megabytes (10**6 bytes).
    memory_mb: float = 0.0

    @property
    def p99_s(self) -> float:
        """Return the 99th percentile, in seconds."""
        return p99(self.took_s)


@contextlib.asynccontextmanager
async def probing(send: Callable[[int], Awaitable[str | None]], *, pid: int, every_s: float) -> AsyncGenerator[Probed]:
    """Send at a fixed rate, independent of earlier answers, and watch the memory, while the block runs.

    Args:
        send: Sends the n-th request; returns the fault of its answer.
        pid: The server's process.
        every_s: The interval of requests, in seconds.
    """
    probed = Probed()
    under_way: set[asyncio.Task[None]] = set()

    async def one(number: int) -> None:
        began = monotonic()
        try:
            fault = await send(number)
        except httpx.HTTPError as exc:
            fault = f"{type(exc).__name__}: {exc}"
        probed.took_s.append(monotonic() - began)
        if fault is not None:
            probed.faults.append(fault)

    async def rate() -> None:
        number, at = 0, asyncio.get_running_loop().time()
        while True:
            task = asyncio.create_task(one(number))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
            number += 1
            at += every_s
            await asyncio.sleep(max(0.0, at - asyncio.get_running_loop().time()))

    async def memory() -> None:
        while True:
            probed.memory_mb = max(probed.memory_mb, resident_mb(pid))
            await asyncio.sleep(_MEMORY_EVERY_S)

    tasks = [asyncio.create_task(rate()), asyncio.create_task(memory())]
    try:
        yield probed
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *under_way, return_exceptions=True)


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process, in megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def delivering(client: httpx.AsyncClient, url: str, hook: Hook) -> Callable[[int], Awaitable[str | None]]:
    """Return a function that sends good deliveries."""

    async def send(number: int) -> str | None:
        body = json.dumps(push_body(f"feat: lamp {number}", repository_id=hook.repository_id)).encode()
        answer = await client.post(url + hook.path, content=body, headers=hook.headers(body, str(uuid.uuid4())))
        return None if answer.is_success else f"a good delivery: {answer.status_code} {answer.text}"

    return send


def reading(client: httpx.AsyncClient, url: str, keys: Sequence[str]) -> Callable[[int], Awaitable[str | None]]:
    """Return a function that reads posts, with each key in turn, since each key has its limit."""

    async def send(number: int) -> str | None:
        key = keys[number % len(keys)]
        answer = await client.get(f"{url}/v1/posts", headers={"Authorization": f"Bearer {key}"})
        return None if answer.is_success else f"GET posts: {answer.status_code} {answer.text}"

    return send


def a_client() -> httpx.AsyncClient:
    """Return a client with long timeouts and unlimited connections."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=50)
    return httpx.AsyncClient(trust_env=False, timeout=_PATIENCE_S, limits=limits)
