"""Removes details for teams from posts on public pages: hashes, contributors, internal changes and upkeep counts."""

import re
from html import unescape
from typing import Final

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.phrases import PHRASEBOOKS
from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.facets import HEADING
from contentsvc_core.content.sections import UPKEEP, Section

#: ``(6662648, abc1234)`` behind an entry, with links or without.
_HASH: Final = r"(?:<a [^>]*>[0-9a-f]{7,64}</a>|[0-9a-f]{7,40})"
_HASHES: Final = re.compile(rf" \({_HASH}(?:, {_HASH})*(?:,? [^()<]{{1,40}})?\)")
#: The date and the counts at the beginning of the writer's changelogs: pages show both beside the title. The longest
#: date has 25 characters; without a limit, a row of digits would take quadratic time.
_LEAD: Final = re.compile(r"<p><strong>[^<]{0,40}[0-9]{4}[^<]{0,40}</strong> · (?:[^<]|<(?!/p>))*</p>")
_BOOKS: Final = tuple(PHRASEBOOKS.values())
_LEFT_OUT: Final = frozenset(
    name.casefold() for book in _BOOKS for name in (book.contributors, book.headings[Section.INTERNAL])
)
#: The sanitizer writes a no-break space as a reference.
_ALSO: Final = "|".join(
    re.escape(book.also_upkeep.of(tone).partition("{")[0].strip()).replace("\N{NO-BREAK SPACE}", "&nbsp;")
    for book in _BOOKS
    for tone in ToneProfile
)
_COUNTED: Final = "|".join(
    re.escape(words.replace("{n}", "").strip())
    for book in _BOOKS
    for count in (book.smaller, *(book.kinds[section] for section in UPKEEP))
    for words in (count.one, count.many)
)
#: ``Also 2 internal changes (all commits).``
_FOLDED: Final = re.compile(rf"<p>(?:{_ALSO}) [0-9][0-9.,]* (?:{_COUNTED})(?:[^<]|<(?!/p>))*</p>\s*")


def shown_content(post: Post, changelog: PublicChangelog) -> str:
    """Return the content of a post as a changelog shows it to its readers."""
    return post.content if changelog.show_details else trimmed(post.content)


def trimmed(content: str) -> str:
    """Return a post's content without details for its team; unchanged, if nothing else would be left."""
    shortened = _FOLDED.sub("", _HASHES.sub("", _LEAD.sub("", _without_sections(content), count=1)))
    return shortened if shortened.strip() else content


def _without_sections(content: str) -> str:
    headings = list(HEADING.finditer(content))
    parts: list[str] = []
    at = 0
    for number, heading in enumerate(headings):
        if heading.start() < at or unescape(heading[2]).casefold() not in _LEFT_OUT:
            continue
        later = (headings[index] for index in range(number + 1, len(headings)))
        following = (each.start() for each in later if int(each[1]) <= int(heading[1]))
        parts.append(content[at : heading.start()])
        at = next(following, len(content))
    return "".join([*parts, content[at:]])
