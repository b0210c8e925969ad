"""Stored events that are small enough to be read with each row of a list."""

from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case, or_

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.schema.deliveries import events

#: The maximum size of a small event in bytes, as stored. Most pushes have less than 16 KiB; fifty of these are 3 MiB.
_SMALL: Final = 64 * 1024


def small_data(
    dialect: Dialect, *conditions: ColumnElement[bool], always: ColumnElement[bool] | None = None
) -> ColumnElement[Any]:
    """Return the column ``small_data``: a small event for which all conditions, or ``always``, are true."""
    # The conditions first: SQLite reads a text to measure it.
    is_small = and_(*conditions, dialect.size_of(events.c.data) <= _SMALL)
    return case((is_small if always is None else or_(always, is_small), events.c.data)).label("small_data")
