"""Which database a URL names."""

from typing import Final

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from contentsvc_adapters.sql.dialects.dialect import Dialect
from contentsvc_adapters.sql.dialects.sqlite import Sqlite

_EXAMPLES: Final = "sqlite+aiosqlite:///contentsvc.db or postgresql+asyncpg://USER:PASSWORD@HOST/DATABASE"


def dialect_of(url: str, *, busy_timeout_ms: int, readers: int, pool_size: int) -> Dialect:
    """Give the dialect that a database's URL asks for.

    Raises:
        ValueError: No database that can be used is named. The message does not repeat the URL: it may hold a password.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        message = f"the database's URL cannot be read; it looks like {_EXAMPLES}"
        raise ValueError(message) from None
    if parsed.drivername in {"sqlite", "sqlite+aiosqlite"}:
        return Sqlite.of(parsed, busy_timeout_ms=busy_timeout_ms, readers=readers)
    if parsed.drivername in {"postgresql", "postgresql+asyncpg"}:
        # Only now: nobody should wait for the driver of a database that is not used.
        from contentsvc_adapters.sql.dialects.postgresql import Postgresql  # noqa: PLC0415

        return Postgresql.of(parsed, pool_size=pool_size)
    message = f"unknown kind of database '{parsed.drivername}': it must be {_EXAMPLES}"
    raise ValueError(message)
