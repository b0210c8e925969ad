from typing import final

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


@final
@frozen(kw_only=True)
class MemoryStores:
    sealer: ports.SecretSealer
    state: State = Factory(State)
    deliveries: ports.DeliveryStore = Factory(
        lambda self: MemoryDeliveryStore(self.state, self.sealer), takes_self=True
    )
    ledger: ports.RunLedger = Factory(lambda self: MemoryRunLedger(self.state), takes_self=True)
    executors: ports.Executors = Factory(lambda self: MemoryExecutors(self.state), takes_self=True)
    run_state: ports.RunStateStore = Factory(lambda self: MemoryRunStateStore(self.state), takes_self=True)
    jobs: ports.Jobs = Factory(lambda self: MemoryJobs(self.state), takes_self=True)
    contexts: ports.ContextLibrary = Factory(lambda self: MemoryContextLibrary(self.state), takes_self=True)
    posts: ports.PostLibrary = Factory(lambda self: MemoryPostLibrary(self.state), takes_self=True)
    changelogs: ports.Changelogs = Factory(lambda self: MemoryChangelogs(self.state), takes_self=True)
    journal: ports.Journal = Factory(lambda self: MemoryJournal(self.state), takes_self=True)
    directory: ports.Directory = Factory(lambda self: MemoryDirectory(self.state, self.sealer), takes_self=True)
    hooks: ports.Hooks = Factory(lambda self: MemoryHooks(self.state, self.sealer), takes_self=True)
    brands: ports.BrandIdentities = Factory(lambda self: MemoryBrandIdentities(self.state), takes_self=True)
    triggers: ports.Triggers = Factory(
        lambda self: MemoryAutomations(self.state, Trigger, self.state.triggers), takes_self=True
    )
    schedules: ports.Schedules = Factory(
        lambda self: MemoryAutomations(self.state, Schedule, self.state.schedules), takes_self=True
    )
    keys: ports.ApiKeys = Factory(lambda self: MemoryApiKeys(self.state), takes_self=True)
    sessions: ports.Sessions = Factory(lambda self: MemorySessions(self.state), takes_self=True)
    rate_limits: ports.RateLimitStore = Factory(lambda self: MemoryRateLimitStore(self.state), takes_self=True)
    keyed_requests: ports.KeyedRequests = Factory(lambda self: MemoryKeyedRequests(self.state), takes_self=True)
    read_model: ports.ReadModel = Factory(lambda self: MemoryReadModel(self.state), takes_self=True)
    run_lists: ports.RunLists = Factory(lambda self: MemoryRunLists(self.state), takes_self=True)
    search: ports.Search = Factory(lambda self: MemorySearch(self.state), takes_self=True)
    endpoints: ports.WebhookEndpoints = Factory(
        lambda self: MemoryWebhookEndpoints(self.state, self.sealer), takes_self=True
    )
    outbox: ports.Outbox = Factory(lambda self: MemoryOutbox(self.state, self.sealer), takes_self=True)
    recipients: ports.Recipients = Factory(lambda self: MemoryRecipients(self.state, self.sealer), takes_self=True)
    alerts: ports.Alerts = Factory(lambda self: MemoryAlerts(self.state), takes_self=True)
    subscribers: ports.Subscribers = Factory(lambda self: MemorySubscribers(self.state, self.sealer), takes_self=True)
    mailbox: ports.Mailbox = Factory(lambda self: MemoryMailbox(self.state, self.sealer), takes_self=True)

    async def close(self) -> None:
        pass


def memory_stores(sealer: ports.SecretSealer, state: State | None = None) -> MemoryStores:
    return MemoryStores(sealer=sealer, state=State() if state is None else state)
