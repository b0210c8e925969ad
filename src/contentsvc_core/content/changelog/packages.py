"""The package of a change: by the touched files, else by the scope."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, final

from contentsvc_core.content.changelog.read import parse
from contentsvc_core.events.normalized import Commit
from contentsvc_core.late import late

#: Folders of packages, which name no package themselves unless a package has that name.
_HOLDERS: Final = frozenset(
    {"packages", "package", "pkgs", "pkg", "crates", "libs", "apps", "plugins", "modules", "components", "clients"}
    | {"integrations", "extensions", "adapters", "services", "projects", "workspaces", "sdk", "sdks", "tools", "src"}
)
_SEPARATORS: Final = late(r"[_.]")


@final
class Packages:
    """The packages of a repository, as its tags name them."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(set(names)))
        spellings = [(spelling, name) for name in self.names for spelling in _spellings(name)]
        counted = Counter(spelling for spelling, _ in spellings)
        self._names = {spelling: name for spelling, name in spellings if counted[spelling] == 1}
        self._folders = [f"{name}/" for name in self.names if "/" in name and not name.startswith("@")]
        self._folders.sort(key=len, reverse=True)

    def __bool__(self) -> bool:
        return bool(self.names)

    def owners(self, commits: Iterable[Commit]) -> frozenset[str]:
        """Return the packages of a change's commits; may be empty."""
        if not self.names:
            return frozenset()
        commits = list(commits)
        paths = (path for commit in commits for path in (*commit.added, *commit.modified, *commit.removed))
        owners = frozenset(filter(None, map(self._of_path, paths)))
        if len(owners) == 1:
            return owners
        scoped = frozenset(filter(None, map(self._of_scope, commits)))
        return scoped & owners or owners or scoped

    def is_named(self, scope: str, package: str) -> bool:
        """Return whether a scope is only the package's name."""
        return self._names.get(_spelled(scope)) == package

    def _of_path(self, path: str) -> str | None:
        for folder in self._folders:
            if path.startswith(folder):
                return folder[:-1]
        for part in path.split("/")[:-1]:
            if (owner := self._names.get(_spelled(part))) is not None:
                return owner
            if part not in _HOLDERS and not part.startswith("@"):
                return None
        return None

    def _of_scope(self, commit: Commit) -> str | None:
        return self._names.get(_spelled(parse(commit.message).scope or ""))


def _spellings(name: str) -> set[str]:
    scope, _, short = name.lstrip("@").rpartition("/")
    return {_spelled(name), _spelled(short), _spelled(f"{scope.rpartition('/')[2]}-{short}") if scope else ""} - {""}


def _spelled(name: str) -> str:
    return _SEPARATORS.sub("-", name.strip().casefold())
