"""Sends messages over HTTP, protected against requests to internal networks.

The checks are those of :mod:`contentsvc_adapters.sites.checking`.
Redirects are not followed, proxies are not used, and no connection is kept.
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
    beginning,
    called,
    checked_numbers,
    client_of,
    is_certificate_fault,
    numbered,
)
from contentsvc_adapters.sites.names import SystemNames
from contentsvc_core.content.site_addresses import IPAddress, SiteAddress, SiteHost
from contentsvc_core.outgoing.retries import Answer, NotSent
from contentsvc_core.outgoing.targets import read_endpoint_url
from contentsvc_core.refusals import Refusal
from contentsvc_core.text import one_line

#: The time limit of an attempt, in seconds; the specification proposes 15 to 30.
TOTAL_S: Final = 15.0
#: The most bytes of an answer that are read and logged, for debugging.
MAX_ANSWER: Final = 4096
#: The limit of concurrent DNS queries: more than concurrent messages, since abandoned queries count.
_NAMES_AT_ONCE: Final = 64
_CONNECT_S: Final = 5.0
_EXCERPT: Final = 200
_HEADERS: Final = {
    "Accept": "*/*",
    # No compression: a small answer could unpack to a large one.
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": f"contentsvc/{version('contentsvc')} (webhooks)",
}


@final
class HttpWebhookSender:
    def __init__(
        self,
        *,
        opened: Collection[SiteHost] = (),
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        total_s: float = TOTAL_S,
    ) -> None:
        """Create the sender.

        ``opened`` are hosts that an operator has allowed, whatever their IP addresses; only they need no TLS.
        """
        self._opened = frozenset(opened)
        self._resolve: Resolve = SystemNames(_NAMES_AT_ONCE) if resolve is None else resolve
        self._tls = tls
        self._total_s = total_s

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        patience = asyncio.timeout(self._total_s)
        try:
            async with patience:
                return await self._send(url, headers, body)
        except TimeoutError:
            if not patience.expired():
                raise
            return NotSent(error=f"the endpoint did not answer within {self._total_s:g} s")

    async def _send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        # Checked at each attempt: the operator may have changed the allowed hosts.
        site = read_endpoint_url(url, self._opened)
        if isinstance(site, Refusal):
            return NotSent(error=f"nothing was sent: {site.message('the address')}")
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
                # A host with two IP addresses is available as long as one of them answers.
                said = "the endpoint cannot be reached"
                if is_certificate_fault(exc):
                    said = "nothing was sent: the endpoint's certificate is not valid for it"
                failed = NotSent(error=said)
            except httpx.TimeoutException:
                return NotSent(error="the endpoint did not answer in time")
            except httpx.HTTPError:
                # The message may have arrived: do not send it to another IP address.
                return NotSent(error="the endpoint's answer is no HTTP, has too large a head, or was cut off")
        return failed

    async def _post(
        self, site: SiteAddress, name: str, number: IPAddress, headers: Mapping[str, str], body: bytes
    ) -> Answer:
        timeout = httpx.Timeout(self._total_s, connect=_CONNECT_S)
        async with (
            client_of(self._context(), timeout, buffer=MAX_ANSWER) as client,
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
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return self._tls


def _no_host(site: SiteAddress) -> NotSent:
    # One text for missing and non-public names: it does not disclose the names of the internal network.
    return NotSent(error=f"nothing was sent: there is no public host '{site.host}'")


async def _excerpt(response: httpx.Response) -> str:
    read = bytearray()
    try:
        async for piece in beginning(response, MAX_ANSWER):
            read += piece
    except httpx.HTTPError:
        pass
    return one_line(read.decode("utf-8", "replace"), _EXCERPT)
