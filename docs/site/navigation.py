"""The navigation: the links of the start page, and those of the list of decisions."""

import posixpath
import re
from collections.abc import Iterable
from typing import Final, final

from attrs import frozen

#: The start page of the site, and the lists that make the navigation.
START: Final = "docs/README.md"
LISTS: Final = (START, "docs/decisions/README.md")

_LINK: Final = re.compile(r"^(?:[-*]|\|) \[([^\]]+)\]\(([^)#\s]+\.md)\)", re.MULTILINE)


@final
@frozen(kw_only=True)
class Entry:
    """A page in the navigation."""

    title: str
    #: The path in the project.
    page: str


@final
@frozen(kw_only=True)
class Group:
    """A group of pages; without a caption, if the list has no headings."""

    caption: str | None
    entries: tuple[Entry, ...]


def groups(text: str, page: str) -> list[Group]:
    """Return the pages of a list: each link that begins an item or a row, by the heading above."""
    found: list[Group] = []
    for number, part in enumerate(re.split(r"^## (?=.)", text, flags=re.MULTILINE)):
        caption = part.partition("\n")[0].strip() if number else None
        entries = [
            Entry(title=title, page=posixpath.normpath(posixpath.join(posixpath.dirname(page), target)))
            for title, target in _LINK.findall(part)
            if "://" not in target
        ]
        if entries:
            found.append(Group(caption=caption, entries=tuple(entries)))
    return found


def toctrees(shown: Iterable[Group], *, titled: bool) -> str:
    """Return the directives of a navigation; without ``titled``, entries have the titles of their pages."""
    texts: list[str] = []
    for group in shown:
        caption = f":caption: {group.caption}\n" if group.caption else ""
        lines = (f"{each.title} </{_name(each)}>" if titled else f"/{_name(each)}" for each in group.entries)
        entries = "\n".join(lines)
        texts.append(f"```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n")
    return "\n".join(texts)


def _name(entry: Entry) -> str:
    return entry.page.removesuffix(".md")
