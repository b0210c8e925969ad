"""Stored events that are small enough to be read with each row of a list."""

from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case, or_

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.schema import events
from contentsvc_core.workflows.run_payloads import REQUESTED_KINDS

#: The maximum size of a small event in bytes, as stored. Most pushes have less than 16 KiB; fifty of these are 3 MiB.
_SMALL: Final = 64 * 1024


def small_data(dialect: Dialect, *conditions: ColumnElement[bool]) -> ColumnElement[Any]:
    """Return the column ``small_data``: the request, or a small event that meets all conditions, else NULL."""
    is_request = events.c.type.in_(sorted(REQUESTED_KINDS))
    # The conditions first: SQLite reads a text to measure it.
    is_small = and_(*conditions, dialect.size_of(events.c.data) <= _SMALL)
    return case((or_(is_request, is_small), events.c.data)).label("small_data")
