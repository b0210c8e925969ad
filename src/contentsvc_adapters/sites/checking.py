"""Protection against requests to internal networks (SSRF).

A name is resolved once, and only checked addresses are connected to: a changed DNS answer redirects nothing.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Final, TypeVar, final

import httpx

from contentsvc_adapters.authorities import is_certificate_fault
from contentsvc_core.content.site_addresses import IPAddress, SiteAddress, is_public

#: The most pieces of an answer that are read. Usual pieces have a kilobyte or more; each takes the same time.
MAX_PIECES: Final = 4_096
_CONNECT_S: Final = 5.0
_Value = TypeVar("_Value")

Resolve = Callable[[str, int], Awaitable[Sequence[IPAddress]]]

#: Errors of an unresponsive name server; other errors mean that the name does not exist.
_UNANSWERED: Final = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL})


class Fault(Enum):
    """The cause for which a site gave no answer."""

    #: The name does not exist, or resolves to a non-public address; deliberately not distinguished.
    NO_HOST = auto()
    #: The name could not be resolved now; a later attempt may succeed.
    NOT_LOOKED_UP = auto()
    UNREACHABLE = auto()
    BAD_CERTIFICATE = auto()
    #: The certificates of the authorities cannot be loaded: a fault of this machine, not of the site.
    NO_AUTHORITIES = auto()
    SLOW = auto()
    NO_HTTP = auto()


@final
class CheckedSites:
    """Sends requests to sites; each connection leads to a checked IP address, and serves one request."""

    def __init__(self, resolve: Resolve, tls: ssl.SSLContext | None, *, total_s: float, buffer: int) -> None:
        """``total_s`` is the time limit of :meth:`in_time`; ``buffer`` is that of :func:`_client_of`."""
        self._resolve = resolve
        self._tls = tls
        self._total_s = total_s
        self._buffer = buffer

    async def in_time(self, work: Awaitable[_Value]) -> _Value | None:
        """Return the result of ``work``; ``None``: the time limit has ended it."""
        patience = asyncio.timeout(self._total_s)
        try:
            async with patience:
                return await work
        except TimeoutError:
            if not patience.expired():
                raise
            return None

    async def request(
        self,
        method: str,
        site: SiteAddress,
        use: Callable[[httpx.Response], Awaitable[_Value]],
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> _Value | Fault:
        """Send a request, and return what ``use`` makes of the answer. Redirects are not followed."""
        name = _ascii_name(site.host)
        if name is None:
            return Fault.NO_HOST
        numbers = await _checked_numbers(site, name, self._resolve)
        if isinstance(numbers, Fault):
            return numbers
        tls = self._context()
        if tls is None:
            return Fault.NO_AUTHORITIES
        failed = Fault.NO_HOST
        for number in numbers:
            try:
                async with (
                    self._client(tls) as client,
                    client.stream(
                        method,
                        _numbered(site, number),
                        headers={**headers, "Host": _called(site, name)},
                        content=body,
                        extensions={"sni_hostname": name},
                    ) as response,
                ):
                    return await use(response)
            except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
                # A host with two IP addresses is available as long as one of them answers.
                failed = Fault.BAD_CERTIFICATE if is_certificate_fault(exc) else Fault.UNREACHABLE
            except httpx.TimeoutException:
                return Fault.SLOW
            except httpx.HTTPError:
                # The request may have arrived: do not send it to another IP address.
                return Fault.NO_HTTP
        return failed

    def _context(self) -> ssl.SSLContext | None:
        """Return the context of all connections; ``None``: the files of the authorities are missing or broken."""
        if self._tls is None:
            try:
                self._tls = httpx.create_ssl_context()
            except OSError:
                return None
        return self._tls

    def _client(self, tls: ssl.SSLContext) -> httpx.AsyncClient:
        return _client_of(tls, httpx.Timeout(self._total_s, connect=_CONNECT_S), buffer=self._buffer)


def _ascii_name(host: str) -> str | None:
    """Return a host name in its ASCII form (IDNA); ``None``: it is invalid."""
    try:
        return httpx.URL(scheme="http", host=host).raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError):
        return None


async def _checked_numbers(site: SiteAddress, name: str, resolve: Resolve) -> Sequence[IPAddress] | Fault:
    """Return the IP addresses of a site, all of them public unless an operator has allowed the host (in ASCII)."""
    try:
        numbers = await resolve(name, site.port)
    except socket.gaierror as exc:
        return Fault.NOT_LOOKED_UP if exc.errno in _UNANSWERED else Fault.NO_HOST
    except (OSError, UnicodeError):
        return Fault.NOT_LOOKED_UP
    if not site.opened and not all(is_public(number) for number in numbers):
        # One non-public address is enough: mixed answers are likely an attack.
        return Fault.NO_HOST
    return numbers


def _numbered(site: SiteAddress, number: IPAddress) -> httpx.URL:
    return httpx.URL(site.scheme + "://host" + site.target).copy_with(host=str(number), port=site.port)


def _called(site: SiteAddress, name: str) -> str:
    return SiteAddress(scheme=site.scheme, host=name, port=site.port, target="/").authority


def _client_of(tls: ssl.SSLContext, timeout: httpx.Timeout, *, buffer: int) -> httpx.AsyncClient:
    """Create a client for one request, without a proxy of the environment: a connection must serve one name only.

    ``buffer`` bounds the bytes that one turn of the event loop reads. Eight servers that sent heads with the status 103
    without end stopped the loop.
    """
    options = [(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)]
    transport = httpx.AsyncHTTPTransport(verify=tls, trust_env=False, socket_options=options)
    return httpx.AsyncClient(transport=transport, trust_env=False, timeout=timeout)


async def beginning(response: httpx.Response, limit: int) -> AsyncGenerator[bytes]:
    """Yield the pieces of the first ``limit`` bytes of an answer, at most :data:`MAX_PIECES`.

    Other tasks run between two pieces: one packet may have ten thousand, which took the event loop a second.
    """
    number = 0
    async for piece in response.aiter_raw():
        number += 1
        yield piece[:limit]
        limit -= len(piece)
        if limit <= 0 or number == MAX_PIECES:
            return
        await asyncio.sleep(0)


def is_compressed(response: httpx.Response) -> bool:
    """Check whether an answer is compressed, though no request asks for that: 3 KB could unpack to gigabytes."""
    return response.headers.get("Content-Encoding", "identity").strip().lower() != "identity"
