"""The stores in a SQL database: SQLite or PostgreSQL."""

from typing import TYPE_CHECKING

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_adapters.sql.database import Database as Database
    from contentsvc_adapters.sql.directory import any_sealed as any_sealed
    from contentsvc_adapters.sql.migrations.migrate import HEAD as HEAD
    from contentsvc_adapters.sql.migrations.migrate import is_older as is_older
    from contentsvc_adapters.sql.migrations.migrate import make_ready as make_ready
    from contentsvc_adapters.sql.migrations.migrate import revision as revision
    from contentsvc_adapters.sql.migrations.migrate import upgrade as upgrade
    from contentsvc_adapters.sql.serving import serving_alone as serving_alone
    from contentsvc_adapters.sql.stores import SqlStores as SqlStores
    from contentsvc_adapters.sql.stores import sql_stores as sql_stores

if not TYPE_CHECKING:
    __getattr__ = names_on_demand(__name__)
