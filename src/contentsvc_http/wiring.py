"""The composition root: the only place of this driver where adapters are built."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from time import monotonic
from typing import TYPE_CHECKING, Final, final

import structlog

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.sealing import FernetSealer, UnusableKey, key_beside
from contentsvc_adapters.sql import (
    HEAD,
    Database,
    SqlStores,
    any_sealed,
    is_older,
    make_ready,
    revision,
    serving_alone,
    sql_stores,
    upgrade,
)
from contentsvc_adapters.sql.backlog import backlog, connections
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.expire import Sweeper
from contentsvc_core.usecases.perform import Performer
from contentsvc_core.usecases.receive import Receiver
from contentsvc_core.workflows.runs import RunStatus
from contentsvc_http.app import Front, Services
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings
from contentsvc_http.watching import Watch, watching

if TYPE_CHECKING:
    from contentsvc_adapters.engine.execution import Execution
    from contentsvc_adapters.engine.worker import Worker

#: How long a stop waits for runs that are being worked on, in seconds.
_ENGINE_GRACE_S: Final = 2.0
#: How long a stop waits for the database, in seconds.
_CLOSE_S: Final = 3.0
#: How often what has been kept long enough is deleted, in seconds.
_SWEEP_EVERY_S: Final = 3600.0
_NO_KEY: Final = (
    "CONTENTSVC_SECRET_KEY is not set, and PostgreSQL keeps no key: make one with 'openssl rand -base64 32', keep it "
    "well, and set it for every node"
)
#: During an outage, so many seconds pass between two lines that say the same.
_QUIET_S: Final = 5.0
_LOG: Final = structlog.get_logger("contentsvc")


@contextlib.asynccontextmanager
async def open_stores(settings: Settings) -> AsyncGenerator[SqlStores]:
    """Open the database, see to it that its schema is up to date, and close it in the end.

    Raises:
        StoreUnavailable: It cannot be opened.
        SchemaMismatch: Its schema is another one, and it is not for this process to change that.
        UnusableKey: There is no key that can be used.
        SecretUnreadable: The key is not the one that stored secrets were sealed with.
    """
    if not settings.is_sqlite and not settings.secret_key:
        raise UnusableKey(_NO_KEY)
    database = Database(settings.database_url, pool_size=settings.database_pool_size)
    try:
        await make_ready(database)
        sealed = await any_sealed(database)
        keys = str(settings.secret_key) or key_beside(settings.database_file, may_make=sealed is None)
        sealer = FernetSealer(keys)
        if sealed is not None:
            # Now, and not with the first delivery.
            sealer.open(sealed)
        yield sql_stores(database, sealer)
    finally:
        closing = asyncio.create_task(_close(database), name="close the database")
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            # A signal, while what could not start is closed already: cut off, that would end in a traceback.
            await closing
            raise


async def _close(database: Database) -> None:
    with contextlib.suppress(TimeoutError):
        # A lock that another process holds must not keep this one from ending.
        await asyncio.wait_for(database.dispose(), _CLOSE_S)


async def migrate(settings: Settings) -> str:
    """Bring the database's schema up to date, making a SQLite file if need be; give the schema's revision.

    Raises:
        StoreUnavailable: It cannot be opened.
        SchemaMismatch: A newer version of this software has changed it.
    """
    database = Database(settings.database_url)
    try:
        await upgrade(database)
    finally:
        await database.dispose()
    if not settings.is_sqlite and settings.engine_in_force == "dbos":
        from contentsvc_adapters.engine.dbos import migrate_engine  # noqa: PLC0415  # only this needs it

        await asyncio.to_thread(migrate_engine, settings.engine_database_url)
    return HEAD


@contextlib.asynccontextmanager
async def open_services(settings: Settings, role: Role) -> AsyncGenerator[Services]:
    """Open what a role needs, and close it in order: first the work, then the store."""
    async with contextlib.AsyncExitStack() as stack:
        # First in, last out: while a transaction of this process may still commit, nobody else may recover its runs.
        if settings.is_sqlite:
            stack.enter_context(serving_alone(settings.database_file))
        stores = await stack.enter_async_context(open_stores(settings))
        clock = SystemClock()
        ids = RandomIds()
        # Before the engine, so that the last runs are seen to end.
        watch = await stack.enter_async_context(
            watching(
                settings,
                backlog=lambda: backlog(stores.database, clock.now()),
                connections=lambda: connections(stores.database),
            )
        )
        engine = await stack.enter_async_context(_engine(settings, stores, clock, ids, watch)) if role.works else None
        if role.works:
            await stack.enter_async_context(_sweeping(Sweeper(stores.journal, stores.directory, clock)))

        async def why_not_ready() -> str | None:
            if engine is not None and not engine.is_running:
                return "the engine has stopped"
            try:
                found = await revision(stores.database)
            except StoreUnavailable as exc:
                return str(exc)
            if is_older(found):
                return f"the schema is at revision {found}, and this version needs {HEAD}"
            # A newer one is an upgrade under way: nodes of both versions serve until the last one is replaced.
            return None

        front = Front(
            receiver=watch.receiver(
                Receiver(
                    watch.store(stores.deliveries),
                    stores.journal,
                    clock,
                    ids,
                    failed_rows_per_minute=settings.failed_log_rows_per_minute,
                    # Where nothing works, others find the runs by looking.
                    nudge=_nobody if engine is None else engine.nudge,
                )
            ),
            authenticator=Authenticator(stores.keys, clock),
            posts=stores.posts,
        )
        yield Services(
            front=front if role.receives else None,
            why_not_ready=why_not_ready,
            for_operators=watch.routes,
            watched=watch.app,
        )


@contextlib.asynccontextmanager
async def _engine(
    settings: Settings, stores: SqlStores, clock: SystemClock, ids: RandomIds, watch: Watch
) -> "AsyncGenerator[Worker]":
    """Perform runs; in the end, finish what was begun or give it back."""
    # Here and not above: a process that only receives does not pay for it.
    from contentsvc_adapters.engine.execution import Pace  # noqa: PLC0415
    from contentsvc_adapters.engine.membership import Membership  # noqa: PLC0415
    from contentsvc_adapters.engine.worker import Worker  # noqa: PLC0415

    def note(event: str, /, **details: object) -> None:
        # Those that fail with their process never come to tell.
        failed = details.get("failed")
        for _ in range(failed if isinstance(failed, int) else 0):
            watch.ended(RunStatus.FAILED)
        _LOG.warning(event, **details)

    worker = Worker(
        _execution(settings, stores, clock, ids),
        watch.workflow(
            Performer(
                ledger=stores.ledger,
                memory=stores.run_memory,
                library=stores.contexts,
                directory=stores.directory,
                writer=DeterministicWriter(),
                renderer=SafeMarkdown(),
                clock=clock,
                ids=ids,
                ended=watch.ended,
            )
        ),
        Membership(stores.executors, ids, alone=settings.is_sqlite),
        ledger=stores.ledger,
        clock=clock,
        on_fault=_log_fault,
        on_note=note,
        pace=Pace(
            concurrency=settings.run_concurrency,
            per_organization=min(settings.run_concurrency_per_organization, settings.run_concurrency),
        ),
    )
    await worker.launch()
    try:
        yield worker
    finally:
        await worker.close(within_s=_ENGINE_GRACE_S)


def _execution(settings: Settings, stores: SqlStores, clock: SystemClock, ids: RandomIds) -> "Execution":
    if settings.engine_in_force == "inline":
        from contentsvc_adapters.engine.inline import InlineExecution  # noqa: PLC0415  # as above

        return InlineExecution(stores.ledger, stores.run_memory)
    from contentsvc_adapters.engine.dbos import DbosExecution  # noqa: PLC0415  # as above, and much more so

    return DbosExecution(
        settings.engine_database_url,
        stores.ledger,
        clock,
        executor=ids.mint("dbos_"),
        # With PostgreSQL, 'contentsvc migrate' has made its tables.
        migrates=settings.is_sqlite,
    )


def _nobody() -> None:
    pass


@contextlib.asynccontextmanager
async def _sweeping(sweeper: Sweeper) -> AsyncGenerator[None]:
    """Delete what has been kept long enough, from time to time."""
    sweeping = asyncio.create_task(_sweep(sweeper), name="sweep")
    try:
        yield
    finally:
        sweeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sweeping


async def _sweep(sweeper: Sweeper) -> None:
    while True:
        try:
            swept = await sweeper.sweep()
            _LOG.debug("swept", log_entries=swept.log_entries, claims=swept.claims)
        except Exception as exc:  # noqa: BLE001  # the next sweep takes what this one left
            _log_fault(exc)
        await asyncio.sleep(_SWEEP_EVERY_S)


@final
class _Faults:
    """Logs faults; what is said again and again, now and then, and how often."""

    def __init__(self) -> None:
        self._reason = ""
        self._since = 0.0
        self._more = 0

    def __call__(self, exc: Exception) -> None:
        if not isinstance(exc, StoreUnavailable):
            _LOG.error("fault", exc_info=exc)
            return
        now = monotonic()
        if str(exc) == self._reason and now - self._since < _QUIET_S:
            self._more += 1
            return
        _LOG.warning("store unavailable", reason=str(exc), **({"more_before": self._more} if self._more else {}))
        self._reason, self._since, self._more = str(exc), now, 0


_log_fault: Final = _Faults()
