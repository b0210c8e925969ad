"""Shapes: strict decoding, faults with their place, and the schema."""

from enum import Enum
from typing import Annotated

import msgspec
import pytest

from contentsvc_core.schemas import InvalidStruct, decode_struct, schema_of, storable_json


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


def test_a_valid_value_is_decoded_without_conversions() -> None:
    assert decode_struct({"name": "low", "bulbs": [{"colour": "red"}]}, Lamp) == Lamp("low", [Bulb(Colour.RED, 5)])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("low", "Expected `object`, got `str`"),
        ({}, "Object missing required field `name`"),
        ({"name": 1}, "name: Expected `str`, got `int`"),
        ({"name": "low", "bulbs": [{"colour": "red", "watts": "1"}]}, "bulbs[0].watts: Expected `int`, got `str`"),
        ({"name": "low", "bulbs": [{"colour": "red", "watts": 0}]}, "bulbs[0].watts: Expected `int` >= 1"),
        (
            {"name": "low", "bulbs": [{"colour": "red"}, {"colour": "blue"}]},
            "bulbs[1].colour: 'blue' is not one of green, red",
        ),
        ({"name": "low", "spare": {"colour": "it's"}}, 'spare.colour: "it\'s" is not one of green, red'),
        ({"name": "low", "tags": {"a": 1}}, "tags[...]: Expected `str`, got `int`"),
        ({"name": "low", "more": 1}, "Object contains unknown field `more`"),
    ],
)
def test_an_invalid_value_is_refused_with_its_place_and_the_choices(value: object, message: str) -> None:
    with pytest.raises(InvalidStruct) as refused:
        decode_struct(value, Lamp)

    assert str(refused.value) == message


def test_an_invalid_choice_outside_of_fields_keeps_the_original_message() -> None:
    class Chosen(msgspec.Struct):
        colours: dict[str, Colour]

    with pytest.raises(InvalidStruct) as refused:
        decode_struct({"colours": {"a": "blue"}}, Chosen)

    assert str(refused.value) == "colours[...]: Invalid enum value 'blue'"


def test_a_schema_refers_to_nothing() -> None:
    class Shown(Lamp):
        """Of its own: a schema that is known is not made again."""

    bulb = {
        "title": "Bulb",
        "type": "object",
        "properties": {
            "colour": {"title": "Colour", "enum": ["green", "red"], "description": "How it shines."},
            "watts": {"type": "integer", "minimum": 1, "default": 5},
        },
        "required": ["colour"],
        "additionalProperties": False,
    }

    assert schema_of(Shown) == {
        "title": "Shown",
        "description": "Of its own: a schema that is known is not made again.",
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


def test_unstorable_characters_are_replaced_at_every_depth() -> None:
    assert storable_json({"a\x00": ["\ud800b", 1, None, {"c": True}]}) == {"a\ufffd": ["\ufffdb", 1, None, {"c": True}]}
