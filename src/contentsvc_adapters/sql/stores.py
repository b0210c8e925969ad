"""All stores over one database, under the names that every family of stores uses."""

from typing import Final, final

from attrs import frozen

from contentsvc_adapters.sql.brands import SqlBrandIdentities
from contentsvc_adapters.sql.changelogs import SqlChangelogs
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.deliveries import SqlDeliveryStore
from contentsvc_adapters.sql.directory import SqlDirectory
from contentsvc_adapters.sql.executors import SqlExecutors, SqlRunMemory
from contentsvc_adapters.sql.hooks import SqlHooks
from contentsvc_adapters.sql.insights import SqlInsights
from contentsvc_adapters.sql.jobs import SqlJobs
from contentsvc_adapters.sql.journal import SqlJournal
from contentsvc_adapters.sql.keys import SqlApiKeys
from contentsvc_adapters.sql.ledger import SqlRunLedger
from contentsvc_adapters.sql.library import SqlContextLibrary, SqlPostLibrary
from contentsvc_adapters.sql.limits import SqlRateLimitStore
from contentsvc_adapters.sql.outgoing.endpoints import SqlWebhookEndpoints
from contentsvc_adapters.sql.outgoing.outbox import SqlOutbox
from contentsvc_adapters.sql.schedules import SqlSchedules
from contentsvc_adapters.sql.searching.search import SqlSearch
from contentsvc_adapters.sql.sessions import SqlSessions
from contentsvc_adapters.sql.settling.choice import settlement_queue
from contentsvc_adapters.sql.settling.queue import SettlementQueue
from contentsvc_core.ports import (
    ApiKeys,
    BrandIdentities,
    Changelogs,
    ContextLibrary,
    DeliveryStore,
    Directory,
    Executors,
    Hooks,
    Insights,
    Jobs,
    Journal,
    Outbox,
    PostLibrary,
    RateLimitStore,
    RunLedger,
    RunMemory,
    Schedules,
    SecretSealer,
    Sessions,
    WebhookEndpoints,
)

#: How long what was accepted may take to be written when the stores are closed, in seconds.
_DRAINED_WITHIN_S: Final = 2.5


@final
@frozen(kw_only=True)
class SqlStores:
    """The stores of one database. They hold nothing themselves: other processes' writes are seen at once."""

    database: Database
    queue: SettlementQueue
    deliveries: DeliveryStore
    ledger: RunLedger
    executors: Executors
    run_memory: RunMemory
    jobs: Jobs
    contexts: ContextLibrary
    posts: PostLibrary
    changelogs: Changelogs
    journal: Journal
    directory: Directory
    hooks: Hooks
    brands: BrandIdentities
    schedules: Schedules
    keys: ApiKeys
    sessions: Sessions
    rate_limits: RateLimitStore
    insights: Insights
    search: SqlSearch
    endpoints: WebhookEndpoints
    outbox: Outbox

    async def close(self) -> None:
        """Finish what is under way and close the database."""
        await self.queue.close(_DRAINED_WITHIN_S)
        await self.database.dispose()


def sql_stores(database: Database, sealer: SecretSealer) -> SqlStores:
    """Build the stores of a database; its schema must be there (:mod:`contentsvc_adapters.sql.migrations.migrate`)."""
    queue = settlement_queue(database)
    return SqlStores(
        database=database,
        queue=queue,
        deliveries=SqlDeliveryStore(database, sealer, queue),
        ledger=SqlRunLedger(database),
        executors=SqlExecutors(database),
        run_memory=SqlRunMemory(database),
        jobs=SqlJobs(database),
        contexts=SqlContextLibrary(database),
        posts=SqlPostLibrary(database),
        changelogs=SqlChangelogs(database),
        journal=SqlJournal(database),
        directory=SqlDirectory(database, sealer),
        hooks=SqlHooks(database, sealer),
        schedules=SqlSchedules(database),
        brands=SqlBrandIdentities(database),
        keys=SqlApiKeys(database),
        sessions=SqlSessions(database),
        rate_limits=SqlRateLimitStore(database),
        insights=SqlInsights(database),
        search=SqlSearch(database),
        endpoints=SqlWebhookEndpoints(database, sealer),
        outbox=SqlOutbox(database, sealer),
    )
