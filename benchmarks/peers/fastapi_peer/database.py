"""Engines and sessions, on SQLite and on PostgreSQL."""

from typing import Any

import settings
from models import Base, Integration, Repository, Trigger, WebhookSecret
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine, async_sessionmaker, create_async_engine

IS_SQLITE = not settings.DATABASE.startswith("postgresql://")

if IS_SQLITE:
    from sqlalchemy.dialects.sqlite import insert

    URL = f"sqlite+aiosqlite:///{settings.DATABASE}"
    # SQLite has one writer at a time: waiting for the pool is cheaper than polling a lock.
    writer = create_async_engine(URL, pool_size=1, max_overflow=0, pool_timeout=60)
    reader = create_async_engine(URL, pool_size=8, max_overflow=0, pool_timeout=60)
else:
    from sqlalchemy.dialects.postgresql import insert

    URL = settings.DATABASE.replace("postgresql://", "postgresql+asyncpg://", 1)
    writer = create_async_engine(URL, pool_size=20, max_overflow=0, pool_timeout=60)
    # The same connections, without a transaction around each query.
    reader = writer.execution_options(isolation_level="AUTOCOMMIT")

write_session = async_sessionmaker(writer, expire_on_commit=False)
read_session = async_sessionmaker(reader, expire_on_commit=False)


def _set_up_sqlite(engine: AsyncEngine) -> None:
    @event.listens_for(engine.sync_engine, "connect")
    def connect(connection: Any, _record: object) -> None:  # noqa: ANN401  # the driver's own
        # SQLAlchemy's recipe: the driver begins no transaction by itself.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "busy_timeout = 10000"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()


if IS_SQLITE:
    for each in (writer, reader):
        _set_up_sqlite(each)

    @event.listens_for(writer.sync_engine, "begin")
    def _begin(connection: Any) -> None:  # noqa: ANN401  # SQLAlchemy's own
        connection.exec_driver_sql("BEGIN IMMEDIATE")


async def prepare() -> None:
    """Create the schema, and seed it."""
    async with writer.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    rows = (
        Integration(
            id=settings.INTEGRATION, organization_id=settings.ORGANIZATION, provider=settings.PROVIDER, enabled=True
        ),
        Repository(
            organization_id=settings.ORGANIZATION,
            provider=settings.PROVIDER,
            repository_id=settings.REPOSITORY_ID,
            integration_id=settings.INTEGRATION,
            full_name=settings.REPOSITORY,
        ),
        WebhookSecret(id=1, integration_id=settings.INTEGRATION, secret=settings.SECRET, expires_at=None),
        Trigger(
            id=settings.TRIGGER,
            organization_id=settings.ORGANIZATION,
            provider=settings.PROVIDER,
            enabled=True,
            repository_ids=[settings.REPOSITORY_ID],
            event_types=["push"],
        ),
    )
    async with write_session.begin() as session:
        for row in rows:
            await session.merge(row)


__all__ = ["insert", "prepare", "read_session", "write_session"]
