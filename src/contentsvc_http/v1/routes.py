"""All operations of ``/v1``."""

from typing import final

from attrs import frozen
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.ports import (
    BrandIdentities,
    ContextLibrary,
    Directory,
    Jobs,
    Journal,
    PostLibrary,
    Schedules,
    Search,
    Shares,
    WebhookEndpoints,
)
from contentsvc_core.usecases.brands import BrandEditor
from contentsvc_core.usecases.connect import Connector
from contentsvc_core.usecases.edit import PostEditor
from contentsvc_core.usecases.generate import Generator
from contentsvc_core.usecases.plan import Planner
from contentsvc_core.usecases.publicize import ChangelogEditor
from contentsvc_core.usecases.read_site import BrandGenerator
from contentsvc_core.usecases.replay import Replayer
from contentsvc_core.usecases.triggers import TriggerEditor
from contentsvc_core.usecases.webhook_endpoints import EndpointEditor
from contentsvc_http.rate_limiting import RateLimits
from contentsvc_http.v1.brand_identities import brand_routes
from contentsvc_http.v1.changelogs import public_changelog_routes
from contentsvc_http.v1.context import context_routes
from contentsvc_http.v1.event_triggers import event_trigger_routes
from contentsvc_http.v1.gate import Gate
from contentsvc_http.v1.generation import generation_routes
from contentsvc_http.v1.house_style import house_style_routes
from contentsvc_http.v1.integrations import integration_routes
from contentsvc_http.v1.posts import post_routes
from contentsvc_http.v1.schedules import schedule_routes
from contentsvc_http.v1.webhook_endpoints import webhook_endpoint_routes
from contentsvc_http.v1.webhook_logs import webhook_log_routes


@final
@frozen(kw_only=True)
class Api:
    """The use cases and ports that the operations call."""

    gate: Gate
    limits: RateLimits
    posts: PostLibrary
    post_editor: PostEditor
    trigger_editor: TriggerEditor
    journal: Journal
    replayer: Replayer
    generator: Generator
    jobs: Jobs
    brands: BrandIdentities
    brand_editor: BrandEditor
    brand_generator: BrandGenerator
    planner: Planner
    schedules: Schedules
    directory: Directory
    connector: Connector
    contexts: ContextLibrary
    search: Search
    endpoints: WebhookEndpoints
    endpoint_editor: EndpointEditor
    changelogs: ChangelogEditor
    #: Public URL of this service, without a trailing slash.
    base_url: str
    shares: Shares


def api_routes(api: Api) -> list[HTTPRouteHandler]:
    """Return the routes of all resources, with their rate limits."""
    routes = [
        *post_routes(api.gate, api.posts, api.post_editor, api.brands, api.shares),
        *generation_routes(api.gate, api.generator, api.jobs, api.directory),
        *brand_routes(api.gate, api.brands, api.brand_editor, api.brand_generator, api.jobs),
        *house_style_routes(api.gate, api.directory),
        *integration_routes(api.gate, api.connector, api.directory),
        *schedule_routes(api.gate, api.planner, api.schedules, api.directory),
        *event_trigger_routes(api.gate, api.trigger_editor, api.directory),
        *webhook_endpoint_routes(api.gate, api.endpoints, api.endpoint_editor),
        *public_changelog_routes(api.gate, api.changelogs, api.directory, api.base_url),
        *webhook_log_routes(api.gate, api.journal, api.replayer, api.shares),
        *context_routes(api.gate, api.search, api.contexts, api.shares),
    ]
    return api.limits.on(routes)
