"""Creates and changes schedules (decisions, ``/v1``, "Schedules")."""

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack, final

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.ports import BrandIdentities, Clock, Directory, IdSource, Schedules
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.usecases.brands import unknown_brand
from contentsvc_core.workflows.causes import sources_of, unknown_repository
from contentsvc_core.workflows.schedules import NAME_LIMIT, UNKNOWN_SCHEDULE, Schedule, changed, due_from
from contentsvc_core.workflows.slots import Cron


class ScheduleChanges(TypedDict, total=False):
    """The changes of a schedule; missing fields stay unchanged."""

    name: str
    cron: Cron
    repository_ids: Sequence[int]
    output_type: ContentType
    brand_identity_id: str | None
    enabled: bool
    auto_publish: bool
    lookback: Lookback
    house_style: HouseStyle | None


@final
class Planner:
    """Creates and changes schedules."""

    def __init__(
        self, schedules: Schedules, directory: Directory, brands: BrandIdentities, clock: Clock, ids: IdSource
    ) -> None:
        self._schedules = schedules
        self._directory = directory
        self._brands = brands
        self._clock = clock
        self._ids = ids

    async def create(  # noqa: PLR0913  # one parameter a field
        self,
        organization_id: str,
        *,
        name: str,
        cron: Cron,
        repository_ids: Sequence[int],
        output_type: ContentType,
        brand_identity_id: str | None = None,
        enabled: bool = True,
        auto_publish: bool = False,
        lookback: Lookback = DEFAULT_LOOKBACK,
        house_style: HouseStyle | None = None,
    ) -> Schedule | Refusal:
        """Create a schedule; its first slot is the first one from now on."""
        refused = await self._refused(
            organization_id, {"name": name, "repository_ids": repository_ids, "brand_identity_id": brand_identity_id}
        )
        if refused is not None:
            return refused
        now = self._clock.now()
        schedule = Schedule(
            id=self._ids.mint("sch_"),
            organization_id=organization_id,
            name=_cleaned(name),
            cron=cron,
            repository_ids=repository_ids,
            output_type=output_type,
            brand_identity_id=brand_identity_id,
            enabled=enabled,
            auto_publish=auto_publish,
            lookback=lookback,
            house_style=house_style,
            created_at=now,
            updated_at=now,
            due_at=due_from(cron, now, last_slot=None) if enabled else None,
        )
        return await self._schedules.add(schedule, checks_brand=True)

    async def change(
        self, organization_id: str, schedule_id: str, **changes: Unpack[ScheduleChanges]
    ) -> Schedule | Refusal:
        """Change a schedule.

        A schedule that is enabled, or gets other times, fires for the first slot from now on.
        """
        standing = await self._schedules.schedule(organization_id, schedule_id) if is_own_id(schedule_id) else None
        if standing is None:
            return UNKNOWN_SCHEDULE
        looked_at: dict[str, Any] = {**changes}
        if changes.get("enabled"):
            # The schedule may have been disabled because these were deleted.
            uses = {"repository_ids": standing.repository_ids, "brand_identity_id": standing.brand_identity_id}
            looked_at = {**uses, **looked_at}
        refused = await self._refused(organization_id, looked_at)
        if refused is not None:
            return refused
        if "name" in changes:
            changes["name"] = _cleaned(changes["name"])
        now = self._clock.now()
        return await self._schedules.change(
            organization_id,
            schedule_id,
            lambda schedule: changed(schedule, now, {**changes}),
            # Checked again in the transaction: the identity may have been removed since.
            checks_brand="brand_identity_id" in changes or changes.get("enabled", False),
        )

    async def _refused(self, organization_id: str, given: dict[str, Any]) -> Refusal | None:
        """Check the given fields. A repository that is removed concurrently is noticed when the schedule fires."""
        if "name" in given:
            name: str = given["name"]
            if not _cleaned(name):
                return Refusal(RefusalKind.UNSUITABLE, "a schedule needs a name", "name")
            if len(name) > NAME_LIMIT:
                fault = f"a schedule's name has at most {NAME_LIMIT} characters"
                return Refusal(RefusalKind.UNSUITABLE, fault, "name")
        if "repository_ids" in given:
            wanted: Sequence[int] = given["repository_ids"]
            if not wanted:
                return Refusal(RefusalKind.UNSUITABLE, "a schedule needs a repository", "repository_ids")
            connected = {
                source.repository_id for source in sources_of(await self._directory.integrations(organization_id))
            }
            unknown = next((number for number in wanted if number not in connected), None)
            if unknown is not None:
                return unknown_repository(unknown)
        return await unknown_brand(self._brands, organization_id, given.get("brand_identity_id"))


def _cleaned(name: str) -> str:
    return one_line(name, NAME_LIMIT)
