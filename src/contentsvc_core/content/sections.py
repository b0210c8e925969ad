"""The kinds of change that content tells apart."""

from enum import Enum


class Section(Enum):
    """The sections, in the order in which they are printed; the values are their English headings."""

    BREAKING = "Breaking changes"
    SECURITY = "Security"
    FEATURES = "Features"
    FIXES = "Fixes"
    PERFORMANCE = "Performance"
    DOCUMENTATION = "Documentation"
    OTHER = "Other changes"
    INTERNAL = "Internal changes"
