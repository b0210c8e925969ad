from typing import Any, Final

from litestar import Request, Response, Router, get, route
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response import Redirect

from contentsvc_http.dashboard.assets import asset_route
from contentsvc_http.dashboard.brands import brand_routes
from contentsvc_http.dashboard.changelog import changelog_routes
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.endpoints import endpoint_routes
from contentsvc_http.dashboard.house_style import house_style_routes
from contentsvc_http.dashboard.integrations import integration_routes
from contentsvc_http.dashboard.keys import key_routes
from contentsvc_http.dashboard.logs import log_routes
from contentsvc_http.dashboard.organization import organization_routes
from contentsvc_http.dashboard.overview import overview_routes
from contentsvc_http.dashboard.pages import HEADERS, Pages, outside_page
from contentsvc_http.dashboard.posts import post_routes
from contentsvc_http.dashboard.runs import run_routes
from contentsvc_http.dashboard.schedules import schedule_routes
from contentsvc_http.dashboard.search import search_routes
from contentsvc_http.dashboard.session import ROOT, SIGN_IN, Forbidden, NotSignedIn, sign_in_for
from contentsvc_http.dashboard.sign_in import sign_in_routes
from contentsvc_http.dashboard.triggers import trigger_routes
from contentsvc_http.errors import Refused, refusal
from contentsvc_http.routing import OwnRouter

_FORBIDDEN: Final = 403
_TITLES: Final = {
    400: "Bad request",
    403: "Not allowed",
    404: "Page not found",
    405: "Method not allowed",
    413: "Too large",
}
#: The maximum size of a form without a post, in bytes: some hundred times the usual size.
_MAX_FORM: Final = 64 * 1024


def dashboard_routes(dashboard: Dashboard) -> Router:
    pages = Pages(dashboard)

    @get([f"{ROOT}/{{rest:path}}"])
    async def unknown(rest: FromPath[str]) -> Response[Any]:
        del rest
        raise Refused(404, {"error": "There is no such page."})

    return OwnRouter(
        "/",
        route_handlers=[
            asset_route(),
            *sign_in_routes(dashboard),
            *overview_routes(dashboard, pages),
            *integration_routes(dashboard, pages),
            *log_routes(dashboard, pages),
            *endpoint_routes(dashboard, pages),
            *post_routes(dashboard, pages),
            *brand_routes(dashboard, pages),
            *changelog_routes(dashboard, pages),
            *house_style_routes(dashboard, pages),
            *organization_routes(dashboard, pages),
            *key_routes(dashboard, pages),
            *trigger_routes(dashboard, pages),
            *schedule_routes(dashboard, pages),
            *run_routes(dashboard, pages),
            *search_routes(dashboard, pages),
            unknown,
        ],
        include_in_schema=False,
        exception_handlers={Exception: _refuse},
        request_max_body_size=_MAX_FORM,
    )


def front_route() -> HTTPRouteHandler:
    """Return the route of ``/``: it redirects browsers to the dashboard, and is unknown to other clients."""

    @route("/", http_method=[HttpMethod.GET, HttpMethod.HEAD], include_in_schema=False)
    async def front(request: Request[Any, Any, Any]) -> Response[Any]:
        # The first of equals is the default for clients without a preferred type.
        if request.accept.best_match(["application/json", "text/html"]) == "text/html":
            return Redirect(ROOT, status_code=303, headers=HEADERS | {"Vary": "Accept"})
        return Response({"error": "Not Found"}, status_code=404, headers={"Vary": "Accept"})

    return front


def _refuse(request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
    if isinstance(exc, NotSignedIn):
        if request.headers.get("HX-Request") == "true":
            # A script's request: redirect the whole page to the sign-in.
            return Response(None, status_code=401, headers={**HEADERS, "HX-Redirect": SIGN_IN})
        return Redirect(sign_in_for(request), status_code=303, headers=HEADERS)
    if isinstance(exc, Forbidden):
        status, text, headers = _FORBIDDEN, str(exc), dict[str, str]()
    else:
        refused = refusal(exc)
        status, text, headers = refused.status, str(refused.body["error"]), refused.headers
    page = outside_page(
        "error.html", {"title": _TITLES.get(status, "Something went wrong"), "text": text}, status=status
    )
    page.headers.update(headers)
    return page
