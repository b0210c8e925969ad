"""Where a request may go: a name is looked up once, every number of it is checked, and one of those is connected to.

So nothing is looked up behind the check, and no answer of a name server can lead elsewhere.
"""

import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, final

import httpx
from attrs import frozen

from contentsvc_core.content.site_addresses import IPAddress, SiteAddress, is_public

#: What gives the numbers of a name.
Resolve = Callable[[str, int], Awaitable[Sequence[IPAddress]]]

#: What a name server's silence is called; others mean that there is no such name.
_UNANSWERED: Final = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL})


@final
@frozen
class NotPublic:
    """There is no such name, or it leads to what only we can reach: which of them is nobody's business."""


@final
@frozen
class NotLookedUp:
    """Nobody could say where the name leads; in a while somebody may."""


def ascii_name(host: str) -> str | None:
    """Give a name as name servers know it (IDNA); ``None``: it is none."""
    try:
        return httpx.URL(scheme="http", host=host).raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError):
        return None


async def checked_numbers(
    site: SiteAddress, name: str, resolve: Resolve
) -> Sequence[IPAddress] | NotPublic | NotLookedUp:
    """Give the numbers of a site, all of them public unless an operator has opened it.

    Args:
        site: Where.
        name: Its host, as name servers know it.
        resolve: Raises OSError when there are no numbers.
    """
    try:
        numbers = await resolve(name, site.port)
    except socket.gaierror as exc:
        return NotLookedUp() if exc.errno in _UNANSWERED else NotPublic()
    except (OSError, UnicodeError):
        return NotLookedUp()
    if not site.opened and not all(is_public(number) for number in numbers):
        # One that is not is enough: whoever mixes them has something in mind.
        return NotPublic()
    return numbers


def numbered(site: SiteAddress, number: IPAddress) -> httpx.URL:
    """Give a site's address by one of its numbers: nothing is looked up any more."""
    return httpx.URL(site.scheme + "://host" + site.target).copy_with(host=str(number), port=site.port)


def called(site: SiteAddress, name: str) -> str:
    """Give what the site is called in ``Host``."""
    return SiteAddress(scheme=site.scheme, host=name, port=site.port, target="/").authority


def is_certificate_fault(exc: BaseException) -> bool:
    """Tell whether a connection failed at the certificate; the client wraps the errors of its parts."""
    while (behind := exc.__cause__ or exc.__context__) is not None and not isinstance(exc, ssl.SSLError):
        exc = behind
    return isinstance(exc, ssl.SSLCertVerificationError)
