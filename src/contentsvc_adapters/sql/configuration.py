"""Changes of what deliveries are decided on: each raises its organization's version."""

from collections.abc import Callable

from sqlalchemy import Connection, update

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import organizations


class _Unchanged(Exception):
    """Undoes a change that has changed nothing: the version stays as well."""


async def change_configuration(database: Database, organization_id: str, change: Callable[[Connection], bool]) -> bool:
    """Change what deliveries are decided on, and raise the version; tell whether there was anything to change.

    The version comes first: its row is what changes of one organization wait for, one after the other, so that
    none waits for a second thing that another one holds.
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
