from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from attrs import frozen

from contentsvc_core.commands import values_of
from contentsvc_core.ports import Clock, Directory, IdSource, Schedules
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.workflows.automations import in_known_zone, too_many_repositories
from contentsvc_core.workflows.causes import sources_of, unknown_repository
from contentsvc_core.workflows.schedules import (
    NAME_LIMIT,
    UNKNOWN_SCHEDULE,
    ChangeSchedule,
    CreateSchedule,
    Schedule,
    changed,
)

NO_REPOSITORY: Final = Refusal(RefusalKind.UNSUITABLE, "a schedule needs a repository", "repository_ids")


@final
@frozen(eq=False, repr=False)
class Planner:
    """Creates and changes schedules."""

    _schedules: Schedules
    _directory: Directory
    _clock: Clock
    _ids: IdSource

    async def create(self, organization_id: str, command: CreateSchedule) -> Schedule | Refusal:
        values = values_of(command)
        if (refused := await self._refused(organization_id, values)) is not None:
            return refused
        now = self._clock.now()
        switched = {"enabled": values.pop("enabled")}
        schedule = Schedule(
            id=self._ids.new_id("sch_"),
            organization_id=organization_id,
            enabled=False,
            created_at=now,
            updated_at=now,
            due_at=None,
            **_cleaned(values),
        )
        return await self._schedules.add(
            schedule,
            timed=lambda new, zone: in_known_zone(changed(new, now, zone, switched), zone),
            checks_brand=True,
        )

    async def change(self, organization_id: str, schedule_id: str, change: ChangeSchedule) -> Schedule | Refusal:
        """Change a schedule by a ``ChangeSchedule``; unset fields stay unchanged."""
        current = await self._schedules.find(organization_id, schedule_id)
        if current is None:
            return UNKNOWN_SCHEDULE
        changes = values_of(change)
        looked_at = {"repository_ids": current.repository_ids, **changes} if changes.get("enabled") else changes
        if (refused := await self._refused(organization_id, looked_at)) is not None:
            return refused
        fields, now = _cleaned(changes), self._clock.now()
        return await self._schedules.change(
            organization_id,
            schedule_id,
            lambda schedule, zone: in_known_zone(changed(schedule, now, zone, fields), zone, was=schedule),
            checks_brand="brand_identity_id" in changes or changes.get("enabled", False),
        )

    async def _refused(self, organization_id: str, fields: Mapping[str, Any]) -> Refusal | None:
        # A repository that is removed concurrently is noticed when the schedule fires.
        if "name" in fields:
            name: str = fields["name"]
            if not one_line(name, NAME_LIMIT):
                return Refusal(RefusalKind.INVALID, "a schedule needs a name", "name")
            if len(name) > NAME_LIMIT:
                fault = f"a schedule's name has at most {NAME_LIMIT} characters"
                return Refusal(RefusalKind.INVALID, fault, "name")
        if "repository_ids" in fields:
            repository_ids: Sequence[int] = fields["repository_ids"]
            if not repository_ids:
                return NO_REPOSITORY
            if (excess := too_many_repositories("schedule", repository_ids)) is not None:
                return excess
            connected = {
                source.repository_id for source in sources_of(await self._directory.integrations(organization_id))
            }
            unknown = next((number for number in repository_ids if number not in connected), None)
            if unknown is not None:
                return unknown_repository(unknown)
        return None


def _cleaned(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one_line(value, NAME_LIMIT) if name == "name" else value for name, value in values.items()}
