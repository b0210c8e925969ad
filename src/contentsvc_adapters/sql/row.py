from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast, get_args, get_type_hints

import attrs
import msgspec
from sqlalchemy import Row

from contentsvc_core.errors import UnreadableRow
from contentsvc_core.timestamps import from_ms, to_ms

AnyRow: TypeAlias = Row[*tuple[Any, ...]]
_Value = TypeVar("_Value", bound=attrs.AttrsInstance)
_Leased = TypeVar("_Leased")


def json_of(value: object) -> str:
    return msgspec.json.encode(value).decode()


def optional_time(ms: int | None) -> datetime | None:
    return None if ms is None else from_ms(ms)


def row_of(value: attrs.AttrsInstance, **columns: object) -> dict[str, Any]:
    """Return the row of a value. Each field is a column of its name; ``columns`` replaces some, or adds others.

    Times are stored in Unix milliseconds, and members of enumerations by their values.
    """
    names = (name for name in _readers(type(value)) if name not in columns)
    return {name: _stored(getattr(value, name)) for name in names} | columns


def read_row(kind: type[_Value], row: AnyRow, **fields: object) -> _Value:
    """Return the value that :func:`row_of` has stored; ``fields`` have no column of their name."""
    values = {name: read(getattr(row, name)) for name, read in _readers(kind).items() if name not in fields}
    return cast("Callable[..., _Value]", kind)(**values, **fields)


def read_leased(
    rows: Mapping[str, AnyRow], read: Callable[[AnyRow], _Leased], noun: str
) -> "list[_Leased] | UnreadableRow":
    """Return the values of the rows that can be read, by their ids; if no row can be read, return the first fault.

    The transaction that has leased the rows must not raise the fault: without a lease, such a row holds up others.
    """
    values: list[_Leased] = []
    fault: UnreadableRow | None = None
    for id_, row in rows.items():
        try:
            values.append(read(row))
        except Exception as exc:  # noqa: BLE001  # the stored data does not have the format of this code
            fault = fault or UnreadableRow(f"the {noun} {id_} cannot be read: {type(exc).__name__}: {exc}")
    return values if values or fault is None else fault


def _stored(value: object) -> object:
    if isinstance(value, datetime):
        return to_ms(value)
    return value.value if isinstance(value, Enum) else value


@cache
def _readers(kind: type[attrs.AttrsInstance]) -> Mapping[str, Callable[[Any], Any]]:
    hints = get_type_hints(kind)
    return {each.name: _reader(hints[each.name]) for each in attrs.fields(kind) if each.init}


def _reader(hint: Any) -> Callable[[Any], Any]:  # noqa: ANN401  # any annotation
    kinds = [each for each in (hint, *get_args(hint)) if isinstance(each, type)]
    if datetime in kinds:
        return optional_time
    enumeration = next((each for each in kinds if issubclass(each, Enum)), None)
    if enumeration is None:
        return lambda stored: stored
    return lambda stored: None if stored is None else enumeration(stored)
