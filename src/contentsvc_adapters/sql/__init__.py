"""The stores in a SQL database: SQLite or PostgreSQL."""

from typing import TYPE_CHECKING

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_adapters.sql.access import SqlKeyedRequests as SqlKeyedRequests
    from contentsvc_adapters.sql.access import SqlRateLimitStore as SqlRateLimitStore
    from contentsvc_adapters.sql.access import SqlSessions as SqlSessions
    from contentsvc_adapters.sql.automations import SqlAutomations as SqlAutomations
    from contentsvc_adapters.sql.brands import SqlBrandIdentities as SqlBrandIdentities
    from contentsvc_adapters.sql.changelogs import SqlChangelogs as SqlChangelogs
    from contentsvc_adapters.sql.database import Database as Database
    from contentsvc_adapters.sql.deliveries import SqlDeliveryStore as SqlDeliveryStore
    from contentsvc_adapters.sql.directory import SqlDirectory as SqlDirectory
    from contentsvc_adapters.sql.directory import any_sealed as any_sealed
    from contentsvc_adapters.sql.executors import SqlExecutors as SqlExecutors
    from contentsvc_adapters.sql.executors import SqlRunStateStore as SqlRunStateStore
    from contentsvc_adapters.sql.hooks import SqlHooks as SqlHooks
    from contentsvc_adapters.sql.jobs import SqlJobs as SqlJobs
    from contentsvc_adapters.sql.journal import SqlJournal as SqlJournal
    from contentsvc_adapters.sql.keys import SqlApiKeys as SqlApiKeys
    from contentsvc_adapters.sql.ledger import SqlRunLedger as SqlRunLedger
    from contentsvc_adapters.sql.library import SqlContextLibrary as SqlContextLibrary
    from contentsvc_adapters.sql.mailing import SqlMailbox as SqlMailbox
    from contentsvc_adapters.sql.migrations.migrate import HEAD as HEAD
    from contentsvc_adapters.sql.migrations.migrate import check_known as check_known
    from contentsvc_adapters.sql.migrations.migrate import is_older as is_older
    from contentsvc_adapters.sql.migrations.migrate import make_ready as make_ready
    from contentsvc_adapters.sql.migrations.migrate import revision as revision
    from contentsvc_adapters.sql.migrations.migrate import upgrade as upgrade
    from contentsvc_adapters.sql.outgoing.alerts import SqlAlerts as SqlAlerts
    from contentsvc_adapters.sql.outgoing.endpoints import SqlWebhookEndpoints as SqlWebhookEndpoints
    from contentsvc_adapters.sql.outgoing.outbox import SqlOutbox as SqlOutbox
    from contentsvc_adapters.sql.outgoing.recipients import SqlRecipients as SqlRecipients
    from contentsvc_adapters.sql.post_library import SqlPostLibrary as SqlPostLibrary
    from contentsvc_adapters.sql.read_model import SqlReadModel as SqlReadModel
    from contentsvc_adapters.sql.run_lists import SqlRunLists as SqlRunLists
    from contentsvc_adapters.sql.searching.search import SqlSearch as SqlSearch
    from contentsvc_adapters.sql.serving import check_writable as check_writable
    from contentsvc_adapters.sql.serving import serving_alone as serving_alone
    from contentsvc_adapters.sql.settling.choice import settlement_queue as settlement_queue
    from contentsvc_adapters.sql.stores import SqlStores as SqlStores
    from contentsvc_adapters.sql.subscribers import SqlSubscribers as SqlSubscribers

if not TYPE_CHECKING:
    __getattr__ = names_on_demand(__name__)
