"""A real SMTP server on a local socket, which stores mails and refuses commands on request."""

import asyncio
import base64
import ssl
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Final, Self, final
from urllib.parse import quote

from attrs import Factory, define, frozen

LOOPBACK: Final = "127.0.0.1"
#: The longest wait of a test, in seconds: a busy machine is slow.
PATIENCE_S: Final = 45.0


@final
@frozen(kw_only=True)
class Received:
    """A received mail."""

    sender: str
    to: tuple[str, ...]
    raw: bytes
    #: Whether the connection was encrypted, and the name of the authenticated user.
    encrypted: bool
    user: str

    @property
    def message(self) -> EmailMessage:
        read = message_from_bytes(self.raw, policy=policy.default)
        assert isinstance(read, EmailMessage)
        return read

    @property
    def text(self) -> str:
        part = self.message.get_body(("plain",))
        assert part is not None
        return part.get_content().replace("\r\n", "\n")

    @property
    def html(self) -> str:
        part = self.message.get_body(("html",))
        assert part is not None
        return part.get_content().replace("\r\n", "\n")


@final
@define(kw_only=True)
class MailServer:
    """The server's settings, and its received mails."""

    #: For STARTTLS; ``None``: it is not offered.
    tls: ssl.SSLContext | None = None
    #: The one user and its password; empty: no authentication.
    user: str = ""
    password: str = ""
    #: Answers instead of the normal ones, by the beginning of a command; for ``DATA``, at the end of the mail.
    answers: dict[str, str] = Factory(dict[str, str])
    #: The next mails after which the server closes the connection without an answer.
    hangs_up: int = 0
    #: The most mails of a connection; further ``MAIL`` commands get a temporary refusal.
    per_connection: int | None = None
    #: Called with each received mail before the answer.
    on_taken: Callable[[], object] | None = None
    port: int = 0
    mails: list[Received] = Factory(list[Received])
    connections: int = 0
    _changed: asyncio.Event = Factory(asyncio.Event)

    @classmethod
    @asynccontextmanager
    async def running(cls, **fields: object) -> AsyncGenerator[Self]:
        made = cls(**fields)  # pyright: ignore[reportArgumentType]  # the types of the fields
        server = await asyncio.start_server(made._serve, LOOPBACK, 0, limit=1024 * 1024)
        made.port = server.sockets[0].getsockname()[1]
        try:
            yield made
        finally:
            server.close()

    @property
    def url(self) -> str:
        who = f"{quote(self.user)}:{quote(self.password, safe='')}@" if self.user else ""
        return f"smtp://{who}{LOOPBACK}:{self.port}{'' if self.tls else '?starttls=off'}"

    async def got(self, number: int, *, within_s: float = PATIENCE_S) -> list[Received]:
        """Wait until the server has received ``number`` mails, and return them."""
        async with asyncio.timeout(within_s):
            while len(self.mails) < number:
                self._changed.clear()
                await self._changed.wait()
        return self.mails

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await _Session(self, reader, writer).run()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def take(self, mail: Received) -> None:
        self.mails.append(mail)
        self._changed.set()


@contextmanager
def in_a_thread() -> Generator[MailServer]:
    """Run a server in a thread, for tests without an event loop."""
    opened: Future[MailServer] = Future()
    loop = asyncio.new_event_loop()
    closing = asyncio.Event()

    async def run() -> None:
        async with MailServer.running() as server:
            opened.set_result(server)
            await closing.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=[run()])
    thread.start()
    try:
        yield opened.result(timeout=PATIENCE_S)
    finally:
        loop.call_soon_threadsafe(closing.set)
        thread.join()
        loop.close()


@final
class _Session:
    def __init__(self, server: MailServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._encrypted = False
        self._user = ""
        self._sender = ""
        self._to: list[str] = []
        self._taken = 0

    async def run(self) -> None:
        await self._say("220 mail.test ESMTP")
        while line := (await self._reader.readline()).decode().strip():
            command = line.split()[0].upper()
            answer = next(
                (reply for begin, reply in self._server.answers.items() if line.upper().startswith(begin)), None
            )
            if answer is not None and command != "DATA":
                await self._say(answer)
            elif not await self._do(command, line):
                return

    async def _do(self, command: str, line: str) -> bool:
        match command:
            case "EHLO" | "HELO":
                offers = ["mail.test", *(["STARTTLS"] if self._server.tls and not self._encrypted else [])]
                offers += ["AUTH PLAIN"] if self._server.user else []
                for each in offers:
                    await self._say(f"250-{each}")
                await self._say("250 SIZE 1000000")
            case "STARTTLS":
                await self._say("220 go on")
                assert self._server.tls is not None
                await self._writer.start_tls(self._server.tls)
                self._encrypted = True
            case "AUTH":
                _, user, password = base64.b64decode(line.split()[2]).decode().split("\0")
                known = (user, password) == (self._server.user, self._server.password)
                self._user = user if known else ""
                await self._say("235 welcome" if known else "535 5.7.8 wrong user or password")
            case "MAIL" if self._taken == self._server.per_connection:
                await self._say("450 4.7.1 too much mail")
            case "MAIL":
                self._sender, self._to = line.partition("<")[2].partition(">")[0], []
                await self._say("250 fine")
            case "RCPT":
                self._to.append(line.partition("<")[2].partition(">")[0])
                await self._say("250 fine")
            case "DATA":
                return await self._data()
            case "QUIT":
                await self._say("221 bye")
                return False
            case _:
                await self._say("250 fine")
        return True

    async def _data(self) -> bool:
        await self._say("354 go on")
        body = await self._reader.readuntil(b"\r\n.\r\n")
        refused = self._server.answers.get("DATA")
        if refused is not None:
            await self._say(refused)
            return True
        raw = body[: -len(b".\r\n")].replace(b"\r\n..", b"\r\n.")
        self._server.take(
            Received(sender=self._sender, to=tuple(self._to), raw=raw, encrypted=self._encrypted, user=self._user)
        )
        if self._server.on_taken is not None:
            self._server.on_taken()
        if self._server.hangs_up:
            self._server.hangs_up -= 1
            return False
        self._taken += 1
        await self._say("250 taken")
        return True

    async def _say(self, text: str) -> None:
        self._writer.write(f"{text}\r\n".encode())
        await self._writer.drain()
