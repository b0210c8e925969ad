from enum import Enum
from typing import Final


class Section(Enum):
    """The sections of Keep a Changelog and some more, in the order of headings; the values are English headings."""

    BREAKING = "Breaking changes"
    SECURITY = "Security"
    ADDED = "Added"
    CHANGED = "Changed"
    DEPRECATED = "Deprecated"
    REMOVED = "Removed"
    FIXED = "Fixed"
    PERFORMANCE = "Performance"
    REVERTED = "Reverted"
    DOCUMENTATION = "Documentation"
    OTHER = "Other changes"
    DEPENDENCIES = "Dependencies"
    INTERNAL = "Internal changes"

    # Members are singletons: the hash of objects is several times as fast as the hash of enum members.
    __hash__ = object.__hash__


#: Sections that are never hidden or folded.
CRITICAL: Final = frozenset({Section.BREAKING, Section.SECURITY})
#: Sections that one closing line counts, unless the options list them.
UPKEEP: Final = frozenset({Section.DOCUMENTATION, Section.DEPENDENCIES, Section.INTERNAL})
