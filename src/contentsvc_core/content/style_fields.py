"""The fields of a house style: reading them, their schema, and the options of the writer that they set."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, cast, final

from attrs import frozen

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.posts import MARKDOWN_LIMIT
from contentsvc_core.content.style_kinds import (
    PATTERN_LIMIT,
    PATTERNS_LIMIT,
    Choice,
    Headings,
    InvalidStyleValue,
    Length,
    Sections,
    StyleKind,
    Switch,
    Texts,
)
from contentsvc_core.refusals import Refusal, invalid
from contentsvc_core.text import one_line, storable

#: The shortest limit of a post, in characters: space for a title line, a few entries and the closing line.
LEAST_LENGTH: Final = 1_000


class Audience(Enum):
    PUBLIC = "public"
    TEAM = "team"


#: Options by audience, where they differ from the writer's own defaults.
_AUDIENCES: Final[Mapping[str, Mapping[str, Any]]] = {
    Audience.PUBLIC.value: {"commit_hashes": False, "contributors": False, "fold_upkeep": True},
    Audience.TEAM.value: {
        "commit_hashes": True, "contributors": True, "fold_upkeep": False, "hide_release_chores": False,
    },
}  # fmt: skip


@final
@frozen
class StyleField:
    name: str
    attribute: str | None
    kind: StyleKind
    about: str


AUDIENCE: Final = "audience"
STYLE_FIELDS: Final = (
    StyleField(AUDIENCE, None, Choice(tuple(each.value for each in Audience)),
        "Who reads the changelogs. It sets the defaults of the other fields."),
    StyleField("headings", "headings", Headings(), "Headings by section, instead of those of the language."),
    StyleField("hide", "hidden", Texts(frozenset),
        "Sections, kinds and scopes of changes to leave out, such as documentation, chore or api. Breaking and "
        "security changes always stay."),
    StyleField("hidePaths", "hidden_paths", Texts(tuple, at_most=PATTERNS_LIMIT, longest=PATTERN_LIMIT),
        "Path patterns: a commit that touches only such files is left out."),
    StyleField("hideAuthors", "hidden_authors", Texts(frozenset), "Accounts and names whose changes are left out."),
    StyleField("hideReleaseChores", "hide_release_chores", Switch(),
        "Leave out commits that only make a release, such as version bumps."),
    StyleField("foldUpkeep", "fold_upkeep", Switch(),
        "Count documentation, dependencies and internal changes in one closing line, instead of listing them."),
    StyleField("upkeepPosts", "upkeep_posts", Choice(("skip", "write")),
        "Whether pushes that consist of documentation, dependencies and internal changes have a changelog."),
    StyleField("notes", "notes", Choice(("only", "fill")),
        "Whether the notes of a release are its whole changelog, or the changes that they leave out follow."),
    StyleField("foldSections", "folded", Sections(), "More sections to count in the closing line."),
    StyleField("emoji", "emoji", Switch(), "Begin the headings of sections with an emoji."),
    StyleField("commitHashes", "commit_hashes", Switch(), "Show the commits of each entry."),
    StyleField("links", "links", Switch(), "Link pull requests, issues and commits."),
    StyleField("details", "details", Switch(), "Show what authors explain, below an entry."),
    StyleField("contributors", "contributors", Switch(), "Thank the contributors at the end."),
    StyleField("bots", "bots", Texts(frozenset), "Accounts and names that are not thanked, beside well-known bots."),
    StyleField("longestPost", "longest", Length(LEAST_LENGTH, MARKDOWN_LIMIT),
        "The longest post, in characters of Markdown."),
)  # fmt: skip
_BY_NAME: Final = {each.name: each for each in STYLE_FIELDS}


def read_style(value: object) -> HouseStyle | Refusal | None:
    """Return the house style in a decoded JSON object, or the refusal of its first bad field.

    ``None``: the value is ``None`` or sets no field, so that the defaults hold.
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        return invalid(None, "must be an object of fields")
    fields = cast("Mapping[object, object]", value)
    unknown = next((name for name in fields if name not in _BY_NAME), None)
    if unknown is not None:
        return invalid(one_line(storable(str(unknown)), 64), "is not a field of the house style")
    read: dict[str, Any] = {}
    for style_field in STYLE_FIELDS:
        if style_field.name in fields:
            try:
                read[style_field.name] = style_field.kind.read(fields[style_field.name])
            except InvalidStyleValue as exc:
                return invalid(style_field.name, str(exc))
    return HouseStyle(read) if read else None


def options_of(style: HouseStyle | None) -> ChangelogOptions:
    """Return the options of a writer that a house style sets, with the defaults of its audience for other fields."""
    if style is None:
        return DEFAULT_OPTIONS
    options = dict(_AUDIENCES.get(style.fields.get(AUDIENCE, ""), {}))
    for style_field in STYLE_FIELDS:
        if style_field.attribute is not None and style_field.name in style.fields:
            options[style_field.attribute] = style_field.kind.option(style.fields[style_field.name])
    return ChangelogOptions(**options)


def options_body(options: ChangelogOptions) -> dict[str, Any]:
    """Return the wire form of options: every field but the audience."""
    return {
        field.name: field.kind.written(getattr(options, field.attribute))
        for field in STYLE_FIELDS
        if field.attribute is not None
    }


def value_in_words(value: Any) -> str:  # noqa: ANN401  # JSON
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(cast("list[str]", value))
        case dict():
            return ", ".join(f"{name}: {text}" for name, text in cast("dict[str, str]", value).items())
        case _:
            return str(value)


def style_schema() -> dict[str, Any]:
    return {
        "title": "HouseStyle",
        "description": "The fields of a house style that are set.",
        "type": "object",
        "properties": {each.name: {**each.kind.schema, "description": each.about} for each in STYLE_FIELDS},
        "additionalProperties": False,
    }
