"""Creates and changes schedules (decisions, ``/v1``, "Schedules")."""

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack, final

from contentsvc_core.content.brand import UnknownBrand
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback
from contentsvc_core.organizations import TooMany
from contentsvc_core.ports import BrandIdentities, Clock, Directory, IdSource, Schedules
from contentsvc_core.text import one_line
from contentsvc_core.usecases.brands import unknown_brand
from contentsvc_core.usecases.operate import Refusal
from contentsvc_core.workflows.causes import sources_of
from contentsvc_core.workflows.schedules import NAME_LIMIT, DuplicateSchedule, Schedule, changed, due_from
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
    ) -> Schedule | Refusal | DuplicateSchedule | TooMany:
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
        added = await self._schedules.add(schedule, checks_brand=True)
        if isinstance(added, UnknownBrand):
            return Refusal(reason=added.reason)
        if isinstance(added, TooMany):
            return added
        return schedule if added else DuplicateSchedule()

    async def change(
        self, organization_id: str, schedule_id: str, **changes: Unpack[ScheduleChanges]
    ) -> Schedule | Refusal | DuplicateSchedule | None:
        """Change a schedule; ``None``: it is unknown.

        A schedule that is enabled, or gets other times, fires for the first slot from now on.
        """
        standing = await self._schedules.schedule(organization_id, schedule_id)
        if standing is None:
            return None
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
        made = await self._schedules.change(
            organization_id,
            schedule_id,
            lambda schedule: changed(schedule, now, {**changes}),
            # Checked again in the transaction: the identity may have been removed since.
            checks_brand="brand_identity_id" in changes or changes.get("enabled", False),
        )
        return Refusal(reason=made.reason) if isinstance(made, UnknownBrand) else made

    async def _refused(self, organization_id: str, given: dict[str, Any]) -> Refusal | None:
        """Check the given fields. A repository that is removed concurrently is noticed when the schedule fires."""
        if "name" in given:
            name: str = given["name"]
            if not _cleaned(name):
                return Refusal(reason="a schedule needs a name")
            if len(name) > NAME_LIMIT:
                return Refusal(reason=f"a schedule's name has at most {NAME_LIMIT} characters")
        if "repository_ids" in given:
            wanted: Sequence[int] = given["repository_ids"]
            if not wanted:
                return Refusal(reason="a schedule needs a repository")
            connected = {
                source.repository_id for source in sources_of(await self._directory.integrations(organization_id))
            }
            unknown = next((number for number in wanted if number not in connected), None)
            if unknown is not None:
                return Refusal(reason=f"Unknown repository: {unknown} is not connected")
        unknown = await unknown_brand(self._brands, organization_id, given.get("brand_identity_id"))
        return None if unknown is None else Refusal(reason=unknown.reason)


def _cleaned(name: str) -> str:
    return one_line(name, NAME_LIMIT)
