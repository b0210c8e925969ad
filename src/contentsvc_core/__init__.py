"""The core of contentsvc: receives a code host's webhooks exactly once, and says what must follow from them.

Bytes come in, a value comes out, one transaction makes it true. The core contains no networking, no storage and no
clock: it decides, and a driver and a store that you choose do the rest. ``contentsvc_core.testing`` and
``contentsvc_core.strategies`` are for your tests; ``contentsvc_core.ports`` is what a store of your own implements.
"""

from contentsvc_core.content.changelog import write_changelog
from contentsvc_core.content.pagination import InvalidPage, PageRequest, Pagination, paginate
from contentsvc_core.content.posts import ContentType, Post, PostStatus, post_body
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.errors import ContentServiceError, ReceivingFailed, StoreBusy, StoreUnavailable, Unstorable
from contentsvc_core.journal import Direction, LogEntry, LogStatus, log_body
from contentsvc_core.organizations import Integration, Organization, Repository
from contentsvc_core.usecases.operate import Connection, IssuedKey, Operator, Refusal
from contentsvc_core.usecases.receive import Receiver
from contentsvc_core.webhooks.decision import MAX_BODY, admit, decide, locate, preflight
from contentsvc_core.webhooks.delivery import Address, Belonging, Delivery, Endpoint, VerifiedDelivery
from contentsvc_core.webhooks.events import Author, Commit, Event, HeadCommit, Push, Release
from contentsvc_core.webhooks.outcomes import (
    Duplicate,
    Fault,
    Filtered,
    Ignored,
    Outcome,
    Pong,
    Processed,
    Rejected,
    answer,
)
from contentsvc_core.webhooks.providers import PROVIDERS, Provider
from contentsvc_core.webhooks.settlement import Claim, ClaimKey, Settled, Settlement, settlement
from contentsvc_core.webhooks.signature import SIGNATURE_HEADER, sign, verify
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun
from contentsvc_core.workflows.triggers import Trigger, matching

__all__ = [
    "MAX_BODY",
    "PROVIDERS",
    "SIGNATURE_HEADER",
    "Address",
    "Author",
    "Belonging",
    "Brief",
    "Claim",
    "ClaimKey",
    "Commit",
    "Connection",
    "ContentServiceError",
    "ContentType",
    "ContextRecord",
    "Delivery",
    "Direction",
    "Draft",
    "Duplicate",
    "Endpoint",
    "Event",
    "Fault",
    "Filtered",
    "HeadCommit",
    "Ignored",
    "Integration",
    "InvalidPage",
    "IssuedKey",
    "LogEntry",
    "LogStatus",
    "Operator",
    "Organization",
    "Outcome",
    "PageRequest",
    "Pagination",
    "Pong",
    "Post",
    "PostStatus",
    "Processed",
    "Provider",
    "Push",
    "Receiver",
    "ReceivingFailed",
    "Refusal",
    "Rejected",
    "Release",
    "Repository",
    "RunStatus",
    "Settled",
    "Settlement",
    "StoreBusy",
    "StoreUnavailable",
    "Trigger",
    "Unstorable",
    "VerifiedDelivery",
    "WorkflowRun",
    "admit",
    "answer",
    "decide",
    "locate",
    "log_body",
    "matching",
    "paginate",
    "post_body",
    "preflight",
    "settlement",
    "sign",
    "verify",
    "write_changelog",
]
