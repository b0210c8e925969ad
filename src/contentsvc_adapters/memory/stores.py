from typing import final

from attrs import frozen

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
    deliveries: ports.DeliveryStore
    ledger: ports.RunLedger
    executors: ports.Executors
    run_state: ports.RunStateStore
    jobs: ports.Jobs
    contexts: ports.ContextLibrary
    posts: ports.PostLibrary
    changelogs: ports.Changelogs
    journal: ports.Journal
    directory: ports.Directory
    hooks: ports.Hooks
    brands: ports.BrandIdentities
    triggers: ports.Triggers
    schedules: ports.Schedules
    keys: ports.ApiKeys
    sessions: ports.Sessions
    rate_limits: ports.RateLimitStore
    keyed_requests: ports.KeyedRequests
    read_model: ports.ReadModel
    run_lists: ports.RunLists
    search: ports.Search
    endpoints: ports.WebhookEndpoints
    outbox: ports.Outbox
    recipients: ports.Recipients
    alerts: ports.Alerts
    subscribers: ports.Subscribers
    mailbox: ports.Mailbox

    async def close(self) -> None:
        pass


def memory_stores(sealer: ports.SecretSealer, state: State | None = None) -> MemoryStores:
    state = State() if state is None else state
    return MemoryStores(
        deliveries=MemoryDeliveryStore(state, sealer),
        ledger=MemoryRunLedger(state),
        executors=MemoryExecutors(state),
        run_state=MemoryRunStateStore(state),
        jobs=MemoryJobs(state),
        contexts=MemoryContextLibrary(state),
        posts=MemoryPostLibrary(state),
        changelogs=MemoryChangelogs(state),
        journal=MemoryJournal(state),
        directory=MemoryDirectory(state, sealer),
        hooks=MemoryHooks(state, sealer),
        triggers=MemoryAutomations(state, Trigger, state.triggers),
        schedules=MemoryAutomations(state, Schedule, state.schedules),
        brands=MemoryBrandIdentities(state),
        keys=MemoryApiKeys(state),
        sessions=MemorySessions(state),
        rate_limits=MemoryRateLimitStore(state),
        keyed_requests=MemoryKeyedRequests(state),
        read_model=MemoryReadModel(state),
        run_lists=MemoryRunLists(state),
        search=MemorySearch(state),
        endpoints=MemoryWebhookEndpoints(state, sealer),
        outbox=MemoryOutbox(state, sealer),
        recipients=MemoryRecipients(state, sealer),
        alerts=MemoryAlerts(state),
        subscribers=MemorySubscribers(state, sealer),
        mailbox=MemoryMailbox(state, sealer),
    )
