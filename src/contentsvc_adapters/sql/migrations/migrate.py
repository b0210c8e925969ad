from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.dialects.dialect import CREATEDB
from contentsvc_core.errors import SchemaMismatch

if TYPE_CHECKING:
    from alembic.config import Config

#: The newest revision. A test compares it with the scripts, which are not loaded if the database is at this revision.
HEAD: Final = "0026"

#: The oldest revision that is upgraded (decision 0078).
_OLDEST: Final = "0020"
_TABLE: Final = "alembic_version"
#: Every revision has this table.
_FIRST_TABLE: Final = "organizations"
_OTHER_FILE: Final = "set CONTENTSVC_DATABASE_URL to another file, which is created if it is missing"
_OTHER_DATABASE: Final = (
    f"set CONTENTSVC_DATABASE_URL to another database, which an administrator creates with {CREATEDB}"
)


async def revision(database: Database) -> str | None:
    """Return the revision of the schema; ``None``: the database has no schema yet.

    A database of another application or, on PostgreSQL, without UTF-8 raises :class:`SchemaMismatch`.
    """
    return await database.read(_revision)


def is_older(found: str | None) -> bool:
    """Return whether a schema is older than :data:`HEAD`. A newer schema only adds, so a running process continues."""
    # Revisions are four digits, so they sort as text.
    return found is None or found < HEAD


def check_known(found: str | None) -> None:
    """Check that this version can use or upgrade a schema of this revision (:class:`SchemaMismatch`)."""
    # Without Alembic, whose import takes seconds on a busy machine. Each revision between the two has a script.
    if found is None or (found.isdigit() and len(found) == len(HEAD) and _OLDEST <= found <= HEAD):
        return
    if found.isdigit() and found < _OLDEST:
        message = (
            f"the database's schema is at revision {found}, which is too old for this version (it upgrades {_OLDEST} "
            "and later); upgrade it with an earlier version of contentsvc first"
        )
        raise SchemaMismatch(message)
    message = (
        f"the database's schema is at revision {found}, which this version does not know (it knows {HEAD}): "
        "a newer version of contentsvc has upgraded it; run that version, or restore the backup from before"
    )
    raise SchemaMismatch(message)


async def upgrade(database: Database) -> bool:
    """Migrate the schema to :data:`HEAD` completely or not at all; return whether there was anything to do.

    A database without a schema gets the newest one, and a missing SQLite file is created. One of several processes
    migrates; the others wait without a time limit. The schema of a newer version or of another application raises
    :class:`SchemaMismatch`.
    """
    # Read first: a connection for writing changes the journal mode of any file.
    await revision(database)
    return await database.write_alone(_upgrade)


async def make_ready(database: Database) -> None:
    """Migrate the schema to :data:`HEAD` if the dialect allows that, else check it (:class:`SchemaMismatch`)."""
    # Read without a lock first, so that a command that only reads never waits for a writer.
    found = await revision(database)
    if found == HEAD:
        return
    if database.dialect.upgrades_itself:
        await upgrade(database)
        return
    check_known(found)
    at = "the database has no schema yet" if found is None else f"the database's schema is at revision {found}"
    message = f"{at}, and this version needs {HEAD}: run 'contentsvc migrate'"
    raise SchemaMismatch(message)


def _revision(connection: Connection) -> str | None:
    inspector = inspect(connection)
    # Without a name, tables of the schemas behind it in the role's search path would count, too.
    own = inspector.default_schema_name
    found: str | None = None
    if inspector.has_table(_TABLE, own):
        found = connection.scalar(text(f"SELECT version_num FROM {_TABLE}"))  # noqa: S608  # a constant
    # Revisions of other applications may have the same name.
    if found != HEAD or not inspector.has_table(_FIRST_TABLE, own):
        _check_usable(connection, found)
    return found


def _check_usable(connection: Connection, found: str | None) -> None:
    # Imported late: a database at HEAD needs no list of all tables.
    from contentsvc_adapters.sql.schema.all_tables import metadata  # noqa: PLC0415

    inspector = inspect(connection)
    tables = set(inspector.get_table_names(inspector.default_schema_name))
    is_sqlite = connection.dialect.name == "sqlite"
    # A PostgreSQL database may have the tables of its extensions.
    taken = tables if is_sqlite else tables & {_TABLE, *metadata.tables}
    if taken and (found is None or _FIRST_TABLE not in tables):
        what, other = ("database file", _OTHER_FILE) if is_sqlite else ("database", _OTHER_DATABASE)
        message = f"the {what} belongs to another application: it has tables, but not those of contentsvc; {other}"
        raise SchemaMismatch(message)
    if found is None and not is_sqlite and (encoding := connection.scalar(text("SHOW server_encoding"))) != "UTF8":
        message = (
            f"the database has the encoding {encoding}, and deliveries have characters outside of it; {_OTHER_DATABASE}"
        )
        raise SchemaMismatch(message)


def _upgrade(connection: Connection) -> bool:
    # Read again inside the transaction: another process may have migrated meanwhile.
    found = _revision(connection)
    if found == HEAD:
        return False
    if found is None:
        _create(connection)
        return True
    check_known(found)
    # Imported late: this import takes longer than all other database work of a start.
    from alembic import command  # noqa: PLC0415

    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    return True


def _create(connection: Connection) -> None:
    from contentsvc_adapters.sql.schema.all_tables import metadata  # noqa: PLC0415  # see above
    from contentsvc_adapters.sql.schema.triggers import create_triggers  # noqa: PLC0415  # see above

    # Without a check: tables of schemas further back in the role's search path would count.
    metadata.create_all(connection, checkfirst=False)
    create_triggers(connection)
    # As Alembic defines it, which takes long to import.
    primary_key = f"CONSTRAINT {_TABLE}_pkc PRIMARY KEY (version_num)"
    connection.execute(text(f"CREATE TABLE {_TABLE} (version_num VARCHAR(32) NOT NULL, {primary_key})"))
    connection.execute(text(f"INSERT INTO {_TABLE} (version_num) VALUES (:head)"), {"head": HEAD})  # noqa: S608  # a constant


def _config() -> "Config":
    from alembic.config import Config  # noqa: PLC0415  # see above

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
