"""Request bodies of ``/v1``: one JSON object, read strictly, and refused with the fault's name."""

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NoReturn, TypeVar, cast

import msgspec
from litestar import Request
from litestar.openapi.spec import OpenAPIMediaType, Operation, RequestBody, Schema

from contentsvc_core.text import one_line, storable
from contentsvc_http.errors import Refused

_Body = TypeVar("_Body", bound=msgspec.Struct)
_FAULT_LENGTH: Final = 300
_NO_CHOICE: Final = re.compile(r"Invalid enum value ('.*')", re.DOTALL)
#: How the decoder names a place: `` - at `$.a.b[0]` ``.
_PLACE: Final = re.compile(r"(.*?)(?: - at `(?:key in )?\$\.?(.*)`)?", re.DOTALL)


async def read_body(request: Request[Any, Any, Any], shape: type[_Body]) -> _Body:
    """Read a request's body as ``shape``: nothing is converted, and U+0000 becomes U+FFFD as in deliveries.

    Raises:
        Refused: 415: it is not announced as JSON; 400: it is no JSON object of this shape, and the text says where.
    """
    announced = request.headers.get("Content-Type", "application/json").split(";")[0].strip().lower()
    if announced != "application/json" and not announced.endswith("+json"):
        error = f"Content type '{one_line(announced, 64)}' is not supported: send 'application/json'"
        raise Refused(415, {"error": error})
    if request.headers.get("Content-Encoding"):
        raise Refused(415, {"error": "Content-Encoding is not supported"})
    raw = await request.body()
    try:
        # Fields that are skipped would not be looked at otherwise.
        raw.decode()
        value = _stored(msgspec.json.decode(raw))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        _refuse("the body is not valid JSON")
    if not isinstance(value, dict):
        _refuse("the body must be a JSON object")
    try:
        return msgspec.convert(cast("object", value), shape, strict=True)
    except msgspec.ValidationError as exc:
        _refuse(_said(str(exc), _schema(shape)))


def takes(shape: type[msgspec.Struct], *, required: bool = True) -> type[Operation]:
    """Give the class of operations that take ``shape``: for the OpenAPI document, as ``operation_class``."""
    body = RequestBody(
        content={"application/json": OpenAPIMediaType(schema=_Given(given=_schema(shape)))}, required=required
    )

    @dataclass
    class Taking(Operation):
        def __post_init__(self) -> None:
            self.request_body = body

    return Taking


@dataclass
class _Given(Schema):
    """A schema that stands already."""

    given: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_schema(self) -> dict[str, Any]:
        return self.given

    def __hash__(self) -> int:
        return id(self)


@cache
def _schema(shape: type[msgspec.Struct]) -> dict[str, Any]:
    (schema,), parts = msgspec.json.schema_components([shape], ref_template="{name}")

    def whole(value: object) -> Any:  # noqa: ANN401  # JSON
        match value:
            case {"$ref": str(name)}:
                return whole(parts[name])
            case dict():
                return {key: whole(part) for key, part in cast("dict[str, object]", value).items()}
            case list():
                return [whole(part) for part in cast("list[object]", value)]
            case _:
                return value

    return cast("dict[str, Any]", whole(schema))


def _stored(value: object) -> object:
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(key): _stored(part) for key, part in cast("dict[str, object]", value).items()}
        case list():
            return [_stored(part) for part in cast("list[object]", value)]
        case _:
            return value


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


def _refuse(fault: str) -> NoReturn:
    raise Refused(400, {"error": one_line(f"Invalid request: {fault}", _FAULT_LENGTH)}) from None
