"""The house style in requests and answers."""

from typing import Annotated, Any, Literal, TypeAlias, TypedDict, final

from msgspec import Meta

from contentsvc_core.content.house_style import BadStyle, HouseStyle, read_style, style_schema
from contentsvc_http.errors import refuse_request

#: A house style as a request holds it. The document describes it; the core's reader checks it.
GivenStyle: TypeAlias = Annotated[dict[str, Any], Meta(extra_json_schema=style_schema())]
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
    """Headings by section; a section without one has the heading of the language."""

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
    """How changelogs look: the fields that are set."""

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


def read_given_style(given: object, place: str) -> HouseStyle | None:
    """Read the house style of a request; ``None``: the request sets nothing.

    Raises:
        Refused: 400: the house style has a fault; the text names its field below ``place``.
    """
    style = read_style(given)
    if isinstance(style, BadStyle):
        refuse_request(style.told(place))
    return style
