from typing import Final

from litestar.handlers import HTTPRouteHandler

from contentsvc_core.application import Application
from contentsvc_http.idempotency import IdempotencyKeys
from contentsvc_http.rate_limiting import RateLimits
from contentsvc_http.v1.brand_identities import brand_routes
from contentsvc_http.v1.changelogs import public_changelog_routes
from contentsvc_http.v1.context import context_routes
from contentsvc_http.v1.event_triggers import event_trigger_routes
from contentsvc_http.v1.gate import Gate
from contentsvc_http.v1.generation import generation_routes
from contentsvc_http.v1.house_style import house_style_routes
from contentsvc_http.v1.integrations import integration_routes
from contentsvc_http.v1.organization import organization_routes
from contentsvc_http.v1.posts import post_routes
from contentsvc_http.v1.runs import run_routes
from contentsvc_http.v1.schedules import schedule_routes
from contentsvc_http.v1.webhook_endpoints import webhook_endpoint_routes
from contentsvc_http.v1.webhook_logs import webhook_log_routes

_RESOURCES: Final = (
    *(post_routes, generation_routes, brand_routes, house_style_routes, organization_routes, integration_routes),
    *(schedule_routes, event_trigger_routes, webhook_endpoint_routes, public_changelog_routes, webhook_log_routes),
    *(run_routes, context_routes),
)


def api_routes(app: Application, limits: RateLimits, *, hosted: bool) -> list[HTTPRouteHandler]:
    gate = Gate(app, hosted=hosted)
    routes = [route for routes_of in _RESOURCES for route in routes_of(gate)]
    return IdempotencyKeys(app.idempotency, app.authenticator).on(limits.on(routes))
