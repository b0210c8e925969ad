"""Changes of brand identities, and their wire form."""

from datetime import timedelta
from typing import Any, Final

import pytest
from attrs import evolve
from msgspec import to_builtins
from tests.builders import a_brand
from tests.refusals import accepted, message_of, the_refusal

from contentsvc_core.content.brand import BrandBody, BrandIdentity, ToneProfile, no_such_brand
from contentsvc_core.content.brand_changes import (
    BRAND_NAME_TAKEN,
    DELETES_DEFAULT_BRAND,
    LEAVES_NO_DEFAULT_BRAND,
    UNKNOWN_BRAND,
    BrandChange,
    add_brand,
    change_brand,
    name_key,
    read_brand_change,
    read_brand_name,
    remove_brand,
)
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START

LATER: Final = START + timedelta(days=1)
BRAND: Final = a_brand(id="bi_1", name="Acme")
#: The removable texts by their wire names, and their most characters.
OPTIONAL: Final = (
    ("company_name", "companyName"),
    ("company_description", "companyDescription"),
    ("custom_tone", "customTone"),
    ("custom_instructions", "customInstructions"),
    ("audience", "audience"),
    ("language", "language"),
)


def changed(brand: BrandIdentity = BRAND, /, **changes: Any) -> BrandIdentity | Refusal:
    change = accepted(read_brand_change(changes, at=LATER))
    return change.of(brand)


def refused(**changes: Any) -> str:
    change = the_refusal(read_brand_change(changes, at=LATER))
    return change.message()


def test_a_change_sets_exactly_the_given_fields() -> None:
    assert changed(name=" Acme  Inc. ") == evolve(BRAND, name="Acme Inc.", updated_at=LATER)
    assert changed(tone_profile=ToneProfile.CASUAL, is_default=True) == evolve(
        BRAND, tone_profile=ToneProfile.CASUAL, is_default=True, updated_at=LATER
    )
    assert changed(website_url="https://other.example/") == evolve(
        BRAND, website_url="https://other.example/", updated_at=LATER
    )


def test_nothing_is_no_change() -> None:
    assert refused() == "Nothing to change: give at least one field"


@pytest.mark.parametrize(("attribute", "wire"), OPTIONAL)
def test_an_optional_text_is_given_or_taken_away(attribute: str, wire: str) -> None:
    changes = changed(**{attribute: "a text"})
    assert changes == evolve(BRAND, updated_at=LATER, **{attribute: "a text"})
    assert isinstance(changes, BrandIdentity)

    assert changed(changes, **{attribute: None}) == evolve(BRAND, updated_at=LATER)
    assert refused(**{attribute: 7}) == f"{wire} has a value that it cannot have"
    most = 4000 if attribute in {"company_description", "custom_instructions"} else 2000
    assert refused(**{attribute: " "}) == f"{wire} must be 1 to {most} characters long"
    assert isinstance(changed(**{attribute: "x" * most}), BrandIdentity)
    assert refused(**{attribute: "x" * (most + 1)}) == f"{wire} must be 1 to {most} characters long"


@pytest.mark.parametrize(
    ("attribute", "long"),
    [
        ("company_description", True),
        ("custom_tone", True),
        ("custom_instructions", True),
        ("company_name", False),
        ("audience", False),
        ("language", False),
    ],
)
def test_a_long_text_keeps_its_lines_and_any_other_is_one(attribute: str, long: bool) -> None:
    changes = accepted(changed(**{attribute: " one\r\ntwo\rthree\nfour\0 "}))

    assert getattr(changes, attribute) == ("one\ntwo\nthree\nfour\ufffd" if long else "one two three four\ufffd")


@pytest.mark.parametrize(
    ("attribute", "wire"),
    [("name", "name"), ("website_url", "websiteUrl"), ("is_default", "isDefault"), ("tone_profile", "toneProfile")],
)
def test_required_fields_of_an_identity_cannot_be_removed(attribute: str, wire: str) -> None:
    for value in (None, 7):
        assert refused(**{attribute: value}) == f"{wire} has a value that it cannot have"


def test_a_website_without_a_scheme_is_read_over_https() -> None:
    for text in ("other.example", "other.example/?next=http://x.example"):
        assert changed(website_url=text) == evolve(BRAND, website_url=f"https://{text}", updated_at=LATER)
    for text in ("ftp://other.example", "", "10.0.0.1", "mailto:a@other.example"):
        assert refused(website_url=text).startswith("websiteUrl must ")


def test_a_name_is_one_line_of_1_to_120_characters() -> None:
    assert read_brand_name(" a \n b ") == "a b"
    assert read_brand_name("x" * 120) == "x" * 120
    for text in ("", " \n", "x" * 121):
        assert message_of(read_brand_name(text)) == "name must be 1 to 120 characters long"


def test_one_identity_is_the_default_until_another_one_is_made_it() -> None:
    default = evolve(BRAND, is_default=True)

    assert changed(default, is_default=False) is LEAVES_NO_DEFAULT_BRAND
    assert changed(default, is_default=True) == evolve(default, updated_at=LATER)
    assert changed(default, name="Other") == evolve(default, name="Other", updated_at=LATER)
    assert changed(is_default=False) == evolve(BRAND, updated_at=LATER)
    former = evolve(default, id="bi_2", name="Former")
    for is_default, brands in ((True, [evolve(former, is_default=False)]), (False, [])):
        change = accepted(read_brand_change({"is_default": is_default}, at=LATER))
        made = evolve(BRAND, is_default=is_default, updated_at=LATER)
        assert change_brand([BRAND, former], BRAND.id, change) == [*brands, made]


def test_the_first_identity_is_the_default_and_each_name_is_taken_once() -> None:
    default = evolve(BRAND, is_default=True)
    other = evolve(BRAND, id="bi_2", name="Other", is_default=True)

    assert add_brand([], BRAND) == default
    assert add_brand([default], other) == evolve(other, is_default=False)
    assert add_brand([default], evolve(BRAND, name="Again")) == default
    assert add_brand([default], evolve(other, name="ACME")) is BRAND_NAME_TAKEN
    change = BrandChange(values={"name": "OTHER"}, at=LATER)
    assert change_brand([default, other], BRAND.id, change) is BRAND_NAME_TAKEN
    assert change_brand([default], "bi_2", change) is UNKNOWN_BRAND


def test_an_identity_is_deleted_unless_it_is_the_default() -> None:
    assert remove_brand([BRAND], BRAND.id) is None
    assert remove_brand([evolve(BRAND, is_default=True)], BRAND.id) is DELETES_DEFAULT_BRAND
    assert remove_brand([BRAND], "bi_2") is UNKNOWN_BRAND


def test_names_are_equal_without_regard_to_case_and_normalization() -> None:
    assert name_key("CAFE\u0301 Straße") == name_key("caf\u00e9 STRASSE")
    assert name_key("cafe") != name_key("caf\u00e9")


def test_the_wire_form_has_every_field() -> None:
    brand = evolve(
        BRAND,
        is_default=True,
        company_name="Acme Inc.",
        company_description="Lamps.",
        tone_profile=ToneProfile.FORMAL,
        custom_tone="dry",
        custom_instructions="no puns",
        audience="keepers",
        language="German",
        updated_at=LATER,
    )

    assert to_builtins(BrandBody.of(brand)) == {
        "id": "bi_1",
        "name": "Acme",
        "isDefault": True,
        "websiteUrl": "https://acme.example/",
        "companyName": "Acme Inc.",
        "companyDescription": "Lamps.",
        "toneProfile": "Formal",
        "customTone": "dry",
        "customInstructions": "no puns",
        "audience": "keepers",
        "language": "German",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-02T00:00:00.000Z",
    }


def test_an_unknown_identity_is_named_in_one_short_line() -> None:
    assert no_such_brand("bi_\n9").message() == "Unknown brand identity: 'bi_ 9'"
    assert no_such_brand("x" * 65).message() == f"Unknown brand identity: '{'x' * 63}…'"
