from typing import TYPE_CHECKING, Final, final

from contentsvc_adapters import sql

if TYPE_CHECKING:
    # To the type checker a cached property is no attribute that a protocol asks for; a plain one is.
    cached_property = property

    from contentsvc_adapters.sql.settling.queue import SettlementQueue
    from contentsvc_core import ports
else:
    from functools import cached_property

#: The time limit for writing the accepted settlements when the stores are closed, in seconds.
_DRAINED_WITHIN_S: Final = 2.5


@final
class SqlStores:
    """The stores of one database. They cache no rows, so writes of other processes are visible at once.

    A store's module is imported on first access: a command that lists keys loads no other store.
    """

    def __init__(self, database: "sql.Database", sealer: "ports.SecretSealer") -> None:
        self.database: Final = database
        self._sealer: Final = sealer

    @cached_property
    def queue(self) -> "SettlementQueue":
        return sql.settlement_queue(self.database)

    @cached_property
    def deliveries(self) -> "sql.SqlDeliveryStore":
        return sql.SqlDeliveryStore(self.database, self._sealer, self.queue)

    @cached_property
    def ledger(self) -> "ports.RunLedger":
        return sql.SqlRunLedger(self.database)

    @cached_property
    def executors(self) -> "ports.Executors":
        return sql.SqlExecutors(self.database)

    @cached_property
    def run_state(self) -> "ports.RunStateStore":
        return sql.SqlRunStateStore(self.database)

    @cached_property
    def jobs(self) -> "ports.Jobs":
        return sql.SqlJobs(self.database)

    @cached_property
    def contexts(self) -> "ports.ContextLibrary":
        return sql.SqlContextLibrary(self.database)

    @cached_property
    def posts(self) -> "ports.PostLibrary":
        return sql.SqlPostLibrary(self.database, lambda: self.search)

    @cached_property
    def changelogs(self) -> "ports.Changelogs":
        return sql.SqlChangelogs(self.database)

    @cached_property
    def journal(self) -> "ports.Journal":
        return sql.SqlJournal(self.database)

    @cached_property
    def directory(self) -> "ports.Directory":
        return sql.SqlDirectory(self.database, self._sealer)

    @cached_property
    def hooks(self) -> "ports.Hooks":
        return sql.SqlHooks(self.database, self._sealer)

    @cached_property
    def brands(self) -> "ports.BrandIdentities":
        return sql.SqlBrandIdentities(self.database)

    @cached_property
    def triggers(self) -> "ports.Triggers":
        from contentsvc_core.workflows.triggers import Trigger  # noqa: PLC0415  # as the store's module

        return sql.SqlAutomations(self.database, Trigger)

    @cached_property
    def schedules(self) -> "ports.Schedules":
        from contentsvc_core.workflows.schedules import Schedule  # noqa: PLC0415  # as above

        return sql.SqlAutomations(self.database, Schedule)

    @cached_property
    def keys(self) -> "ports.ApiKeys":
        return sql.SqlApiKeys(self.database)

    @cached_property
    def sessions(self) -> "ports.Sessions":
        return sql.SqlSessions(self.database)

    @cached_property
    def rate_limits(self) -> "ports.RateLimitStore":
        return sql.SqlRateLimitStore(self.database)

    @cached_property
    def keyed_requests(self) -> "ports.KeyedRequests":
        return sql.SqlKeyedRequests(self.database, self._sealer)

    @cached_property
    def read_model(self) -> "ports.ReadModel":
        return sql.SqlReadModel(self.database)

    @cached_property
    def run_lists(self) -> "ports.RunLists":
        return sql.SqlRunLists(self.database)

    @cached_property
    def search(self) -> "sql.SqlSearch":
        return sql.SqlSearch(self.database)

    @cached_property
    def endpoints(self) -> "ports.WebhookEndpoints":
        return sql.SqlWebhookEndpoints(self.database, self._sealer)

    @cached_property
    def outbox(self) -> "ports.Outbox":
        return sql.SqlOutbox(self.database, self._sealer)

    @cached_property
    def recipients(self) -> "ports.Recipients":
        return sql.SqlRecipients(self.database, self._sealer)

    @cached_property
    def alerts(self) -> "ports.Alerts":
        return sql.SqlAlerts(self.database)

    @cached_property
    def subscribers(self) -> "ports.Subscribers":
        return sql.SqlSubscribers(self.database, self._sealer)

    @cached_property
    def mailbox(self) -> "ports.Mailbox":
        return sql.SqlMailbox(self.database, self._sealer)

    async def close(self) -> None:
        if "queue" in vars(self):
            await self.queue.close(_DRAINED_WITHIN_S)
        await self.database.dispose()


def sql_stores(database: "sql.Database", sealer: "ports.SecretSealer") -> SqlStores:
    return SqlStores(database, sealer)
