"""Entry point of Alembic: runs the scripts on the given connection, in its transaction."""

from alembic import context
from sqlalchemy import inspect

from contentsvc_adapters.sql.schema.all_tables import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    # Without a name, the revision of another application further back in the role's search path would count.
    version_table_schema=inspect(connection).default_schema_name,
)
with context.begin_transaction():
    context.run_migrations()
