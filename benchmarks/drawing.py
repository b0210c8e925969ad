"""Plain SVG: text, lines and boxes, readable on light and on dark pages."""

from collections.abc import Sequence
from html import escape
from math import log
from typing import Final, final

from attrs import field, frozen

#: Each class with its colour on light and on dark; contrast against the background is 4.5 : 1 or more for text.
_COLOURS: Final = {
    "page": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "faint": ("#59636e", "#9198a1"),
    "grid": ("#d1d9e0", "#3d444d"),
    "met": ("#1a7f37", "#3fb950"),
    "missed": ("#bc4c00", "#f0883e"),
    "invalid": ("#818b98", "#656c76"),
    "one": ("#0969da", "#58a6ff"),
    "two": ("#8250df", "#d2a8ff"),
}


@final
class Drawing:
    """Collects shapes."""

    def __init__(self, width: int) -> None:
        """Create an empty drawing.

        Args:
            width: In pixels.
        """
        self._width = width
        self._shapes: list[str] = []

    def text(self, x: float, y: float, words: str, *, of: str = "ink", anchor: str = "start", size: int = 12) -> None:
        """Write text with the baseline at ``y``."""
        self._shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{of}" text-anchor="{anchor}" font-size="{size}">'
            f"{escape(words)}</text>"
        )

    def box(self, x: float, y: float, width: float, height: float, *, of: str) -> None:
        """Draw a filled box."""
        self._shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" class="{of}"/>'
        )

    def line(self, points: Sequence[tuple[float, float]], *, of: str, thick: float = 1.0, dashed: bool = False) -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self._shapes.append(f'<polyline points="{path}" class="{of}-line" fill="none" stroke-width="{thick}"{dashes}/>')

    def dot(self, x: float, y: float, *, of: str) -> None:
        """Mark a point."""
        self._shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="{of}"/>')

    def svg(self, height: float, *, title: str) -> str:
        """Return the file's text."""
        light = "".join(_rules(name, colours[0]) for name, colours in _COLOURS.items())
        dark = "".join(_rules(name, colours[1]) for name, colours in _COLOURS.items())
        size = f'width="{self._width}" height="{height:.0f}" viewBox="0 0 {self._width} {height:.0f}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">',
                f"<title>{escape(title)}</title>",
                f"<style>text{{font-family:ui-sans-serif,system-ui,sans-serif}}{light}",
                f"@media (prefers-color-scheme:dark){{{dark}}}</style>",
                '<rect width="100%" height="100%" class="page"/>',
                *self._shapes,
                "</svg>\n",
            ]
        )


def _rules(name: str, colour: str) -> str:
    return f".{name}{{fill:{colour}}}.{name}-line{{stroke:{colour}}}"


@final
@frozen(kw_only=True)
class Axis:
    """A scale: maps values to positions."""

    #: The values at the two ends.
    low: float
    high: float
    #: The positions of the two ends, in pixels.
    begin: float
    end: float
    logarithmic: bool = field(default=False)

    def at(self, value: float) -> float:
        """Return a value's position; values outside the axis are drawn at the nearer end."""
        held = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = log(held / self.low) / log(self.high / self.low)
        else:
            share = (held - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)
