"""Commands: reading them from forms, the fields of a change, and the descriptions of fields."""

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import UNSET, Meta, structs
from tests.refusals import message_of, the_refusal

from contentsvc_core.commands import Command, changes_of, describe, read_command, values_of


class Light(Command, frozen=True, kw_only=True):
    lamp_name: Annotated[Annotated[str, Meta(title="Outer", max_length=8)], Meta(title="Name")]
    shades: tuple[str, ...] = ()
    keeper: Annotated[str, Meta(title="Keeper")] | None = None
    place: str | None = None


@pytest.fixture(name="change")
def change_light() -> type[Any]:
    return changes_of(Light, "ChangeLight", clears=("keeper",))


def test_a_change_has_each_field_and_leaves_out_the_rest(change: type[Any]) -> None:
    assert (change.__name__, change.__module__) == ("ChangeLight", __name__)
    assert change.__doc__ == "The fields to change. Send at least one."
    assert [each.default for each in structs.fields(change)] == [UNSET] * 4
    assert msgspec.json.decode(b'{"lampName": "a"}', type=change) == change(lamp_name="a")
    whole = b'{"lampName": "a", "keeper": null, "shades": ["b"], "place": "c"}'
    assert msgspec.json.decode(whole, type=change) == change(lamp_name="a", keeper=None, shades=("b",), place="c")
    assert values_of(change(lamp_name="a", keeper=None)) == {"lamp_name": "a", "keeper": None}
    assert values_of(change()) == {}
    with pytest.raises(AttributeError):
        change().place = "a"


@pytest.mark.parametrize("body", [b'{"place": null}', b'{"lampName": "123456789"}', b'{"lamp_name": "a"}'])
def test_a_change_refuses_what_its_command_refuses(body: bytes, change: type[Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(body, type=change)


def test_a_command_is_read_from_texts_and_from_values_that_are_ready() -> None:
    read = read_command(Light, {"lamp_name": "a", "shades": ["b"], "unknown": 1}, place="c")

    assert read == Light(lamp_name="a", shades=("b",), place="c")
    assert read_command(Light, {"lamp_name": "a"}) == Light(lamp_name="a")


@pytest.mark.parametrize(
    ("values", "field"),
    [({"lamp_name": "123456789"}, "lamp_name"), ({"lamp_name": "a", "shades": ["b", 1]}, "shades"), ({}, "lamp_name")],
)
def test_a_command_that_cannot_be_read_names_the_field(values: dict[str, object], field: str) -> None:
    refused = the_refusal(read_command(Light, values))

    assert refused.field == field
    assert message_of(refused)


def test_a_field_has_its_own_description_before_those_of_its_type() -> None:
    assert {name: meta.title for name, meta in describe(Light).items()} == {"lamp_name": "Name", "keeper": "Keeper"}
