"""Translates Markdown of code hosts into the dialect of the site."""

import posixpath
import re
from collections.abc import Callable, Collection
from typing import Final
from urllib.parse import unquote

#: The scheme of links to files of the project that are no pages, until the address of their page is known.
SOURCE: Final = "source:"

_FENCE: Final = re.compile(r"^(```+)(?P<info>.*)\n(?P<text>(?:.*\n)*?)\1$", re.MULTILINE)
_LINK: Final = re.compile(r"(?<!!)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)")
#: The id of a test in code: the page shows its name, which fits into a table, and links to its file.
_TEST: Final = re.compile(r"`(?P<file>(?:tests|campaigns)/[\w/]+\.py)::(?:\w+::)*(?P<name>\w+)`")
_MARK: Final = re.compile(r"^<!-- site: (?P<what>[\w-]+) ?(?P<rest>.*?) -->$", re.MULTILINE)
#: The captions of fences, by the words after the language.
_CAPTIONS: Final = {"output": "prints"}


def prepared(text: str, page: str, pages: Collection[str], made: Callable[[str, str], str]) -> str:
    """Return the text of a page for the site.

    Args:
        text: The text in the project.
        page: The page's path in the project.
        pages: The paths of all pages.
        made: Returns the text in place of a mark (``<!-- site: WHAT REST -->``).
    """
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += [_prose(text[end : fence.start()], page, pages, made), _fence(fence)]
        end = fence.end()
    return "".join([*parts, _prose(text[end:], page, pages, made)])


def _prose(text: str, page: str, pages: Collection[str], made: Callable[[str, str], str]) -> str:
    def link(found: re.Match[str]) -> str:
        target = unquote(found["target"]).partition("#")[0]
        if not target or ":" in target:
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        return found[0] if path in pages else f"[{found['words']}]({SOURCE}{path})"

    text = _TEST.sub(rf"[`\g<name>`]({SOURCE}\g<file>)", _LINK.sub(link, text))
    return _MARK.sub(lambda found: made(found["what"], found["rest"]), text)


def _fence(fence: re.Match[str]) -> str:
    language, _, rest = fence["info"].strip().partition(" ")
    title = rest.removeprefix("title=") if rest.startswith("title=") else _CAPTIONS.get(rest)
    if title is None:
        # The other words are for tests, such as `no-run: REASON`.
        return f"{fence[1]}{language}\n{fence['text']}{fence[1]}"
    return f"{fence[1]}{{code-block}} {language}\n:caption: {title}\n\n{fence['text']}{fence[1]}"
