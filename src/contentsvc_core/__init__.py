"""The core of contentsvc: receives webhooks of code hosts exactly once, and decides on their effects.

Deliveries enter as bytes and leave as a settlement value, which one transaction writes. The core has no networking, no
storage and no clock. ``contentsvc_core.testing`` and ``contentsvc_core.strategies`` are for your tests;
``contentsvc_core.ports`` has the protocols of a store of your own.
"""

from typing import TYPE_CHECKING, Final

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_core.access.keys import ApiKey, Scope
    from contentsvc_core.access.rates import Bucket, Rate, rate_of
    from contentsvc_core.access.window import Verdict, Window, rate_headers, refusal_body, refusal_headers
    from contentsvc_core.application import Application
    from contentsvc_core.content.brand import BrandBody, BrandIdentity, ToneProfile
    from contentsvc_core.content.changelog.markdown import inline
    from contentsvc_core.content.forms.choice import write_content
    from contentsvc_core.content.house_style import HouseStyle
    from contentsvc_core.content.options import ChangelogOptions
    from contentsvc_core.content.posts import ContentType, Post, PostStatus, post_body
    from contentsvc_core.content.public.changelogs import PublicChangelog
    from contentsvc_core.content.pull_requests import PullRequest
    from contentsvc_core.content.sections import Section
    from contentsvc_core.content.windows import Lookback, LookbackWindow, window_at
    from contentsvc_core.content.writing import Brief, Chapter, Draft, PackageRelease, Silence
    from contentsvc_core.errors import (
        ContentServiceError,
        ReceivingFailed,
        SchemaMismatch,
        SecretUnreadable,
        StoreUnavailable,
        UnreadableRow,
        Unstorable,
        WriterUnavailable,
    )
    from contentsvc_core.events.normalized import Author, Commit, Event, HeadCommit, Push, Release
    from contentsvc_core.events.wire import event_from_json, event_to_json
    from contentsvc_core.journal import Direction, LogEntry, LogStatus, log_body
    from contentsvc_core.lists.pagination import PageRequest, Pagination, paginate
    from contentsvc_core.organizations import Integration, Organization, Repository
    from contentsvc_core.outgoing.endpoints import ChangeEndpoint, CreateEndpoint, EndpointBody, WebhookEndpoint
    from contentsvc_core.outgoing.events import EventType
    from contentsvc_core.outgoing.messages import Message
    from contentsvc_core.refusals import Refusal as Refusal
    from contentsvc_core.refusals import RefusalKind as RefusalKind
    from contentsvc_core.text import one_line, storable
    from contentsvc_core.timestamps import from_ms, to_ms
    from contentsvc_core.usecases.authenticate import Authenticator
    from contentsvc_core.usecases.brands import BrandEditor
    from contentsvc_core.usecases.briefs import Briefs
    from contentsvc_core.usecases.code_host_service import CodeHostService
    from contentsvc_core.usecases.connect import Connected, Connector, Disconnected
    from contentsvc_core.usecases.dispatch import Dispatcher
    from contentsvc_core.usecases.edit import PostEditor
    from contentsvc_core.usecases.expire import Sweeper
    from contentsvc_core.usecases.generate import GeneratePost, Generator, JobStarter
    from contentsvc_core.usecases.limit import RateLimiter
    from contentsvc_core.usecases.operate import Connection, IssuedKey, Operator
    from contentsvc_core.usecases.perform import Performer
    from contentsvc_core.usecases.plan import Planner
    from contentsvc_core.usecases.publicize import ChangelogEditor
    from contentsvc_core.usecases.read_site import BrandGenerator, BrandReader
    from contentsvc_core.usecases.receive import Receiver
    from contentsvc_core.usecases.reconcile import Reconciler
    from contentsvc_core.usecases.replay import Replayer
    from contentsvc_core.usecases.rotate import Rotator
    from contentsvc_core.usecases.schedule import Scheduler
    from contentsvc_core.usecases.trail import DeliveryTrails
    from contentsvc_core.usecases.triggers import TriggerEditor
    from contentsvc_core.usecases.webhook_endpoints import EndpointEditor
    from contentsvc_core.webhooks.decision import BODY_TOO_LARGE, MAX_BODY, admit, decide, locate, preflight
    from contentsvc_core.webhooks.delivery import (
        Address,
        Belonging,
        Delivery,
        Headers,
        HookConfiguration,
        VerifiedDelivery,
    )
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
    from contentsvc_core.webhooks.providers.decoding import Malformed, decode_body
    from contentsvc_core.webhooks.providers.native import Reading
    from contentsvc_core.webhooks.providers.provider import Setup
    from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Claim, Settled, Settlement, claim_is_held, settlement
    from contentsvc_core.webhooks.signature import SIGNATURE_HEADER, HmacSha256, SharedToken, sign, verify
    from contentsvc_core.workflows.bodies import ScheduleBody, TriggerBody
    from contentsvc_core.workflows.causes import Cause, Delivered, Generation, SiteReading, Source
    from contentsvc_core.workflows.context import ContextRecord, RecordBody
    from contentsvc_core.workflows.filters import Batch, TriggerOptions
    from contentsvc_core.workflows.jobs import Job, JobEvent
    from contentsvc_core.workflows.runs import RunBody, RunStatus, WorkflowRun
    from contentsvc_core.workflows.schedules import Schedule
    from contentsvc_core.workflows.slots import Cron, Frequency
    from contentsvc_core.workflows.triggers import ChangeTrigger, CreateTrigger, Trigger, matching

__all__ = [
    "BODY_TOO_LARGE",
    "DEDUPE_WINDOW",
    "MAX_BODY",
    "PROVIDERS",
    "SIGNATURE_HEADER",
    "Address",
    "ApiKey",
    "Application",
    "Authenticator",
    "Author",
    "Batch",
    "Belonging",
    "BrandBody",
    "BrandEditor",
    "BrandGenerator",
    "BrandIdentity",
    "BrandReader",
    "Brief",
    "Briefs",
    "Bucket",
    "Cause",
    "ChangeEndpoint",
    "ChangeTrigger",
    "ChangelogEditor",
    "ChangelogOptions",
    "Chapter",
    "Claim",
    "CodeHostService",
    "Commit",
    "Connected",
    "Connection",
    "Connector",
    "ContentServiceError",
    "ContentType",
    "ContextRecord",
    "CreateEndpoint",
    "CreateTrigger",
    "Cron",
    "Delivered",
    "Delivery",
    "DeliveryTrails",
    "Direction",
    "Disconnected",
    "Dispatcher",
    "Draft",
    "Duplicate",
    "EndpointBody",
    "EndpointEditor",
    "Event",
    "EventType",
    "Fault",
    "Filtered",
    "Frequency",
    "GeneratePost",
    "Generation",
    "Generator",
    "HeadCommit",
    "Headers",
    "HmacSha256",
    "HookConfiguration",
    "HouseStyle",
    "Ignored",
    "Integration",
    "IssuedKey",
    "Job",
    "JobEvent",
    "JobStarter",
    "LogEntry",
    "LogStatus",
    "Lookback",
    "LookbackWindow",
    "Malformed",
    "Message",
    "Operator",
    "Organization",
    "Outcome",
    "PackageRelease",
    "PageRequest",
    "Pagination",
    "Performer",
    "Planner",
    "Pong",
    "Post",
    "PostEditor",
    "PostStatus",
    "Processed",
    "Provider",
    "PublicChangelog",
    "PullRequest",
    "Push",
    "Rate",
    "RateLimiter",
    "Reading",
    "Receiver",
    "ReceivingFailed",
    "Reconciler",
    "RecordBody",
    "Refusal",
    "RefusalKind",
    "Rejected",
    "Release",
    "Replayer",
    "Repository",
    "Rotator",
    "RunBody",
    "RunStatus",
    "Schedule",
    "ScheduleBody",
    "Scheduler",
    "SchemaMismatch",
    "Scope",
    "SecretUnreadable",
    "Section",
    "Settled",
    "Settlement",
    "Setup",
    "SharedToken",
    "Silence",
    "SiteReading",
    "Source",
    "StoreUnavailable",
    "Sweeper",
    "ToneProfile",
    "Trigger",
    "TriggerBody",
    "TriggerEditor",
    "TriggerOptions",
    "UnreadableRow",
    "Unstorable",
    "Verdict",
    "VerifiedDelivery",
    "WebhookEndpoint",
    "Window",
    "WorkflowRun",
    "WriterUnavailable",
    "admit",
    "answer",
    "claim_is_held",
    "decide",
    "decode_body",
    "event_from_json",
    "event_to_json",
    "from_ms",
    "inline",
    "locate",
    "log_body",
    "matching",
    "one_line",
    "paginate",
    "post_body",
    "preflight",
    "rate_headers",
    "rate_of",
    "refusal_body",
    "refusal_headers",
    "settlement",
    "sign",
    "storable",
    "to_ms",
    "verify",
    "window_at",
    "write_content",
]

_HOMES: Final = {
    "access.keys": "ApiKey Scope",
    "access.rates": "Bucket Rate rate_of",
    "access.window": "Verdict Window rate_headers refusal_body refusal_headers",
    "application": "Application",
    "content.brand": "BrandBody BrandIdentity ToneProfile",
    "content.changelog.markdown": "inline",
    "content.forms.choice": "write_content",
    "content.house_style": "HouseStyle",
    "content.options": "ChangelogOptions",
    "content.posts": "ContentType Post PostStatus post_body",
    "content.public.changelogs": "PublicChangelog",
    "content.pull_requests": "PullRequest",
    "content.sections": "Section",
    "content.windows": "Lookback LookbackWindow window_at",
    "content.writing": "Brief Chapter Draft PackageRelease Silence",
    "errors": (
        "ContentServiceError ReceivingFailed SchemaMismatch SecretUnreadable "
        "StoreUnavailable UnreadableRow Unstorable WriterUnavailable"
    ),
    "events.normalized": "Author Commit Event HeadCommit Push Release",
    "events.wire": "event_from_json event_to_json",
    "journal": "Direction LogEntry LogStatus log_body",
    "lists.pagination": "PageRequest Pagination paginate",
    "organizations": "Integration Organization Repository",
    "outgoing.endpoints": "ChangeEndpoint CreateEndpoint EndpointBody WebhookEndpoint",
    "outgoing.events": "EventType",
    "outgoing.messages": "Message",
    "refusals": "Refusal RefusalKind",
    "text": "one_line storable",
    "timestamps": "from_ms to_ms",
    "usecases.authenticate": "Authenticator",
    "usecases.brands": "BrandEditor",
    "usecases.briefs": "Briefs",
    "usecases.code_host_service": "CodeHostService",
    "usecases.connect": "Connected Connector Disconnected",
    "usecases.dispatch": "Dispatcher",
    "usecases.edit": "PostEditor",
    "usecases.expire": "Sweeper",
    "usecases.generate": "GeneratePost Generator JobStarter",
    "usecases.limit": "RateLimiter",
    "usecases.operate": "Connection IssuedKey Operator",
    "usecases.perform": "Performer",
    "usecases.plan": "Planner",
    "usecases.publicize": "ChangelogEditor",
    "usecases.read_site": "BrandGenerator BrandReader",
    "usecases.receive": "Receiver",
    "usecases.reconcile": "Reconciler",
    "usecases.replay": "Replayer",
    "usecases.rotate": "Rotator",
    "usecases.schedule": "Scheduler",
    "usecases.trail": "DeliveryTrails",
    "usecases.triggers": "TriggerEditor",
    "usecases.webhook_endpoints": "EndpointEditor",
    "webhooks.decision": "BODY_TOO_LARGE MAX_BODY admit decide locate preflight",
    "webhooks.delivery": "Address Belonging Delivery Headers HookConfiguration VerifiedDelivery",
    "webhooks.outcomes": "Duplicate Fault Filtered Ignored Outcome Pong Processed Rejected answer",
    "webhooks.providers": "PROVIDERS Provider",
    "webhooks.providers.decoding": "Malformed decode_body",
    "webhooks.providers.native": "Reading",
    "webhooks.providers.provider": "Setup",
    "webhooks.settlement": "DEDUPE_WINDOW Claim Settled Settlement claim_is_held settlement",
    "webhooks.signature": "HmacSha256 SIGNATURE_HEADER SharedToken sign verify",
    "workflows.bodies": "ScheduleBody TriggerBody",
    "workflows.causes": "Cause Delivered Generation SiteReading Source",
    "workflows.context": "ContextRecord RecordBody",
    "workflows.filters": "Batch TriggerOptions",
    "workflows.jobs": "Job JobEvent",
    "workflows.runs": "RunBody RunStatus WorkflowRun",
    "workflows.schedules": "Schedule",
    "workflows.slots": "Cron Frequency",
    "workflows.triggers": "ChangeTrigger CreateTrigger Trigger matching",
}

if not TYPE_CHECKING:
    __getattr__ = names_on_demand(__name__, _HOMES)
