"""The page that lists the ways to follow a changelog."""

from collections.abc import Callable
from typing import Any, Final

from litestar import Request, Response
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, route
from litestar.params import FromPath

from contentsvc_core.content.public.links import ROOT
from contentsvc_http.changelog.answers import PAGE, Page, answer
from contentsvc_http.changelog.pages import HTML, render
from contentsvc_http.changelog.reading import PublicReading, shown

_READ: Final = [HttpMethod.GET, HttpMethod.HEAD]
_CSP: Final = "Content-Security-Policy"
#: For the page with copy buttons: it runs one script from here.
_SCRIPTED: Final = PAGE | {_CSP: f"{PAGE[_CSP]}; script-src 'self'"}


def subscribe_routes(reading: PublicReading) -> list[HTTPRouteHandler]:
    """Return the routes of the Subscribe page."""

    @route(f"{ROOT}/{{slug:str}}/subscribe", http_method=_READ, name="changelog_subscribe")
    async def subscribe(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        found = await shown(reading, request, slug)

        async def read() -> Callable[[], bytes]:
            return lambda: render("subscribe.html", found, title="Subscribe", here=found.links.subscribe)

        return await answer(found, Page(part="subscribe", media_type=HTML, headers=_SCRIPTED), read)

    return [subscribe]
