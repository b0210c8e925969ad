"""Tags that name a package of their repository beside its version, as monorepos have them."""

import re
from typing import Final, final

from contentsvc_core.on_demand import late
from contentsvc_core.values import Value

#: `@scope/pkg@1.2.3`, `pkg@1.2.3`, `pkg-v1.2.3`, `pkg/v1.2.3`. A name that begins like a version does not match.
_TAG: Final = late(r"(?!v?\d)(?P<package>@?\w[\w.-]*(?:/\w[\w.-]*)*)(?:@v?|[-/]v)(?P<version>\d[\w.+-]*)", re.ASCII)
#: The longest tag that is read, in characters: lists of runs store no more of a tag.
_TAG_LIMIT: Final = 99
_NO_PACKAGE: Final = frozenset(
    {"release", "releases", "rel", "version", "versions", "ver", "tag", "tags", "stable", "production", "prod"}
    | {"alpha", "beta", "rc", "nightly", "preview", "dev", "canary", "next", "snapshot"}
)


@final
class PackageTag(Value, frozen=True):
    package: str
    version: str

    @property
    def name(self) -> str:
        return self.package.rpartition("/")[2]


def package_tag(tag: str) -> PackageTag | None:
    """Return the package and the version that a tag names, ``None`` for a tag that names no package."""
    match = _TAG.fullmatch(tag) if len(tag) <= _TAG_LIMIT else None
    if match is None or match["package"].casefold() in _NO_PACKAGE:
        return None
    return PackageTag(match["package"], match["version"])
