"""Shapes: strict decoding, faults with their place, and the schema."""

from datetime import datetime
from enum import Enum
from typing import Annotated, Literal, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.costs.adversarial import seconds

from contentsvc_core.refusals import validation_fault
from contentsvc_core.schemas import InvalidStruct, decode_json, schema_of


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Bulb(msgspec.Struct, forbid_unknown_fields=True):
    colour: Annotated[Colour, msgspec.Meta(description="How it shines.")]
    watts: Annotated[int, msgspec.Meta(ge=1)] = 5


class Lamp(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    bulbs: list[Bulb] = []
    spare: Annotated[Bulb | None, msgspec.Meta(description="In the drawer.")] = None
    tags: dict[str, str] = {}


_Shape = TypeVar("_Shape", bound=msgspec.Struct)


def _decoded(value: object, shape: type[_Shape]) -> _Shape:
    return decode_json(msgspec.json.encode(value), shape)


def test_a_valid_value_is_decoded_without_conversions() -> None:
    assert _decoded({"name": "low", "bulbs": [{"colour": "red"}]}, Lamp) == Lamp("low", [Bulb(Colour.RED, 5)])


@pytest.mark.parametrize("watts", ["24.0", "2.4e1", "240E-1"])
def test_a_number_without_a_fraction_is_an_integer(watts: str) -> None:
    assert decode_json(f'{{"colour": "red", "watts": {watts}}}'.encode(), Bulb) == Bulb(Colour.RED, 24)


def test_of_a_repeated_key_the_last_value_counts() -> None:
    assert decode_json(b'{"colour": "red", "watts": 5, "colour": "green"}', Bulb) == Bulb(Colour.GREEN, 5)


@pytest.mark.parametrize("watts", ["24.5", "9007199254740993.0", f"24.0{' ' * 65536}"])
def test_a_number_that_is_no_exact_integer_or_in_a_large_body_is_refused(watts: str) -> None:
    with pytest.raises(InvalidStruct, match=r"^watts must be an integer$"):
        decode_json(f'{{"colour": "red", "watts": {watts}}}'.encode(), Bulb)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("low", "the value must be an object"),
        ({}, "name is missing"),
        ({"name": 1}, "name must be a string"),
        ({"name": "low", "bulbs": [{"colour": "red", "watts": "1"}]}, "bulbs[0].watts must be an integer"),
        ({"name": "low", "bulbs": [{"colour": "red", "watts": 0}]}, "bulbs[0].watts must be at least 1"),
        (
            {"name": "low", "bulbs": [{"colour": "red"}, {"colour": "blue"}]},
            "bulbs[1].colour: 'blue' is not one of green, red",
        ),
        ({"name": "low", "spare": {"colour": "it's"}}, 'spare.colour: "it\'s" is not one of green, red'),
        ({"name": "low", "spare": {"colour": "b" * 900}}, f"spare.colour: '{'b' * 63}…' is not one of green, red"),
        ({"name": "low", "tags": {"a": 1}}, "tags[...] must be a string"),
        ({"name": "low", "more": 1}, "more is an unknown field"),
        (
            {"more": 1, "bulbs": [{"colour": "red", "watts": 0}, {}]},
            "more is an unknown field; bulbs[0].watts must be at least 1; name is missing",
        ),
        ({str(number): 1 for number in range(99)}, "; ".join(f"{number} is an unknown field" for number in range(10))),
    ],
)
def test_an_invalid_value_is_refused_with_its_place_and_the_choices(value: object, message: str) -> None:
    with pytest.raises(InvalidStruct) as refused:
        _decoded(value, Lamp)

    assert str(refused.value) == message


class Bounded(msgspec.Struct):
    few: Annotated[int, msgspec.Meta(gt=1, lt=5)] = 2
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0
    code: Annotated[str, msgspec.Meta(min_length=2, max_length=3, pattern="^a")] = "ab"
    parts: Annotated[list[int | str], msgspec.Meta(max_length=1)] = []
    names: dict[Annotated[str, msgspec.Meta(max_length=1)], None] = {}
    sizes: Annotated[dict[str, int], msgspec.Meta(min_length=1)] = {}
    at_all: bool | None = None
    key: bytes = b""
    at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    even: Annotated[int, msgspec.Meta(multiple_of=2)] = 2


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("few", 1, "few must be at least 2"),
        ("few", 5, "few must be at most 4"),
        ("share", -1, "share must be at least 0.0"),
        ("share", "1", "share must be a number"),
        ("code", "a", "code must have at least 2 characters"),
        ("code", "abcd", "code must have at most 3 characters"),
        ("code", "bcd", "code must match '^a'"),
        ("parts", [1, 2], "parts must have at most 1 item"),
        ("parts", [1.5], "parts[0] must be an integer or a string"),
        ("names", {"ab": None}, "a key of names must have at most 1 character"),
        ("names", {"a": 1}, "names[...] must be null"),
        ("sizes", {}, "sizes must have at least 1 field"),
        ("at", "soon", "at must be a time with an offset, such as 2026-11-22T08:30:00Z"),
        ("at", "2026-11-22T08:30:00", "at must be a time with an offset, such as 2026-11-22T08:30:00Z"),
        ("at", 1, "at must be a time with an offset, such as 2026-11-22T08:30:00Z"),
        ("even", 3, "even is invalid: Expected `int` that's a multiple of 2"),
        ("key", "@", "key is invalid: Invalid base64 encoded string"),
        ("at_all", "yes", "at_all must be a boolean or null"),
    ],
)
def test_a_value_beyond_a_bound_is_refused_in_terms_of_json(field: str, value: object, fault: str) -> None:
    with pytest.raises(InvalidStruct) as refused:
        _decoded({field: value}, Bounded)

    assert str(refused.value) == fault


@given(st.text(), st.text())
def test_a_message_of_any_form_has_a_fault(text: str, rest: str) -> None:
    for message in (text, f"Expected `{text}`{rest}", f"Expected `str` {text} {rest} - at `$.{text}`"):
        assert validation_fault(message)[1]


def test_an_invalid_choice_outside_of_fields_is_named() -> None:
    class Chosen(msgspec.Struct):
        colours: dict[str, Colour]

    with pytest.raises(InvalidStruct) as refused:
        _decoded({"colours": {"a": "blue"}}, Chosen)

    assert str(refused.value) == "colours[...] cannot be 'blue'"


def test_an_empty_choice_is_not_listed() -> None:
    class Chosen(msgspec.Struct):
        colour: Literal["", "red", "green"] = ""

    with pytest.raises(InvalidStruct, match=r"^colour: 'blue' is not one of green, red$"):
        _decoded({"colour": "blue"}, Chosen)


def test_a_schema_refers_to_nothing() -> None:
    class Shown(Lamp):
        """A shape of its own, because schemas are cached."""

    bulb = {
        "title": "Bulb",
        "type": "object",
        "properties": {
            "colour": {"title": "Colour", "type": "string", "enum": ["green", "red"], "description": "How it shines."},
            "watts": {"type": "integer", "minimum": 1, "default": 5},
        },
        "required": ["colour"],
        "additionalProperties": False,
    }

    assert schema_of(Shown) == {
        "title": "Shown",
        "description": "A shape of its own, because schemas are cached.",
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "bulbs": {"type": "array", "items": bulb, "default": []},
            "spare": {"anyOf": [bulb, {"type": "null"}], "description": "In the drawer.", "default": None},
            "tags": {"type": "object", "additionalProperties": {"type": "string"}, "default": {}},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


@given(st.text('\x00\\u0/"a', max_size=20))
def test_characters_that_stores_cannot_hold_are_replaced_in_names_and_texts(name: str) -> None:
    kept = name.replace("\x00", "\ufffd")

    assert _decoded({"name": name, "tags": {name: name}}, Lamp) == Lamp(kept, tags={kept: kept})


def test_unknown_values_are_not_built() -> None:
    def decode(text: str) -> None:
        with pytest.raises(InvalidStruct, match=r"^shade is an unknown field; name is missing$"):
            decode_json(text.encode(), Lamp)

    # A body of the API may have 1 MiB; its 300,000 lists held up the event loop for 0.3 s.
    text = f'{{"shade": [{"[]," * 100_000}[]]}}'
    assert min(seconds(decode, text) for _ in range(3)) < min(seconds(msgspec.json.decode, text) for _ in range(3)) / 3
