"""The wire form of house styles and of the settings for posts."""

from typing import Literal, NotRequired, TypeAlias, TypedDict, final

_Foldable: TypeAlias = Literal[
    "added",
    "changed",
    "deprecated",
    "removed",
    "fixed",
    "performance",
    "reverted",
    "documentation",
    "other",
    "dependencies",
    "internal",
]


@final
class HeadingsBody(TypedDict, total=False):
    """Headings by section. The default heading depends on the language."""

    breaking: str
    security: str
    added: str
    changed: str
    deprecated: str
    removed: str
    fixed: str
    performance: str
    reverted: str
    documentation: str
    other: str
    dependencies: str
    internal: str


@final
class HouseStyleBody(TypedDict, total=False):
    """The formatting rules of changelogs; only the fields that are set."""

    audience: Literal["public", "team"]
    headings: HeadingsBody
    hide: list[str]
    hidePaths: list[str]
    hideAuthors: list[str]
    hideReleaseChores: bool
    foldUpkeep: bool
    upkeepPosts: Literal["skip", "write"]
    notes: Literal["only", "fill"]
    foldSections: list[_Foldable]
    emoji: bool
    commitHashes: bool
    links: bool
    details: bool
    contributors: bool
    bots: list[str]
    longestPost: int


@final
class OutputConfigBody(TypedDict):
    """How posts are written. Fields that are not set are absent."""

    brandIdentityId: NotRequired[str]
    houseStyle: NotRequired[HouseStyleBody]
