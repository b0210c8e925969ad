"""The files that public pages load: one stylesheet, one icon, one font."""

from importlib.resources import files
from typing import Any, Final

from litestar import Request, Response
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, route
from litestar.params import FromPath

from contentsvc_core.content.public.links import ROOT
from contentsvc_http.changelog.reading import not_here
from contentsvc_http.static_files import FONT, StaticFiles, font

#: A hyphen alone is no slug.
_PLACE: Final = f"{ROOT}/-"
_FOLDER: Final = files("contentsvc_http.changelog").joinpath("static")
_OWN: Final = ("style.css", "icon.svg")
_ASSETS: Final = StaticFiles(_PLACE, {**{name: _FOLDER.joinpath(name).read_bytes() for name in _OWN}, FONT: font()})


def asset_url(name: str) -> str:
    """Return the address of a file as it is now: another version of the file has another address."""
    return _ASSETS.address(name)


def asset_route() -> HTTPRouteHandler:
    """Return the route of the files."""

    @route(f"{_PLACE}/{{name:str}}", http_method=[HttpMethod.GET, HttpMethod.HEAD], name="changelog_assets")
    async def asset(name: FromPath[str], request: Request[Any, Any, Any]) -> Response[bytes]:
        found = _ASSETS.answer(name, request)
        if found is None:
            raise not_here()
        return found

    return asset
