# ruff: noqa: RUF009  # the calls create factories
from collections.abc import Callable
from typing import TypeVar, final

from attrs import Factory, frozen

from contentsvc_adapters.memory.access import MemoryApiKeys, MemoryKeyedRequests, MemoryRateLimitStore, MemorySessions
from contentsvc_adapters.memory.automations import MemoryAutomations
from contentsvc_adapters.memory.brands import MemoryBrandIdentities
from contentsvc_adapters.memory.changelogs import MemoryChangelogs
from contentsvc_adapters.memory.directory import MemoryDirectory, MemoryHooks
from contentsvc_adapters.memory.journal import MemoryDeliveryStore, MemoryJournal
from contentsvc_adapters.memory.ledger import MemoryExecutors, MemoryJobs, MemoryRunLedger, MemoryRunStateStore
from contentsvc_adapters.memory.library import MemoryContextLibrary, MemoryPostLibrary
from contentsvc_adapters.memory.mailing import MemoryMailbox, MemorySubscribers
from contentsvc_adapters.memory.outgoing import MemoryAlerts, MemoryOutbox, MemoryWebhookEndpoints
from contentsvc_adapters.memory.read_model import MemoryReadModel, MemoryRunLists, MemorySearch
from contentsvc_adapters.memory.recipients import MemoryRecipients
from contentsvc_adapters.memory.state import State
from contentsvc_core import ports
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.triggers import Trigger

_Port = TypeVar("_Port")


def _store(kind: Callable[[State, ports.SecretSealer], _Port]) -> _Port:
    return Factory(lambda self: kind(self.state, self.sealer), takes_self=True)


@final
@frozen(kw_only=True)
class MemoryStores:
    sealer: ports.SecretSealer
    state: State = Factory(State)
    deliveries: ports.DeliveryStore = _store(MemoryDeliveryStore)
    ledger: ports.RunLedger = _store(MemoryRunLedger)
    executors: ports.Executors = _store(MemoryExecutors)
    run_state: ports.RunStateStore = _store(MemoryRunStateStore)
    jobs: ports.Jobs = _store(MemoryJobs)
    contexts: ports.ContextLibrary = _store(MemoryContextLibrary)
    posts: ports.PostLibrary = _store(MemoryPostLibrary)
    changelogs: ports.Changelogs = _store(MemoryChangelogs)
    journal: ports.Journal = _store(MemoryJournal)
    directory: ports.Directory = _store(MemoryDirectory)
    hooks: ports.Hooks = _store(MemoryHooks)
    brands: ports.BrandIdentities = _store(MemoryBrandIdentities)
    triggers: ports.Triggers = _store(lambda state, sealer: MemoryAutomations(state, sealer, Trigger, state.triggers))
    schedules: ports.Schedules = _store(
        lambda state, sealer: MemoryAutomations(state, sealer, Schedule, state.schedules)
    )
    keys: ports.ApiKeys = _store(MemoryApiKeys)
    sessions: ports.Sessions = _store(MemorySessions)
    rate_limits: ports.RateLimitStore = _store(MemoryRateLimitStore)
    keyed_requests: ports.KeyedRequests = _store(MemoryKeyedRequests)
    read_model: ports.ReadModel = _store(MemoryReadModel)
    run_lists: ports.RunLists = _store(MemoryRunLists)
    search: ports.Search = _store(MemorySearch)
    endpoints: ports.WebhookEndpoints = _store(MemoryWebhookEndpoints)
    outbox: ports.Outbox = _store(MemoryOutbox)
    recipients: ports.Recipients = _store(MemoryRecipients)
    alerts: ports.Alerts = _store(MemoryAlerts)
    subscribers: ports.Subscribers = _store(MemorySubscribers)
    mailbox: ports.Mailbox = _store(MemoryMailbox)

    async def close(self) -> None:
        pass


def memory_stores(sealer: ports.SecretSealer, state: State | None = None) -> MemoryStores:
    return MemoryStores(sealer=sealer, state=State() if state is None else state)
