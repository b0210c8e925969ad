from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import msgspec
from litestar import Request, Response
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, route
from litestar.params import FromPath

from contentsvc_core.content.public.links import ROOT
from contentsvc_core.content.public.widget import WIDGET_LENGTH, badge_svg, badge_value, widget_data
from contentsvc_http.changelog.answers import PAGE, SHARED, PublicPage, answer
from contentsvc_http.changelog.reading import PublicReading, shown

_READ: Final = [HttpMethod.GET, HttpMethod.HEAD]
SCRIPT: Final = files("contentsvc_http.changelog").joinpath("static", "widget.js").read_bytes()
_DIGEST: Final = sha256(SCRIPT).hexdigest()[:16]
_SVG: Final = "image/svg+xml"
_SCRIPT_TYPE: Final = "text/javascript"


def widget_routes(reading: PublicReading) -> list[HTTPRouteHandler]:
    @route(f"{ROOT}/{{slug:str}}/widget.js", http_method=_READ)
    async def script(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)

        async def read() -> Callable[[], bytes]:
            return lambda: SCRIPT

        # The digest is part of the page's name, and so of its entity tag.
        page = PublicPage(part=f"widget.js?v={_DIGEST}", media_type=_SCRIPT_TYPE, headers=SHARED)
        return await answer(view, page, read)

    @route(f"{ROOT}/{{slug:str}}/widget.json", http_method=_READ)
    async def data(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)

        async def read() -> Callable[[], bytes]:
            posts = await view.changelogs.posts(view.changelog, limit=WIDGET_LENGTH)
            return lambda: msgspec.json.encode(widget_data(view.changelog, posts, view.links))

        return await answer(view, PublicPage(part="widget.json", media_type="application/json", headers=SHARED), read)

    @route(f"{ROOT}/{{slug:str}}/badge.svg", http_method=_READ)
    async def badge(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)

        async def read() -> Callable[[], bytes]:
            releases = await view.changelogs.posts(view.changelog, limit=1, released=True)
            newest = releases or await view.changelogs.posts(view.changelog, limit=1)
            value = badge_value(releases[0] if releases else None, newest[0] if newest else None)
            return lambda: badge_svg(view.changelog, value)

        return await answer(view, PublicPage(part="badge.svg", media_type=_SVG, headers=PAGE | SHARED), read)

    return [script, data, badge]
