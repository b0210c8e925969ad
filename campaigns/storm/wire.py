"""Hostile input: trailers, bursts, large heads and forms, and bodies without an end."""

import asyncio
import contextlib
import json
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, final

import httpx
from attrs import Factory, define
from campaigns.storm.probes import Probed, a_client, probing, resident_mb
from tests.server_process import LOOPBACK, Prepared, ServerProcess

from contentsvc_core.testing import push_body

MIB: Final = 1024 * 1024
_PATIENCE_S: Final = 120.0
#: The time within which the server must release memory, in seconds: it checks once a second.
_AFTER_S: Final = 3.0
_LARGEST: Final = 25 * MIB
#: The size of a large delivery, in bytes.
_GOOD: Final = 157 * 1024
_FORM: Final = "Content-Type: application/x-www-form-urlencoded\r\n"


@final
@define(kw_only=True)
class Weathered:
    """The results; memory in megabytes."""

    before_mb: float
    most_mb: float = 0.0
    after_mb: float = 0.0
    #: How connections ended, by status.
    answers: Counter[str] = Factory(Counter[str])
    probed: Probed = Factory(Probed)

    @property
    def grown_mb(self) -> float:
        """Return the maximum growth of memory."""
        return self.most_mb - self.before_mb

    @property
    def kept_mb(self) -> float:
        """Return the memory that is not released."""
        return self.after_mb - self.before_mb


async def trailers(_prepared: Prepared, server: ServerProcess, *, mib: int) -> Weathered:
    """Send trailers of the given number of MiB, in fields of four bytes, one connection after the other."""
    left = mib * MIB

    async def send() -> Counter[str]:
        nonlocal left
        answers = Counter[str]()
        while left > 0:
            head = f"POST /nowhere HTTP/1.1\r\nHost: {LOOPBACK}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
            sent, answer = await _send(server, head.encode(), b"a:\r\n" * 16_384, at_most=min(left, 8 * MIB))
            left -= sent
            answers[answer] += 1
        return answers

    return await _weather(server, send)


async def bursts(_prepared: Prepared, server: ServerProcess, *, connections: int) -> Weathered:
    """Send 256 KiB of requests at once on each of several connections."""
    burst = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 9_709

    async def send() -> Counter[str]:
        sent = await asyncio.gather(*(_send(server, burst, b"", at_most=0) for _ in range(connections)))
        return Counter(answer for _, answer in sent)

    return await _weather(server, send)


async def heads(_prepared: Prepared, server: ServerProcess, *, requests: int) -> Weathered:
    """Send requests with 62 KB of fields each."""
    fields = "".join(f"X-Field-{number}: {'x' * 300}\r\n" for number in range(195))
    head = f"GET /nowhere HTTP/1.1\r\nHost: {LOOPBACK}\r\nConnection: close\r\n{fields}\r\n".encode()

    async def send() -> Counter[str]:
        answers = Counter[str]()
        for _ in range(requests):
            answers[(await _send(server, head, b"", at_most=0))[1]] += 1
        return answers

    return await _weather(server, send)


async def forms(_prepared: Prepared, server: ServerProcess, *, connections: int) -> Weathered:
    """Send sign-in forms of 4 MiB, all at once; half of them never end."""
    head = f"POST /dashboard/sign-in HTTP/1.1\r\nHost: {LOOPBACK}\r\n{_FORM}Content-Length: {4 * MIB}\r\n\r\n"

    async def send() -> Counter[str]:
        sizes = [4 * MIB - number % 2 for number in range(connections)]
        sent = await asyncio.gather(*(_send(server, head.encode(), b"%41" * 21_845, at_most=size) for size in sizes))
        return Counter(answer for _, answer in sent)

    return await _weather(server, send)


async def idlers(prepared: Prepared, server: ServerProcess, *, connections: int, for_s: float) -> Weathered:
    """Announce the largest bodies and send a byte of each, again and again; meanwhile good large deliveries arrive."""
    until = asyncio.get_running_loop().time() + for_s
    head = f"POST {prepared.hook.path} HTTP/1.1\r\nHost: {LOOPBACK}\r\nContent-Length: {_LARGEST}\r\n\r\n{{"

    async def idle() -> Counter[str]:
        answers = Counter[str]()
        while (left := until - asyncio.get_running_loop().time()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    answers[(await _send(server, head.encode(), b"", at_most=0))[1]] += 1
        return answers

    async def send() -> Counter[str]:
        return sum(await asyncio.gather(*(idle() for _ in range(connections))), Counter[str]())

    async with a_client() as client:
        return await _weather(server, send, delivering_large(client, prepared, server), every_s=0.5)


def delivering_large(
    client: httpx.AsyncClient, prepared: Prepared, server: ServerProcess
) -> Callable[[int], Awaitable[str | None]]:
    """Return a function that sends good large deliveries."""

    async def send(number: int) -> str | None:
        native = push_body(f"feat: lamp {number}", repository_id=prepared.hook.repository_id)
        body = json.dumps(native | {"padding": "x" * _GOOD}).encode()
        headers = prepared.hook.headers(body, str(uuid.uuid4()))
        answer = await client.post(server.url + prepared.hook.path, content=body, headers=headers)
        return None if answer.is_success else f"a good large delivery: {answer.status_code} {answer.text}"

    return send


async def _weather(
    server: ServerProcess,
    send: Callable[[], Awaitable[Counter[str]]],
    probe: Callable[[int], Awaitable[str | None]] | None = None,
    *,
    every_s: float = 0.1,
) -> Weathered:
    pid = server.process.pid
    async with a_client() as client:

        async def alive(_number: int) -> str | None:
            answer = await client.get(f"{server.url}/health/live")
            return None if answer.is_success else f"GET /health/live: {answer.status_code}"

        # One request of each kind first: imports at the first request do not count as growth.
        for one in (probe, alive):
            if one is not None:
                await one(-1)
        weathered = Weathered(before_mb=resident_mb(pid))
        async with probing(probe or alive, pid=pid, every_s=every_s) as weathered.probed:
            weathered.answers = await send()
        weathered.most_mb = weathered.probed.memory_mb
        until = asyncio.get_running_loop().time() + _AFTER_S
        weathered.after_mb = resident_mb(pid)
        while weathered.kept_mb > 1 and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.1)
            weathered.after_mb = resident_mb(pid)
    return weathered


async def _send(server: ServerProcess, head: bytes, piece: bytes, *, at_most: int) -> tuple[int, str]:
    """Send a head, then pieces until a limit or the server's answer; return the sent bytes and the status."""
    reader, writer = await asyncio.open_connection(LOOPBACK, server.port)
    ended = asyncio.create_task(reader.read())
    sent = 0
    try:
        async with asyncio.timeout(_PATIENCE_S):
            writer.write(head)
            await writer.drain()
            while piece and sent < at_most and not ended.done():
                writer.write(piece[: at_most - sent])
                await writer.drain()
                sent += min(len(piece), at_most - sent)
            answers = (await ended).split(b"HTTP/1.1 ")
            return sent, answers[-1][:3].decode("latin-1") or "closed"
    except (OSError, TimeoutError) as exc:
        return max(sent, 1), type(exc).__name__
    finally:
        ended.cancel()
        await asyncio.wait([ended])
        if not ended.cancelled():
            ended.exception()
        writer.transport.abort()
