"""A page as a tree of its elements."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Final, final

_VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
#: Elements whose text is not text of the page.
_SHUT: Final = frozenset({"script", "style", "title", "svg"})
#: A part of a page. The pages are well-formed, and quote the values of attributes. The standard library's parser needs
#: more time to read a page than the service needs to render it.
_PART: Final = re.compile(
    r"<!--.*?-->|<![^>]*>"
    r"|<(?P<end>/?)(?P<tag>[a-z][a-z0-9-]*)(?P<attributes>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>"
    r"|(?P<text>[^<]+)",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(r"""([^\s=/"']+)(?:="([^"]*)"|='([^']*)')?""")


@final
class Node:
    """An element of a page."""

    def __init__(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Node | str] = []

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    @property
    def text(self) -> str:
        """Return the text in it, with one space between words."""
        return " ".join(self.raw.split())

    @property
    def raw(self) -> str:
        return "".join(each if isinstance(each, str) else each.raw for each in self.children)

    @property
    def words(self) -> str:
        """Return the text that a reader sees, with one space between words and between elements."""
        return " ".join(" ".join(self._texts()).split())

    def all(self, tag: str = "", **attributes: str) -> "list[Node]":
        """Return the elements of a tag, or of any, with these attributes; ``class_`` names one of its words."""
        return [
            each
            for each in self.descendants()
            if (not tag or each.tag == tag) and all(each._has(name, value) for name, value in attributes.items())
        ]

    def one(self, tag: str = "", **attributes: str) -> "Node":
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} of {tag} {attributes}"
        return found[0]

    def descendants(self) -> "Iterator[Node]":
        for each in self.children:
            if isinstance(each, Node):
                yield each
                yield from each.descendants()

    def _has(self, name: str, value: str) -> bool:
        attribute = self.attributes.get(name.rstrip("_").replace("_", "-"))
        return attribute is not None and (value in attribute.split() if name == "class_" else value == attribute)

    def _texts(self) -> Iterator[str]:
        for each in self.children:
            if isinstance(each, str):
                yield each
            elif each.tag not in _SHUT:
                yield from each._texts()


def parsed(text: str) -> Node:
    """Parse a page; check that all elements are closed."""
    nodes = [Node("", {})]
    end = 0
    for part in _PART.finditer(text):
        assert part.start() == end, f"not well-formed: {text[end : end + 80]}"
        end = part.end()
        node = nodes[-1]
        if part["text"] is not None:
            # As a browser does: the line break after <textarea> is not part of its text.
            first = node.tag == "textarea" and not node.children
            node.children.append(unescape(part["text"].removeprefix("\n") if first else part["text"]))
        elif part["end"]:
            assert node.tag == part["tag"], f"</{part['tag']}> where <{node.tag}> is open"
            nodes.pop()
        elif part["tag"]:
            found = _ATTRIBUTE.findall(part["attributes"])
            attributes = {name.lower(): unescape(double or single) for name, double, single in found}
            element = Node(part["tag"], attributes)
            node.children.append(element)
            if element.tag not in _VOID and not part["attributes"].endswith("/"):
                nodes.append(element)
    assert end == len(text)
    assert len(nodes) == 1, f"<{nodes[-1].tag}> is not closed"
    return nodes[0]
