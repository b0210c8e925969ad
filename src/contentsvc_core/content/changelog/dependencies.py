"""Updates of dependencies: by package, from the first version to the last one."""

import re
from collections.abc import Iterable
from typing import Final, final

from msgspec import Struct

from contentsvc_core.content.changelog.patterns import DEPENDENCY
from contentsvc_core.content.changelog.read import CommitMessage

#: Packages of builds alone: actions of a code host, base images.
_ACTION: Final = re.compile(
    r"(?:actions|github|docker|codecov|pypa|softprops|peter-evans|goreleaser|golangci|peaceiris|dorny|step-security|ossf"
    r"|aquasecurity|taiki-e|dtolnay|shivammathur|ruby|gradle|astral-sh|sigstore|slsa-framework|reviewdog|crate-ci"
    r"|stefanzweifel|actions-rs|swatinem|oven-sh|pnpm|denoland|cachix|changesets|release-drafter)/[\w./-]+|\S+-action(?:/\S+)?",
    re.IGNORECASE,
)
#: The groups of :data:`DEPENDENCY` that name a package.
_NAMES: Final = ("name", "among", "named", "listed", "tool")
_NAME: Final = re.compile(r"[\w@./+-]{1,100}")


@final
class Bump(Struct, frozen=True, kw_only=True, gc=False):
    """The update of one package."""

    #: Empty: the subject names no package.
    name: str
    begin: str
    end: str

    @property
    def builds(self) -> bool:
        """Whether only builds use the package."""
        return _ACTION.fullmatch(self.name) is not None


def bump_of(message: CommitMessage) -> Bump:
    """Return the package and versions of an update."""
    line = message.description.strip().rstrip(".")
    for row in DEPENDENCY.rows if DEPENDENCY.search(line) else ():
        if found := re.match(row, line, re.IGNORECASE):
            groups = found.groupdict()
            name = next(filter(None, map(groups.get, _NAMES)), "").strip("`'\"")
            if not _NAME.fullmatch(name):
                name = ""
            return Bump(name=name, begin=_version(groups.get("begin")), end=_version(groups.get("end")))
    return Bump(name="", begin="", end="")


def chained(bumps: Iterable[Bump]) -> tuple[Bump, ...]:
    """Return one update for each package, in the order of first appearance, without updates that cancel out."""
    steps: dict[str, Bump] = {}
    for bump in bumps:
        if not bump.name:
            continue
        first = steps.get(bump.name.casefold())
        begin = first.begin if first and first.begin else bump.begin
        end = bump.end or (first.end if first else "")
        steps[bump.name.casefold()] = Bump(name=first.name if first else bump.name, begin=begin, end=end)
    return tuple(bump for bump in steps.values() if not (bump.begin and bump.begin == bump.end))


def _version(text: str | None) -> str:
    return (text or "").strip("`'\",.()").removeprefix("v")[:40]
