"""Several `contentsvc serve` on one PostgreSQL, each on a port of its own."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from pathlib import Path
from typing import Any, Final, final

import httpx
from tests.server_process import COMMAND, PATIENCE_S, Installation, Prepared, ServerProcess, prepare

LOOK_S: Final = 0.05
#: Refusals are counted row by row: no flood bound.
_SETTINGS: Final = {"failed_log_rows_per_minute": "1000000"}
_STOP_S: Final = 15.0


@final
class Node:
    """A node."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self.url = server.url
        #: Whether it is suspended: it accepts requests and answers none.
        self.stands_still = False

    def start(self) -> None:
        self.stands_still = False
        self._server.start()

    def kill(self) -> None:
        self._server.kill()

    def stop(self) -> None:
        """Suspend the process, as a closed laptop does."""
        self.stands_still = True
        os.killpg(self._server.process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.killpg(self._server.process.pid, signal.SIGCONT)
        self.stands_still = False

    def terminate(self) -> None:
        """Stop the process with SIGTERM."""
        self._server.terminate()

    def exit_code(self) -> int:
        return self._server.exit_code(within_s=_STOP_S)

    async def until_ready(self, client: httpx.AsyncClient) -> None:
        """Wait until the node is ready."""
        deadline = time.monotonic() + PATIENCE_S
        while not await self._is_ready(client):
            assert self._server.is_alive, f"a node ended that the campaign did not kill: {self.log()[-2000:]}"
            assert time.monotonic() < deadline, f"a node is not ready: {self.log()[-2000:]}"
            await asyncio.sleep(LOOK_S)

    async def _is_ready(self, client: httpx.AsyncClient) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return (await client.get(f"{self.url}/health/ready")).is_success
        return False

    def log(self, *, since: int = 0) -> str:
        """Return the log from the given byte on."""
        return self._server.stderr.read_bytes()[since:].decode("utf-8", "backslashreplace")

    @property
    def log_size(self) -> int:
        return self._server.stderr.stat().st_size


@final
class Cluster:
    """Nodes, and their shared installation."""

    def __init__(self, prepared: Prepared, nodes: Sequence[Node]) -> None:
        self.prepared = prepared
        self.nodes = nodes
        #: The matching triggers of each event type.
        self.triggers = {"push": (prepared.on_all, prepared.on_push), "release": (prepared.on_all,)}

    async def rows(self, query: str, *parameters: object) -> list[dict[str, Any]]:
        return await asyncio.to_thread(self.prepared.installation.rows, query, *parameters)

    async def executors(self) -> set[str]:
        """Return the names of executors."""
        return {str(row["id"]) for row in await self.rows("SELECT id FROM executors")}

    async def unended_runs(self) -> int:
        return await asyncio.to_thread(self.prepared.installation.unended_runs)

    def faults(self) -> list[str]:
        """Stop each node with SIGTERM; return the faults of its exit and of its log."""
        faults: list[str] = []
        for node in self.nodes:
            node.terminate()
        for number, node in enumerate(self.nodes):
            code = node.exit_code()
            if code:
                faults.append(f"node {number} ended with exit code {code}")
            faults.extend(f"node {number} wrote {line[:300]!r}" for line in unreadable(node.log()))
        return faults


@contextlib.contextmanager
def cluster(
    folder: Path, url: str, *, through: Sequence[str], programs: Sequence[Sequence[str]] = ()
) -> Generator[Cluster]:
    """Prepare a database and create nodes on it, without starting them; stop them all at the end.

    Args:
        folder: An empty folder, for the nodes' logs.
        url: The database, without a schema.
        through: The database's address for each node.
        programs: The program of each node; empty: the command for all nodes.
    """
    prepared = prepare(folder, database_url=url, **_SETTINGS)
    with contextlib.ExitStack() as stack:
        nodes = [
            Node(
                stack.enter_context(
                    ServerProcess(
                        Installation(folder, database_url=own, **_SETTINGS), name=f"node-{number}", program=program
                    )
                )
            )
            for number, (own, program) in enumerate(zip(through, programs or [[COMMAND]] * len(through), strict=True))
        ]
        yield Cluster(prepared, nodes)


@contextlib.asynccontextmanager
async def asking(*, connections: int = 10, within_s: float = PATIENCE_S) -> AsyncGenerator[httpx.AsyncClient]:
    """Return a client for all nodes.

    It opens a connection for each request: a kept connection may be closed by either side just when it is used again,
    and the request would get no answer without a fault of the service.
    """
    limits = httpx.Limits(max_connections=connections)
    headers = {"Connection": "close"}
    async with httpx.AsyncClient(limits=limits, headers=headers, trust_env=False, timeout=within_s) as client:
        yield client


def unreadable(log: str) -> list[str]:
    """Return the invalid lines of a node's log, and the ones with a traceback."""
    return [line for line in log.splitlines() if not _is_readable(line)]


def _is_readable(line: str) -> bool:
    try:
        return "Traceback" not in line and "event" in json.loads(line)
    except ValueError:
        return False


async def until(holds: Callable[[], Any], what: str, *, within_s: float = PATIENCE_S) -> None:
    """Wait until a condition holds; raise ``AssertionError`` if it does not."""
    deadline = time.monotonic() + within_s
    while not await holds():
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        await asyncio.sleep(LOOK_S)
