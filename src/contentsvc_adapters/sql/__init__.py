"""The stores in a SQL database: SQLite or PostgreSQL."""

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
