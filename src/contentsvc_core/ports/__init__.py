"""What the core needs from outside. One contract suite proves each guarantee for every adapter (``tests/contracts``).

Any method may raise :class:`~contentsvc_core.errors.StoreUnavailable`, and may be called again at once unless it says
otherwise. Tenant-scoped methods take the organization's id first and see nothing of another one.
"""

from typing import TYPE_CHECKING, Final

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_core.ports.brands import BrandIdentities, SiteReader
    from contentsvc_core.ports.changelogs import Changelogs
    from contentsvc_core.ports.code_hosts import CodeHost, Hooks
    from contentsvc_core.ports.content import ContentWriter, ContextLibrary, MarkupRenderer, PostLibrary
    from contentsvc_core.ports.deliveries import DeliveryQueue, DeliveryStore, Journal, LogWriter
    from contentsvc_core.ports.directory import ApiKeys, Directory, SecretSealer
    from contentsvc_core.ports.jobs import Jobs
    from contentsvc_core.ports.keyed_requests import KeyedRequests
    from contentsvc_core.ports.limits import RateLimitStore, Transition
    from contentsvc_core.ports.mailing import Mailbox, MailSender, Subscribers
    from contentsvc_core.ports.outgoing import Alerts, Outbox, Recipients, WebhookEndpoints, WebhookSender
    from contentsvc_core.ports.outside import Clock, IdSource, Offload, Repeatable, Share, Shares
    from contentsvc_core.ports.read_model import ReadModel
    from contentsvc_core.ports.run_lists import RunLists
    from contentsvc_core.ports.runs import (
        Executors,
        RunLedger,
        RunStateStore,
        Steps,
        Workflow,
    )
    from contentsvc_core.ports.schedules import Schedules
    from contentsvc_core.ports.search import Search
    from contentsvc_core.ports.sessions import Sessions
    from contentsvc_core.ports.stores import Stores

__all__ = [
    "Alerts",
    "ApiKeys",
    "BrandIdentities",
    "Changelogs",
    "Clock",
    "CodeHost",
    "ContentWriter",
    "ContextLibrary",
    "DeliveryQueue",
    "DeliveryStore",
    "Directory",
    "Executors",
    "Hooks",
    "IdSource",
    "Jobs",
    "Journal",
    "KeyedRequests",
    "LogWriter",
    "MailSender",
    "Mailbox",
    "MarkupRenderer",
    "Offload",
    "Outbox",
    "PostLibrary",
    "RateLimitStore",
    "ReadModel",
    "Recipients",
    "Repeatable",
    "RunLedger",
    "RunLists",
    "RunStateStore",
    "Schedules",
    "Search",
    "SecretSealer",
    "Sessions",
    "Share",
    "Shares",
    "SiteReader",
    "Steps",
    "Stores",
    "Subscribers",
    "Transition",
    "WebhookEndpoints",
    "WebhookSender",
    "Workflow",
]

_HOMES: Final = {
    "brands": "BrandIdentities SiteReader",
    "changelogs": "Changelogs",
    "content": "ContentWriter ContextLibrary MarkupRenderer PostLibrary",
    "deliveries": "DeliveryQueue DeliveryStore Journal LogWriter",
    "directory": "ApiKeys Directory SecretSealer",
    "code_hosts": "CodeHost Hooks",
    "read_model": "ReadModel",
    "run_lists": "RunLists",
    "jobs": "Jobs",
    "keyed_requests": "KeyedRequests",
    "limits": "RateLimitStore Transition",
    "mailing": "MailSender Mailbox Subscribers",
    "outgoing": "Alerts Outbox Recipients WebhookEndpoints WebhookSender",
    "outside": "Offload Clock IdSource Repeatable Share Shares",
    "runs": "Executors RunLedger RunStateStore Steps Workflow",
    "schedules": "Schedules",
    "search": "Search",
    "sessions": "Sessions",
    "stores": "Stores",
}

if not TYPE_CHECKING:
    # A type checker reads the imports above, and refuses every other name.
    __getattr__ = names_on_demand(__name__, _HOMES)
