"""The files that public pages load: one stylesheet, one icon."""

from hashlib import sha256
from importlib.resources import files
from typing import Final

from litestar import Response
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, route
from litestar.params import FromPath

from contentsvc_core.content.public.links import ROOT
from contentsvc_http.changelog.reading import not_here

#: A hyphen alone is no slug.
_PLACE: Final = f"{ROOT}/-"
_TYPES: Final = {"style.css": "text/css", "icon.svg": "image/svg+xml"}
_HELD: Final = {name: files("contentsvc_http.changelog").joinpath("static", name).read_bytes() for name in _TYPES}
_DIGESTS: Final = {name: sha256(content).hexdigest()[:16] for name, content in _HELD.items()}


def asset_url(name: str) -> str:
    """Give the address of a file as it is now: another version of it has another address."""
    return f"{_PLACE}/{name}?v={_DIGESTS[name]}"


def asset_route() -> HTTPRouteHandler:
    """Give the route of the files."""

    @route(f"{_PLACE}/{{name:str}}", http_method=[HttpMethod.GET, HttpMethod.HEAD], name="changelog_assets")
    async def asset(name: FromPath[str]) -> Response[bytes]:
        content = _HELD.get(name)
        if content is None:
            raise not_here()
        headers = {
            "ETag": f'"{_DIGESTS[name]}"',
            "Cache-Control": "public, max-age=86400",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(content, media_type=_TYPES[name], headers=headers)

    return asset
