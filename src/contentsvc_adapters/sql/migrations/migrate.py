"""Bringing a database to the schema that this code was written for."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text

from contentsvc_adapters.sql.database import Database
from contentsvc_core.errors import SchemaMismatch

if TYPE_CHECKING:
    from alembic.config import Config

#: The newest revision; a test compares it with the scripts, which are not read when the database has it already.
HEAD: Final = "0015"

_TABLE: Final = "alembic_version"


async def revision(database: Database) -> str | None:
    """Give the revision of a database's schema; ``None``: it has none yet."""
    return await database.read(_revision)


def is_older(found: str | None) -> bool:
    """Tell whether a schema is older than :data:`HEAD`. A later one only adds: a running process goes on with it."""
    # Revisions are numbers of four digits, and sort.
    return found is None or found < HEAD


async def upgrade(database: Database) -> bool:
    """Bring the schema up to :data:`HEAD`, all of it or nothing; tell whether there was anything to do.

    A SQLite file that does not exist yet is created. Of several processes one does it, and the others wait for it, as
    long as it takes.

    Raises:
        SchemaMismatch: The database was written by a newer version.
    """
    return await database.write_alone(_upgrade)


async def make_ready(database: Database) -> None:
    """See to it that the schema is at :data:`HEAD`, where an upgrade is nobody else's business; else only look.

    Raises:
        SchemaMismatch: It is not; the message says what to do.
    """
    # Asked first without a lock, so that a command that only reads never waits for a writer.
    found = await revision(database)
    if found == HEAD:
        return
    if database.dialect.upgrades_itself:
        await upgrade(database)
        return
    if found is not None and found not in _known():
        raise SchemaMismatch(_unknown(found))
    at = "the database has no schema yet" if found is None else f"the database's schema is at revision {found}"
    message = f"{at}, and this version needs {HEAD}: run 'contentsvc migrate'"
    raise SchemaMismatch(message)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_TABLE):
        return None
    return connection.scalar(text(f"SELECT version_num FROM {_TABLE}"))  # noqa: S608  # a constant


def _upgrade(connection: Connection) -> bool:
    # Inside the transaction: another process may have been at it until now.
    found = _revision(connection)
    if found == HEAD:
        return False
    if found is not None and found not in _known():
        raise SchemaMismatch(_unknown(found))
    # Only now: importing it takes longer than everything else that a start does with the database.
    from alembic import command  # noqa: PLC0415

    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    return True


def _config() -> "Config":
    from alembic.config import Config  # noqa: PLC0415  # see above

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _known() -> frozenset[str]:
    from alembic.script import ScriptDirectory  # noqa: PLC0415  # see above

    return frozenset(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())


def _unknown(found: str) -> str:
    return (
        f"the database's schema is at revision {found}, which this version does not know (it knows {HEAD}): "
        "a newer version of contentsvc has upgraded it; run that version, or restore the backup from before"
    )
