"""Each language has all phrases, with the same placeholders."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from string import Formatter
from typing import Final, cast

import msgspec
import pytest
from attrs import evolve
from writing_samples import MONTH, brand, written

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.changelog.lines import voice_of
from contentsvc_core.content.phrases import ENGLISH, PHRASEBOOKS, Count, Phrasebook, Toned, phrasebook, phrases_in
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import LookbackWindow

#: The fields that differ between languages: signs, months, forms of a date.
_FORMS: Final = frozenset(
    {"thousands", "zero_is_one", "conjunction", "conjunction_before_i", "months", "first_of_month"}
)


def _texts(value: object, name: str) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield name, value
        case Count() | Toned():
            for field in value.__struct_fields__:
                yield from _texts(getattr(value, field), f"{name}.{field}")
        case Mapping():
            for key, inner in cast("Mapping[object, object]", value).items():
                yield from _texts(inner, f"{name}[{key}]")
        case _:
            raise AssertionError(name)


def _phrases(book: Phrasebook) -> dict[str, str]:
    names = [name for name in Phrasebook.__struct_fields__ if name not in _FORMS]
    return dict(pair for name in names for pair in _texts(getattr(book, name), name))


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", PHRASEBOOKS)
def test_every_language_has_every_phrase_with_the_same_placeholders(language: str) -> None:
    translated, english = _phrases(PHRASEBOOKS[language]), _phrases(ENGLISH)
    assert translated.keys() == english.keys()
    for name, text in translated.items():
        assert text.strip(), name
        assert _placeholders(text) == _placeholders(english[name]), name
    assert len(PHRASEBOOKS[language].months) == 12


@pytest.mark.parametrize("language", PHRASEBOOKS)
def test_a_file_of_phrases_has_nothing_that_is_not_read(language: str) -> None:
    file = Path(phrasebook.__file__).with_name(f"{language.lower()}.json")
    assert msgspec.json.decode(file.read_bytes()) == msgspec.json.decode(msgspec.json.encode(PHRASEBOOKS[language]))


@pytest.mark.parametrize("language", [name for name in PHRASEBOOKS if name != "English"])
def test_no_phrase_was_forgotten_in_english(language: str) -> None:
    translated, english = _phrases(PHRASEBOOKS[language]), _phrases(ENGLISH)
    same = {name for name, text in translated.items() if text == english[name]}
    # Words of both languages, and forms of a date.
    shared = {"Performance", "Documentation", "Documentation: {text}", "{company}", "In {subject}: {counts}."}
    shared |= {"{n} commit", "{n} commits", "Corrections", ", plus {parts}", "{first} \u2013 {last}"}
    shared |= {": ", "; ", "{day} {month} {year}", "{day} {month}", "{first}\u2013{last} {month} {year}"}
    assert {translated[name] for name in same} <= shared


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
    assert "the drip" in markdown
    for technical in ("spout:", "(spout)", "#14", "/issues/", "/commit/", "refactor", "spring"):
        assert technical not in markdown


def test_headings_of_changelogs_follow_the_language_and_foreign_text_does_not() -> None:
    markdown = written(ContentType.CHANGELOG, *MONTH, brand=brand(language="German")).markdown
    headings = [line[3:] for line in markdown.splitlines() if line.startswith("## ")]
    assert headings == [
        *("Versionen", "Inkompatible Änderungen", "Sicherheit", "Neue Funktionen", "Veraltet"),
        *("Fehlerbehebungen", "Mitwirkende"),
    ]
    assert "Report temperatures in kelvin" in markdown


@pytest.mark.parametrize("content_type", [ContentType.CHANGELOG, ContentType.BLOG_POST, ContentType.INVESTOR_UPDATE])
def test_only_texts_in_another_language_are_said_to_be_as_written(content_type: ContentType) -> None:
    german, hint = brand(language="German"), PHRASEBOOKS["German"].as_written
    assert hint not in written(content_type, "feat: der Deckel kann jetzt klingen", brand=german).markdown
    assert hint in written(content_type, "feat: ring the bell of the lid", brand=german).markdown


def test_a_brand_that_asks_for_plain_professional_english_changes_no_changelog() -> None:
    plain = written(ContentType.CHANGELOG, *MONTH)
    assert written(ContentType.CHANGELOG, *MONTH, brand=brand()) == plain
    free = evolve(brand(), custom_tone="Like a pirate", custom_instructions="Say nothing of kelvin")
    assert written(ContentType.CHANGELOG, *MONTH, brand=free) == plain


def test_tones_differ_and_the_company_speaks() -> None:
    openings = {
        written(ContentType.BLOG_POST, *MONTH, brand=brand(tone=tone, company="Acme")).markdown.partition(" Breaking")[
            0
        ]
        for tone in ToneProfile
    }
    assert openings == {
        "At Acme, we've released kettle v1.2.0!",
        "Acme has released kettle v1.2.0.",
        "We've shipped kettle v1.2.0 at Acme!",
        "Acme announces the release of kettle v1.2.0.",
    }


@pytest.mark.parametrize(("number", "expected"), [(0, "0 correction"), (1, "1 correction"), (2, "2 corrections")])
def test_nought_is_singular_in_french(number: int, expected: str) -> None:
    french = PHRASEBOOKS["French"]
    assert french.count(number, Count(one="{n} correction", many="{n} corrections")) == expected
    assert ENGLISH.count(0, Count(one="{n} fix", many="{n} fixes")) == "0 fixes"
    assert ENGLISH.count(2_048, Count(one="{n} fix", many="{n} fixes")) == "2,048 fixes"


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("2030-06-01T00:00", "2030-06-02T00:00", "1 June 2030"),
        ("2030-06-01T09:00", "2030-06-01T09:00", "1 June 2030"),
        ("2030-06-01T09:00", "2030-06-02T00:00:00.001", "1\u20132 June 2030"),
        ("2030-06-30T00:00", "2030-07-01T12:00", "30 June \u2013 1 July 2030"),
        ("2029-12-31T00:00", "2030-01-02T00:00", "31 December 2029 \u2013 1 January 2030"),
        ("2029-06-01T00:00", "2030-06-03T00:00", "1 June 2029 \u2013 2 June 2030"),
    ],
)
def test_a_stretch_of_time_is_named_by_its_first_and_last_day(since: str, until: str, expected: str) -> None:
    begin, end = (datetime.fromisoformat(f"{text}+00:00") for text in (since, until))
    assert ENGLISH.period(LookbackWindow(since=begin, until=end)) == expected


def test_a_day_is_named_as_the_language_does() -> None:
    first = date(2030, 3, 1)
    assert {name: book.on(first) for name, book in PHRASEBOOKS.items()} == {
        "English": "1 March 2030",
        "French": "1er mars 2030",
        "German": "1. März 2030",
        "Spanish": "1 de marzo de 2030",
    }


@pytest.mark.parametrize(
    ("parts", "expected"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c"), (["", "b"], "b")],
)
def test_parts_are_joined_as_in_a_sentence(parts: list[str], expected: str) -> None:
    assert ENGLISH.enumerated(parts) == expected


def test_thousands_are_separated_as_the_language_does() -> None:
    assert {name: book.number(1_234_567) for name, book in PHRASEBOOKS.items()} == {
        "English": "1,234,567",
        "French": "1\u202f234\u202f567",
        "German": "1.234.567",
        "Spanish": "1.234.567",
    }


def test_a_voice_is_read_from_an_identity() -> None:
    voice = voice_of(brand(tone=ToneProfile.FORMAL, language="de", audience="x" * 500 + "customers", company="`A`\nB"))
    assert (voice.phrases, voice.tone, voice.company, voice.technical) == (
        PHRASEBOOKS["German"],
        ToneProfile.FORMAL,
        "A B",
        True,
    )
    assert voice_of(brand(audience="x " * 245 + "customers")).technical is False
    assert voice_of(brand(company="x" * 61)).company == "x" * 59 + "…"
    unbranded = voice_of(None)
    assert (unbranded.tone, unbranded.company, unbranded.technical) == (ToneProfile.PROFESSIONAL, "", True)
