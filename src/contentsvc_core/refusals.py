"""Expected refusals of use cases. Each driver maps ``kind`` and ``field`` to answers; ``reason`` is for people."""

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Final, final

import attrs
from attrs import frozen

from contentsvc_core.on_demand import late

#: The placeholder for the field's name in a reason: each driver calls the field by another name.
FIELD: Final = "{field}"


# The messages of msgspec, such as "Expected `str`, got `int` - at `$.commits[0].id`"; the tests pin each one.
_AT: Final = " - at `"
_NO_CHOICE: Final = late(r"""Invalid enum value (?P<value>'.*'|".*")""", re.DOTALL)
_FIELD: Final = late(r"Object (?P<fault>missing required|contains unknown) field `(?P<name>.*)`", re.DOTALL)
_TYPES: Final = {
    "str": "a string",
    "bytes": "a string in Base64",
    "int": "an integer",
    "float": "a number",
    "bool": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_UNITS: Final = {"str": "character", "array": "item", "object": "field"}
_BOUNDS: Final = {
    ">=": "must be at least",
    "<=": "must be at most",
    ">": "must be more than",
    "<": "must be less than",
    "of length >=": "must have at least",
    "of length <=": "must have at most",
}
#: The patterns of request fields.
NAME_FORM: Final = "^[A-Za-z0-9_.-]{1,100}$"
NESTED_NAME_FORM: Final = "^[A-Za-z0-9_.-]{1,100}(?:/[A-Za-z0-9_.-]{1,100}){0,20}$"
REPOSITORY_ID_FORM: Final = "^[1-9][0-9]{0,18}$"
REQUEST_ID_FORM: Final = "^[!-~]{1,64}$"
_FORMS: Final = {
    NAME_FORM: "must have 1 to 100 of the characters A-Z, a-z, 0-9, '_', '.' and '-', such as 'acme'",
    NESTED_NAME_FORM: "must be names of the characters A-Z, a-z, 0-9, '_', '.' and '-' with '/' in between, such as "
    "'acme/tools'",
    REPOSITORY_ID_FORM: "must be a positive integer, such as 4242",
    REQUEST_ID_FORM: "must have 1 to 64 visible ASCII characters, such as 'replay-1'",
}

_EXPECTED: Final = late(
    rf"Expected `(?P<types>[^`]*)`(?:, got .*| (?P<how>{'|'.join(map(re.escape, _BOUNDS))}) (?P<bound>.*)"
    r"| matching regex '(?P<pattern>.*)')",
    re.DOTALL,
)
_TIME: Final = "must be a time with an offset, such as 2026-11-22T08:30:00Z"


class RefusalKind(Enum):
    """The kind of a refusal, by which a driver chooses its status code."""

    INVALID = auto()
    QUERY = auto()
    #: The values are valid, but do not fit the organization: for example, an unknown repository.
    UNSUITABLE = auto()
    NOT_FOUND = auto()
    DUPLICATE = auto()
    LIMIT = auto()
    CONFLICT = auto()
    DISABLED = auto()
    STALE = auto()
    #: An idempotency key belongs to another request.
    REUSED = auto()
    HOST_REFUSED = auto()
    HOST_BUSY = auto()
    HOST_UNREACHABLE = auto()


#: The kinds of refusals by a code host.
AT_HOST: Final = frozenset({RefusalKind.HOST_REFUSED, RefusalKind.HOST_BUSY, RefusalKind.HOST_UNREACHABLE})


@final
@frozen
class Refusal:
    """An expected refusal of a request. Use cases return it; they do not raise it."""

    kind: RefusalKind
    #: For people. :data:`FIELD` is the placeholder for the field's name.
    reason: str
    #: The field at fault, by its attribute in the core; ``None``: no field in particular.
    field: str | None = None
    details: Mapping[str, Any] = attrs.field(factory=dict[str, Any], hash=False, kw_only=True)
    retry_after_s: int | None = attrs.field(default=None, kw_only=True)

    def message(self, name: str | None = None) -> str:
        """Return the reason; ``name`` is the driver's name of the field, by default its name on the wire."""
        return self.reason.replace(FIELD, name or wire_name(self.field or "the request"))


#: The refusal of a change without fields.
NOTHING_TO_CHANGE: Final = Refusal(RefusalKind.INVALID, "Nothing to change: give at least one field")


def invalid(attribute: str | None, fault: str) -> Refusal:
    """Return the refusal of an invalid value; ``fault`` continues a sentence that begins with the field's name."""
    return Refusal(RefusalKind.INVALID, f"{FIELD} {fault}", attribute)


def too_many(what: str, at_most: int) -> Refusal:
    """Return the refusal of an addition that exceeds a limit; ``what`` is the limited resource, in the plural."""
    return Refusal(RefusalKind.LIMIT, f"An organization has at most {at_most} {what}")


def validation_fault(message: str) -> tuple[str, str]:
    """Return the path and the fault of a value, such as ``commits[0].id`` and ``must be a string``.

    ``message`` is that of a validation error of msgspec. The path is empty for the whole value.
    """
    text, at, path = message.rpartition(_AT)
    if at:
        is_key, inner = path.startswith("key` in `"), path.partition("$")[2].removeprefix(".").removesuffix("`")
        path = f"a key of {inner}" if is_key else inner
    else:
        text, path = message, ""
    if field := _FIELD.fullmatch(text):
        inner = f"{path}.{field['name']}" if path else field["name"]
        return inner, "is missing" if field["fault"] == "missing required" else "is an unknown field"
    if choice := _NO_CHOICE.fullmatch(text):
        return path, f"cannot be {choice['value']}"
    if "datetime" in text:
        return path, _TIME
    expected = _EXPECTED.fullmatch(text)
    if expected is None:
        return path, "is out of range" if "out of range" in text else f"is invalid: {text}"
    types, how, bound, pattern = expected.groups()
    if pattern is not None:
        return path, _FORMS.get(pattern, f"must match '{pattern}'")
    if how is None:
        return path, f"must be {' or '.join(_TYPES.get(name, name) for name in types.split(' | '))}"
    unit = f" {_UNITS.get(types, 'item')}{'' if bound == '1' else 's'}" if how.startswith("of length") else ""
    return path, f"{_BOUNDS[how]} {bound}{unit}"


def wire_name(attribute: str) -> str:
    """Return the name of an attribute on the wire: ``dayOfWeek`` for ``day_of_week``."""
    head, *rest = attribute.split("_")
    return head + "".join(part.capitalize() for part in rest)
