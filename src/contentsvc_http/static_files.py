import functools
import gzip
import re
from collections.abc import Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

from litestar import Request, Response

_MEDIA_TYPES: Final = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "ttf": "font/ttf",
}
#: The cache time of an address with a digest, in seconds: a year, the longest that caches honour.
_LONG_S: Final = 365 * 86_400
_SHORT_S: Final = 3_600
#: Refuses gzip in an Accept-Encoding header (RFC 9110, section 12.5.3).
_NO_GZIP: Final = re.compile(r"gzip\s*;\s*q=0(\.0*)?\s*(,|$)")
FONT: Final = "manrope.ttf"


@final
class StaticFiles:
    def __init__(self, prefix: str, contents: Mapping[str, bytes]) -> None:
        """Create the files. A stylesheet's ``url("name")`` becomes the address of the file with that name."""
        self._prefix = prefix
        self._contents: dict[str, bytes] = {}
        self._digests: dict[str, str] = {}
        # Stylesheets last: they contain the digests of other files.
        for name in sorted(contents, key=lambda file_name: file_name.endswith(".css")):
            content = contents[name]
            if name.endswith(".css"):
                for other in self._digests:
                    content = content.replace(f'url("{other}")'.encode(), f'url("{self.address(other)}")'.encode())
            self._contents[name] = content
            self._digests[name] = sha256(content).hexdigest()[:16]

    def address(self, name: str) -> str:
        return f"{self._prefix}/{name}?v={self._digests[name]}"

    def answer(self, name: str, request: Request[Any, Any, Any]) -> Response[bytes] | None:
        content = self._contents.get(name)
        if content is None:
            return None
        is_named = request.query_params.get("v") == self._digests[name]
        headers = {
            "Cache-Control": f"public, max-age={_LONG_S}, immutable" if is_named else f"public, max-age={_SHORT_S}",
            "X-Content-Type-Options": "nosniff",
            "Vary": "Accept-Encoding",
        }
        accepted = request.headers.get("Accept-Encoding", "").lower()
        if "gzip" in accepted and not _NO_GZIP.search(accepted):
            content = _compressed(content)
            headers["Content-Encoding"] = "gzip"
        return Response(content, media_type=_MEDIA_TYPES[name.rpartition(".")[2]], headers=headers)


def package_file(package: str, *path: str) -> bytes:
    """Return a file of a dependency; the package is located, not imported."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent.joinpath(*path).read_bytes()


def font() -> bytes:
    return package_file("font_manrope", "files", "Manrope-VariableFont_wght.ttf")


@functools.cache
def _compressed(content: bytes) -> bytes:
    # Compressed at the first request, and without a time stamp, so that all processes produce the same bytes.
    return gzip.compress(content, mtime=0)
