"""The rows of triggers and schedules."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, TypeVar

import attrs
import msgspec

from contentsvc_adapters.sql.directory_rows import style_column, style_of
from contentsvc_adapters.sql.row import AnyRow, json_of, optional_ms, optional_time
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.workflows.filters import options_from_json, options_to_json
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import cron_body, cron_of
from contentsvc_core.workflows.triggers import Trigger

#: The fields that have another form in their columns, with the functions that store and read them.
_FORMS: Final[Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "repository_ids": (json_of, msgspec.json.decode),
    "event_types": (json_of, msgspec.json.decode),
    "output_type": (attrgetter("value"), ContentType),
    "lookback": (attrgetter("value"), Lookback),
    "house_style": (style_column, style_of),
    "options": (options_to_json, options_from_json),
    "cron": (lambda cron: json_of(cron_body(cron)), lambda stored: cron_of(msgspec.json.decode(stored))),
    "created_at": (to_ms, from_ms),
    "updated_at": (to_ms, from_ms),
    "due_at": (optional_ms, optional_time),
    "since": (optional_ms, optional_time),
    "last_slot": (optional_ms, optional_time),
}
_Stored = TypeVar("_Stored", Trigger, Schedule)


def row_of(found: Trigger | Schedule) -> dict[str, Any]:
    row = {each.name: getattr(found, each.name) for each in attrs.fields(type(found)) if each.init}
    return {name: _FORMS[name][0](value) if name in _FORMS else value for name, value in row.items()}


def read_row(kind: type[_Stored], row: AnyRow) -> _Stored:
    values: dict[str, Any] = {each.name: getattr(row, each.name) for each in attrs.fields(kind) if each.init}
    values |= {name: _FORMS[name][1](value) for name, value in values.items() if name in _FORMS}
    return kind(**values)
