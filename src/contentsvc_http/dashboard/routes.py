import contextlib
from collections.abc import Callable, Iterable
from typing import Any, Final

from litestar import Request, Response, Router, get, route
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response import Redirect, Template

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
from contentsvc_http.dashboard.pages import HEADERS, SECTIONS, Pages, outside_page
from contentsvc_http.dashboard.posts import post_routes
from contentsvc_http.dashboard.runs import run_routes
from contentsvc_http.dashboard.schedules import schedule_routes
from contentsvc_http.dashboard.search import search_routes
from contentsvc_http.dashboard.session import (
    ROOT,
    Forbidden,
    NotSignedIn,
    asked_page,
    is_script,
    sent_from,
    sign_in_for,
    token_of,
    visit,
    visit_of,
)
from contentsvc_http.dashboard.sign_in import sign_in_page, sign_in_routes
from contentsvc_http.dashboard.triggers import trigger_routes
from contentsvc_http.errors import Refused, refusal
from contentsvc_http.routing import OwnRouter

_FORBIDDEN: Final = 403
_TITLES: Final = {
    400: "Bad request",
    403: "Not allowed",
    404: "Page not found",
    405: "Page not found",
    409: "Changed in the meantime",
    412: "Changed in the meantime",
    413: "Too large",
    429: "Too often",
    503: "Not available now",
}
#: In place of the framework's words.
_TEXTS: Final = {
    405: "This address only takes forms. Open the page from the menu of the dashboard.",
    413: "What you sent is larger than this page takes. Go back to the form, and shorten it.",
}
_UNKNOWN: Final = "There is no such page."
_READING: Final = frozenset({"GET", "HEAD"})
_BACK: Final = "Back to the form"
#: The maximum size of a form without a post, in bytes: some hundred times the usual size.
_MAX_FORM: Final = 64 * 1024


def dashboard_routes(dashboard: Dashboard) -> Router:
    pages = Pages(dashboard)

    async def refuse_reading(request: Request[Any, Any, Any]) -> Response[Any]:
        with contextlib.suppress(NotSignedIn):
            await visit(dashboard, request)
        raise Refused(405, {"error": _TEXTS[405]}, headers={"Allow": "POST"})

    @get([f"{ROOT}/{{rest:path}}"])
    async def unknown(request: Request[Any, Any, Any], rest: FromPath[str]) -> Response[Any]:
        del rest
        with contextlib.suppress(NotSignedIn):
            await visit(dashboard, request)
        raise Refused(404, {"error": _UNKNOWN})

    handlers = [
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
    ]
    # The framework's own answer knows no visit, and its page would have no menu.
    forms_only = _paths_of(handlers, HttpMethod.POST) - _paths_of(handlers, HttpMethod.GET)
    return OwnRouter(
        "/",
        route_handlers=[*handlers, get(sorted(forms_only))(refuse_reading)],
        include_in_schema=False,
        exception_handlers={Exception: _refusal_of(pages)},
        request_max_body_size=_MAX_FORM,
    )


def _paths_of(handlers: Iterable[HTTPRouteHandler], method: HttpMethod) -> set[str]:
    return {path for handler in handlers if method in handler.http_methods for path in handler.paths}


def front_route() -> HTTPRouteHandler:
    """Return the route of ``/``: it redirects browsers to the dashboard, and is unknown to other clients."""

    @route("/", http_method=[HttpMethod.GET, HttpMethod.HEAD], include_in_schema=False)
    async def front(request: Request[Any, Any, Any]) -> Response[Any]:
        # The first of equals is the default for clients without a preferred type.
        if request.accept.best_match(["application/json", "text/html"]) == "text/html":
            return Redirect(ROOT, status_code=303, headers=HEADERS | {"Vary": "Accept"})
        return Response({"error": "Not Found"}, status_code=404, headers={"Vary": "Accept"})

    return front


def _refusal_of(pages: Pages) -> Callable[[Request[Any, Any, Any], Exception], Response[Any]]:
    def refuse(request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
        if isinstance(exc, NotSignedIn):
            if is_script(request):
                # A script's request: redirect the whole page to the sign-in.
                return Response(None, status_code=401, headers={**HEADERS, "HX-Redirect": sign_in_for(request)})
            if exc.typed:
                return sign_in_page(leads_to=asked_page(request), typed=exc.typed, status=401)
            return Redirect(sign_in_for(request), status_code=303, headers=HEADERS)
        if isinstance(exc, Forbidden):
            status, text, headers = _FORBIDDEN, str(exc), dict[str, str]()
        else:
            refused = refusal(exc)
            status, text, headers = refused.status, str(refused.body["error"]), refused.headers
        page = _error_page(pages, request, status, _TEXTS.get(status, text))
        page.headers.update(headers)
        return page

    return refuse


def refuse_unrouted(request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
    """Return the page for a request that no route takes. Its visit is unknown, so the page has no menu."""
    refused = refusal(exc)
    page = _error_page(None, request, refused.status, _TEXTS.get(refused.status, _UNKNOWN))
    page.headers.update(refused.headers)
    return page


def _error_page(pages: Pages | None, request: Request[Any, Any, Any], status: int, text: str) -> Template:
    """Return a page with the menu and a way back; visitors who are not signed in have no menu."""
    session = visit_of(request)
    sent = request.method not in _READING
    form = sent_from(request) if sent else ""
    section, path, name, _ = _section_of(request.url.path)
    if not path or f"{ROOT}{path}" == request.url.path:
        path, name = "", "the overview"
    if session is None:
        path, name = "", "the dashboard"
    title = _TITLES.get(status, "Something went wrong")
    context = {
        "visit": session,
        "title": title,
        "text": text,
        "sent": sent,
        "back": form or path,
        "way": _BACK if form else f"To {name}",
        # A key that may not read: only another one leads on.
        "may_sign_out": session is None and status == _FORBIDDEN and token_of(request) is not None,
    }
    if pages is None or session is None:
        return outside_page("error.html", context, status=status)
    return pages.page(session, "error.html", context, title=title, section=section, status=status)


def _section_of(address: str) -> tuple[str, str, str, str]:
    """Return the section of an address: the longest path of the menu that it begins with."""
    return max(
        (each for each in SECTIONS if f"{address}/".startswith(f"{ROOT}{each[1]}/")), key=lambda each: len(each[1])
    )
