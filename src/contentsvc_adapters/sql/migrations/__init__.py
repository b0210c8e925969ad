"""The migrations of the schema (Alembic)."""
