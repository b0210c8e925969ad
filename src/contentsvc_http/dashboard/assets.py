import functools
from importlib.resources import files
from typing import Any, Final

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from contentsvc_http.dashboard.session import ROOT
from contentsvc_http.errors import Refused
from contentsvc_http.static_files import FONT, StaticFiles, font, package_file

_PREFIX: Final = f"{ROOT}/assets"
_OWN: Final = ("style.css", "dashboard.js", "icon.svg")
_HTMX: Final = "htmx.min.js"


@functools.cache
def _assets() -> StaticFiles:
    folder = files("contentsvc_http.dashboard").joinpath("static")
    own = {name: folder.joinpath(name).read_bytes() for name in _OWN}
    htmx = package_file("js_lib_htmx", "static", "htmx", _HTMX)
    return StaticFiles(_PREFIX, {**own, _HTMX: htmx, FONT: font()})


def asset_url(name: str) -> str:
    return _assets().address(name)


def asset_route() -> HTTPRouteHandler:
    assets = _assets()

    @get(f"{_PREFIX}/{{name:str}}", include_in_schema=False)
    async def asset(name: FromPath[str], request: Request[Any, Any, Any]) -> Response[bytes]:
        file = assets.answer(name, request)
        if file is None:
            raise Refused(404, {"error": "Not Found"})
        return file

    return asset
