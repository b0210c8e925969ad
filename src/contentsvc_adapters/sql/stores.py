from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar, cast, final

import contentsvc_core as core
from contentsvc_adapters import sql

if TYPE_CHECKING:
    from collections.abc import Callable

    from contentsvc_core.ports import SecretSealer

_Store = TypeVar("_Store")

#: The time limit for writing the accepted settlements when the stores are closed, in seconds.
_DRAINED_WITHIN_S: Final = 2.5


def _store(make: "Callable[[SqlStores], _Store]") -> _Store:
    """Return a cached property; to the type checker it is the attribute that the protocol asks for."""
    return cast("_Store", cached_property(make))


@final
class SqlStores:
    """The stores of one database. They cache no rows, so writes of other processes are visible at once.

    A store's module is imported on first access: a command that lists keys loads no other store.
    """

    def __init__(self, database: "sql.Database", sealer: "SecretSealer") -> None:
        self.database: Final = database
        self._sealer: Final = sealer

    queue = _store(lambda self: sql.settlement_queue(self.database))
    deliveries = _store(lambda self: sql.SqlDeliveryStore(self.database, self._sealer, self.queue))
    ledger = _store(lambda self: sql.SqlRunLedger(self.database))
    executors = _store(lambda self: sql.SqlExecutors(self.database))
    run_state = _store(lambda self: sql.SqlRunStateStore(self.database))
    jobs = _store(lambda self: sql.SqlJobs(self.database))
    contexts = _store(lambda self: sql.SqlContextLibrary(self.database))
    posts = _store(lambda self: sql.SqlPostLibrary(self.database, lambda: self.search))
    changelogs = _store(lambda self: sql.SqlChangelogs(self.database))
    journal = _store(lambda self: sql.SqlJournal(self.database))
    directory = _store(lambda self: sql.SqlDirectory(self.database, self._sealer))
    hooks = _store(lambda self: sql.SqlHooks(self.database, self._sealer))
    brands = _store(lambda self: sql.SqlBrandIdentities(self.database))
    triggers = _store(lambda self: sql.SqlAutomations(self.database, core.Trigger))
    schedules = _store(lambda self: sql.SqlAutomations(self.database, core.Schedule))
    keys = _store(lambda self: sql.SqlApiKeys(self.database))
    sessions = _store(lambda self: sql.SqlSessions(self.database))
    rate_limits = _store(lambda self: sql.SqlRateLimitStore(self.database))
    keyed_requests = _store(lambda self: sql.SqlKeyedRequests(self.database, self._sealer))
    read_model = _store(lambda self: sql.SqlReadModel(self.database))
    run_lists = _store(lambda self: sql.SqlRunLists(self.database))
    search = _store(lambda self: sql.SqlSearch(self.database))
    endpoints = _store(lambda self: sql.SqlWebhookEndpoints(self.database, self._sealer))
    outbox = _store(lambda self: sql.SqlOutbox(self.database, self._sealer))
    recipients = _store(lambda self: sql.SqlRecipients(self.database, self._sealer))
    alerts = _store(lambda self: sql.SqlAlerts(self.database))
    subscribers = _store(lambda self: sql.SqlSubscribers(self.database, self._sealer))
    mailbox = _store(lambda self: sql.SqlMailbox(self.database, self._sealer))

    async def close(self) -> None:
        if "queue" in vars(self):
            await self.queue.close(_DRAINED_WITHIN_S)
        await self.database.dispose()
