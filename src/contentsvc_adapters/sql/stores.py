from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    # To the type checker a cached property is no attribute that a protocol asks for; a plain one is.
    cached_property = property

    from contentsvc_adapters.sql.database import Database
    from contentsvc_adapters.sql.deliveries import SqlDeliveryStore
    from contentsvc_adapters.sql.searching.search import SqlSearch
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

    def __init__(self, database: "Database", sealer: "ports.SecretSealer") -> None:
        self.database: Final = database
        self._sealer: Final = sealer

    @cached_property
    def queue(self) -> "SettlementQueue":
        from contentsvc_adapters.sql.settling.choice import settlement_queue

        return settlement_queue(self.database)

    @cached_property
    def deliveries(self) -> "SqlDeliveryStore":
        from contentsvc_adapters.sql.deliveries import SqlDeliveryStore

        return SqlDeliveryStore(self.database, self._sealer, self.queue)

    @cached_property
    def ledger(self) -> "ports.RunLedger":
        from contentsvc_adapters.sql.ledger import SqlRunLedger

        return SqlRunLedger(self.database)

    @cached_property
    def executors(self) -> "ports.Executors":
        from contentsvc_adapters.sql.executors import SqlExecutors

        return SqlExecutors(self.database)

    @cached_property
    def run_state(self) -> "ports.RunStateStore":
        from contentsvc_adapters.sql.executors import SqlRunStateStore

        return SqlRunStateStore(self.database)

    @cached_property
    def jobs(self) -> "ports.Jobs":
        from contentsvc_adapters.sql.jobs import SqlJobs

        return SqlJobs(self.database)

    @cached_property
    def contexts(self) -> "ports.ContextLibrary":
        from contentsvc_adapters.sql.library import SqlContextLibrary

        return SqlContextLibrary(self.database)

    @cached_property
    def posts(self) -> "ports.PostLibrary":
        from contentsvc_adapters.sql.post_library import SqlPostLibrary

        return SqlPostLibrary(self.database, lambda: self.search)

    @cached_property
    def changelogs(self) -> "ports.Changelogs":
        from contentsvc_adapters.sql.changelogs import SqlChangelogs

        return SqlChangelogs(self.database)

    @cached_property
    def journal(self) -> "ports.Journal":
        from contentsvc_adapters.sql.journal import SqlJournal

        return SqlJournal(self.database)

    @cached_property
    def directory(self) -> "ports.Directory":
        from contentsvc_adapters.sql.directory import SqlDirectory

        return SqlDirectory(self.database, self._sealer)

    @cached_property
    def hooks(self) -> "ports.Hooks":
        from contentsvc_adapters.sql.hooks import SqlHooks

        return SqlHooks(self.database, self._sealer)

    @cached_property
    def brands(self) -> "ports.BrandIdentities":
        from contentsvc_adapters.sql.brands import SqlBrandIdentities

        return SqlBrandIdentities(self.database)

    @cached_property
    def schedules(self) -> "ports.Schedules":
        from contentsvc_adapters.sql.schedules import SqlSchedules

        return SqlSchedules(self.database)

    @cached_property
    def keys(self) -> "ports.ApiKeys":
        from contentsvc_adapters.sql.keys import SqlApiKeys

        return SqlApiKeys(self.database)

    @cached_property
    def sessions(self) -> "ports.Sessions":
        from contentsvc_adapters.sql.sessions import SqlSessions

        return SqlSessions(self.database)

    @cached_property
    def rate_limits(self) -> "ports.RateLimitStore":
        from contentsvc_adapters.sql.limits import SqlRateLimitStore

        return SqlRateLimitStore(self.database)

    @cached_property
    def keyed_requests(self) -> "ports.KeyedRequests":
        from contentsvc_adapters.sql.keyed_requests import SqlKeyedRequests

        return SqlKeyedRequests(self.database, self._sealer)

    @cached_property
    def read_model(self) -> "ports.ReadModel":
        from contentsvc_adapters.sql.read_model import SqlReadModel

        return SqlReadModel(self.database)

    @cached_property
    def run_lists(self) -> "ports.RunLists":
        from contentsvc_adapters.sql.run_lists import SqlRunLists

        return SqlRunLists(self.database)

    @cached_property
    def search(self) -> "SqlSearch":
        from contentsvc_adapters.sql.searching.search import SqlSearch

        return SqlSearch(self.database)

    @cached_property
    def endpoints(self) -> "ports.WebhookEndpoints":
        from contentsvc_adapters.sql.outgoing.endpoints import SqlWebhookEndpoints

        return SqlWebhookEndpoints(self.database, self._sealer)

    @cached_property
    def outbox(self) -> "ports.Outbox":
        from contentsvc_adapters.sql.outgoing.outbox import SqlOutbox

        return SqlOutbox(self.database, self._sealer)

    @cached_property
    def recipients(self) -> "ports.Recipients":
        from contentsvc_adapters.sql.outgoing.recipients import SqlRecipients

        return SqlRecipients(self.database, self._sealer)

    @cached_property
    def alerts(self) -> "ports.Alerts":
        from contentsvc_adapters.sql.outgoing.alerts import SqlAlerts

        return SqlAlerts(self.database)

    @cached_property
    def subscribers(self) -> "ports.Subscribers":
        from contentsvc_adapters.sql.subscribers import SqlSubscribers

        return SqlSubscribers(self.database, self._sealer)

    @cached_property
    def mailbox(self) -> "ports.Mailbox":
        from contentsvc_adapters.sql.mailing import SqlMailbox

        return SqlMailbox(self.database, self._sealer)

    async def close(self) -> None:
        if "queue" in vars(self):
            await self.queue.close(_DRAINED_WITHIN_S)
        await self.database.dispose()


def sql_stores(database: "Database", sealer: "ports.SecretSealer") -> SqlStores:
    return SqlStores(database, sealer)
