"""What clients send, read strictly as a shape; and the shape as JSON Schema, for whoever has to know it before."""

import re
from functools import cache
from typing import Any, Final, TypeVar, cast

import msgspec

from contentsvc_core.text import storable

_Shape = TypeVar("_Shape", bound=msgspec.Struct)
_NO_CHOICE: Final = re.compile(r"""Invalid enum value ('.*'|".*")""", re.DOTALL)
#: How the decoder names a place: `` - at `$.a.b[0]` ``.
_PLACE: Final = re.compile(r"(.*?)(?: - at `(?:key in )?\$\.?(.*)`)?", re.DOTALL)


class NotOfShape(ValueError):
    """A value is not of the shape that was asked for; the message says where, and what is wrong there."""


def read_shape(value: object, shape: type[_Shape]) -> _Shape:
    """Read a JSON value as ``shape``: nothing is converted.

    Raises:
        NotOfShape: It is another one.
    """
    try:
        return msgspec.convert(value, shape, strict=True)
    except msgspec.ValidationError as exc:
        raise NotOfShape(_said(str(exc), schema_of(shape))) from None


def storable_json(value: object) -> object:
    """Replace in every text of a JSON value what no store can hold, as in deliveries (:func:`.text.storable`)."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(key): storable_json(part) for key, part in cast("dict[str, object]", value).items()}
        case list():
            return [storable_json(part) for part in cast("list[object]", value)]
        case _:
            return value


@cache
def schema_of(shape: Any) -> dict[str, Any]:  # noqa: ANN401  # whatever msgspec reads
    """Give the JSON Schema of a shape, with everything in its place and nothing referred to."""
    (schema,), parts = msgspec.json.schema_components([shape], ref_template="{name}")

    def whole(value: object) -> Any:  # noqa: ANN401  # JSON
        match value:
            case {"$ref": str(name)}:
                # What stands beside it is said of this very place.
                beside = cast("dict[str, object]", value)
                return {**whole(parts[name]), **{key: beside[key] for key in beside if key != "$ref"}}
            case dict():
                return {key: whole(part) for key, part in cast("dict[str, object]", value).items()}
            case list():
                return [whole(part) for part in cast("list[object]", value)]
            case _:
                return value

    return cast("dict[str, Any]", whole(schema))


def _said(text: str, schema: dict[str, Any]) -> str:
    """Give what the decoder says, its place first; of a choice, what there is to choose from."""
    found = _PLACE.fullmatch(text)
    if found is None or not found[2]:
        return text
    fault, place = found.groups()
    choice = _NO_CHOICE.fullmatch(fault)
    allowed = ", ".join(_allowed(schema, place.replace("[", ".[").split("."))) if choice else ""
    return f"{place}: {choice[1]} is not one of {allowed}" if choice and allowed else f"{place}: {fault}"


def _allowed(schema: dict[str, Any], steps: list[str]) -> tuple[str, ...]:
    """Find what a field may be, by the way to it."""
    for each in (schema, *schema.get("anyOf", ())):
        if not steps and "enum" in each:
            return tuple(each["enum"])
        inner = each.get("items") if steps and steps[0].startswith("[") else None
        inner = inner or (each.get("properties", {}).get(steps[0]) if steps else None)
        if inner and (found := _allowed(inner, steps[1:])):
            return found
    return ()
