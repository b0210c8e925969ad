"""The core of contentsvc: receives webhooks of code hosts exactly once, and decides on their effects.

Deliveries enter as bytes and leave as a settlement value, which one transaction writes. The core has no networking, no
storage and no clock. ``contentsvc_core.testing`` and ``contentsvc_core.strategies`` are for your tests;
``contentsvc_core.ports`` has the protocols of a store of your own.
"""

from typing import TYPE_CHECKING, Final

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_core.access.keys import ApiKey as ApiKey
    from contentsvc_core.access.keys import Scope as Scope
    from contentsvc_core.access.rates import Bucket as Bucket
    from contentsvc_core.access.rates import Rate as Rate
    from contentsvc_core.access.rates import rate_of as rate_of
    from contentsvc_core.access.window import Verdict as Verdict
    from contentsvc_core.access.window import Window as Window
    from contentsvc_core.access.window import rate_headers as rate_headers
    from contentsvc_core.access.window import refusal_body as refusal_body
    from contentsvc_core.access.window import refusal_headers as refusal_headers
    from contentsvc_core.application import Application as Application
    from contentsvc_core.content.brand import BrandBody as BrandBody
    from contentsvc_core.content.brand import BrandIdentity as BrandIdentity
    from contentsvc_core.content.brand import ToneProfile as ToneProfile
    from contentsvc_core.content.brand_changes import ChangeBrand as ChangeBrand
    from contentsvc_core.content.brand_changes import CreateBrand as CreateBrand
    from contentsvc_core.content.changelog.markdown import inline as inline
    from contentsvc_core.content.editing import ChangePost as ChangePost
    from contentsvc_core.content.editing import CreatePost as CreatePost
    from contentsvc_core.content.forms.choice import write_content as write_content
    from contentsvc_core.content.house_style import HouseStyle as HouseStyle
    from contentsvc_core.content.options import ChangelogOptions as ChangelogOptions
    from contentsvc_core.content.packages import PackageTag as PackageTag
    from contentsvc_core.content.posts import ContentType as ContentType
    from contentsvc_core.content.posts import Post as Post
    from contentsvc_core.content.posts import PostStatus as PostStatus
    from contentsvc_core.content.posts import post_body as post_body
    from contentsvc_core.content.public.changelogs import PublicChangelog as PublicChangelog
    from contentsvc_core.content.public.changes import ChangeChangelog as ChangeChangelog
    from contentsvc_core.content.public.changes import CreateChangelog as CreateChangelog
    from contentsvc_core.content.public.images import ImageKind as ImageKind
    from contentsvc_core.content.pull_requests import PullRequest as PullRequest
    from contentsvc_core.content.queries import PostQuery as PostQuery
    from contentsvc_core.content.sections import Section as Section
    from contentsvc_core.content.windows import Lookback as Lookback
    from contentsvc_core.content.windows import LookbackWindow as LookbackWindow
    from contentsvc_core.content.windows import window_at as window_at
    from contentsvc_core.content.writing import Brief as Brief
    from contentsvc_core.content.writing import Chapter as Chapter
    from contentsvc_core.content.writing import Draft as Draft
    from contentsvc_core.content.writing import PackageRelease as PackageRelease
    from contentsvc_core.content.writing import Silence as Silence
    from contentsvc_core.errors import ContentServiceError as ContentServiceError
    from contentsvc_core.errors import ReceivingFailed as ReceivingFailed
    from contentsvc_core.errors import SchemaMismatch as SchemaMismatch
    from contentsvc_core.errors import SecretUnreadable as SecretUnreadable
    from contentsvc_core.errors import StoreUnavailable as StoreUnavailable
    from contentsvc_core.errors import UnreadableRow as UnreadableRow
    from contentsvc_core.errors import Unstorable as Unstorable
    from contentsvc_core.errors import WriterUnavailable as WriterUnavailable
    from contentsvc_core.events.normalized import Author as Author
    from contentsvc_core.events.normalized import Commit as Commit
    from contentsvc_core.events.normalized import Event as Event
    from contentsvc_core.events.normalized import HeadCommit as HeadCommit
    from contentsvc_core.events.normalized import Push as Push
    from contentsvc_core.events.normalized import Release as Release
    from contentsvc_core.events.wire import event_from_json as event_from_json
    from contentsvc_core.events.wire import event_to_json as event_to_json
    from contentsvc_core.journal import Direction as Direction
    from contentsvc_core.journal import LogEntry as LogEntry
    from contentsvc_core.journal import LogStatus as LogStatus
    from contentsvc_core.journal import log_body as log_body
    from contentsvc_core.lists.pagination import PageRequest as PageRequest
    from contentsvc_core.lists.pagination import Pagination as Pagination
    from contentsvc_core.lists.pagination import paginate as paginate
    from contentsvc_core.organizations import ChangeOrganization as ChangeOrganization
    from contentsvc_core.organizations import Integration as Integration
    from contentsvc_core.organizations import Organization as Organization
    from contentsvc_core.organizations import Repository as Repository
    from contentsvc_core.outgoing.endpoints import ChangeEndpoint as ChangeEndpoint
    from contentsvc_core.outgoing.endpoints import CreateEndpoint as CreateEndpoint
    from contentsvc_core.outgoing.endpoints import EndpointBody as EndpointBody
    from contentsvc_core.outgoing.endpoints import WebhookEndpoint as WebhookEndpoint
    from contentsvc_core.outgoing.events import EventType as EventType
    from contentsvc_core.outgoing.messages import Message as Message
    from contentsvc_core.refusals import Refusal as Refusal
    from contentsvc_core.refusals import RefusalKind as RefusalKind
    from contentsvc_core.text import one_line as one_line
    from contentsvc_core.text import storable as storable
    from contentsvc_core.timestamps import from_ms as from_ms
    from contentsvc_core.timestamps import to_ms as to_ms
    from contentsvc_core.usecases.authenticate import Authenticator as Authenticator
    from contentsvc_core.usecases.brands import BrandEditor as BrandEditor
    from contentsvc_core.usecases.briefs import Briefs as Briefs
    from contentsvc_core.usecases.code_host_service import CodeHostService as CodeHostService
    from contentsvc_core.usecases.connect import Connected as Connected
    from contentsvc_core.usecases.connect import Connector as Connector
    from contentsvc_core.usecases.connect import Disconnected as Disconnected
    from contentsvc_core.usecases.consents import Consents as Consents
    from contentsvc_core.usecases.diagnoses import Diagnoses as Diagnoses
    from contentsvc_core.usecases.dispatch import Dispatcher as Dispatcher
    from contentsvc_core.usecases.edit import BulkAction as BulkAction
    from contentsvc_core.usecases.edit import PostEditor as PostEditor
    from contentsvc_core.usecases.expire import Sweeper as Sweeper
    from contentsvc_core.usecases.generate import GeneratePost as GeneratePost
    from contentsvc_core.usecases.generate import Generator as Generator
    from contentsvc_core.usecases.generate import JobStarter as JobStarter
    from contentsvc_core.usecases.keyed_requests import Idempotency as Idempotency
    from contentsvc_core.usecases.limit import RateLimiter as RateLimiter
    from contentsvc_core.usecases.operate import Connection as Connection
    from contentsvc_core.usecases.operate import IssuedKey as IssuedKey
    from contentsvc_core.usecases.operate import Operator as Operator
    from contentsvc_core.usecases.perform import Performer as Performer
    from contentsvc_core.usecases.plan import Planner as Planner
    from contentsvc_core.usecases.preview_style import StylePreviews as StylePreviews
    from contentsvc_core.usecases.publicize import ChangelogEditor as ChangelogEditor
    from contentsvc_core.usecases.read_site import BrandGenerator as BrandGenerator
    from contentsvc_core.usecases.read_site import BrandReader as BrandReader
    from contentsvc_core.usecases.receive import Receiver as Receiver
    from contentsvc_core.usecases.reconcile import Reconciler as Reconciler
    from contentsvc_core.usecases.replay import Replayer as Replayer
    from contentsvc_core.usecases.replay_many import BulkReplayer as BulkReplayer
    from contentsvc_core.usecases.replay_many import ReplayDeliveries as ReplayDeliveries
    from contentsvc_core.usecases.rotate import Rotator as Rotator
    from contentsvc_core.usecases.schedule import Scheduler as Scheduler
    from contentsvc_core.usecases.sign_in import SignIn as SignIn
    from contentsvc_core.usecases.subscribe import Subscriptions as Subscriptions
    from contentsvc_core.usecases.trail import DeliveryTrails as DeliveryTrails
    from contentsvc_core.usecases.triggers import TriggerEditor as TriggerEditor
    from contentsvc_core.usecases.webhook_endpoints import EndpointEditor as EndpointEditor
    from contentsvc_core.webhooks.decision import BODY_TOO_LARGE as BODY_TOO_LARGE
    from contentsvc_core.webhooks.decision import MAX_BODY as MAX_BODY
    from contentsvc_core.webhooks.decision import admit as admit
    from contentsvc_core.webhooks.decision import decide as decide
    from contentsvc_core.webhooks.decision import locate as locate
    from contentsvc_core.webhooks.decision import preflight as preflight
    from contentsvc_core.webhooks.delivery import Address as Address
    from contentsvc_core.webhooks.delivery import Belonging as Belonging
    from contentsvc_core.webhooks.delivery import Delivery as Delivery
    from contentsvc_core.webhooks.delivery import Headers as Headers
    from contentsvc_core.webhooks.delivery import HookConfiguration as HookConfiguration
    from contentsvc_core.webhooks.delivery import VerifiedDelivery as VerifiedDelivery
    from contentsvc_core.webhooks.outcomes import Duplicate as Duplicate
    from contentsvc_core.webhooks.outcomes import Fault as Fault
    from contentsvc_core.webhooks.outcomes import Filtered as Filtered
    from contentsvc_core.webhooks.outcomes import Ignored as Ignored
    from contentsvc_core.webhooks.outcomes import Outcome as Outcome
    from contentsvc_core.webhooks.outcomes import Pong as Pong
    from contentsvc_core.webhooks.outcomes import Processed as Processed
    from contentsvc_core.webhooks.outcomes import Rejected as Rejected
    from contentsvc_core.webhooks.outcomes import answer as answer
    from contentsvc_core.webhooks.providers import PROVIDERS as PROVIDERS
    from contentsvc_core.webhooks.providers import Provider as Provider
    from contentsvc_core.webhooks.providers.decoding import Malformed as Malformed
    from contentsvc_core.webhooks.providers.decoding import decode_body as decode_body
    from contentsvc_core.webhooks.providers.native import Reading as Reading
    from contentsvc_core.webhooks.providers.provider import Setup as Setup
    from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW as DEDUPE_WINDOW
    from contentsvc_core.webhooks.settlement import Claim as Claim
    from contentsvc_core.webhooks.settlement import Settled as Settled
    from contentsvc_core.webhooks.settlement import Settlement as Settlement
    from contentsvc_core.webhooks.settlement import claim_is_held as claim_is_held
    from contentsvc_core.webhooks.settlement import settlement as settlement
    from contentsvc_core.webhooks.signature import SIGNATURE_HEADER as SIGNATURE_HEADER
    from contentsvc_core.webhooks.signature import HmacSha256 as HmacSha256
    from contentsvc_core.webhooks.signature import Scheme as Scheme
    from contentsvc_core.webhooks.signature import SharedToken as SharedToken
    from contentsvc_core.webhooks.signature import Verifier as Verifier
    from contentsvc_core.webhooks.signature import sign as sign
    from contentsvc_core.webhooks.signature import verify as verify
    from contentsvc_core.workflows.bodies import ScheduleBody as ScheduleBody
    from contentsvc_core.workflows.bodies import TriggerBody as TriggerBody
    from contentsvc_core.workflows.causes import Cause as Cause
    from contentsvc_core.workflows.causes import Delivered as Delivered
    from contentsvc_core.workflows.causes import Generation as Generation
    from contentsvc_core.workflows.causes import SiteReading as SiteReading
    from contentsvc_core.workflows.causes import Source as Source
    from contentsvc_core.workflows.context import ContextRecord as ContextRecord
    from contentsvc_core.workflows.context import RecordBody as RecordBody
    from contentsvc_core.workflows.filters import Batch as Batch
    from contentsvc_core.workflows.filters import TriggerOptions as TriggerOptions
    from contentsvc_core.workflows.jobs import Job as Job
    from contentsvc_core.workflows.jobs import JobEvent as JobEvent
    from contentsvc_core.workflows.runs import RunBody as RunBody
    from contentsvc_core.workflows.runs import RunStatus as RunStatus
    from contentsvc_core.workflows.runs import WorkflowRun as WorkflowRun
    from contentsvc_core.workflows.schedules import ChangeSchedule as ChangeSchedule
    from contentsvc_core.workflows.schedules import CreateSchedule as CreateSchedule
    from contentsvc_core.workflows.schedules import Schedule as Schedule
    from contentsvc_core.workflows.slots import Cron as Cron
    from contentsvc_core.workflows.slots import Frequency as Frequency
    from contentsvc_core.workflows.triggers import ChangeTrigger as ChangeTrigger
    from contentsvc_core.workflows.triggers import CreateTrigger as CreateTrigger
    from contentsvc_core.workflows.triggers import Trigger as Trigger
    from contentsvc_core.workflows.triggers import matching as matching

_HOMES: Final = {
    "access.keys": "ApiKey Scope",
    "access.rates": "Bucket Rate rate_of",
    "access.window": "Verdict Window rate_headers refusal_body refusal_headers",
    "application": "Application",
    "content.brand": "BrandBody BrandIdentity ToneProfile",
    "content.brand_changes": "ChangeBrand CreateBrand",
    "content.changelog.markdown": "inline",
    "content.editing": "ChangePost CreatePost",
    "content.forms.choice": "write_content",
    "content.house_style": "HouseStyle",
    "content.options": "ChangelogOptions",
    "content.packages": "PackageTag",
    "content.posts": "ContentType Post PostStatus post_body",
    "content.public.changelogs": "PublicChangelog",
    "content.public.changes": "ChangeChangelog CreateChangelog",
    "content.public.images": "ImageKind",
    "content.pull_requests": "PullRequest",
    "content.queries": "PostQuery",
    "content.sections": "Section",
    "content.windows": "Lookback LookbackWindow window_at",
    "content.writing": "Brief Chapter Draft PackageRelease Silence",
    "errors": (
        "ContentServiceError ReceivingFailed SchemaMismatch SecretUnreadable StoreUnavailable UnreadableRow "
        "Unstorable WriterUnavailable"
    ),
    "events.normalized": "Author Commit Event HeadCommit Push Release",
    "events.wire": "event_from_json event_to_json",
    "journal": "Direction LogEntry LogStatus log_body",
    "lists.pagination": "PageRequest Pagination paginate",
    "organizations": "ChangeOrganization Integration Organization Repository",
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
    "usecases.consents": "Consents",
    "usecases.diagnoses": "Diagnoses",
    "usecases.dispatch": "Dispatcher",
    "usecases.edit": "BulkAction PostEditor",
    "usecases.expire": "Sweeper",
    "usecases.generate": "GeneratePost Generator JobStarter",
    "usecases.keyed_requests": "Idempotency",
    "usecases.limit": "RateLimiter",
    "usecases.operate": "Connection IssuedKey Operator",
    "usecases.perform": "Performer",
    "usecases.plan": "Planner",
    "usecases.preview_style": "StylePreviews",
    "usecases.publicize": "ChangelogEditor",
    "usecases.read_site": "BrandGenerator BrandReader",
    "usecases.receive": "Receiver",
    "usecases.reconcile": "Reconciler",
    "usecases.replay": "Replayer",
    "usecases.replay_many": "BulkReplayer ReplayDeliveries",
    "usecases.rotate": "Rotator",
    "usecases.schedule": "Scheduler",
    "usecases.sign_in": "SignIn",
    "usecases.subscribe": "Subscriptions",
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
    "webhooks.signature": "SIGNATURE_HEADER HmacSha256 Scheme SharedToken Verifier sign verify",
    "workflows.bodies": "ScheduleBody TriggerBody",
    "workflows.causes": "Cause Delivered Generation SiteReading Source",
    "workflows.context": "ContextRecord RecordBody",
    "workflows.filters": "Batch TriggerOptions",
    "workflows.jobs": "Job JobEvent",
    "workflows.runs": "RunBody RunStatus WorkflowRun",
    "workflows.schedules": "ChangeSchedule CreateSchedule Schedule",
    "workflows.slots": "Cron Frequency",
    "workflows.triggers": "ChangeTrigger CreateTrigger Trigger matching",
}

if not TYPE_CHECKING:
    __getattr__ = names_on_demand(__name__, _HOMES)
