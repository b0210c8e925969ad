"""A proxy before PostgreSQL that cuts a connection at a commit: before it arrives, or before its answer comes back.

A commit is a COMMIT, or a statement outside of a transaction.

It reads the frames of clients' messages, and the statements in `Query`, `Parse` and
`Bind`. It forwards the server's messages unread.
"""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from enum import Enum
from typing import Final, Self, final

from attrs import define, field, frozen
from tests.server_process import LOOPBACK

#: Requests for encryption come before the startup message, and have no type either.
_ENCRYPTION: Final = {80877103, 80877104}
_CHUNK: Final = 65536


class Cut(Enum):
    """Where a connection is cut."""

    #: The server does not get the commit, and rolls the transaction back.
    BEFORE = "before"
    #: The server has committed, and its answer is lost.
    AFTER = "after"


@final
@frozen(eq=False)
class Trap:
    """Cuts the first connection that commits a transaction with a certain statement."""

    cut: Cut
    #: A part of the statement.
    statement: str
    sprung: asyncio.Event = field(factory=asyncio.Event, init=False)


@final
class Proxy:
    """Listens from its creation on, and forwards while its context is entered."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self._listening = socket.create_server((LOOPBACK, 0))
        self.port = int(self._listening.getsockname()[1])
        self.trap: Trap | None = None
        self._server: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, sock=self._listening)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for each in self._passing:
            each.cancel()
        if self._passing:
            await asyncio.wait(self._passing)

    def set(self, trap: Trap) -> Trap:
        """Set a trap; there is one at a time."""
        self.trap = trap
        return trap

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        try:
            foreign = await asyncio.open_connection(LOOPBACK, self._upstream)
        except OSError:
            writer.transport.abort()
        else:
            await _Passage(self, reader, writer, *foreign).run()
        finally:
            self._passing.discard(task)


@final
class _Passage:
    """One connection through the proxy."""

    def __init__(
        self,
        proxy: Proxy,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        server_reader: asyncio.StreamReader,
        server_writer: asyncio.StreamWriter,
    ) -> None:
        self._proxy = proxy
        self._reader = reader
        self._writer = writer
        self._server_reader = server_reader
        self._server_writer = server_writer
        self._conversation = Conversation()
        #: Whether it waits for the answer to a commit, which it does not forward.
        self._trap: Trap | None = None

    async def run(self) -> None:
        directions = {asyncio.create_task(self._forth()), asyncio.create_task(self._back())}
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in directions:
                each.cancel()
            # A cut in both directions, without the remaining bytes, not an orderly end.
            self._writer.transport.abort()
            self._server_writer.transport.abort()
            await asyncio.wait(directions)

    async def _forth(self) -> None:
        with contextlib.suppress(OSError):
            while chunk := await self._reader.read(_CHUNK):
                for message in self._conversation.messages(chunk):
                    if self._conversation.commits and self._springs() is Cut.BEFORE:
                        return
                    self._server_writer.write(message)
                await self._server_writer.drain()

    def _springs(self) -> Cut | None:
        trap = self._proxy.trap
        if trap is None or not any(trap.statement in statement for statement in self._conversation.statements):
            return None
        self._proxy.trap = None
        if trap.cut is Cut.BEFORE:
            trap.sprung.set()
        else:
            self._trap = trap
        return trap.cut

    async def _back(self) -> None:
        with contextlib.suppress(OSError):
            while chunk := await self._server_reader.read(_CHUNK):
                if self._trap is not None:
                    self._trap.sprung.set()
                    return
                self._writer.write(chunk)
                await self._writer.drain()


@final
@define
class Conversation:
    """The messages of a client on a connection."""

    #: The statements of the current transaction; outside of a transaction, the latest statement.
    statements: list[str] = field(factory=list[str])
    #: Whether the latest message commits.
    commits: bool = False
    #: Whether an explicit transaction is open.
    _begun: bool = False
    _rest: bytes = b""
    _started: bool = False
    _prepared: dict[bytes, str] = field(factory=dict[bytes, str])

    def messages(self, chunk: bytes) -> Iterator[bytes]:
        """Return the complete messages of the received bytes, after recording their types."""
        self._rest += chunk
        while True:
            head = 1 if self._started else 0
            size = head + int.from_bytes(self._rest[head : head + 4])
            if len(self._rest) < head + 4 or len(self._rest) < size:
                return
            message, self._rest = self._rest[:size], self._rest[size:]
            self.commits = False
            if self._started:
                self._note(message[:1], message[5:])
            else:
                self._started = int.from_bytes(message[4:8]) not in _ENCRYPTION
            yield message

    def _note(self, kind: bytes, body: bytes) -> None:
        match kind:
            case b"Q":
                self._executes(body.partition(b"\0")[0].decode())
            case b"P":
                name, statement, _ = body.split(b"\0", 2)
                self._prepared[name] = statement.decode()
            case b"B":
                _portal, name, _ = body.split(b"\0", 2)
                self._executes(self._prepared.get(name, ""))
            case _:
                pass

    def _executes(self, statement: str) -> None:
        words = statement.strip(" ;\n").upper().split()
        if words[:1] == ["BEGIN"]:
            self._begun = True
            self.statements.clear()
        elif words == ["ROLLBACK"]:
            self._begun = False
            self.statements.clear()
        elif words == ["COMMIT"]:
            self._begun = False
            self.commits = True
        elif self._begun:
            self.statements.append(statement)
        else:
            self.statements[:] = [statement]
            self.commits = True
