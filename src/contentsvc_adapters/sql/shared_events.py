import asyncio
from collections.abc import Sequence
from typing import final
from weakref import WeakValueDictionary

from attrs import field, frozen
from sqlalchemy import select

from contentsvc_adapters.sql import rows, workflow_rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema.deliveries import events
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.events.normalized import Event
from contentsvc_core.workflows.run_payloads import REQUESTED_KINDS
from contentsvc_core.workflows.runs import WorkflowRun


@frozen
class _EventCache:
    """Events by id, and the reasons why others are unreadable."""

    events: dict[str, Event] = field(factory=dict[str, Event])
    faults: dict[str, str] = field(factory=dict[str, str])

    def add(self, row: rows.AnyRow, data: str) -> None:
        try:
            self.events[row.event_id] = rows.event_of(row.event_id, row.type, data)
        except UnreadableRow as exc:
            self.faults[row.event_id] = str(exc)


@final
class SharedEvents:
    """Reads runs with their events. Concurrent runs of an event share one decoded object.

    One push starts a run for each matching trigger, and a decoded event of 25 MiB takes several times that memory.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        #: An entry lives as long as any run that holds the event.
        self._shared: WeakValueDictionary[str, Event] = WeakValueDictionary()

    async def runs(self, found: Sequence[rows.AnyRow]) -> tuple[list[WorkflowRun], dict[str, str]]:
        cache = _EventCache()
        delivered = {row.event_id: row for row in found if row.type not in REQUESTED_KINDS}
        for event_id in delivered:
            if (event := self._shared.get(event_id)) is not None:
                cache.events[event_id] = event
        missing = [row for event_id, row in delivered.items() if event_id not in cache.events]
        # In a thread: an event may hold two thousand commits.
        await asyncio.to_thread(_decode, [row for row in missing if row.small_data is not None], cache)
        for row in missing:
            if row.small_data is None:
                # One at a time, so that each text is freed before the next is read.
                await asyncio.to_thread(cache.add, row, await self._data(row.event_id))
        self._shared.update(cache.events)
        return await asyncio.to_thread(_runs, found, cache)

    async def _data(self, event_id: str) -> str:
        query = select(events.c.data).where(events.c.id == event_id)
        return await self._database.read(lambda connection: connection.scalars(query).one())


def _decode(run_rows: Sequence[rows.AnyRow], cache: _EventCache) -> None:
    for row in run_rows:
        cache.add(row, row.small_data)


def _runs(run_rows: Sequence[rows.AnyRow], cache: _EventCache) -> tuple[list[WorkflowRun], dict[str, str]]:
    runs: list[WorkflowRun] = []
    unreadable: dict[str, str] = {}
    for row in run_rows:
        if row.event_id in cache.faults:
            unreadable[row.id] = cache.faults[row.event_id]
            continue
        try:
            runs.append(workflow_rows.workflow_run(row, cache.events.get(row.event_id)))
        except UnreadableRow as exc:
            unreadable[row.id] = str(exc)
    return runs, unreadable
