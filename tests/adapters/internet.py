"""A fake internet of this process: a table of names, and public IP addresses that lead to local servers."""

import asyncio
import datetime as dt
import ipaddress
import re
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from contentsvc_adapters.outgoing.sender import HttpWebhookSender
from contentsvc_adapters.sites.reader import HttpSiteReader
from contentsvc_core.content.site_addresses import IPAddress, SiteHost

Serve = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]

PUBLIC: Final = "93.184.216.34"
OTHER: Final = "2606:4700::1111"
PAGE: Final = b"<title>Acme</title>"
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length: ([0-9]+)\r\n")


def answer(*lines: str, body: bytes = PAGE, status: str = "200 OK", kind: str = "text/html") -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *lines, "", ""]
    return "\r\n".join(head).encode() + body


def redirect(to: str, *lines: str) -> bytes:
    return answer(f"Location: {to}", *lines, status="302 Found", body=b"")


def says(*answers: bytes) -> Serve:
    """Answer each request with the next one, and then with the last one."""
    remaining = list(answers)

    async def serve(_request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(remaining.pop(0) if len(remaining) > 1 else remaining[0])

    return serve


class Internet:
    """Names, IP addresses, and their servers."""

    def __init__(self) -> None:
        self.names: dict[str, list[Sequence[str]]] = {}
        self.at: dict[tuple[str, int], int] = {}
        self.looked_up: list[str] = []
        self.connected: list[tuple[str, int]] = []
        self.requests: list[str] = []

    def name(self, name: str, *answers: Sequence[str]) -> None:
        """Set the answers to successive queries of a name; the last one is repeated."""
        self.names[name] = list(answers)

    async def resolve(self, name: str, _port: int) -> list[IPAddress]:
        self.looked_up.append(name)
        answers = self.names.get(name)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        numbers = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ipaddress.ip_address(number) for number in numbers]

    @asynccontextmanager
    async def serving(
        self, serve: Serve, number: str = PUBLIC, port: int = 80, tls: ssl.SSLContext | None = None
    ) -> AsyncGenerator[int]:
        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                request = await reader.readuntil(b"\r\n\r\n")
                if (announced := _LENGTH.search(request)) is not None:
                    request += await reader.readexactly(int(announced[1]))
                self.requests.append(request.decode())
                await serve(request, writer)
                await writer.drain()
            except (OSError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(client, "127.0.0.1", 0, ssl=tls)
        local: int = server.sockets[0].getsockname()[1]
        self.at[number, port] = local
        try:
            yield local
        finally:
            server.close()

    def reader(
        self, *, opened: Sequence[SiteHost] = (), tls: ssl.SSLContext | None = None, total_s: float = 10
    ) -> HttpSiteReader:
        return HttpSiteReader(
            opened=opened, resolve=self.resolve, tls=tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), total_s=total_s
        )

    def sender(
        self, *, opened: Sequence[SiteHost] = (), tls: ssl.SSLContext | None = None, total_s: float = 10
    ) -> HttpWebhookSender:
        return HttpWebhookSender(
            opened=opened, resolve=self.resolve, tls=tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), total_s=total_s
        )


def certified(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return a server's context with a certificate for ``name``, and a client's that trusts it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(private + pem)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "server.pem")
    return server, ssl.create_default_context(cadata=pem.decode())
