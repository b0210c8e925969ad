"""The stores in a SQL database: SQLite or PostgreSQL."""

from typing import TYPE_CHECKING, Final

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_adapters.sql.database import Database
    from contentsvc_adapters.sql.directory import any_sealed
    from contentsvc_adapters.sql.migrations.migrate import HEAD, is_older, make_ready, revision, upgrade
    from contentsvc_adapters.sql.serving import serving_alone
    from contentsvc_adapters.sql.stores import SqlStores, sql_stores

__all__ = [
    "HEAD",
    "Database",
    "SqlStores",
    "any_sealed",
    "is_older",
    "make_ready",
    "revision",
    "serving_alone",
    "sql_stores",
    "upgrade",
]

_HOMES: Final = {
    "database": "Database",
    "directory": "any_sealed",
    "migrations.migrate": "HEAD is_older make_ready revision upgrade",
    "serving": "serving_alone",
    "stores": "SqlStores sql_stores",
}

if not TYPE_CHECKING:
    __getattr__ = names_on_demand(__name__, _HOMES)
