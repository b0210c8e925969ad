"""Entry point of Alembic: runs the scripts on the given connection, in its transaction."""

from alembic import context

from contentsvc_adapters.sql.schema.all_tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
