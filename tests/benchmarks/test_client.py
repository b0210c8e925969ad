"""Our own loader: its requests, and the latency of a stalled server."""

import asyncio
import contextlib
import hashlib
import hmac
import re
from collections.abc import AsyncGenerator, Callable

import pytest
from benchmarks.loaders.client import percentiles, run
from benchmarks.loaders.load import Load
from benchmarks.loaders.wrk import read
from benchmarks.material import PUSH_BYTES, Hook, pushes

_HOOK = Hook(
    organization="org_1",
    integration="int_1",
    repository="acme/lamp",
    repository_id=1,
    secret="thirty-two or more of them",
)
_HEAD = re.compile(rb"POST (?P<path>\S+) HTTP/1\.1\r\nHost: \S+\r\nX-Host-Delivery: (?P<id>\S+)\r\n")


class _Server:
    """Answers every delivery after a given delay."""

    def __init__(self, pause: Callable[[int], float], status: str = "200 OK") -> None:
        self.bodies: list[bytes] = []
        self.heads: list[bytes] = []
        self._pause = pause
        self._status = status
        self._free = asyncio.Lock()
        self.serving: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                body = await reader.readexactly(length)
                # One at a time, as on a server with one core.
                async with self._free:
                    self.heads.append(head)
                    self.bodies.append(body)
                    await asyncio.sleep(self._pause(len(self.bodies)))
                writer.write(f"HTTP/1.1 {self._status}\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def _serving(server: _Server) -> AsyncGenerator[int]:
    async with await asyncio.start_server(server.serve, "127.0.0.1", 0) as listening:
        yield int(listening.sockets[0].getsockname()[1])
        await asyncio.gather(*server.serving)


def _load(port: int, *, rate: float | None, seconds: float, connections: int = 2, **others: int) -> Load:
    return Load(
        port=port,
        path=_HOOK.path,
        bodies=pushes(_HOOK, count=2),
        connections=connections,
        seconds=seconds,
        seed=1,
        rate=rate,
        **others,
    )


async def test_a_stalled_server_delays_all_deliveries_that_were_due_meanwhile() -> None:
    # The server stalls once, for 0.2 s of 0.4: of forty deliveries some twenty are due meanwhile. By the time in
    # flight, only two would be late: one on each connection.
    server = _Server(lambda number: 0.2 if number == 5 else 0.0)
    async with _serving(server) as port:
        answers = await run(_load(port, rate=100, seconds=0.4))

    assert answers.ok == 40
    assert answers.unanswered == 0
    assert answers.percentiles["99"] >= 150
    assert answers.percentiles["90"] >= 100


async def test_a_rate_is_kept_where_the_server_keeps_up() -> None:
    server = _Server(lambda _: 0.0)
    async with _serving(server) as port:
        answers = await run(_load(port, rate=200, seconds=0.2))

    assert answers.ok == 40
    assert len(server.bodies) == 40


async def test_without_a_rate_each_connection_waits_for_its_answer() -> None:
    server = _Server(lambda _: 0.005)
    async with _serving(server) as port:
        answers = await run(_load(port, rate=None, seconds=0.1))

    assert answers.ok == len(server.bodies) > 2
    assert answers.failed == answers.other == 0


async def test_deliveries_are_signed_and_have_unique_ids() -> None:
    server = _Server(lambda _: 0.0)
    async with _serving(server) as port:
        await run(_load(port, rate=100, seconds=0.1))

    found = [match for head in server.heads if (match := _HEAD.match(head))]
    assert len({match["id"] for match in found}) == len(server.bodies) == 10
    assert {match["path"].decode() for match in found} == {_HOOK.path}
    for head, body in zip(server.heads, server.bodies, strict=True):
        created = hmac.new(_HOOK.secret.encode(), body, hashlib.sha256).hexdigest()
        assert f"X-Hub-Signature-256: sha256={created}".encode() in head


async def test_answers_other_than_200_are_counted_separately() -> None:
    server = _Server(lambda _: 0.0, "503 Service Unavailable")
    async with _serving(server) as port:
        answers = await run(_load(port, rate=100, seconds=0.05))

    assert (answers.ok, answers.other) == (0, 5)


async def test_places_are_chosen_among_all() -> None:
    server = _Server(lambda _: 0.0)
    async with _serving(server) as port:
        load = Load.from_json(_load(port, rate=400, seconds=0.1, places=3).to_json() | {"path": "/at/%d"})
        await run(load)

    found = {match["path"] for head in server.heads if (match := _HEAD.match(head))}
    assert found == {b"/at/0", b"/at/1", b"/at/2"}


def test_percentiles_are_the_nearest_rank() -> None:
    assert percentiles([float(number) for number in range(1, 101)]) == {"50": 50, "90": 90, "99": 99, "99.9": 100}
    assert percentiles([4.0]) == {"50": 4, "90": 4, "99": 4, "99.9": 4}
    assert percentiles([]) == {}


def test_pushes_have_their_size_and_differ() -> None:
    found = pushes(_HOOK)

    assert {len(push.body) for push in found} == {PUSH_BYTES}
    assert len({push.body for push in found}) == len(found)


def test_the_output_of_wrk_is_read() -> None:
    found = read('{"requests": 10, "us": 2000000, "status": 1, "failed": 2, "p50": 1500, "p99.9": 9000}')

    assert (found.ok, found.other, found.failed, found.per_second) == (9, 1, 2, 4.5)
    assert found.percentiles == {"50": 1.5, "99.9": 9.0}


@pytest.mark.parametrize("rate", [None, 12.5])
def test_a_load_travels_between_processes(rate: float | None) -> None:
    load = _load(1, rate=rate, seconds=0.5)

    assert Load.from_json(load.to_json()) == load
