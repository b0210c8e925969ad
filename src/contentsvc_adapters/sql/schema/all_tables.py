"""The metadata of all tables, for migrations and for the creation of a new database."""

from contentsvc_adapters.sql.schema import (
    access,
    automation,
    content,
    deliveries,
    directory,
    lists,
    mailing,
    outgoing,
    publishing,
    searching,
    work,
)
from contentsvc_adapters.sql.schema.columns import metadata

__all__ = [
    "access",
    "automation",
    "content",
    "deliveries",
    "directory",
    "lists",
    "mailing",
    "metadata",
    "outgoing",
    "publishing",
    "searching",
    "work",
]
