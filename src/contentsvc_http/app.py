from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from typing import Any, final

from attrs import frozen
from litestar import Litestar, Request, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.plugins import PluginProtocol
from litestar.plugins.attrs import AttrsSchemaPlugin
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp, ControllerRouterHandler

from contentsvc_core.application import Application
from contentsvc_core.content.public.links import ROOT
from contentsvc_http.agents import agent_routes
from contentsvc_http.body_budget import CAPACITY_ELSEWHERE, BodyBudget, BodyLimits
from contentsvc_http.changelog.reading import PublicReading
from contentsvc_http.changelog.routes import changelog_routes, refuse_page
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.pages import template_config
from contentsvc_http.dashboard.routes import dashboard_routes, refuse_unrouted, root_route
from contentsvc_http.dashboard.session import ROOT as DASHBOARD
from contentsvc_http.described import DOCUMENT, Described
from contentsvc_http.documentation import asset_route, openapi
from contentsvc_http.errors import Refused, refuse
from contentsvc_http.heads import HeadRequests
from contentsvc_http.logs import RequestLog, Requests
from contentsvc_http.probes import LIVE, READY, not_ready
from contentsvc_http.rate_limiting import RateLimitHeaders, RateLimits
from contentsvc_http.responses import ErrorBody, StatusBody
from contentsvc_http.routing import FreshOptions
from contentsvc_http.v1.operations import HEADERS_OF_STATUSES, MAX_BODY
from contentsvc_http.v1.routes import api_routes


@final
@frozen(kw_only=True)
class ClientServices:
    app: Application
    limits: RateLimits
    hosted: bool = False
    dashboard: Dashboard | None = None
    public: PublicReading | None = None
    agents: bool = False


@final
@frozen(kw_only=True)
class Services:
    #: ``None``: the process has the role ``worker`` and serves its operator only.
    for_clients: ClientServices | None
    #: Returns the reason why the process is not ready, or ``None``.
    why_not_ready: Callable[[], Awaitable[str | None]]
    for_operators: Sequence[HTTPRouteHandler] = ()


class _Application(FreshOptions, Litestar):
    """Litestar without the plugins that it adds when pydantic is installed: importing it took a third of a second."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin(), AttrsSchemaPlugin()]


def create_application(services: Services, requests: Requests) -> ASGIApp:
    running = version("contentsvc")
    for_clients = services.for_clients
    application = _Application(
        route_handlers=[
            *([] if for_clients is None else _client_routes(for_clients, running)),
            *health_routes(services.why_not_ready),
            *services.for_operators,
        ],
        exception_handlers={Exception: refuse if for_clients is None else _refuse_of(for_clients)},
        request_max_body_size=MAX_BODY,
        openapi_config=None if for_clients is None else openapi(running, hosted=for_clients.hosted),
        logging_config=None,
        template_config=None if for_clients is None or for_clients.dashboard is None else template_config(),
    )
    # Outside of all other middleware: the log itself answers when the server stops during a request.
    bodies = BodyLimits(application, BodyBudget(CAPACITY_ELSEWHERE, of="requests"))
    return RateLimitHeaders(RequestLog(HeadRequests(bodies), requests))


def _refuse_of(for_clients: ClientServices) -> Callable[[Request[Any, Any, Any], Exception], Response[Any]]:
    """Return the handler for requests that no route takes: the pages' part of the addresses answers with pages."""

    def refuse_unknown(request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
        path: str = request.scope["path"]
        if for_clients.public is not None and path.startswith(f"{ROOT}/"):
            return refuse_page(request, exc, for_clients.public.base_url)
        if for_clients.dashboard is not None and path.startswith(f"{DASHBOARD}/"):
            return refuse_unrouted(request, exc)
        return refuse(request, exc)

    return refuse_unknown


def _client_routes(for_clients: ClientServices, running: str) -> list[ControllerRouterHandler]:
    return [
        *api_routes(for_clients.app, for_clients.limits, hosted=for_clients.hosted),
        *([] if for_clients.dashboard is None else [dashboard_routes(for_clients.dashboard), root_route()]),
        *([] if for_clients.public is None else [changelog_routes(for_clients.public)]),
        *(agent_routes(for_clients.app) if for_clients.agents else []),
        status_route(running),
        asset_route(),
    ]


def health_routes(why_not_ready: Callable[[], Awaitable[str | None]]) -> list[HTTPRouteHandler]:

    @get(
        LIVE,
        operation_id="getLiveness",
        summary="Check liveness: the process responds",
        tags=["health"],
        response_description="The process responds.",
    )
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @get(
        READY,
        operation_id="getReadiness",
        summary="Check readiness: the process can settle deliveries, perform runs, or both",
        tags=["health"],
        response_description="The process is ready.",
        opt={DOCUMENT: [Described(headers=HEADERS_OF_STATUSES)]},
        responses={503: ResponseSpec(ErrorBody, description="The process is not ready. `error` gives the reason.")},
    )
    async def ready() -> dict[str, str]:
        reason = await why_not_ready()
        if reason is not None:
            raise Refused(503, not_ready(reason), {"Retry-After": "1"})
        return {"status": "ready"}

    return [live, ready]


def status_route(version: str) -> HTTPRouteHandler:
    @get(
        "/v1/status",
        operation_id="getPublicApiStatus",
        summary="Get the status and version of the service",
        tags=["status"],
        response_description="The service responds.",
    )
    async def status() -> Response[StatusBody]:
        return Response(StatusBody(status="ok", version=version))

    return status
