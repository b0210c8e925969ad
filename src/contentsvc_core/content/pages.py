"""Reads the metadata of a web page, in linear time, unlike the standard library's parser: pages are untrusted."""

import codecs
import re
from collections.abc import Iterator
from html import unescape
from typing import Any, Final, cast, final

import msgspec
from attrs import field, frozen

from contentsvc_core.text import one_line

#: Texts are cut to this length first, in characters; ``unescape`` cannot read longer numbers either.
_TEXT: Final = 4_000
_ONE_LINE: Final = 2_000
#: The longest tag, in characters.
_TAG: Final = 8_192
_ELEMENT: Final = 4_096
_SCRIPT: Final = 65_536
_HEADINGS: Final = 20
_SCRIPTS: Final = 5
_DEPTH: Final = 4
_OBJECTS: Final = 200
_SNIFFED: Final = 1_024

_START: Final = re.compile(
    r"<(?:(!--)|(html|meta|title|h[1-3]|script|style|svg|textarea|noscript|template)(?=[\s/>]))", re.IGNORECASE
)
_TAG_END: Final = re.compile(r"""(?:[^"'>]|"[^"]*"|'[^']*')*+>""")
_ATTRIBUTE: Final = re.compile(
    r"""(?<=[\s"'/])([^\s"'<>/=]{1,64})\s{0,64}=\s{0,64}(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))"""
)
_MARKUP: Final = re.compile(r"<[^<>]*+>?")
_CHARSET: Final = re.compile(r"""charset\s{0,16}=\s{0,16}["']?([a-z0-9_:.-]{1,32})""", re.IGNORECASE)
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
#: The text encodings of the web. Python's other codecs are not for text, and some are slow.
_ENCODINGS: Final = ("utf-8", "utf-16", "iso8859", "cp125", "cp932", "cp949", "koi8", "gb", "big5", "euc_", "shift_jis")
_ORGANIZATIONS: Final = frozenset({"organization", "corporation", "localbusiness", "ngo", "onlinebusiness", "project"})


@final
@frozen(kw_only=True)
class SiteFacts:
    """A page's metadata, each text as one line of at most 2,000 characters; ``None``: missing."""

    title: str | None = None
    description: str | None = None
    site_name: str | None = None
    shared_title: str | None = None
    shared_description: str | None = None
    locale: str | None = None
    language: str | None = None
    #: ``h1`` to ``h3`` in their order, at most 20.
    headings: tuple[str, ...] = field(converter=tuple[str, ...], factory=tuple)
    #: From structured data (JSON-LD).
    organization_name: str | None = None
    organization_description: str | None = None


_METAS: Final = {
    "description": "description",
    "og:site_name": "site_name",
    "og:title": "shared_title",
    "og:description": "shared_description",
    "og:locale": "locale",
}


def decode_page(body: bytes, content_type: str) -> str:
    """Decode a page by its byte order mark, its header or its own declaration, else as UTF-8; never raises."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    charset = _CHARSET.search(content_type) or _CHARSET.search(body[:_SNIFFED].decode("latin-1"))
    return body.decode("utf-8" if charset is None else _encoding(charset[1]), "replace")


def site_facts(html: str) -> SiteFacts:
    facts: dict[str, Any] = {}
    headings: list[str] = []
    scripts = 0
    for name, attributes, content in _elements(html):
        match name:
            case "html":
                facts.setdefault("language", _line(attributes.get("lang", "")))
            case "meta":
                called = (attributes.get("property") or attributes.get("name") or "").strip().lower()
                if called in _METAS and (text := _line(attributes.get("content", ""))):
                    facts.setdefault(_METAS[called], text)
            case "title":
                facts["title"] = facts.get("title") or _inner(content)
            case "script":
                if attributes.get("type", "").strip().lower() == "application/ld+json" and scripts < _SCRIPTS:
                    scripts += 1
                    _organization(content, facts)
            case _:
                if len(headings) < _HEADINGS and (text := _inner(content)):
                    headings.append(text)
    return SiteFacts(**{key: value for key, value in facts.items() if value}, headings=headings)


def _elements(html: str) -> Iterator[tuple[str, dict[str, str], str]]:
    position = 0
    while (start := _START.search(html, position)) is not None:
        if start[1]:
            # An unclosed comment runs to the end.
            end = html.find("-->", start.end())
            if end < 0:
                return
            position = end + 3
            continue
        name = start[2].lower()
        tag = _TAG_END.match(html, start.end(), min(len(html), start.end() + _TAG))
        if tag is None:
            position = start.end() + _TAG
            continue
        position = tag.end()
        attributes = _attributes(html[start.end() : position - 1])
        if name in {"html", "meta"}:
            yield name, attributes, ""
            continue
        is_text = name in {"title", "h1", "h2", "h3"}
        closing = _CLOSINGS[name].search(html, position, min(len(html), position + _ELEMENT) if is_text else len(html))
        if closing is None:
            if not is_text:
                return
            # This part was searched already: skip it, so that the effort stays linear.
            position += _ELEMENT
            continue
        if is_text or name == "script":
            yield name, attributes, html[position : min(closing.start(), position + _SCRIPT)]
        position = closing.end()


_CLOSINGS: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("title", "h1", "h2", "h3", "script", "style", "svg", "textarea", "noscript", "template")
}


def _attributes(text: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        attributes.setdefault(match[1].lower(), _unescaped(match[2] or match[3] or match[4] or ""))
    return attributes


def _inner(content: str) -> str:
    return _line(_unescaped(_MARKUP.sub(" ", content)))


def _line(text: str) -> str:
    return one_line(text, _ONE_LINE)


def _unescaped(text: str) -> str:
    return unescape(text[:_TEXT])


def _encoding(name: str) -> str:
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):
        return "utf-8"
    # As browsers do (WHATWG Encoding, section 4.2): Latin-1 and ASCII on the web mean Windows-1252.
    if codec in {"iso8859-1", "ascii"}:
        return "cp1252"
    return codec if codec.startswith(_ENCODINGS) else "utf-8"


def _organization(script: str, facts: dict[str, Any]) -> None:
    if "organization_name" in facts:
        return
    try:
        data = msgspec.json.decode(script)
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError):
        return
    remaining = _OBJECTS
    waiting: list[tuple[object, int]] = [(data, 0)]
    while waiting and remaining:
        remaining -= 1
        value, depth = waiting.pop(0)
        if isinstance(value, list):
            inside = cast("list[object]", value)
        elif isinstance(value, dict):
            record = cast("dict[str, object]", value)
            if _is_organization(record.get("@type")) and (name := _text_of(record.get("name"))):
                facts["organization_name"] = name
                facts["organization_description"] = _text_of(record.get("description"))
                return
            inside = [record[key] for key in ("@graph", "publisher", "mainEntity") if key in record]
        else:
            continue
        if depth < _DEPTH:
            waiting += [(part, depth + 1) for part in inside[:_OBJECTS]]


def _is_organization(kind: object) -> bool:
    kinds = cast("list[object]", kind) if isinstance(kind, list) else [kind]
    return any(isinstance(each, str) and each.lower() in _ORGANIZATIONS for each in kinds)


def _text_of(value: object) -> str | None:
    return (_line(_unescaped(value)) or None) if isinstance(value, str) else None
