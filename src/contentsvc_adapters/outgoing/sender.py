"""Sending a message over HTTP, with care (port :class:`~contentsvc_core.ports.WebhookSender`).

Anybody who may write in an organization names an address, and this process can reach more than they can. So the address
goes the way that the sites of brand identities go: it is refused by the core's rules, its name is looked up once, every
number of it is checked, and the request goes to a checked number, with the name in ``Host`` and in TLS. No redirect is
followed, no proxy is asked, and nothing is kept between two requests.
"""

import asyncio
import ssl
from collections.abc import Collection, Mapping
from importlib.metadata import version
from typing import Final, final

import httpx

from contentsvc_adapters.sites.checking import (
    NotLookedUp,
    NotPublic,
    Resolve,
    ascii_name,
    called,
    checked_numbers,
    is_certificate_fault,
    numbered,
)
from contentsvc_adapters.sites.names import SystemNames
from contentsvc_core.content.site_addresses import BadAddress, IPAddress, SiteAddress, SiteHost
from contentsvc_core.outgoing.endpoints import read_endpoint_url
from contentsvc_core.outgoing.retries import Answer, NotSent
from contentsvc_core.text import one_line

#: How long an attempt takes at most, in seconds; the specification proposes 15 to 30.
TOTAL_S: Final = 15.0
#: How much of an answer is read, in bytes: what it says is for people who look for a fault.
MAX_ANSWER: Final = 4096
#: So many names are looked up at once: more than messages are sent at once, with those whose asker has left.
_NAMES_AT_ONCE: Final = 64
_CONNECT_S: Final = 5.0
_EXCERPT: Final = 200
_HEADERS: Final = {
    "Accept": "*/*",
    # What is packed small may be large: nothing is unpacked here.
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": f"contentsvc/{version('contentsvc')} (webhooks)",
}


@final
class HttpWebhookSender:
    """Sends messages. It keeps nothing between two of them: no connection, no cookie."""

    def __init__(
        self,
        *,
        opened: Collection[SiteHost] = (),
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        total_s: float = TOTAL_S,
    ) -> None:
        """Set the limits.

        Args:
            opened: Hosts that an operator has opened, wherever they are; these alone may be reached without TLS.
            resolve: Gives the numbers of a name; it raises OSError when there are none. The system is asked unless it
                is given.
            tls: What certificates are checked with; those that the system's libraries trust unless it is given.
            total_s: How long an attempt takes at most, in seconds.
        """
        self._opened = frozenset(opened)
        self._resolve: Resolve = SystemNames(_NAMES_AT_ONCE) if resolve is None else resolve
        self._tls = tls
        self._total_s = total_s

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        """Send a message, and give the answer."""
        patience = asyncio.timeout(self._total_s)
        try:
            async with patience:
                return await self._send(url, headers, body)
        except TimeoutError:
            if not patience.expired():
                raise
            return NotSent(error=f"the endpoint did not answer within {self._total_s:g} s")

    async def _send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        # Each time: what was let in once may be closed by now.
        site = read_endpoint_url(url, self._opened)
        if isinstance(site, BadAddress):
            return NotSent(error=f"nothing was sent: the address {site.reason}")
        name = ascii_name(site.host)
        numbers = NotPublic() if name is None else await checked_numbers(site, name, self._resolve)
        if name is None or isinstance(numbers, NotPublic):
            return _no_host(site)
        if isinstance(numbers, NotLookedUp):
            return NotSent(error=f"nothing was sent: the name '{site.host}' could not be looked up")
        failed = _no_host(site)
        for number in numbers:
            try:
                return await self._post(site, name, number, headers, body)
            except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
                # A host with two numbers is there as long as one of them answers.
                said = "the endpoint cannot be reached"
                if is_certificate_fault(exc):
                    said = "nothing was sent: the endpoint's certificate is not valid for it"
                failed = NotSent(error=said)
            except httpx.TimeoutException:
                return NotSent(error="the endpoint did not answer in time")
            except httpx.HTTPError:
                # What was sent may have arrived: another number of it is not asked as well.
                return NotSent(error="the endpoint's answer is no HTTP, has too large a head, or was cut off")
        return failed

    async def _post(
        self, site: SiteAddress, name: str, number: IPAddress, headers: Mapping[str, str], body: bytes
    ) -> Answer:
        timeout = httpx.Timeout(self._total_s, connect=_CONNECT_S)
        # Without the environment: a proxy would look the name up anew. One client a request: a connection that was
        # made for one name must not serve another one.
        async with (
            httpx.AsyncClient(verify=self._context(), trust_env=False, timeout=timeout) as client,
            client.stream(
                "POST",
                numbered(site, number),
                headers={**_HEADERS, **headers, "Host": called(site, name)},
                content=body,
                extensions={"sni_hostname": name},
                follow_redirects=False,
            ) as response,
        ):
            return Answer(
                status=response.status_code,
                retry_after=response.headers.get("Retry-After"),
                excerpt=await _excerpt(response),
            )

    def _context(self) -> ssl.SSLContext:
        # Made once, when it is needed: it reads every certificate that is trusted.
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return self._tls


def _no_host(site: SiteAddress) -> NotSent:
    # Of a name that leads to what is not public, the text is that of a name which is not there: which names this
    # network knows is nobody's business.
    return NotSent(error=f"nothing was sent: there is no public host '{site.host}'")


async def _excerpt(response: httpx.Response) -> str:
    read = bytearray()
    try:
        async for chunk in response.aiter_raw():
            read += chunk[: MAX_ANSWER - len(read)]
            if len(read) >= MAX_ANSWER:
                break
    except httpx.HTTPError:
        # The status has come, and that is what counts.
        pass
    return one_line(read.decode("utf-8", "replace"), _EXCERPT)
