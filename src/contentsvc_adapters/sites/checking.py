"""Protection against requests to internal networks (SSRF).

A name is resolved once, and only checked addresses are connected to: a changed DNS answer redirects nothing.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Final, final

import httpx
from attrs import frozen

from contentsvc_core.content.site_addresses import IPAddress, SiteAddress, is_public

#: The most pieces of an answer that are read. Usual pieces have a kilobyte or more; each takes the same time.
MAX_PIECES: Final = 4_096

Resolve = Callable[[str, int], Awaitable[Sequence[IPAddress]]]

#: Errors of an unresponsive name server; other errors mean that the name does not exist.
_UNANSWERED: Final = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL})


@final
@frozen
class NotPublic:
    """The name does not exist, or resolves to a non-public address; deliberately not distinguished."""


@final
@frozen
class NotLookedUp:
    """The name could not be resolved now; a later attempt may succeed."""


def ascii_name(host: str) -> str | None:
    """Return a host name in its ASCII form (IDNA); ``None``: it is invalid."""
    try:
        return httpx.URL(scheme="http", host=host).raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError):
        return None


async def checked_numbers(
    site: SiteAddress, name: str, resolve: Resolve
) -> Sequence[IPAddress] | NotPublic | NotLookedUp:
    """Return the IP addresses of a site, all of them public unless an operator has allowed the host (in ASCII)."""
    try:
        numbers = await resolve(name, site.port)
    except socket.gaierror as exc:
        return NotLookedUp() if exc.errno in _UNANSWERED else NotPublic()
    except (OSError, UnicodeError):
        return NotLookedUp()
    if not site.opened and not all(is_public(number) for number in numbers):
        # One non-public address is enough: mixed answers are likely an attack.
        return NotPublic()
    return numbers


def numbered(site: SiteAddress, number: IPAddress) -> httpx.URL:
    return httpx.URL(site.scheme + "://host" + site.target).copy_with(host=str(number), port=site.port)


def called(site: SiteAddress, name: str) -> str:
    return SiteAddress(scheme=site.scheme, host=name, port=site.port, target="/").authority


def client_of(tls: ssl.SSLContext, timeout: httpx.Timeout, *, buffer: int) -> httpx.AsyncClient:
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


def is_certificate_fault(exc: BaseException) -> bool:
    """Check whether a connection failed at the certificate; the client wraps the errors of its parts."""
    while (behind := exc.__cause__ or exc.__context__) is not None and not isinstance(exc, ssl.SSLError):
        exc = behind
    return isinstance(exc, ssl.SSLCertVerificationError)
