"""A row of any table, and JSON in its columns."""

from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Row

AnyRow: TypeAlias = Row[*tuple[Any, ...]]


def json_of(value: object) -> str:
    """Return JSON for a text column."""
    return msgspec.json.encode(value).decode()
