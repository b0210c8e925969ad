from collections.abc import Callable
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.errors import StoreUnavailable, UnreadableRow
from contentsvc_core.ports import Clock, Directory, IdSource, Schedules, Triggers
from contentsvc_core.usecases.zones import zone_of
from contentsvc_core.workflows.automations import DueAutomation
from contentsvc_core.workflows.causes import sources_of
from contentsvc_core.zones import zone_fault

#: The most due automations that are read at once.
BATCH_SIZE: Final = 100


@final
@frozen(eq=False, repr=False)
class Scheduler:
    """Fires due schedules and triggers; safe to call at any time, from any number of processes: each fires once.

    ``on_fault`` is called with the fault of a schedule that could not fire: it is tried again.
    """

    _schedules: Schedules
    _triggers: Triggers
    _directory: Directory
    _clock: Clock
    _ids: IdSource
    _on_fault: Callable[[Exception], None] = field(kw_only=True, alias="on_fault")
    _batch_size: int = field(default=BATCH_SIZE, kw_only=True, alias="batch_size")
    #: Faults that last until the machine or the organization changes: each is reported once.
    _logged: set[str] = field(factory=set, init=False)

    async def turn(self) -> int:
        return await self._all(self._schedules) + await self._all(self._triggers)

    async def _all(self, automations: Schedules | Triggers) -> int:
        started = 0
        last: DueAutomation | None = None
        while True:
            # Starts after the last one: what cannot fire stays in the list.
            due = await automations.due(self._clock.now(), limit=self._batch_size, after=last)
            for each in due:
                try:
                    started += await self._fire(automations, each)
                except StoreUnavailable:
                    raise
                except Exception as exc:  # noqa: BLE001  # an unreadable schedule must not stop the others
                    self._on_fault(exc)
            if len(due) < self._batch_size:
                return started
            last = due[-1]

    async def _fire(self, automations: Schedules | Triggers, due: DueAutomation) -> bool:
        found = await automations.find(due.organization_id, due.id)
        if found is None:
            return False
        sources = sources_of(await self._directory.integrations(due.organization_id))
        zone = await zone_of(self._directory, due.organization_id)
        if (fault := zone_fault(zone, due.organization_id)) is not None:
            if fault in self._logged:
                return False
            self._logged.add(fault)
            raise UnreadableRow(fault)
        fired = found.firing(self._clock.now(), zone, sources=sources, run_id=self._ids.new_id(""))
        return fired is not None and await automations.fire(fired)
