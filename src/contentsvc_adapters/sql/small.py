"""Stored events that may be read with each row of many: the small ones."""

from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case, or_

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.schema import events
from contentsvc_core.workflows.asked import ASKED_KINDS

#: Largest small event, in bytes as it is stored. Most pushes have less than 16 KiB; fifty of these are 3 MiB.
_SMALL: Final = 64 * 1024


def small_data(dialect: Dialect, *conditions: ColumnElement[bool]) -> ColumnElement[Any]:
    """Build the column ``small_data``: what is stored of an event, if it is small and meets all conditions, else NULL.

    Of a run that was asked for, it always holds the request.
    """
    was_asked = events.c.type.in_(sorted(ASKED_KINDS))
    # The conditions first: SQLite reads a text to measure it.
    is_small = and_(*conditions, dialect.size_of(events.c.data) <= _SMALL)
    return case((or_(was_asked, is_small), events.c.data)).label("small_data")
