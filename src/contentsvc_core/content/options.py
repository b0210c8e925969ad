import re
from collections.abc import Mapping
from fnmatch import translate
from functools import cached_property
from typing import Final, Literal, final

from attrs import field, frozen

from contentsvc_core.content.posts import MARKDOWN_LIMIT
from contentsvc_core.content.sections import CRITICAL, Section
from contentsvc_core.events.normalized import Author, Commit


def _casefolded(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)


@final
@frozen(kw_only=True, slots=False)
class ChangelogOptions:
    """The options of the changelog writer; the defaults suit most readers."""

    #: Sections, types and scopes of changes that stay out. A breaking or a security change is never hidden.
    hidden: frozenset[str] = field(default=frozenset(), converter=_casefolded)
    #: Patterns of paths (``vendor/*``): changes of such files alone stay out.
    hidden_paths: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    hidden_authors: frozenset[str] = field(default=frozenset(), converter=_casefolded)
    #: Sections that are counted like upkeep instead of being listed.
    folded: frozenset[Section] = frozenset()
    #: Whether one closing line counts documentation, dependencies and internal work. Otherwise each has its list.
    fold_upkeep: bool = True
    #: Whether upkeep alone makes a changelog. A release always makes one.
    upkeep_posts: Literal["skip", "write"] = "skip"
    #: ``only``: a release's notes are the whole changelog; ``fill``: the changes that they leave out follow.
    notes: Literal["only", "fill"] = "only"
    #: Whether commits that only make a release (version bumps, updates of a changelog file) stay out.
    hide_release_chores: bool = True
    headings: Mapping[Section, str] = field(factory=dict[Section, str])
    #: Whether headings of sections begin with an emoji, except those of ``headings``.
    emoji: bool = False
    commit_hashes: bool = True
    links: bool = True
    #: Whether entries have the author's explanation below their line.
    details: bool = True
    contributors: bool = True
    #: Accounts and names that are not contributors, beside well-known bots.
    bots: frozenset[str] = field(default=frozenset(), converter=_casefolded)
    #: The longest Markdown of a post, in characters.
    longest: int = MARKDOWN_LIMIT

    def folds(self, section: Section) -> bool:
        """Return whether a section is only counted; breaking and security changes never are."""
        return section in self.folded and section not in CRITICAL

    def hides_author(self, author: Author) -> bool:
        if not self.hidden_authors:
            return False
        names = {author.name.strip().casefold(), (author.username or "").casefold()}
        return not names.isdisjoint(self.hidden_authors)

    def hides_paths(self, commit: Commit) -> bool:
        """Return whether a commit touches hidden files alone; ``False`` if its list of files is missing or cut."""
        if self._hidden_path is None or commit.paths_cut:
            return False
        paths = (*commit.added, *commit.modified, *commit.removed)
        return bool(paths) and all(map(self._hidden_path.match, paths))

    @cached_property
    def _hidden_path(self) -> "re.Pattern[str] | None":
        return re.compile("|".join(map(translate, self.hidden_paths))) if self.hidden_paths else None


DEFAULT_OPTIONS: Final = ChangelogOptions()
