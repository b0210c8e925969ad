"""What an organization may want differently in its changelogs."""

from typing import Final, final

from attrs import field, frozen


def _casefolded(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)


@final
@frozen(kw_only=True)
class ChangelogOptions:
    """The switches of the changelog writer; the defaults are what most readers want."""

    #: Types and scopes of changes that no reader waits for. A breaking or a security change is never hidden.
    hidden: frozenset[str] = field(default=frozenset({"ci"}), converter=_casefolded)
    #: Whether commits that only make a release (version bumps, updates of a changelog file) stay out.
    hide_release_chores: bool = True
    #: Accounts and names that are never thanked, beside the well-known bots.
    bots: frozenset[str] = field(default=frozenset(), converter=_casefolded)


DEFAULT_OPTIONS: Final = ChangelogOptions()
