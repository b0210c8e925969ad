from typing import Final

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from contentsvc_adapters.sql.dialects.dialect import Dialect

_EXAMPLES: Final = "sqlite+aiosqlite:///contentsvc.db or postgresql+asyncpg://USER:PASSWORD@HOST/DATABASE"


def dialect_of(url: str, *, busy_timeout_ms: int, readers: int, pool_size: int) -> Dialect:
    """Return the dialect for a database URL; the message of its ``ValueError`` does not repeat the URL's password."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        message = f"the database's URL cannot be read; it looks like {_EXAMPLES}"
        raise ValueError(message) from None
    if parsed.drivername in {"sqlite", "sqlite+aiosqlite"}:
        # Imported late, as below: a process loads the driver of its own database only.
        from contentsvc_adapters.sql.dialects.sqlite import Sqlite  # noqa: PLC0415

        return Sqlite.of(parsed, busy_timeout_ms=busy_timeout_ms, readers=readers)
    if parsed.drivername in {"postgresql", "postgresql+asyncpg"}:
        from contentsvc_adapters.sql.dialects.postgresql import Postgresql  # noqa: PLC0415

        return Postgresql.of(parsed, pool_size=pool_size)
    message = f"unknown kind of database '{parsed.drivername}': it must be {_EXAMPLES}"
    raise ValueError(message)
