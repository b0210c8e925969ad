"""The accent colour of a changelog, in shades that can be read on light and on dark pages."""

import re
from colorsys import hls_to_rgb, rgb_to_hls
from typing import Final, final

from attrs import frozen

#: The backgrounds of the accent, in the stylesheet's light and dark colours.
LIGHT_GROUND: Final = "fdfdfc"
DARK_GROUND: Final = "121416"
#: The contrast of text (WCAG 2.2, 1.4.3), with some room for the tinted ground of badges.
_CONTRAST: Final = 5.0
_COLOUR: Final = re.compile("#?([0-9a-fA-F]{6})", re.ASCII)
_LIGHT_TINT: Final = 0.1
_DARK_TINT: Final = 0.18
_STEPS: Final = 200
_LINEAR: Final = 0.04045


@final
@frozen(kw_only=True)
class Shades:
    light: str
    light_ground: str
    dark: str
    dark_ground: str


def read_colour(text: str) -> str | None:
    """Read ``#rrggbb``, with or without ``#``; ``None``: the text is no colour."""
    match = _COLOUR.fullmatch(text.strip())
    return None if match is None else match[1].lower()


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2.2)."""
    first, second = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (first + 0.05) / (second + 0.05)


def shades_of(accent: str) -> Shades:
    """Return the shades of an accent that are readable as text; an accent that is readable stays the same."""
    light, light_ground = _readable(accent, LIGHT_GROUND, _LIGHT_TINT, darker=True)
    dark, dark_ground = _readable(accent, DARK_GROUND, _DARK_TINT, darker=False)
    return Shades(light=light, light_ground=light_ground, dark=dark, dark_ground=dark_ground)


def _readable(accent: str, ground: str, tint: float, *, darker: bool) -> tuple[str, str]:
    hue, lightness, saturation = rgb_to_hls(*_parts(accent))
    tinted = _mixed(accent, ground, tint)
    shade = accent
    # The last step is black or white, which can be read on any tint.
    for step in range(1, _STEPS + 1):
        if min(contrast(shade, ground), contrast(shade, tinted)) >= _CONTRAST:
            break
        share = step / _STEPS
        now = lightness * (1 - share) if darker else lightness + (1 - lightness) * share
        shade = _written(hls_to_rgb(hue, now, saturation))
    return shade, tinted


def _mixed(one: str, other: str, share: float) -> str:
    mixed = [share * a + (1 - share) * b for a, b in zip(_parts(one), _parts(other), strict=True)]
    return _written((mixed[0], mixed[1], mixed[2]))


def _luminance(colour: str) -> float:
    red, green, blue = (part / 12.92 if part <= _LINEAR else ((part + 0.055) / 1.055) ** 2.4 for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return red, green, blue


def _written(parts: tuple[float, float, float]) -> str:
    return "".join(f"{round(part * 255):02x}" for part in parts)
