from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.automations import Automation, DueAutomation, Firing, as_it_is
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.triggers import Trigger

_Automation = TypeVar("_Automation", bound=Automation)


class Automations(Protocol[_Automation]):
    """The triggers or the schedules. Changes of one organization's automations run one after the other.

    Each change of a trigger raises the organization's version in its transaction. The version stays the same when a
    schedule is changed and when an automation fires: no decision on deliveries depends on schedules or on windows.
    """

    async def add(
        self,
        automation: _Automation,
        *,
        timed: Callable[[_Automation, ZoneInfo], _Automation | Refusal] = as_it_is,
        checks_brand: bool = False,
        at_most: int | None = None,
    ) -> _Automation | Refusal:
        """Store an automation, and return it. A repeated call returns the stored one, changed or not.

        With a refusal, nothing was written.

        Of equal ones (:meth:`~contentsvc_core.workflows.automations.Automation.does_the_same_as`) that are added
        concurrently, one is stored. One beyond ``at_most`` (``None``: the usual number), counted in the same
        transaction, is refused. ``timed`` is a pure function that returns the automation with its times in the time
        zone of the organization. With ``checks_brand``, the named identity must exist, and cannot be deleted meanwhile.
        """
        ...

    async def find(self, organization_id: str, automation_id: str) -> _Automation | None: ...

    async def all_of(self, organization_id: str) -> Sequence[_Automation]:
        """List an organization's triggers or schedules, oldest first."""
        ...

    async def change(
        self,
        organization_id: str,
        automation_id: str,
        change: Callable[[_Automation, ZoneInfo], _Automation | Refusal],
        *,
        checks_brand: bool = False,
    ) -> _Automation | Refusal:
        """Apply ``change`` to the current automation and the organization's time zone, and return the new one.

        No other change and no firing comes between read and write. ``change`` is a pure function, may be called several
        times, and keeps the ids. With a refusal, its own or one of ``change``, nothing was written. ``checks_brand`` is
        a condition as in :meth:`add`.
        """
        ...

    async def remove(self, organization_id: str, automation_id: str) -> bool:
        """Delete an automation; ``False``: it is unknown. Its runs and posts stay; a trigger's pending runs skip."""
        ...

    async def due(self, now: datetime, *, limit: int, after: DueAutomation | None = None) -> Sequence[DueAutomation]:
        """List due automations of all organizations behind ``after``, the longest waiting first."""
        ...

    async def fire(self, firing: Firing) -> bool:
        """Store the run of a firing and the automation's next due time, in one transaction.

        ``False``: the automation is deleted, disabled, or due at another time than the firing's, so that the slot or
        window has its run already, or the organization has another time zone; nothing was written. A repeated call with
        the same firing changes nothing and returns the first result.
        """
        ...


#: The port of triggers.
Triggers: TypeAlias = Automations[Trigger]
#: The port of schedules.
Schedules: TypeAlias = Automations[Schedule]
