from collections.abc import Awaitable, Callable
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

from contentsvc_core.ports import Directory
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.automations import ZONE_CHANGED, Automation
from contentsvc_core.zones import DEFAULT_ZONE

_Automation = TypeVar("_Automation", bound=Automation)

#: The most attempts under concurrent changes of the organization's time zone.
_TURNS: Final = 5


async def zone_of(directory: Directory, organization_id: str) -> ZoneInfo:
    """Return the time zone of an organization; an unknown organization has the default one."""
    organization = await directory.organization_of(organization_id)
    return DEFAULT_ZONE if organization is None else organization.time_zone


async def in_zone(
    directory: Directory, organization_id: str, write: Callable[[ZoneInfo], Awaitable[_Automation | Refusal]]
) -> _Automation | Refusal:
    """Write an automation whose times are in the time zone of its organization, again if the zone has changed."""
    for _ in range(_TURNS):
        written = await write(await zone_of(directory, organization_id))
        if written is not ZONE_CHANGED:
            return written
    return ZONE_CHANGED
