"""Sending letters to an SMTP server (port :class:`~contentsvc_core.ports.MailSender`), in threads of its own."""

import asyncio
import contextlib
import smtplib
import socket
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from email.header import Header
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime, parseaddr
from time import monotonic
from typing import Any, Final, final

from attrs import evolve

from contentsvc_core.outgoing.letters import Letter, MailResult, SentLetter
from contentsvc_core.outgoing.smtp import SmtpServer
from contentsvc_core.text import one_line

#: The timeout of each answer of the server, in seconds.
TIMEOUT_S: Final = 20.0
#: How long one connection may send letters, in seconds: with the answers to one more letter, it ends within a lease.
WITHIN_S: Final = 120.0
#: The most connections at once: as many as messages to endpoints are sent at once, so that no lease ends in a queue.
_CONNECTIONS: Final = 32
_TOO_SLOW: Final = "the server was slow with the mails before"
_STOPPING: Final = "the service is stopping"
_NAME: Final = 60
_ERROR: Final = 200
_PERMANENT: Final = range(500, 600)
#: The largest reply that is read, in bytes: usual replies have less than a kilobyte.
_REPLY: Final = 64 * 1024
#: Begins an encoded word (RFC 2047, section 2).
_ENCODED: Final = "=?"
#: The maximum length of a line with encoded words, in characters (RFC 2047, section 2).
_LINE: Final = 76
#: The bytes of one read from the connection: a usual reply is read at once.
_PIECE: Final = 4096


class _OneLine(UnstructuredHeader, BaseHeader):
    """A header of ASCII that is never folded: Python encodes a long URL, and mail programs do not find it there."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


class _Subject(UnstructuredHeader, BaseHeader):
    """A subject that is read as it was written: ``EmailPolicy`` loses spaces between encoded words."""

    @classmethod
    def parse(cls, value: str, kwds: dict[str, Any]) -> None:
        super().parse(value, kwds)
        # The parser decodes encoded words, and these may have line ends: whole headers of others.
        kwds["decoded"] = value

    def fold(self, *, policy: Policy) -> str:
        text = str(self)
        if _ENCODED in text or not text.isascii():
            text = Header(text, "utf-8", maxlinelen=_LINE, header_name=self.name).encode(linesep=policy.linesep)
        return f"{self.name}: {text}{policy.linesep}"


_HEADERS: Final = HeaderRegistry()
_HEADERS.map_to_type("list-id", _OneLine)
_HEADERS.map_to_type("list-unsubscribe", _OneLine)
_HEADERS.map_to_type("message-id", _OneLine)
_HEADERS.map_to_type("subject", _Subject)
_POLICY: Final = SMTP.clone(header_factory=_HEADERS)


class _Endless(OSError):
    """A reply of the server is larger than any reply needs to be."""


@final
class _Replies:
    """Reads replies, in place of the file of a connection.

    ``smtplib`` restarts its timeout at each byte, and stores any number of lines: its replies have no limit.
    """

    def __init__(self, sock: socket.socket, timeout_s: float) -> None:
        self._sock = sock
        self._timeout_s = timeout_s
        self._unread = b""
        self._until = 0.0
        self._left = 0

    def begin(self) -> None:
        self._until = monotonic() + self._timeout_s
        self._left = _REPLY

    def readline(self, limit: int) -> bytes:
        while b"\n" not in self._unread and len(self._unread) < limit:
            left_s = self._until - monotonic()
            if left_s <= 0:
                raise TimeoutError
            self._sock.settimeout(left_s)
            piece = self._sock.recv(_PIECE)
            if not piece:
                break
            self._unread += piece
        self._sock.settimeout(self._timeout_s)
        size = min(self._unread.find(b"\n") + 1 or len(self._unread), limit)
        line, self._unread = self._unread[:size], self._unread[size:]
        self._left -= size
        if self._left < 0:
            raise _Endless
        return line

    def close(self) -> None:
        self._unread = b""


class _Connection(smtplib.SMTP):
    """A connection whose replies are limited in time and size."""

    file: Any

    def __exit__(self, *_error: object) -> None:
        # The outcome of each letter is known before QUIT, so the answer to it changes nothing.
        with contextlib.suppress(OSError):
            super().__exit__(None, None, None)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = _Replies(self.sock, self.timeout)
        if self.file is not None:
            self.file.begin()
        return super().getreply()


@final
class _TlsConnection(_Connection, smtplib.SMTP_SSL):
    pass


@final
class SmtpSender:
    """Sends letters, over one connection for each call."""

    def __init__(
        self,
        server: SmtpServer,
        sender: str,
        *,
        tls: ssl.SSLContext | None = None,
        timeout_s: float = TIMEOUT_S,
        within_s: float = WITHIN_S,
    ) -> None:
        """``timeout_s`` limits each answer; by default the system's authorities are trusted.

        After ``within_s``, no further letter of a call is begun.
        """
        self._server = server
        self._sender = parseaddr(sender)[1]
        self._tls = tls
        self._timeout_s = timeout_s
        self._within_s = within_s
        # No threads of the loop's default executor: with a server that hangs, all other work would wait for them.
        self._threads = ThreadPoolExecutor(max_workers=_CONNECTIONS, thread_name_prefix="mails")
        self._is_closed = False

    def close(self) -> None:
        """Begin no further letter: running calls return soon, so that the process can store their outcomes."""
        self._is_closed = True

    async def send(self, letters: Sequence[Letter]) -> Sequence[SentLetter]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._send, letters)

    async def check(self) -> str | None:
        """Return why the server cannot be used, after signing in to it; ``None``: it can. Nothing is sent."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._check)

    def _check(self) -> str | None:
        try:
            with self._connected() as client:
                client.noop()
        except OSError as exc:
            return _reason(exc)
        return None

    def _send(self, letters: Sequence[Letter]) -> list[SentLetter]:
        until = monotonic() + self._within_s
        done: list[SentLetter] = []
        rest = SentLetter(posting=MailResult.NOT_TRIED)
        try:
            with self._connected() as client:
                for letter in letters:
                    if self._is_closed:
                        rest = evolve(rest, error=_STOPPING)
                        break
                    if done and monotonic() > until:
                        rest = evolve(rest, error=_TOO_SLOW)
                        break
                    posted = self._post(client, letter, has_sent=any(each.posting is MailResult.SENT for each in done))
                    if posted.posting is MailResult.NOT_TRIED:
                        rest = posted
                        break
                    done.append(posted)
                    if client.sock is None:
                        # The server has ended the connection with 421.
                        break
        except OSError as exc:
            if len(done) < len(letters):
                # The letter being sent may have arrived; if the connection failed, it is the first letter.
                done.append(SentLetter(posting=MailResult.RETRY, error=_reason(exc)))
        return [*done, *[rest] * (len(letters) - len(done))]

    def _post(self, client: smtplib.SMTP, letter: Letter, *, has_sent: bool) -> SentLetter:
        try:
            client.send_message(self._written(letter), self._sender, [letter.to])
        except smtplib.SMTPServerDisconnected:
            raise
        except smtplib.SMTPRecipientsRefused as exc:
            code, reply = next(iter(exc.recipients.values()))
            return _refused(code, reply)
        except smtplib.SMTPSenderRefused as exc:
            # A fault of the settings, not of the letter. After accepted letters, it is a limit of the connection: as an
            # attempt, it would use up the attempts of most letters of a large batch.
            is_limit = has_sent and exc.smtp_code not in _PERMANENT
            return SentLetter(posting=MailResult.NOT_TRIED if is_limit else MailResult.RETRY, error=_reason(exc))
        except smtplib.SMTPResponseException as exc:
            return _refused(exc.smtp_code, exc.smtp_error)
        except OSError:
            raise
        except Exception as exc:  # noqa: BLE001  # a letter that cannot be written must not stop the others
            return SentLetter(posting=MailResult.REFUSED, error=f"the mail cannot be written: {type(exc).__name__}")
        return SentLetter(posting=MailResult.SENT)

    def _connected(self) -> _Connection:
        server = self._server
        context = self._tls or ssl.create_default_context()
        if server.is_tls:
            client: _Connection = _TlsConnection(server.host, server.port, timeout=self._timeout_s, context=context)
        else:
            client = _Connection(server.host, server.port, timeout=self._timeout_s)
        try:
            client.ehlo_or_helo_if_needed()
            if not server.is_tls and not server.in_clear:
                client.starttls(context=context)
            if server.user:
                client.login(server.user, server.password)
        except BaseException:
            client.close()
            raise
        return client

    def _written(self, letter: Letter) -> EmailMessage:
        message = EmailMessage(policy=_POLICY)
        domain = self._sender.rpartition("@")[2]
        # The header would decode the encoded word.
        name = one_line(letter.sender_name, _NAME).replace(_ENCODED, "= ?")
        message["From"] = Address(display_name=name, addr_spec=self._sender)
        message["To"] = Address(addr_spec=letter.to)
        message["Subject"] = one_line(letter.subject, 200)
        message["Date"] = format_datetime(letter.at)
        message["Message-ID"] = f"<{letter.message_id}@{domain}>"
        message["Auto-Submitted"] = "auto-generated"
        if letter.unsubscribe_url is not None:
            message["List-Unsubscribe"] = f"<{letter.unsubscribe_url}>"
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        if letter.list_label is not None:
            message["List-Id"] = f"<{letter.list_label}.changelog.{domain}>"
        message.set_content(letter.text)
        message.add_alternative(letter.html, subtype="html")
        return message


def _refused(code: int, reply: bytes | str) -> SentLetter:
    posting = MailResult.REFUSED if code in _PERMANENT else MailResult.RETRY
    return SentLetter(posting=posting, error=f"the server answered {code}: {_text(reply)}")


def _reason(exc: Exception) -> str:
    match exc:
        case smtplib.SMTPNotSupportedError():
            return f"the server does not support what is set: {_text(str(exc))}"
        case smtplib.SMTPResponseException(smtp_code=-1):
            return f"the server does not speak SMTP: {_text(exc.smtp_error)}"
        case smtplib.SMTPResponseException():
            return f"the server answered {exc.smtp_code}: {_text(exc.smtp_error)}"
        case ssl.SSLCertVerificationError():
            return f"the server's certificate is not valid for it: {_text(exc.verify_message)}"
        case TimeoutError() | smtplib.SMTPServerDisconnected(__context__=TimeoutError()):
            return "the server did not answer in time"
        case smtplib.SMTPServerDisconnected(__context__=_Endless()):
            return "the server sent a reply without end"
        case smtplib.SMTPServerDisconnected():
            return "the server ended the connection"
        case _:
            return f"the server cannot be reached: {_text(str(exc))}"


def _text(reply: bytes | str) -> str:
    return one_line(reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply, _ERROR)
