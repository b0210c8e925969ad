import re
from importlib.resources import files
from typing import Any, Final

from litestar import Request, Response
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, route
from litestar.params import FromPath

from contentsvc_core.content.public.colours import shades_of
from contentsvc_core.content.public.links import ROOT
from contentsvc_http.changelog.reading import not_here
from contentsvc_http.static_files import FONT, StaticFiles, font

#: A hyphen is not a slug.
_PREFIX: Final = f"{ROOT}/-"
_FOLDER: Final = files("contentsvc_http.changelog").joinpath("static")
_OWN: Final = ("style.css", "icon.svg", "subscribe.css", "page.js")
_ASSETS: Final = StaticFiles(_PREFIX, {**{name: _FOLDER.joinpath(name).read_bytes() for name in _OWN}, FONT: font()})
_ACCENT: Final = re.compile(r"accent-([0-9a-f]{6})\.css", re.ASCII)
_SHADES: Final = (
    ":root{{--accent:#{0.light};--accent-ground:#{0.light_ground}}}\n"
    "@media (prefers-color-scheme:dark){{:root{{--accent:#{0.dark};--accent-ground:#{0.dark_ground}}}}}\n"
)


def asset_url(name: str) -> str:
    return _ASSETS.address(name)


def asset_route() -> HTTPRouteHandler:
    @route(f"{_PREFIX}/{{name:str}}", http_method=[HttpMethod.GET, HttpMethod.HEAD])
    async def asset(name: FromPath[str], request: Request[Any, Any, Any]) -> Response[bytes]:
        file = _ASSETS.answer(name, request) or _accent(name)
        if file is None:
            raise not_here()
        return file

    return asset


def accent_url(accent: str) -> str:
    # With the version of the main stylesheet: the shades may change with it.
    return f"{_PREFIX}/accent-{accent}.css?{asset_url('style.css').partition('?')[2]}"


def _accent(name: str) -> Response[bytes] | None:
    match = _ACCENT.fullmatch(name)
    if match is None:
        return None
    headers = {"Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff"}
    return Response(_SHADES.format(shades_of(match[1])).encode(), media_type="text/css", headers=headers)
