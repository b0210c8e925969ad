"""Changes of the configuration that decisions on deliveries use: each raises its organization's version."""

from collections.abc import Callable

from sqlalchemy import Connection, update

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema.directory import organizations


class _Unchanged(Exception):
    pass


async def change_configuration(database: Database, organization_id: str, change: Callable[[Connection], bool]) -> bool:
    """Change an organization's configuration and raise its version; return whether anything changed.

    The version is raised first: its row serializes the changes, so that none waits for a lock that another holds.
    """
    raising = update(organizations).where(organizations.c.id == organization_id)

    def run(connection: Connection) -> None:
        connection.execute(raising.values(version=organizations.c.version + 1))
        if not change(connection):
            raise _Unchanged

    try:
        await database.write(run)
    except _Unchanged:
        return False
    return True
