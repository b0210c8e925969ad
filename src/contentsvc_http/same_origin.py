"""Origins: which site's page has sent a request, as browsers say it (RFC 6454)."""

from typing import Any, Final
from urllib.parse import urlsplit

from litestar import Request

_CROSS_SITE: Final = frozenset({"cross-site", "same-site"})
#: Browsers leave these ports out of an origin.
_USUAL_PORTS: Final = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    """Return an address's origin, as browsers write it."""
    parts = urlsplit(url.lower())
    usual = parts.port is not None and parts.port == _USUAL_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{parts.netloc.removesuffix(f':{parts.port}') if usual else parts.netloc}"


def is_foreign(request: Request[Any, Any, Any], base_url: str) -> bool:
    """Check whether a browser says that another site's page has sent this.

    ``Sec-Fetch-Site`` is sent to ``https`` and to this machine alone, ``Origin`` to every address. An origin is ours
    when it is that of ``base_url``, or when it names the host that the request asks for. Programs send neither.
    """
    if request.headers.get("Sec-Fetch-Site", "").strip().lower() in _CROSS_SITE:
        return True
    origin = request.headers.get("Origin", "").strip().lower()
    if not origin or origin == origin_of(base_url):
        return False
    _, _, host = origin.partition("://")
    return not host or host != request.headers.get("Host", "").lower()


def is_in_clear(request: Request[Any, Any, Any]) -> bool:
    """Check whether a browser says that its page came over ``http``; the proxy in front may speak it with us anyway."""
    return request.headers.get("Origin", "").strip().lower().startswith("http://")
