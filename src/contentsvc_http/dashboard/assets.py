"""The files that pages load: our own stylesheet and script, and htmx from the package that carries it."""

from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from contentsvc_http.dashboard.visits import ROOT
from contentsvc_http.errors import Refused

#: By name: what it is.
_TYPES: Final = {
    "style.css": "text/css",
    "dashboard.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


def asset_route() -> HTTPRouteHandler:
    """Give the route of the files: read once, they are few."""
    held = {name: _read(name) for name in _TYPES}
    tags = {name: f'"{sha256(content).hexdigest()[:32]}"' for name, content in held.items()}

    @get(f"{ROOT}/assets/{{name:str}}", include_in_schema=False, name="dashboard_assets")
    async def asset(name: FromPath[str]) -> Response[bytes]:
        content = held.get(name)
        if content is None:
            raise Refused(404, {"error": "Not Found"})
        headers = {"ETag": tags[name], "Cache-Control": "max-age=3600", "X-Content-Type-Options": "nosniff"}
        return Response(content, media_type=_TYPES[name], headers=headers)

    return asset


def _read(name: str) -> bytes:
    if name == "htmx.min.js":
        # Found, not imported: only its file is wanted.
        package = find_spec("js_lib_htmx")
        assert package is not None  # it is a dependency
        assert package.origin is not None  # and a plain package
        return Path(package.origin).with_name("static").joinpath("htmx", name).read_bytes()
    return files("contentsvc_http.dashboard").joinpath("static", name).read_bytes()
