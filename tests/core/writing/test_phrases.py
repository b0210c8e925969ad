"""Every language says everything, and puts the same things into it."""

from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Final, cast

import attrs
import pytest
from attrs import evolve
from writing_samples import MONTH, brand, written

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.changelog.voice import voice_of
from contentsvc_core.content.phrases import ENGLISH, PHRASEBOOKS, Count, Phrasebook, Toned, phrases_in
from contentsvc_core.content.posts import ContentType

#: What differs from language to language: signs, months, forms of a date.
_FORMS: Final = frozenset({"thousands", "zero_is_one", "conjunction", "months", "first_of_month"})


def _texts(value: object, name: str) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield name, value
        case Count() | Toned():
            for field in attrs.fields(type(value)):
                yield from _texts(getattr(value, field.name), f"{name}.{field.name}")
        case Mapping():
            for key, inner in cast("Mapping[object, object]", value).items():
                yield from _texts(inner, f"{name}[{key}]")
        case _:
            raise AssertionError(name)


def _phrases(book: Phrasebook) -> dict[str, str]:
    names = [field.name for field in attrs.fields(Phrasebook) if field.name not in _FORMS]
    return dict(pair for name in names for pair in _texts(getattr(book, name), name))


def _places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", PHRASEBOOKS)
def test_every_language_has_every_phrase_with_the_same_places(language: str) -> None:
    said, english = _phrases(PHRASEBOOKS[language]), _phrases(ENGLISH)
    assert said.keys() == english.keys()
    for name, text in said.items():
        assert text.strip(), name
        assert _places(text) == _places(english[name]), name
    assert len(PHRASEBOOKS[language].months) == 12


@pytest.mark.parametrize("language", [name for name in PHRASEBOOKS if name != "English"])
def test_no_phrase_was_forgotten_in_english(language: str) -> None:
    said, english = _phrases(PHRASEBOOKS[language]), _phrases(ENGLISH)
    same = {name for name, text in said.items() if text == english[name]}
    # Words that both languages have, and forms of a date.
    shared = {"Commits", "Repository", "Performance", "Documentation", "Documentation: {text}", "Total", "{company}"}
    shared |= {"Corrections", ", plus {parts}", "{n} commit", "{n} commits", "{n} Commit", "{n} Commits"}
    shared |= {"{day} {month} {year}", "{day} {month}", "{first}\u2013{last} {month} {year}"}
    assert {said[name] for name in same} <= shared


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        (None, "English"),
        ("", "English"),
        ("Klingon", "English"),
        ("en-GB", "English"),
        ("german", "German"),
        ("Deutsch", "German"),
        ("de_AT", "German"),
        (" French (Canada) ", "French"),
        ("Français", "French"),
        ("español", "Spanish"),
        ("Spanish", "Spanish"),
    ],
)
def test_a_language_is_found_by_its_name_or_code(asked: str | None, language: str) -> None:
    assert phrases_in(asked) is PHRASEBOOKS[language]


@pytest.mark.parametrize(
    ("audience", "technical"),
    [
        (None, True),
        ("", True),
        ("everybody", True),
        ("developers", True),
        ("Developers and managers", True),
        ("our customers", False),
        ("Investors", False),
        ("non-technical users", False),
        ("nicht-technische Leser", False),
        ("Kundinnen und Kunden", False),
    ],
)
def test_an_audience_is_technical_unless_it_says_otherwise(audience: str | None, technical: bool) -> None:
    assert voice_of(brand(audience=audience)).technical is technical


@pytest.mark.parametrize("content_type", [ContentType.CHANGELOG, ContentType.BLOG_POST, ContentType.LINKEDIN_POST])
def test_other_people_than_developers_read_no_parts_of_the_code_and_no_numbers(content_type: ContentType) -> None:
    markdown = written(content_type, *MONTH, brand=brand(audience="customers")).markdown
    assert "Stop the drip" in markdown
    for technical in ("spout:", "(spout)", "#14", "/issues/", "/commit/", "refactor", "spring"):
        assert technical not in markdown


def test_headings_of_changelogs_follow_the_language_and_foreign_text_does_not() -> None:
    markdown = written(ContentType.CHANGELOG, *MONTH, brand=brand(language="German")).markdown
    headings = [line[3:] for line in markdown.splitlines() if line.startswith("## ")]
    assert headings == [
        *("Versionen", "Inkompatible Änderungen", "Sicherheit", "Neue Funktionen", "Fehlerbehebungen"),
        *("Dokumentation", "Weitere Änderungen", "Interne Änderungen", "Mitwirkende"),
    ]
    assert "Report temperatures in kelvin" in markdown


def test_a_brand_that_asks_for_plain_professional_english_changes_no_changelog() -> None:
    plain = written(ContentType.CHANGELOG, *MONTH)
    assert written(ContentType.CHANGELOG, *MONTH, brand=brand()) == plain
    free = evolve(brand(), custom_tone="Like a pirate", custom_instructions="Say nothing of kelvin")
    assert written(ContentType.CHANGELOG, *MONTH, brand=free) == plain


def test_tones_differ_and_the_company_speaks() -> None:
    openings = {
        written(ContentType.BLOG_POST, *MONTH, brand=brand(tone=tone, company="Acme")).markdown.partition(" In fig")[0]
        for tone in ToneProfile
    }
    assert openings == {
        "At Acme, we've released kettle v1.2.0!",
        "Acme has released kettle v1.2.0.",
        "We've shipped kettle v1.2.0 at Acme!",
        "Acme announces the release of kettle v1.2.0.",
    }


@pytest.mark.parametrize(("number", "told"), [(0, "0 correction"), (1, "1 correction"), (2, "2 corrections")])
def test_nought_is_singular_in_french(number: int, told: str) -> None:
    french = PHRASEBOOKS["French"]
    assert french.count(number, Count(one="{n} correction", many="{n} corrections")) == told
    assert ENGLISH.count(0, Count(one="{n} fix", many="{n} fixes")) == "0 fixes"
    assert ENGLISH.count(2_048, Count(one="{n} fix", many="{n} fixes")) == "2,048 fixes"
