"""Changes of an organization's configuration, one after the other."""

from collections.abc import Callable
from typing import TypeVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, update

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_core.errors import Unstorable
from contentsvc_core.zones import DEFAULT_ZONE, stored_zone

_Result = TypeVar("_Result")


async def change_configuration(
    database: Database, organization_id: str, change: Callable[[Connection], _Result]
) -> _Result:
    """Change an organization's configuration; raise its version unless the result is false: then nothing changed.

    Decisions on deliveries depend on the version. The organization's row is locked first, so that no change waits for a
    lock that another holds.
    """

    def run(connection: Connection) -> _Result:
        lock_organization(connection, organization_id, may_miss=True)
        changed = change(connection)
        if changed:
            raise_version(connection, organization_id)
        return changed

    return await database.write_once(run)


def raise_version(connection: Connection, organization_id: str) -> None:
    raising = update(organizations).where(organizations.c.id == organization_id)
    connection.execute(raising.values(version=organizations.c.version + 1))


def lock_organization(connection: Connection, organization_id: str, *, may_miss: bool = False) -> ZoneInfo:
    """Lock out other changes of an organization until the transaction ends; return its time zone.

    Raises:
        Unstorable: The organization does not exist, and ``may_miss`` is false.
    """
    # Written with its own value: a SELECT would not lock out other writers, and the version must stay the same.
    stored = update(organizations).where(organizations.c.id == organization_id)
    locking = stored.values(version=organizations.c.version).returning(organizations.c.time_zone)
    zone: str | None = connection.scalar(locking)
    if zone is None and not may_miss:
        raise Unstorable.of_no_organization(organization_id)
    return DEFAULT_ZONE if zone is None else stored_zone(zone)
