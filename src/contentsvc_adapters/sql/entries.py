"""Log entries as they are read, with the events that they came with."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Select, select

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.schema import events, log_entries
from contentsvc_core.journal import LogEntry

#: Entries with what :func:`~contentsvc_adapters.sql.rows.log_entry` needs of their events.
ENTRIES: Final[Select[*tuple[Any, ...]]] = select(
    log_entries, events.c.type.label("event_type"), events.c.data.label("event_data")
).outerjoin(events, events.c.id == log_entries.c.event_id)


async def entries_of(found: Sequence[rows.AnyRow]) -> list[LogEntry]:
    """Read entries, aside."""
    # Not on the loop: a hundred entries may hold two hundred thousand commits.
    return await asyncio.to_thread(lambda: [rows.log_entry(row) for row in found])
