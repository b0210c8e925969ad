"""The wire form of house styles and of the settings for posts."""

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias, TypedDict, final

if TYPE_CHECKING:
    # The shape is made of the fields of a house style, for the OpenAPI document.
    HouseStyleBody: TypeAlias = dict[str, Any]
else:
    from contentsvc_core.content.style_fields import STYLE_FIELDS
    from contentsvc_core.content.style_kinds import (
        FOLDABLE,
        SECTIONS,
        Choice,
        Headings,
        Length,
        Sections,
        StyleKind,
        Switch,
    )

    HeadingsBody = TypedDict("HeadingsBody", dict.fromkeys(SECTIONS, str), total=False)
    HeadingsBody.__doc__ = "Headings by section. The default heading depends on the language."

    def _type_of(kind: StyleKind) -> object:
        match kind:
            case Switch():
                return bool
            case Length():
                return int
            case Choice(names):
                return Literal[names]
            case Sections():
                return list[Literal[FOLDABLE]]
            case Headings():
                return HeadingsBody
            case _:
                return list[str]

    HouseStyleBody = TypedDict("HouseStyleBody", {each.name: _type_of(each.kind) for each in STYLE_FIELDS}, total=False)
    HouseStyleBody.__doc__ = "The formatting rules of changelogs; only the fields that are set."


@final
class OutputConfigBody(TypedDict):
    """How posts are written. Fields that are not set are absent."""

    brandIdentityId: NotRequired[str]
    houseStyle: NotRequired[HouseStyleBody]
