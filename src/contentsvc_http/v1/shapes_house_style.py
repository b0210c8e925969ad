"""The house style in requests and responses."""

from typing import Annotated, Any, Literal, TypeAlias, TypedDict, final

from msgspec import Meta

from contentsvc_core.content.house_style import HouseStyle, read_style, style_fault, style_schema
from contentsvc_core.refusals import Refusal
from contentsvc_http.errors import refuse_request

#: A house style in a request. The schema is for the OpenAPI document; the core's reader validates the value.
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


def read_given_style(given: object, place: str) -> HouseStyle | None:
    """Return the house style of a request; ``None`` if no field is set.

    Raises:
        Refused: 400: a field below ``place`` is invalid; the error names the field.
    """
    style = read_style(given)
    if isinstance(style, Refusal):
        refuse_request(style_fault(style, place))
    return style
