"""The interfaces that the core needs. One contract suite proves each guarantee for every adapter (``tests/contracts``).

Any method may raise :class:`~contentsvc_core.errors.StoreUnavailable`, and may be called again at once unless it says
otherwise. Tenant-scoped methods take the organization's id first and see nothing of another one. Text that is not of
the form of our ids is the id of nothing: a method answers as for an unknown id.
"""

from typing import TYPE_CHECKING

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_core.ports.access import KeyedRequests as KeyedRequests
    from contentsvc_core.ports.access import RateLimitStore as RateLimitStore
    from contentsvc_core.ports.access import Sessions as Sessions
    from contentsvc_core.ports.access import Transition as Transition
    from contentsvc_core.ports.automations import Automations as Automations
    from contentsvc_core.ports.automations import Schedules as Schedules
    from contentsvc_core.ports.automations import Triggers as Triggers
    from contentsvc_core.ports.brands import BrandIdentities as BrandIdentities
    from contentsvc_core.ports.brands import NotRead as NotRead
    from contentsvc_core.ports.brands import SiteFault as SiteFault
    from contentsvc_core.ports.brands import SitePage as SitePage
    from contentsvc_core.ports.brands import SiteReader as SiteReader
    from contentsvc_core.ports.changelogs import Changelogs as Changelogs
    from contentsvc_core.ports.code_hosts import CodeHost as CodeHost
    from contentsvc_core.ports.code_hosts import Hooks as Hooks
    from contentsvc_core.ports.content import ContentWriter as ContentWriter
    from contentsvc_core.ports.content import ContextLibrary as ContextLibrary
    from contentsvc_core.ports.content import MarkupRenderer as MarkupRenderer
    from contentsvc_core.ports.content import PostLibrary as PostLibrary
    from contentsvc_core.ports.deliveries import DeliveryQueue as DeliveryQueue
    from contentsvc_core.ports.deliveries import DeliveryStore as DeliveryStore
    from contentsvc_core.ports.deliveries import Journal as Journal
    from contentsvc_core.ports.deliveries import LogWriter as LogWriter
    from contentsvc_core.ports.directory import ApiKeys as ApiKeys
    from contentsvc_core.ports.directory import Directory as Directory
    from contentsvc_core.ports.directory import SecretSealer as SecretSealer
    from contentsvc_core.ports.mailing import Mailbox as Mailbox
    from contentsvc_core.ports.mailing import MailSender as MailSender
    from contentsvc_core.ports.mailing import Subscribers as Subscribers
    from contentsvc_core.ports.outgoing import Alerts as Alerts
    from contentsvc_core.ports.outgoing import Outbox as Outbox
    from contentsvc_core.ports.outgoing import Recipients as Recipients
    from contentsvc_core.ports.outgoing import WebhookEndpoints as WebhookEndpoints
    from contentsvc_core.ports.outgoing import WebhookSender as WebhookSender
    from contentsvc_core.ports.outside import Clock as Clock
    from contentsvc_core.ports.outside import IdSource as IdSource
    from contentsvc_core.ports.outside import Offload as Offload
    from contentsvc_core.ports.outside import Repeatable as Repeatable
    from contentsvc_core.ports.outside import Share as Share
    from contentsvc_core.ports.outside import Shares as Shares
    from contentsvc_core.ports.read_model import ReadModel as ReadModel
    from contentsvc_core.ports.read_model import RunLists as RunLists
    from contentsvc_core.ports.read_model import Search as Search
    from contentsvc_core.ports.runs import Executors as Executors
    from contentsvc_core.ports.runs import Jobs as Jobs
    from contentsvc_core.ports.runs import RunLedger as RunLedger
    from contentsvc_core.ports.runs import RunStateStore as RunStateStore
    from contentsvc_core.ports.runs import Steps as Steps
    from contentsvc_core.ports.runs import Workflow as Workflow
    from contentsvc_core.ports.stores import Stores as Stores

if not TYPE_CHECKING:
    # A type checker reads the imports above, and refuses every other name.
    __getattr__ = names_on_demand(__name__)
