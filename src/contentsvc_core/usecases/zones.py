from zoneinfo import ZoneInfo

from contentsvc_core.ports import Directory
from contentsvc_core.zones import DEFAULT_ZONE


async def zone_of(directory: Directory, organization_id: str) -> ZoneInfo:
    """Return the time zone of an organization; an unknown organization has the default one."""
    organization = await directory.organization_of(organization_id)
    return DEFAULT_ZONE if organization is None else organization.time_zone
