"""The normalized events of the service (specification 6), without the provider's spelling. A ``ping`` has no event."""

from typing import ClassVar, Final, Literal, TypeAlias, final

from contentsvc_core.values import Value

#: The maximum number of commits in a push, as the code host limits it.
MAX_COMMITS: Final = 2048
#: The maximum number of stored paths of a commit: fifty paths show its subject.
MAX_PATHS: Final = 50
#: The maximum length of a stored path, in characters.
MAX_PATH: Final = 250
#: The maximum length of all stored paths of a push, in characters: 2048 commits of a few files each.
MAX_PUSH_PATHS: Final = 262_144
#: The actions of a release that are processed (specification 6.2).
RELEASE_ACTIONS: Final = ("published", "prereleased")


@final
class Author(Value, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The author of a commit, as the code host sends it."""

    name: str
    #: The address in the commit; ``""`` when the code host withholds it. Never printed in content.
    email: str
    #: The account at the code host, when there is one.
    username: str | None = None


@final
class Commit(Value, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A commit of a push, as the code host sends it; all texts are untrusted."""

    #: The hash, in hexadecimal digits.
    id: str
    #: The whole message, with its lines.
    message: str
    author: Author
    #: ISO 8601, as the code host writes it; ``""``: unknown.
    timestamp: str
    #: The page of the commit; ``""``: it has none.
    url: str
    # The following fields are for the writers and not part of the wire form (6.1).
    #: False: the commit was pushed before, on another branch.
    distinct: bool = True
    #: The paths of the files that the commit added, changed and removed, as far as the push has room for them.
    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    #: The number of omitted paths of this commit.
    paths_cut: int = 0


@final
class HeadCommit(Value, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The commit that the branch points at after a push."""

    id: str
    message: str


@final
class Push(Value, frozen=True, kw_only=True, gc=True, weakref=True, rename="camel", omit_defaults=True):
    """Commits that arrived on a branch or tag (specification 6.1)."""

    type: ClassVar[Literal["push"]] = "push"
    action: ClassVar[str] = "pushed"

    #: The full ref, e.g. ``refs/heads/main``.
    ref: str
    #: The ref without ``refs/heads/``; the full ref when it is no branch.
    branch: str
    commits: tuple[Commit, ...]
    #: ``None`` when the push deleted the branch.
    head_commit: HeadCommit | None
    # What follows is kept for the writers and is not part of the wire form (6.1).
    #: True: the code host left out the older commits of the push.
    is_cut: bool = False
    #: The commit before the oldest one, where commits were left out; ``""``: the push created the branch.
    before: str = ""
    #: True: the branch is not the default branch. Only triggers that name the branch report the push.
    off_default: bool = False


@final
class Release(Value, frozen=True, kw_only=True, gc=True, weakref=True, rename="camel", omit_defaults=True):
    """Something that happened to a release (specification 6.2)."""

    type: ClassVar[Literal["release"]] = "release"

    #: As sent; only ``published`` and ``prereleased`` pass the filters.
    action: str
    tag_name: str
    name: str | None
    body: str | None
    prerelease: bool
    draft: bool
    published_at: str | None
    url: str
    # The following fields are for the writers and not part of the wire form (6.2).
    #: The hash of the commit that the tag was made for; ``""``: the code host names a branch, or nothing.
    commit: str = ""


EventType: TypeAlias = Literal["push", "release"]
Event = Push | Release
"""A closed union: a new kind fails type checking wherever kinds are distinguished, until it is handled there."""
