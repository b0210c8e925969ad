"""The pictures of a changelog: its logo, its icon, and the card that other sites show beside a link."""

import re
from enum import Enum
from hashlib import sha256
from typing import Final, final

from attrs import frozen

from contentsvc_core.refusals import Refusal, invalid

#: The size of a picture, in bytes: a card of 1200 by 630 pixels takes about half of it.
IMAGE_LIMIT: Final = 512 * 1024
#: The width and the height of a picture, in pixels: a browser unpacks all of them.
SIDE_LIMIT: Final = 4_096
_PNG: Final = re.compile(rb"\x89PNG\r\n\x1a\n....IHDR(....)(....)", re.DOTALL)
_JPEG: Final = b"\xff\xd8\xff"
#: The segments of a JPEG that hold its size (ITU T.81, table B.1): SOF0 to SOF15 without DHT, JPG and DAC.
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_MARKER: Final = 0xFF
_WEBP_HEAD: Final = 30
_WEBP: Final = re.compile(rb"RIFF....WEBP(VP8 |VP8L|VP8X)", re.DOTALL)


class ImageKind(Enum):
    LOGO = "logo"
    ICON = "icon"
    CARD = "card"


@final
@frozen(kw_only=True)
class ImageMark:
    kind: ImageKind
    media_type: str
    width: int
    height: int
    #: The first 16 hexadecimal digits of the SHA-256 of its bytes.
    digest: str


@final
@frozen(kw_only=True)
class Image:
    mark: ImageMark
    content: bytes


def read_image(kind: ImageKind, content: bytes) -> Image | Refusal:
    """Check a picture by its own bytes, independent of the declared type."""
    if len(content) > IMAGE_LIMIT:
        return invalid(kind.value, f"must be a picture of at most {IMAGE_LIMIT // 1024} KiB")
    header = _png(content) or _jpeg(content) or _webp(content)
    if header is None:
        return invalid(kind.value, "must be a PNG, JPEG or WebP picture")
    media_type, width, height = header
    if not (0 < width <= SIDE_LIMIT and 0 < height <= SIDE_LIMIT):
        return invalid(kind.value, f"must have 1 to {SIDE_LIMIT:,} pixels in width and in height")
    digest = sha256(content).hexdigest()[:16]
    return Image(
        mark=ImageMark(kind=kind, media_type=media_type, width=width, height=height, digest=digest), content=content
    )


def _png(content: bytes) -> tuple[str, int, int] | None:
    match = _PNG.match(content)
    if match is None or not content.endswith(b"IEND\xaeB`\x82"):
        return None
    return "image/png", int.from_bytes(match[1]), int.from_bytes(match[2])


def _jpeg(content: bytes) -> tuple[str, int, int] | None:
    if not content.startswith(_JPEG):
        return None
    at = 2
    while at + 9 <= len(content) and content[at] == _MARKER:
        if content[at + 1] in _FRAMES:
            return "image/jpeg", int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7])
        at += 2 + int.from_bytes(content[at + 2 : at + 4])
    return None


def _webp(content: bytes) -> tuple[str, int, int] | None:
    match = _WEBP.match(content)
    if match is None or len(content) < _WEBP_HEAD or int.from_bytes(content[4:8], "little") + 8 > len(content):
        return None
    if match[1] == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27))
    elif match[1] == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = (int.from_bytes(content[at : at + 2], "little") & 0x3FFF for at in (26, 28))
    return "image/webp", width, height
