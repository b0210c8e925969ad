"""The house style: one reader, the defaults of the audiences, and overrides."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import fields
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.golden_text import check_text
from tests.refusals import accepted, the_refusal

from contentsvc_core.content.house_style import HouseStyle, merged_styles, style_body, style_fault
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.posts import MARKDOWN_LIMIT
from contentsvc_core.content.sections import Section
from contentsvc_core.content.style_fields import (
    LEAST_LENGTH,
    STYLE_FIELDS,
    options_body,
    options_of,
    read_style,
    style_schema,
    value_in_words,
)
from contentsvc_core.content.style_kinds import (
    FOLDABLE,
    HEADING_LIMIT,
    LIST_LIMIT,
    PATTERN_LIMIT,
    PATTERNS_LIMIT,
    SECTIONS,
    TEXT_LIMIT,
)
from contentsvc_core.events.normalized import Author, Commit
from contentsvc_core.refusals import invalid
from contentsvc_core.text import has_controls

#: One value of each field, none of them a default.
WHOLE: Final[dict[str, Any]] = {
    "audience": "team",
    "headings": {"breaking": "Take care", "added": "🚀 New"},
    "hide": ["docs", "api"],
    "hidePaths": ["vendor/*", "*.lock"],
    "hideAuthors": ["Kettle"],
    "hideReleaseChores": False,
    "foldUpkeep": False,
    "upkeepPosts": "write",
    "notes": "fill",
    "foldSections": ["performance", "other"],
    "emoji": True,
    "commitHashes": False,
    "links": False,
    "details": False,
    "contributors": False,
    "bots": ["kettle-bot"],
    "longestPost": 5_000,
}
_lines: Final = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=TEXT_LIMIT)
    .map(str.strip)
    .filter(lambda text: text and not has_controls(text))
)
_texts: Final = st.lists(_lines, max_size=5, unique=True)
_options: Final = st.builds(
    ChangelogOptions,
    hidden=_texts.map(lambda texts: frozenset(text[:60] for text in texts if text[:60].strip() == text[:60])),
    hidden_paths=_texts.map(lambda texts: tuple(dict.fromkeys(text[:PATTERN_LIMIT].strip() for text in texts))),
    hide_release_chores=st.booleans(),
    fold_upkeep=st.booleans(),
    upkeep_posts=st.sampled_from(["skip", "write"]),
    notes=st.sampled_from(["only", "fill"]),
    emoji=st.booleans(),
    folded=st.sets(st.sampled_from(FOLDABLE)).map(lambda names: frozenset(SECTIONS[name] for name in names)),
    headings=st.dictionaries(st.sampled_from(Section), _lines.map(lambda text: text[:HEADING_LIMIT].strip())),
    commit_hashes=st.booleans(),
    links=st.booleans(),
    details=st.booleans(),
    contributors=st.booleans(),
    longest=st.integers(LEAST_LENGTH, MARKDOWN_LIMIT),
)


def read(value: object) -> HouseStyle | None:
    return accepted(read_style(value))


@given(_options)
def test_a_written_style_is_read_back_as_the_same_options(options: ChangelogOptions) -> None:
    body = json.loads(json.dumps(options_body(options)))
    style = read(body)

    assert options_of(style) == options
    assert read(style_body(style)) == style


def test_every_field_is_read_and_has_its_option() -> None:
    style = read(json.loads(json.dumps(WHOLE)))

    assert style_body(style) == WHOLE
    assert options_of(style) == ChangelogOptions(
        headings={Section.BREAKING: "Take care", Section.ADDED: "🚀 New"},
        hidden=frozenset({"docs", "api"}),
        hidden_paths=("vendor/*", "*.lock"),
        hidden_authors=frozenset({"kettle"}),
        hide_release_chores=False,
        fold_upkeep=False,
        upkeep_posts="write",
        notes="fill",
        folded=frozenset({Section.PERFORMANCE, Section.OTHER}),
        emoji=True,
        commit_hashes=False,
        links=False,
        details=False,
        contributors=False,
        bots=frozenset({"kettle-bot"}),
        longest=5_000,
    )
    assert {each.name for each in STYLE_FIELDS} == set(WHOLE)
    attributes = {each.attribute for each in STYLE_FIELDS} - {None}
    assert attributes == {each.name for each in fields(ChangelogOptions)}


def test_the_schema_of_all_fields_reads_like_this() -> None:
    check_text(Path(__file__).with_name("golden_style_schema.json"), f"{json.dumps(style_schema(), indent=1)}\n")


def test_authors_and_paths_are_hidden_by_name_and_by_pattern() -> None:
    options = ChangelogOptions(hidden_authors=frozenset({"Ada Byron", "bell-bot"}), hidden_paths=("docs/*", "*.md"))
    authors = {("ada byron ", None), ("ADA BYRON", ""), ("Grace", "Bell-Bot"), ("Ada", "ada"), ("", None)}
    hidden = {(name, by) for name, by in authors if options.hides_author(Author(name=name, email="", username=by))}
    assert authors - hidden == {("Ada", "ada"), ("", None)}
    commit = Commit(id="1", message="x", author=Author(name="", email=""), timestamp="", url="")
    assert options.hides_paths(replace(commit, added=("docs/a.py",), modified=("a.md",), removed=("docs/b",)))
    assert not options.hides_paths(commit)
    assert not options.hides_paths(replace(commit, added=("docs/a.py",), paths_cut=True))
    for files in ({"added": ("src/a.py",)}, {"modified": ("a.py",)}, {"removed": ("a.md.py",)}):
        assert not options.hides_paths(replace(commit, **{"added": ("docs/a",), **files}))
    assert not ChangelogOptions().hides_author(Author(name="Ada Byron", email=""))
    assert not ChangelogOptions().hides_paths(replace(commit, added=("docs/a.py",)))


@pytest.mark.parametrize("nothing", [None, {}])
def test_nothing_set_is_no_house_style(nothing: object) -> None:
    assert read(nothing) is None
    assert options_of(None) == ChangelogOptions()


def test_texts_are_trimmed_and_kept_once() -> None:
    assert style_body(read({"hide": [" docs ", "docs"], "foldSections": ["other", "added", "other"]})) == {
        "hide": ["docs"],
        "foldSections": ["added", "other"],
    }


def test_the_audience_sets_defaults_that_a_field_goes_before() -> None:
    public, team = options_of(read({"audience": "public"})), options_of(read({"audience": "team"}))

    assert (public.contributors, public.commit_hashes, public.fold_upkeep) == (False, False, True)
    assert (team.contributors, team.commit_hashes, team.fold_upkeep, team.hide_release_chores) == (
        *(True, True),
        *(False, False),
    )
    assert options_of(read({"audience": "public", "contributors": True})).contributors


def test_an_override_goes_before_the_organization_field_by_field() -> None:
    organization, override = read({"hide": ["docs"], "links": False}), read({"hide": [], "audience": "team"})

    assert style_body(merged_styles(organization, override)) == {"hide": [], "links": False, "audience": "team"}
    assert merged_styles(organization, None) == organization
    assert merged_styles(None, override) == override
    assert merged_styles(None, None) is None


_A_LONG_TEXT: Final = "x" * (TEXT_LIMIT + 1)


@pytest.mark.parametrize(
    ("given_", "error"),
    [
        ([], "the house style must be an object of fields"),
        ("public", "the house style must be an object of fields"),
        ({"colour\n": 1}, "colour is not a field of the house style"),
        ({"links": 1}, "links must be true or false"),
        ({"links": None}, "links must be true or false"),
        ({"audience": "investors"}, "audience must be one of public, team"),
        ({"audience": ["team"]}, "audience must be one of public, team"),
        ({"upkeepPosts": True}, "upkeepPosts must be one of skip, write"),
        ({"hide": "docs"}, "hide must be a list of texts"),
        ({"hide": ["docs", 1]}, "hide has an entry that is not a text"),
        ({"hide": ["docs", " "]}, "hide has an entry that is empty"),
        ({"hidePaths": ["a\nb"]}, "hidePaths has an entry that is not a single line of text"),
        ({"hidePaths": ["a\u202eb"]}, "hidePaths has an entry that is not a single line of text"),
        ({"bots": [_A_LONG_TEXT]}, f"bots has an entry that is longer than {TEXT_LIMIT} characters"),
        ({"bots": ["x"] * (LIST_LIMIT + 1)}, f"bots has more than {LIST_LIMIT} entries"),
        ({"hidePaths": ["x" * 101]}, f"hidePaths has an entry that is longer than {PATTERN_LIMIT} characters"),
        ({"hidePaths": ["x"] * 51}, f"hidePaths has more than {PATTERNS_LIMIT} entries"),
        ({"foldSections": "other"}, "foldSections must be a list of sections"),
        ({"foldSections": ["other"] * (len(FOLDABLE) + 1)}, f"foldSections has more than {len(FOLDABLE)} entries"),
        ({"foldSections": ["security"]}, f"foldSections names 'security', which is not one of {', '.join(FOLDABLE)}"),
        ({"foldSections": [None]}, f"foldSections names 'None', which is not one of {', '.join(FOLDABLE)}"),
        ({"foldSections": [["other"]]}, f"foldSections names '['other']', which is not one of {', '.join(FOLDABLE)}"),
        ({"headings": ["New"]}, "headings must be an object of headings by section"),
        ({"headings": {"new": "New"}}, f"headings names 'new', which is not one of {', '.join(SECTIONS)}"),
        ({"headings": {"added": ""}}, "headings has a heading of 'added' that is empty"),
        (
            {"headings": {"added": "x" * 80}, "longestPost": 999},
            "longestPost must be a whole number from 1,000 to 100,000",
        ),
        ({"headings": {"added": "x" * 81}}, "headings has a heading of 'added' that is longer than 80 characters"),
        ({"longestPost": 999}, "longestPost must be a whole number from 1,000 to 100,000"),
        ({"longestPost": 100_001}, "longestPost must be a whole number from 1,000 to 100,000"),
        ({"longestPost": 2_000.0}, "longestPost must be a whole number from 1,000 to 100,000"),
        ({"longestPost": True}, "longestPost must be a whole number from 1,000 to 100,000"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_field(given_: Any, error: str) -> None:
    bad = the_refusal(read_style(given_))

    assert style_fault(bad) == error


def test_a_fault_names_the_place_of_its_field() -> None:
    assert (
        style_fault(invalid("links", "is wrong"), "outputConfig.houseStyle") == "outputConfig.houseStyle.links is wrong"
    )
    assert style_fault(invalid(None, "is wrong"), "houseStyle") == "houseStyle is wrong"


@pytest.mark.parametrize(
    ("value", "words"),
    [(True, "yes"), (False, "no"), (["a", "b"], "a, b"), ({"added": "New"}, "added: New"), (5, "5"), ("team", "team")],
)
def test_values_are_put_in_words(value: Any, words: str) -> None:
    assert value_in_words(value) == words
