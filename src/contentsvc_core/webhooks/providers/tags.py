"""Versions in names of tags, for code hosts without releases or without a flag for pre-releases."""

import re
from typing import Final

from contentsvc_core.on_demand import late

#: A version with at least two numbers, behind the name of a package or ``v``: ``v1.2``, ``1.2.3-rc.1``, ``cli@2.0.0``.
_VERSION: Final = late(
    r"(?:[A-Za-z0-9@/_.-]{0,100}[@/_-])?(?:v|V|release[-_]?)?\d{1,9}(?:\.\d{1,9}){1,4}"
    r"(?:[-_.+]?[A-Za-z][0-9A-Za-z]{0,40}(?:[-_.+][0-9A-Za-z]{1,40}){0,5})?",
    re.ASCII,
)
#: The longest tag that may name a pre-release, in characters: longer than a file's name, which git makes of a tag.
_LONGEST: Final = 300
#: Suffix of a pre-release version (PEP 440, Semantic Versioning). Strangers choose the tag: no part of the pattern can
#: match in two ways, because 50 characters would then take hours.
_PRERELEASE: Final = late(
    r"(?:^|[^0-9a-z.])v?\d++(?:[.-]\d++)*+[-_.]?"
    r"(?:a|b|c|m|alpha|beta|rc|cr|pre|preview|prerelease|milestone|dev|nightly|canary|snapshot|next|unstable)"
    r"\d*+(?![0-9a-z])",
    re.IGNORECASE | re.ASCII,
)


def is_version(tag: str) -> bool:
    """Return whether a tag names a version, e.g. ``v2.0.0`` or ``cli@1.4.0-rc.1``; ``nightly`` does not."""
    return _VERSION.fullmatch(tag) is not None


def is_prerelease(tag: str) -> bool:
    """Return whether a tag names a pre-release, e.g. ``v2.0.0-rc.1``, ``1.4b2`` or ``3.0-beta``."""
    return len(tag) <= _LONGEST and _PRERELEASE.search(tag) is not None


def release_action(tag: str) -> str:
    """Return the action of a release whose code host has no flag for pre-releases."""
    return "prereleased" if is_prerelease(tag) else "published"
