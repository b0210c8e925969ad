"""The rows of triggers and schedules."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from contentsvc_adapters.sql import row as plain
from contentsvc_adapters.sql.directory_rows import style_column, style_of
from contentsvc_adapters.sql.row import AnyRow, json_of
from contentsvc_core.workflows.filters import options_from_json, options_to_json
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import cron_body, cron_of
from contentsvc_core.workflows.triggers import Trigger

#: The fields that have another form in their columns, with the functions that store and read them.
_FORMS: Final[Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "repository_ids": (json_of, msgspec.json.decode),
    "event_types": (json_of, msgspec.json.decode),
    "house_style": (style_column, style_of),
    "options": (options_to_json, options_from_json),
    "cron": (lambda cron: json_of(cron_body(cron)), lambda stored: cron_of(msgspec.json.decode(stored))),
}
_Stored = TypeVar("_Stored", Trigger, Schedule)


def row_of(found: Trigger | Schedule) -> dict[str, Any]:
    return plain.row_of(found, **{n: form[0](getattr(found, n)) for n, form in _FORMS.items() if hasattr(found, n)})


def read_row(kind: type[_Stored], row: AnyRow) -> _Stored:
    return plain.read_row(kind, row, **{n: form[1](getattr(row, n)) for n, form in _FORMS.items() if hasattr(row, n)})
