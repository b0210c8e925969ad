"""The composition root: the only place of this driver where adapters are built."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

import structlog

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.engine.inline import InlineEngine
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.sealing import FernetSealer, key_beside
from contentsvc_adapters.sql import HEAD, Database, SqlStores, any_sealed, revision, serving_alone, sql_stores, upgrade
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.expire import Sweeper
from contentsvc_core.usecases.perform import Performer
from contentsvc_core.usecases.receive import Receiver
from contentsvc_http.app import Services
from contentsvc_http.settings import Settings

#: How long a stop waits for runs that are being worked on, in seconds.
_ENGINE_GRACE_S: Final = 2.0
#: How long a stop waits for the database, in seconds.
_CLOSE_S: Final = 3.0
#: How often what has been kept long enough is deleted, in seconds.
_SWEEP_EVERY_S: Final = 3600.0
_LOG: Final = structlog.get_logger("contentsvc")


@contextlib.asynccontextmanager
async def open_stores(settings: Settings) -> AsyncGenerator[SqlStores]:
    """Open the database, bring its schema up to date, and close it in the end.

    Raises:
        StoreUnavailable: It cannot be opened.
        SchemaMismatch: A newer version of this software has changed it.
        UnusableKey: There is no key that can be used.
        SecretUnreadable: The key is not the one that stored secrets were sealed with.
    """
    database = Database(settings.database_url)
    try:
        # SQLite serves one process: whoever opens the file first brings it up to date. Asked first without a lock,
        # so that a command that only reads never waits for a writer.
        if await revision(database) != HEAD:
            await upgrade(database)
        sealed = await any_sealed(database)
        keys = str(settings.secret_key) or key_beside(settings.database_file, may_make=sealed is None)
        sealer = FernetSealer(keys)
        if sealed is not None:
            # Now, and not with the first delivery.
            sealer.open(sealed)
        yield sql_stores(database, sealer)
    finally:
        with contextlib.suppress(TimeoutError):
            # A lock that another process holds must not keep this one from ending.
            await asyncio.wait_for(database.dispose(), _CLOSE_S)


async def migrate(settings: Settings) -> str:
    """Bring the database's schema up to date, making the database if need be; give the schema's revision.

    Raises:
        StoreUnavailable: It cannot be opened.
        SchemaMismatch: A newer version of this software has changed it.
    """
    database = Database(settings.database_url)
    try:
        await upgrade(database)
    finally:
        await database.dispose()
    return HEAD


@contextlib.asynccontextmanager
async def open_services(settings: Settings) -> AsyncGenerator[Services]:
    """Open everything that serving needs, and close it in order: first the work, then the store."""
    async with contextlib.AsyncExitStack() as stack:
        # First in, last out: while a transaction of this process may still commit, nobody else may recover its runs.
        stack.enter_context(serving_alone(settings.database_file))
        stores = await stack.enter_async_context(open_stores(settings))
        clock = SystemClock()
        ids = RandomIds()
        performer = Performer(
            ledger=stores.ledger,
            library=stores.contexts,
            directory=stores.directory,
            writer=DeterministicWriter(),
            renderer=SafeMarkdown(),
            clock=clock,
            ids=ids,
        )
        engine = InlineEngine(stores.ledger, performer, clock, on_fault=_log_fault)
        await engine.launch()
        sweeping = asyncio.create_task(_sweep(Sweeper(stores.journal, stores.directory, clock)), name="sweep")

        async def why_not_ready() -> str | None:
            if not engine.is_running:
                return "the engine has stopped"
            try:
                found = await revision(stores.database)
            except StoreUnavailable as exc:
                return str(exc)
            return None if found == HEAD else f"the schema is at revision {found}, and this version needs {HEAD}"

        try:
            yield Services(
                receiver=Receiver(
                    stores.deliveries,
                    stores.journal,
                    clock,
                    ids,
                    failed_rows_per_minute=settings.failed_log_rows_per_minute,
                    nudge=engine.nudge,
                ),
                authenticator=Authenticator(stores.keys, clock),
                posts=stores.posts,
                why_not_ready=why_not_ready,
            )
        finally:
            sweeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sweeping
            await engine.close(within_s=_ENGINE_GRACE_S)


async def _sweep(sweeper: Sweeper) -> None:
    while True:
        try:
            swept = await sweeper.sweep()
            _LOG.debug("swept", log_entries=swept.log_entries, claims=swept.claims)
        except Exception as exc:  # noqa: BLE001  # the next sweep takes what this one left
            _log_fault(exc)
        await asyncio.sleep(_SWEEP_EVERY_S)


def _log_fault(exc: Exception) -> None:
    if isinstance(exc, StoreUnavailable):
        _LOG.warning("store unavailable", reason=str(exc))
    else:
        _LOG.error("fault", exc_info=exc)
