"""Strict decoding of requests into structs, the bodies of values, and the JSON Schema of the structs."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any, Final, TypeVar, cast

import msgspec

from contentsvc_core.refusals import validation_fault
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import iso_ms

_Shape = TypeVar("_Shape", bound=msgspec.Struct)
#: The escape of U+0000 in JSON, which has no other form.
_NUL: Final = rb"\u0000"
#: The first half of a surrogate pair without the second: the end of a text that was cut in an emoji.
_HALF: Final = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])", re.DOTALL)
#: The most bytes of JSON whose numbers are read again: more would hold up the event loop.
_MOST_AGAIN: Final = 64 * 1024
#: The least integer, without its sign, that a float may not represent.
_INEXACT: Final = 2**53
#: The most fields whose faults a message names.
_MOST_FAULTS: Final = 10


class InvalidStruct(ValueError):
    """A value does not fit its struct; the message names the first fault of each field, with its path."""


def decode_json(raw: bytes, shape: type[_Shape]) -> _Shape:
    """Decode JSON as ``shape``, without conversions, or raise :class:`InvalidStruct`.

    24.0 is an integer, as in JSON Schema. U+0000, which stores cannot hold, becomes U+FFFD.
    No values are built that ``shape`` does not have: 300,000 empty lists held up the event loop for 0.3 s.
    """
    if _NUL in raw:
        # An escaped backslash before it is written in its other form, so that none of its characters is taken for it.
        raw = raw.replace(rb"\\", rb"\u005c").replace(_NUL, rb"\ufffd")
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError as exc:
        if "got `float`" in str(exc) and len(raw) <= _MOST_AGAIN and (again := _with_integers(raw)) != raw:
            return decode_json(again, shape)
        raise _invalid(exc, shape, _raw_fields(raw)) from None


def _with_integers(raw: bytes) -> bytes:
    return json.dumps(json.loads(raw, parse_float=_number)).encode()


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < _INEXACT else number


def syntax_fault(raw: bytes, exc: Exception) -> str:
    """Return why a body is not JSON, by the exception of its decoder."""
    match exc:
        case RecursionError():
            return "the body is nested too deep"
        case UnicodeDecodeError():
            return f"the body is not UTF-8 (byte {exc.start})"
        case _ if (half := _HALF.search(raw)) is not None:
            # The decoder takes it for another fault, such as the end of the body.
            return f"the body is not valid JSON (half of a surrogate pair (byte {half.start()}))"
        case _:
            return f"the body is not valid JSON ({str(exc).removeprefix('JSON is malformed: ')})"


def _raw_fields(raw: bytes) -> dict[str, msgspec.Raw] | None:
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        return None


def _invalid(
    first: Exception,
    shape: type[msgspec.Struct],
    fields: Mapping[str, object] | None,
) -> InvalidStruct:
    """Return the error with the faults of all fields: msgspec ends at the first one. ``None``: there are no fields."""
    faults = () if fields is None else islice(_faults(shape, fields), _MOST_FAULTS)
    schema = schema_of(shape)
    return InvalidStruct("; ".join(dict.fromkeys(_message(text, schema) for text in (str(first), *faults))))


def _faults(shape: type[msgspec.Struct], fields: Mapping[str, object]) -> Iterator[str]:
    none, alone = _alone(shape)
    for name, value in fields.items():
        try:
            msgspec.json.decode(msgspec.json.encode({name: value}), type=alone.get(name, none))
        except msgspec.ValidationError as exc:
            yield str(exc)
    for field in msgspec.structs.fields(shape):
        if field.required and field.encode_name not in fields:
            yield f"Object missing required field `{field.encode_name}`"


@cache
def _alone(shape: type[msgspec.Struct]) -> tuple[type[msgspec.Struct], Mapping[str, type[msgspec.Struct]]]:
    """Return a struct without fields, and one with each field of ``shape`` alone, by its name in JSON."""
    strict = shape.__struct_config__.forbid_unknown_fields
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(shape)}
    alone = {name: msgspec.defstruct(shape.__name__, [(name, type_)]) for name, type_ in fields.items()}
    return msgspec.defstruct(shape.__name__, [], forbid_unknown_fields=strict), alone


def body_of(shape: type[_Shape], value: object, **fields: object) -> _Shape:
    """Return the body of a value with many fields: its attributes that ``shape`` has, times as texts, and ``fields``.

    Smaller bodies list their fields, which are then type-checked.
    """
    names = (name for name in shape.__struct_fields__ if name not in fields and hasattr(value, name))
    return shape(**{name: _written(getattr(value, name)) for name in names}, **fields)


def _written(value: object) -> object:
    if isinstance(value, datetime):
        return iso_ms(value)
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


@cache
def schema_of(shape: Any) -> dict[str, Any]:  # noqa: ANN401  # any value of msgspec
    (schema,), parts = msgspec.json.schema_components([shape], ref_template="{name}")

    def resolved(value: object) -> Any:  # noqa: ANN401  # JSON
        match value:
            case {"$ref": str(name)}:
                beside = cast("dict[str, object]", value)
                return {**resolved(parts[name]), **{key: beside[key] for key in beside if key != "$ref"}}
            case dict():
                keywords = {key: resolved(part) for key, part in cast("dict[str, object]", value).items()}
                choices = keywords.get("enum")
                if isinstance(choices, list) and all(isinstance(each, str) for each in cast("list[object]", choices)):
                    # msgspec omits the type. Generators of clients and some language models need it.
                    return {"type": "string", **keywords}
                return keywords
            case list():
                return [resolved(part) for part in cast("list[object]", value)]
            case _:
                return value

    return cast("dict[str, Any]", resolved(schema))


def _message(text: str, schema: dict[str, Any]) -> str:
    path, fault = validation_fault(text)
    choice = fault.startswith("cannot be ")
    allowed = ", ".join(_allowed(schema, path.replace("[", ".[").split("."))) if choice else ""
    if not allowed:
        return f"{path or 'the value'} {fault}"
    value = fault.removeprefix("cannot be ")
    # A long value would leave no room for the choices.
    return f"{path}: {value[0]}{one_line(value[1:-1], 64)}{value[-1]} is not one of {allowed}"


def _allowed(schema: dict[str, Any], steps: list[str]) -> tuple[str, ...]:
    for variant in (schema, *schema.get("anyOf", ())):
        if not steps and "enum" in variant:
            # An empty choice is the default: its parameter can be left out.
            return tuple(filter(None, variant["enum"]))
        for step in steps[:1]:
            inner = variant.get("items") if step.startswith("[") else variant.get("properties", {}).get(step)
            if inner and (allowed := _allowed(inner, steps[1:])):
                return allowed
    return ()
