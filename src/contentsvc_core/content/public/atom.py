"""The Atom Syndication Format (RFC 4287)."""

import re
from datetime import datetime
from typing import Final
from xml.etree import ElementTree as ET  # written here, never parsed

from contentsvc_core.content.public.feeds import Feed, FeedEntry
from contentsvc_core.timestamps import iso_ms

ATOM_TYPE: Final = "application/atom+xml"
_NAMESPACE: Final = "http://www.w3.org/2005/Atom"
#: Characters that an XML 1.0 document must not contain, even escaped (section 2.2, Char).
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def atom_document(feed: Feed) -> bytes:
    """Return a feed as an Atom document (RFC 4287) in UTF-8; equal feeds have equal bytes."""
    # As an attribute: with ElementTree's namespaces, each name would get a prefix that some readers do not know.
    root = ET.Element("feed", {"xmlns": _NAMESPACE})
    _text(root, "id", feed.id)
    _text(root, "title", feed.title)
    if feed.description:
        _text(root, "subtitle", feed.description)
    _time(root, "updated", feed.updated_at)
    _link(root, "self", feed.links.labelled(feed.links.atom, feed.label), ATOM_TYPE)
    _link(root, "alternate", feed.links.labelled(feed.links.home, feed.label), "text/html")
    # Section 4.1.1: a feed without an author needs one in each entry.
    _text(ET.SubElement(root, "author"), "name", feed.title)
    _text(root, "generator", "contentsvc")
    for entry in feed.entries:
        _entry(root, entry)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _entry(root: ET.Element, entry: FeedEntry) -> None:
    element = ET.SubElement(root, "entry")
    _text(element, "id", entry.id)
    _text(element, "title", entry.title)
    _link(element, "alternate", entry.url, "text/html")
    _time(element, "published", entry.occurred_at)
    _time(element, "updated", entry.updated_at)
    for tag in entry.tags:
        ET.SubElement(element, "category", {"term": _storable(tag)})
    if entry.summary:
        _text(element, "summary", entry.summary)
    # Section 4.1.3.3: escaped HTML, as inside a <div>.
    _text(element, "content", entry.content).set("type", "html")


def _text(parent: ET.Element, name: str, text: str) -> ET.Element:
    element = ET.SubElement(parent, name)
    element.text = _storable(text)
    return element


def _time(parent: ET.Element, name: str, at: datetime) -> None:
    _text(parent, name, iso_ms(at))


def _link(parent: ET.Element, rel: str, href: str, kind: str) -> None:
    ET.SubElement(parent, "link", {"rel": rel, "type": kind, "href": href})


def _storable(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
