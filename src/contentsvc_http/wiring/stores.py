import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from contentsvc_adapters.sql import (
    HEAD,
    Database,
    SqlStores,
    any_sealed,
    make_ready,
    serving_alone,
    upgrade,
)
from contentsvc_http.settings import Settings

if TYPE_CHECKING:
    from contentsvc_core.ports import SecretSealer

#: The time for which a stop waits for the database, in seconds.
_CLOSE_S: Final = 3.0
#: The number of stored secrets of each kind that a key must open before a file is copied.
_TRIED: Final = 1000
#: The error for a missing key that only the operator can provide.
NO_KEY: Final = (
    "CONTENTSVC_SECRET_KEY is not set, and PostgreSQL keeps no key; set it to the key of your other nodes or of your "
    "backup. For a new installation, make one with 'openssl rand -base64 32', and keep it well"
)


class _OnDemand:
    """Creates a sealer when the first secret is sealed or opened."""

    def __init__(self, make: "Callable[[], SecretSealer]") -> None:
        self._make = make

    @cached_property
    def sealer(self) -> "SecretSealer":
        return self._make()

    def seal(self, secret: str) -> str:
        return self.sealer.seal(secret)

    def open(self, sealed: str) -> str:
        return self.sealer.open(sealed)


@contextlib.asynccontextmanager
async def open_stores(settings: Settings, *, checks_key: bool = True) -> AsyncGenerator[SqlStores]:
    """Open the database with a current schema, and close it at the end; ``checks_key`` checks the key now.

    The errors are ``StoreUnavailable``, ``SchemaMismatch``, ``UnusableKey`` and ``SecretUnreadable``.
    """
    if not settings.is_sqlite and not settings.secret_key:
        from contentsvc_adapters.sealing import UnusableKey  # noqa: PLC0415  # see below

        raise UnusableKey(NO_KEY)
    database = Database(settings.database_url, pool_size=settings.database_pool_size)
    stores: SqlStores | None = None
    try:
        await make_ready(database)
        sealed = await any_sealed(database)
        sealer = _OnDemand(partial(_sealer, settings, sealed))
        if checks_key:
            _ = sealer.sealer
        stores = SqlStores(database, sealer)
        yield stores
    finally:
        close = database.dispose if stores is None else stores.close
        closing = asyncio.create_task(_in_time(close()), name="close the database")
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            # A signal during a start that failed: cancelling this close would end in a traceback.
            await closing
            raise


def _sealer(settings: Settings, sealed: str | None) -> "SecretSealer":
    from contentsvc_adapters.sealing import FernetSealer, key_beside  # noqa: PLC0415  # few commands handle secrets

    sealer = FernetSealer(settings.secret_key or key_beside(settings.database_file, may_make=sealed is None))
    if sealed is not None:
        # Tries the key now, before a wrong key seals further secrets.
        sealer.open(sealed)
    return sealer


async def _in_time(closing: Coroutine[None, None, None]) -> None:
    with contextlib.suppress(TimeoutError):
        # A lock of another process must not prevent the stop.
        await asyncio.wait_for(closing, _CLOSE_S)


async def copy_from(settings: Settings, file: Path, on_table: Callable[[str, int, int], object]) -> Mapping[str, int]:
    """Copy a SQLite file into the empty PostgreSQL database of the settings; return the number of rows by table.

    The schema of the file is migrated first, as by any other command. ``on_table``: see
    :func:`~contentsvc_adapters.sql.copying.copy_file`.
    """
    from contentsvc_adapters.sealing import FernetSealer, UnusableKey  # noqa: PLC0415  # few commands handle secrets
    from contentsvc_adapters.sql.condition import sealed_secrets  # noqa: PLC0415  # only a copy and `doctor` need it
    from contentsvc_adapters.sql.copying import copy_file  # noqa: PLC0415  # only a copy needs it

    if not settings.secret_key:
        raise UnusableKey(NO_KEY)
    source, target = Database(f"sqlite+aiosqlite:///{file}"), Database(settings.database_url)
    try:
        with serving_alone(file):
            await make_ready(source)
            sealer = FernetSealer(settings.secret_key)
            for sealed in await sealed_secrets(source, limit=_TRIED):
                sealer.open(sealed)
            return await copy_file(file, target, on_table)
    finally:
        await source.dispose()
        await target.dispose()


async def migrate(settings: Settings) -> str:
    """Migrate the database's schema, and create a missing SQLite file; return the revision."""
    database = Database(settings.database_url)
    try:
        await upgrade(database)
    finally:
        await database.dispose()
    if not settings.is_sqlite and settings.engine_in_force == "dbos":
        from contentsvc_adapters.engine.dbos import migrate_engine  # noqa: PLC0415  # only this needs it

        await asyncio.to_thread(migrate_engine, settings.engine_database_url)
    return HEAD
