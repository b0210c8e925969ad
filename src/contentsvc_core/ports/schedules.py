"""What has content written at fixed times."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.content.brand import UnknownBrand
from contentsvc_core.organizations import TooMany
from contentsvc_core.workflows.schedules import MAX_SCHEDULES, DueSchedule, DuplicateSchedule, Firing, Schedule


class Schedules(Protocol):
    """The schedules. Whatever changes those of one organization is done one after the other."""

    async def add(
        self, schedule: Schedule, *, checks_brand: bool = False, at_most: int = MAX_SCHEDULES
    ) -> bool | UnknownBrand | TooMany:
        """Add a schedule; False: another one does the same, nothing was written. The same once more changes nothing.

        ``checks_brand``: the identity that it names must be there, while nobody removes it; else nothing is written.

        Of any number of schedules that do the same
        (:meth:`~contentsvc_core.workflows.schedules.Schedule.does_the_same_as`), added at once, one is added.
        :class:`~contentsvc_core.organizations.TooMany`: the organization has ``at_most``, and no more are added,
        however many are added at once.
        """
        ...

    async def schedule(self, organization_id: str, schedule_id: str) -> Schedule | None:
        """Find a schedule."""
        ...

    async def schedules(self, organization_id: str) -> Sequence[Schedule]:
        """List an organization's schedules, oldest first."""
        ...

    async def change(
        self,
        organization_id: str,
        schedule_id: str,
        change: Callable[[Schedule], Schedule],
        *,
        checks_brand: bool = False,
    ) -> Schedule | DuplicateSchedule | UnknownBrand | None:
        """Change a schedule as it stands and give it as it is then; ``None``: it is unknown.

        No other change, and no firing, comes between what ``change`` is given and what is written. It is a pure
        function, may be called several times, and leaves the ids. When another schedule does what this one would do,
        nothing is written. ``checks_brand``: nor when it names an identity then that is not there; nobody removes that
        meanwhile.
        """
        ...

    async def remove(self, organization_id: str, schedule_id: str) -> bool:
        """Remove a schedule; False: it is unknown. Its runs and posts stay."""
        ...

    async def due(self, now: datetime, *, limit: int, after: DueSchedule | None = None) -> Sequence[DueSchedule]:
        """Give at most ``limit`` schedules, of all organizations, that are due; those that wait longest come first.

        ``after``: only those that come behind it in this order, whatever has become of it since.
        """
        ...

    async def fire(self, firing: Firing) -> bool:
        """Store the run of a firing and set its schedule due next, all of it or nothing.

        False: the schedule is gone or disabled, or is due at another time than the firing says, so that its slot has
        fired already; nothing was written. The same firing once more changes nothing and gives the first answer.
        """
        ...
