"""Faults of a built site: resources of other hosts, and broken links."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final, final
from urllib.parse import unquote, urlsplit

#: Attributes whose value is loaded with the page, by element; ``<a href>`` loads nothing by itself.
_LOADED: Final = {
    "src": None,
    "srcset": None,
    "poster": None,
    "data": {"object"},
    "href": {"link", "image", "use", "feimage", "base"},
    "xlink:href": {"image", "use", "feimage"},
    "action": {"form"},
    "formaction": None,
}
#: Relations of links in the head that load nothing.
_NOT_LOADED: Final = {"canonical", "prev", "next", "index", "search", "author", "license"}
_IN_CSS: Final = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
#: Requests of scripts. The search index contains texts of pages, and no script.
_IN_SCRIPT: Final = re.compile(
    r"""(?:src|href)\s*=\s*["'`]((?:https?:)?//[^"'`]+)|fetch\(\s*["'`]((?:https?:)?//[^"'`]+)"""
)


@final
class _Reader(HTMLParser):
    """Collects the resources, the links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._inside = tag
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if "style" in given:
            self.loaded += _in_css(given["style"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and set(given.get("rel", "").split()) & _NOT_LOADED:
            return
        for name, elements in _LOADED.items():
            if name in given and (elements is None or tag in elements):
                values = given[name].split(",") if name == "srcset" else [given[name]]
                self.loaded += [value.split()[0] for value in values if value.strip()]

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.loaded += _in_css(data)
        elif self._inside == "script":
            self.loaded += _in_script(data)

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._inside = ""


def faults(site: Path) -> list[str]:
    """Return the faults of a site, one line each."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    return [*_outside(site, pages), *_broken(site, pages)]


def _outside(site: Path, pages: dict[Path, _Reader]) -> Iterator[str]:
    for path, page in pages.items():
        for target in page.loaded:
            if _is_elsewhere(target):
                yield f"{_name(site, path)}: loads {target}"
            elif fault := _missing(site, path, target):
                yield f"{_name(site, path)}: loads {fault}"
    for path in sorted({*site.rglob("*.css"), *site.rglob("*.svg")}):
        for target in _in_css(path.read_text("utf-8")):
            if _is_elsewhere(target) or _missing(site, path, target):
                yield f"{_name(site, path)}: loads {target}"
    for path in sorted(site.rglob("*.js")):
        if path.name != "searchindex.js":
            yield from (f"{_name(site, path)}: loads {target}" for target in _in_script(path.read_text("utf-8")))


def _broken(site: Path, pages: dict[Path, _Reader]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.is_file() or not there.is_relative_to(site):
                yield f"{_name(site, path)}: links to {link}, which is not there"
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors:
                yield f"{_name(site, path)}: links to {link}, and there is no such place on that page"


def _read(path: Path) -> _Reader:
    reader = _Reader()
    reader.feed(path.read_text("utf-8"))
    return reader


def _in_css(text: str) -> list[str]:
    return [one or other for one, other in _IN_CSS.findall(text)]


def _in_script(text: str) -> list[str]:
    return [one or other for one, other in _IN_SCRIPT.findall(text)]


def _is_elsewhere(target: str) -> bool:
    parts = urlsplit(target)
    return bool(parts.netloc) or parts.scheme not in {"", "data"}


def _missing(site: Path, path: Path, target: str) -> str | None:
    parts = urlsplit(target)
    if parts.scheme == "data" or not parts.path:
        return None
    there = (path.parent / unquote(parts.path)).resolve()
    return None if there.is_relative_to(site) and there.exists() else f"{target}, which is not there"


def _name(site: Path, path: Path) -> str:
    return path.relative_to(site).as_posix()
