"""Sends messages over HTTP, protected against requests to internal networks.

The checks are those of :mod:`contentsvc_adapters.sites.checking`.
Redirects are not followed, proxies are not used, and no connection is kept.
"""

import ssl
from collections.abc import Collection, Mapping
from importlib.metadata import version
from typing import Final, final

import httpx

from contentsvc_adapters.sites.checking import CheckedSites, Fault, Resolve, beginning
from contentsvc_adapters.sites.names import SystemNames
from contentsvc_core.content.site_addresses import SiteHost
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
_EXCERPT: Final = 200
_HEADERS: Final = {
    "Accept": "*/*",
    # No compression: a small answer could unpack to a large one.
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": f"contentsvc/{version('contentsvc')} (webhooks)",
}
_FAULTS: Final = {
    # One text for missing and non-public names: it does not disclose the names of the internal network.
    Fault.NO_HOST: "nothing was sent: there is no public host '{host}'",
    Fault.NOT_LOOKED_UP: "nothing was sent: the name '{host}' could not be looked up",
    Fault.UNREACHABLE: "the endpoint cannot be reached",
    Fault.BAD_CERTIFICATE: "nothing was sent: the endpoint's certificate is not valid for it",
    Fault.NO_AUTHORITIES: (
        "nothing was sent: this server cannot load the certificates of its authorities: "
        "check SSL_CERT_FILE and SSL_CERT_DIR"
    ),
    Fault.SLOW: "the endpoint did not answer in time",
    Fault.NO_HTTP: "the endpoint's answer is no HTTP, has too large a head, or was cut off",
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
        names = SystemNames(_NAMES_AT_ONCE) if resolve is None else resolve
        self._sites = CheckedSites(names, tls, total_s=total_s, buffer=MAX_ANSWER)
        self._total_s = total_s

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        sent = await self._sites.in_time(self._send(url, headers, body))
        return sent or NotSent(error=f"the endpoint did not answer within {self._total_s:g} s")

    async def _send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        # Checked at each attempt: the operator may have changed the allowed hosts.
        site = read_endpoint_url(url, self._opened)
        if isinstance(site, Refusal):
            return NotSent(error=f"nothing was sent: {site.message('the address')}")
        answer = await self._sites.request("POST", site, _answer, headers={**_HEADERS, **headers}, body=body)
        if not isinstance(answer, Fault):
            return answer
        # The endpoint has no part in a fault of this machine.
        return NotSent(error=_FAULTS[answer].format(host=site.host), counts=answer is not Fault.NO_AUTHORITIES)


async def _answer(response: httpx.Response) -> Answer:
    return Answer(
        status=response.status_code,
        retry_after=response.headers.get("Retry-After"),
        excerpt=await _excerpt(response),
    )


async def _excerpt(response: httpx.Response) -> str:
    read = bytearray()
    try:
        async for piece in beginning(response, MAX_ANSWER):
            read += piece
    except httpx.HTTPError:
        pass
    return one_line(read.decode("utf-8", "replace"), _EXCERPT)
