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


def api_routes(app: Application, limits: RateLimits, *, hosted: bool) -> list[HTTPRouteHandler]:
    stores = app.stores
    gate = Gate(app.authenticator, stores.directory, hosted=hosted)
    routes = [
        *post_routes(gate, stores.posts, app.post_editor, stores.brands, app.shares),
        *generation_routes(gate, app.generator, stores.jobs, stores.directory),
        *brand_routes(gate, stores.brands, app.brand_editor, app.brand_generator, stores.jobs),
        *house_style_routes(gate, stores.directory),
        *organization_routes(gate, app.operator, stores.directory),
        *integration_routes(gate, app.connector, app.rotator, app.reconciler, stores.directory),
        *schedule_routes(gate, app.planner, stores.schedules, stores.directory),
        *event_trigger_routes(gate, app.trigger_editor, stores),
        *webhook_endpoint_routes(gate, stores.endpoints, app.endpoint_editor, app.consents),
        *public_changelog_routes(gate, app.changelog_editor, stores.directory, app.base_url),
        *webhook_log_routes(gate, app),
        *run_routes(gate, stores.run_lists, stores.ledger, app.clock),
        *context_routes(gate, stores.search, stores.contexts, app.shares),
    ]
    return IdempotencyKeys(app.idempotency, app.authenticator).on(limits.on(routes))
