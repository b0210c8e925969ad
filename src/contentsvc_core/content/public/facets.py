"""The facets that readers filter a public changelog by: labels, repositories, scopes and packages."""

import re
from collections.abc import Iterable
from functools import lru_cache
from html import unescape
from typing import Final

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.changelog.labels import section_of_labels
from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.phrases import PHRASEBOOKS
from contentsvc_core.content.posts import Label, Post
from contentsvc_core.content.public.releases import repositories_in, tags_of
from contentsvc_core.content.sections import Section
from contentsvc_core.text import one_line

_LABELS: Final = {
    Section.BREAKING: Label.BREAKING,
    Section.SECURITY: Label.SECURITY,
    Section.ADDED: Label.NEW,
    Section.CHANGED: Label.IMPROVED,
    Section.PERFORMANCE: Label.IMPROVED,
    Section.FIXED: Label.FIXED,
}
#: By a heading in lower case: the writer's headings in each language, and common ones of human authors.
_HEADINGS: Final = {
    **{
        heading.casefold(): section
        for book in PHRASEBOOKS.values()
        for section, heading in (
            *book.headings.items(),
            *book.themes.items(),
            *((Section.ADDED, book.new.of(tone)) for tone in ToneProfile),
            *((Section.FIXED, book.fixes.of(tone)) for tone in ToneProfile),
        )
    },
    "new": Section.ADDED,
    "improved": Section.CHANGED,
    "breaking": Section.BREAKING,
}
HEADING: Final = re.compile(r"<h([1-6])>(?:[^\w<]{1,3} )?([^<]{1,80})</h\1>")
#: ``**scope:**`` at the beginning of an entry, and ``**scope**`` above the entries of one, as the writer prints them.
_SCOPE: Final = re.compile(r"<li>\s*(?:<p>)?<strong>([^<]{1,60}?)(?::</strong>|</strong>\s*(?:</p>\s*)?<ul>)")
#: The size of a post's facets, in bytes: a database holds them in an index, whose rows have about 2,700 at most.
_FACETS_LIMIT: Final = 1_000
#: In place of the repositories that did not fit: a changelog of chosen repositories does not show the post.
_MORE_REPOSITORIES: Final = "repository:*"


def labels_of(post: Post) -> tuple[Label, ...]:
    """Return the labels of a post: the chosen ones, else those of its headings and of entries like ``**New:** …``."""
    if post.labels:
        return post.labels
    names = (*(heading[1] for heading in HEADING.findall(post.content)), *_SCOPE.findall(post.content))
    labels = {label for name in names if (label := _label(unescape(name)))}
    return tuple(label for label in Label if label in labels)


@lru_cache(maxsize=1024)
def _label(heading: str) -> Label | None:
    name = heading.strip().casefold()
    section = _HEADINGS.get(name) or section_of_labels([name])
    return _LABELS.get(section) if isinstance(section, Section) else None


def scopes_of(post: Post) -> tuple[str, ...]:
    """Return the scopes of a post's entries, and the packages that the tags of its releases name."""
    package_names = [package.package for package in map(package_tag, tags_of(post)) if package is not None]
    scopes = (name for name in map(unescape, _SCOPE.findall(post.content)) if _label(name) is None)
    return tuple(dict.fromkeys(map(folded, (*package_names, *scopes))))


def facets_of(post: Post) -> tuple[str, ...]:
    """Return what lists filter a post by: ``label:<value>``, and ``repository:<name>`` with the name folded."""
    repositories = [f"repository:{folded(name)}" for name in repositories_in(post.source_metadata)]
    labels = [f"label:{label.value}" for label in labels_of(post)]
    remaining = _FACETS_LIMIT - sum(map(_size, labels)) - len(_MORE_REPOSITORIES) - 2
    fitting = _fitting(repositories, remaining)
    remaining -= sum(map(_size, fitting))
    shown = fitting if len(fitting) == len(repositories) else [*fitting, _MORE_REPOSITORIES]
    return (*labels, *shown, *_fitting((f"scope:{name}" for name in scopes_of(post)), remaining))


def folded(name: str) -> str:
    """Return the comparable form of a repository's, scope's or package's name: on one line, in lower case."""
    return one_line(name, 200).casefold()


def _fitting(facets: Iterable[str], remaining: int) -> list[str]:
    fitting: list[str] = []
    for facet in facets:
        remaining -= _size(facet)
        if remaining < 0:
            break
        fitting.append(facet)
    return fitting


def _size(facet: str) -> int:
    return len(facet.encode("utf-8", "surrogatepass")) + 1
