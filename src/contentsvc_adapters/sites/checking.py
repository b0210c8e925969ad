"""Protection against requests to internal networks (SSRF).

A name is resolved once, and only checked addresses are connected to: a changed DNS answer redirects nothing.
"""

import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, final

import httpx
from attrs import frozen

from contentsvc_core.content.site_addresses import IPAddress, SiteAddress, is_public

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


def is_certificate_fault(exc: BaseException) -> bool:
    """Check whether a connection failed at the certificate; the client wraps the errors of its parts."""
    while (behind := exc.__cause__ or exc.__context__) is not None and not isinstance(exc, ssl.SSLError):
        exc = behind
    return isinstance(exc, ssl.SSLCertVerificationError)
