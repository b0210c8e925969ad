"""A page as a tree of its elements."""

from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Final, final

from tests.dashboard.browsing import Seen

_VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})


def tree(page: Seen) -> "Node":
    """Parse a page; check that all elements are closed."""
    parser = _Tree()
    parser.feed(page.response.text)
    parser.close()
    return parser.root


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

    def all(self, tag: str = "", **attributes: str) -> "list[Node]":
        """Return the elements of a tag, or of any, with these attributes; ``class_`` names one of its words."""
        return [
            each
            for each in self._descendants()
            if (not tag or each.tag == tag) and all(each._has(name, value) for name, value in attributes.items())
        ]

    def one(self, tag: str = "", **attributes: str) -> "Node":
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} of {tag} {attributes}"
        return found[0]

    def _has(self, name: str, value: str) -> bool:
        attribute = self.attributes.get(name.rstrip("_").replace("_", "-"))
        return attribute is not None and (value in attribute.split() if name == "class_" else value == attribute)

    def _descendants(self) -> "Iterator[Node]":
        for each in self.children:
            if isinstance(each, Node):
                yield each
                yield from each._descendants()


@final
class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(node)
        if tag not in _VOID:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"</{tag}> where <{self._open[-1].tag}> is open"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        node = self._open[-1]
        # As a browser does: the line break after <textarea> is not part of its text.
        first = node.tag == "textarea" and not node.children
        node.children.append(data.removeprefix("\n") if first else data)

    def close(self) -> None:
        super().close()
        assert len(self._open) == 1, f"<{self._open[-1].tag}> is not closed"
