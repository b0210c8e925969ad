from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.schedules import MAX_SCHEDULES, DueSchedule, Firing, Schedule


class Schedules(Protocol):
    """The schedules. Changes of one organization's schedules run one after the other."""

    async def add(
        self,
        schedule: Schedule,
        *,
        zone: ZoneInfo | None = None,
        checks_brand: bool = False,
        at_most: int = MAX_SCHEDULES,
    ) -> Schedule | Refusal:
        """Store a schedule, and return it. A repeated call changes nothing; with a refusal, nothing was written.

        Of equal schedules (:meth:`~contentsvc_core.workflows.schedules.Schedule.does_the_same_as`) that are added
        concurrently, one is stored. A schedule beyond ``at_most``, counted in the same transaction, is refused. With
        ``zone``, the organization must have this time zone: else ``ZONE_CHANGED``. With ``checks_brand``, the named
        identity must exist, and cannot be deleted meanwhile.
        """
        ...

    async def schedule(self, organization_id: str, schedule_id: str) -> Schedule | None: ...

    async def schedules(self, organization_id: str) -> Sequence[Schedule]:
        """List an organization's schedules, oldest first."""
        ...

    async def change(
        self,
        organization_id: str,
        schedule_id: str,
        change: Callable[[Schedule], Schedule],
        *,
        zone: ZoneInfo | None = None,
        checks_brand: bool = False,
    ) -> Schedule | Refusal:
        """Apply ``change`` to the current schedule, and return the new schedule; with a refusal, nothing was written.

        No other change and no firing comes between read and write. ``change`` is a pure function, may be called several
        times, and keeps the ids. ``zone`` and ``checks_brand`` are conditions as in :meth:`add`.
        """
        ...

    async def remove(self, organization_id: str, schedule_id: str) -> bool:
        """Delete a schedule; ``False``: it is unknown. Its runs and posts stay."""
        ...

    async def due(self, now: datetime, *, limit: int, after: DueSchedule | None = None) -> Sequence[DueSchedule]:
        """List due schedules of all organizations behind ``after``, the longest waiting first."""
        ...

    async def fire(self, firing: Firing) -> bool:
        """Store the run of a firing and the schedule's next due time, in one transaction.

        ``False``: the schedule is deleted, disabled, or due at another time than the firing's slot, so that the slot
        has fired already, or the organization has another time zone; nothing was written. A repeated call with the same
        firing changes nothing and returns the first result.
        """
        ...
