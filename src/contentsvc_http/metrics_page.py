from typing import Any, Final

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler

from contentsvc_http.client_address import is_local
from contentsvc_http.errors import Refused
from contentsvc_http.scrape import Scrape

_NOT_LOCAL: Final = (
    "Metrics are only available on this machine, at localhost. To allow other clients, set CONTENTSVC_METRICS=on"
)


def metrics_route(scrape: Scrape, *, local: bool) -> HTTPRouteHandler:
    """Return the route of the metrics page; ``local`` serves only clients on this machine."""

    @get("/metrics", include_in_schema=False)
    async def metrics(request: Request[Any, Any, Any]) -> Response[bytes]:
        # Some proxies cannot be detected. The page has no secrets, and the documentation says to block it there.
        if local and not is_local(request.client and request.client.host, request.scope["headers"]):
            raise Refused(403, {"error": _NOT_LOCAL})
        page, content_type = await scrape.page(request.headers.get("Accept", ""))
        # Of a media type of text, the framework would add the encoding a second time.
        return Response(page, headers={"content-type": content_type})

    return metrics
