"""Reads a page over HTTP, without access to internal networks: each hop passes :mod:`.checking`."""

import ssl
from collections.abc import Collection
from functools import partial
from importlib.metadata import version
from typing import Final, final
from urllib.parse import urljoin

import httpx
from attrs import evolve, frozen

from contentsvc_adapters.sites.checking import CheckedSites, Fault, Resolve, beginning, is_compressed
from contentsvc_adapters.sites.names import SystemNames
from contentsvc_core.content.pages import decode_page
from contentsvc_core.content.site_addresses import SiteAddress, SiteHost, read_site_address
from contentsvc_core.ports.brands import NotRead, SiteFault, SitePage
from contentsvc_core.refusals import Refusal

#: The most bytes of a page that are read: its metadata comes first.
MAX_PAGE: Final = 512 * 1024
MAX_REDIRECTS: Final = 5
#: The receive buffer, in bytes: a far site still sends a usual page within a second or two.
_BUFFER: Final = 16 * 1024
#: The time limit of reading a page, redirects included, in seconds.
TOTAL_S: Final = 15.0
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_OK: Final = 200
#: Statuses that may be temporary, in addition to all from 500 on.
_PASSING: Final = frozenset({408, 425, 429})
_SERVER_ERROR: Final = 500
_HEADERS: Final = {
    "Accept": "text/html,application/xhtml+xml",
    # No compression: a small answer could unpack to a large one.
    "Accept-Encoding": "identity",
    "Accept-Language": "en,*;q=0.5",
    "User-Agent": f"contentsvc/{version('contentsvc')} (reads a site once, on request of a user)",
}


def _lasting(error: str) -> NotRead:
    return NotRead(fault=SiteFault.LASTING, error=error)


def _passing(error: str) -> NotRead:
    return NotRead(fault=SiteFault.PASSING, error=error)


_FAULTS: Final = {
    Fault.NO_HOST: _lasting("there is no public site '{host}'"),
    Fault.NOT_LOOKED_UP: _passing("the name '{host}' could not be looked up"),
    Fault.UNREACHABLE: _passing("the site cannot be reached"),
    Fault.BAD_CERTIFICATE: _lasting("the site's certificate is not valid for it"),
    Fault.NO_AUTHORITIES: _passing(
        "the server cannot load the certificates of its authorities: check SSL_CERT_FILE and SSL_CERT_DIR"
    ),
    Fault.SLOW: _passing("the site did not answer in time"),
    Fault.NO_HTTP: _passing("the site's answer is no HTTP, too large a head, or was cut off"),
}


@frozen
class _Redirect:
    url: str


@final
class HttpSiteReader:
    def __init__(
        self,
        *,
        opened: Collection[SiteHost] = (),
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        total_s: float = TOTAL_S,
    ) -> None:
        """``opened`` are hosts that an operator has allowed, whatever their IP addresses."""
        self._opened = frozenset(opened)
        names = SystemNames() if resolve is None else resolve
        self._sites = CheckedSites(names, tls, total_s=total_s, buffer=_BUFFER)
        self._total_s = total_s

    async def read(self, url: str) -> SitePage | NotRead:
        page = await self._sites.in_time(self._follow(url))
        return page or _passing(f"the site took longer than {self._total_s:g} s")

    async def _follow(self, url: str) -> SitePage | NotRead:
        site = read_site_address(url, self._opened)
        if isinstance(site, Refusal):
            return _lasting(site.message("the address"))
        for _ in range(1 + MAX_REDIRECTS):
            answer = await self._visit(site)
            if not isinstance(answer, _Redirect):
                return answer
            following = read_site_address(answer.url, self._opened)
            if isinstance(following, Refusal):
                return _lasting(following.message("the site's redirect"))
            if site.scheme == "https" and following.scheme == "http":
                # A secure page must not be replaced by one that others can read or forge.
                return _lasting("the site redirects from https to http")
            site = following
        return _lasting(f"the site redirects more than {MAX_REDIRECTS} times")

    async def _visit(self, site: SiteAddress) -> SitePage | _Redirect | NotRead:
        answer = await self._sites.request("GET", site, partial(_page, site), headers=_HEADERS)
        if isinstance(answer, Fault):
            return evolve(_FAULTS[answer], error=_FAULTS[answer].error.format(host=site.host))
        return answer


async def _page(site: SiteAddress, response: httpx.Response) -> SitePage | _Redirect | NotRead:
    if response.status_code in _REDIRECTS and "Location" in response.headers:
        return _moved(site.url, response.headers["Location"])
    refused = _refused(response)
    if refused is not None:
        return refused
    body = b"".join([piece async for piece in beginning(response, MAX_PAGE)])
    return SitePage(url=site.url, html=decode_page(body, response.headers.get("Content-Type", "")))


def _refused(response: httpx.Response) -> NotRead | None:
    status = response.status_code
    if status != _OK:
        error = f"the site answers with status {status}"
        return _passing(error) if status in _PASSING or status >= _SERVER_ERROR else _lasting(error)
    if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() not in _HTML:
        return _lasting("the site's answer is no HTML")
    if is_compressed(response):
        return _lasting("the site's answer is compressed, though that was not asked for")
    return None


def _moved(url: str, location: str) -> _Redirect | NotRead:
    try:
        return _Redirect(urljoin(url, location))
    except ValueError:
        return _lasting("the site's redirect is not an address")
