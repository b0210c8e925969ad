import contextlib
from collections.abc import Iterable
from typing import Any, Final

from litestar import Request, Response, Router, get, route
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response import Redirect, Template

from contentsvc_core.usecases.receive import UNAVAILABLE
from contentsvc_http.dashboard import (
    brands,
    changelog,
    connecting,
    endpoints,
    house_style,
    integrations,
    keys,
    log_entries,
    logs,
    organization,
    overview,
    post_editing,
    post_versions,
    post_writing,
    posts,
    runs,
    search,
)
from contentsvc_http.dashboard.assets import asset_route
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.pages import HEADERS, SECTIONS, outside_page, page
from contentsvc_http.dashboard.schedules import Schedules
from contentsvc_http.dashboard.section import section_routes
from contentsvc_http.dashboard.session import (
    READING,
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
    visits,
)
from contentsvc_http.dashboard.sign_in import sign_in_page, sign_in_routes
from contentsvc_http.dashboard.triggers import Triggers
from contentsvc_http.errors import Refused, refusal
from contentsvc_http.routing import OwnRouter

#: Their handlers are the routes of the dashboard.
_MODULES: Final = (
    *(overview, integrations, connecting, logs, log_entries, endpoints, posts, post_editing, post_versions),
    *(post_writing, brands, changelog, house_style, organization, keys, runs, search),
)
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_NOT_NOW: Final = 503
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
#: In place of the words for programs.
_AWAY: Final = "The service is unavailable. Wait a moment, then try again."
_UNKNOWN: Final = "There is no such page."
_BACK: Final = "Back to the form"
_AGAIN: Final = "Try again"
#: The maximum size of a form without a post, a picture or long texts, in bytes: some hundred times the usual size.
_MAX_FORM: Final = 64 * 1024


def dashboard_routes(dashboard: Dashboard) -> Router:
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
        # Some modules import a handler of another one, as the page of a form.
        *dict.fromkeys(
            handler for module in _MODULES for handler in vars(module).values() if isinstance(handler, HTTPRouteHandler)
        ),
        *section_routes(Triggers()),
        *section_routes(Schedules()),
        unknown,
    ]
    # The framework's own answer knows no visit, and its page would have no menu.
    forms_only = _paths_of(handlers, HttpMethod.POST) - _paths_of(handlers, HttpMethod.GET)
    return OwnRouter(
        "/",
        route_handlers=[*handlers, get(sorted(forms_only))(refuse_reading)],
        include_in_schema=False,
        dependencies=visits(dashboard),
        exception_handlers={Exception: _refuse},
        request_max_body_size=_MAX_FORM,
    )


def _paths_of(handlers: Iterable[HTTPRouteHandler], method: HttpMethod) -> set[str]:
    return {path for handler in handlers if method in handler.http_methods for path in handler.paths}


def root_route() -> HTTPRouteHandler:
    """Return the route of ``/``: it redirects browsers to the dashboard, and is unknown to other clients."""

    @route("/", http_method=[HttpMethod.GET, HttpMethod.HEAD], include_in_schema=False)
    async def root(request: Request[Any, Any, Any]) -> Response[Any]:
        # The first of equals is the default for clients without a preferred type.
        if request.accept.best_match(["application/json", "text/html"]) == "text/html":
            return Redirect(ROOT, status_code=303, headers=HEADERS | {"Vary": "Accept"})
        return Response({"error": "Not Found"}, status_code=404, headers={"Vary": "Accept"})

    return root


def _refuse(request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
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
    refused_page = _error_page(request, status, _TEXTS.get(status, text))
    refused_page.headers.update(headers)
    return refused_page


def refuse_unrouted(request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
    """Return the page for a request that no route takes. Its visit is unknown, so the page has no menu."""
    refused = refusal(exc)
    refused_page = _error_page(request, refused.status, _TEXTS.get(refused.status, _UNKNOWN))
    refused_page.headers.update(refused.headers)
    return refused_page


def _error_page(request: Request[Any, Any, Any], status: int, text: str) -> Template:
    """Return a page with the menu and a way back; visitors who are not signed in have no menu."""
    session = visit_of(request)
    sent = request.method not in READING
    # The page of a form whose object is gone, as after a second click on "Delete", is gone, too.
    form = sent_from(request) if sent and status != _NOT_FOUND else ""
    requested = request.scope["path"]
    section, path, name, _ = _section_of(requested)
    if not path or (f"{ROOT}{path}" == requested and not request.scope["query_string"]):
        path, name = "", "the overview"
    if session is None:
        path, name = "", "the dashboard"
    way = _BACK if form else f"To {name}"
    if status == _NOT_NOW and not sent:
        path, way = asked_page(request).removeprefix(ROOT), _AGAIN
    title = _TITLES.get(status, "Something went wrong")
    context = {
        "visit": session,
        "title": title,
        "text": _AWAY if text == UNAVAILABLE else text,
        "sent": sent,
        "back": form or path,
        "way": way,
        # A key that may not read: only another one leads on.
        "may_sign_out": session is None and status == _FORBIDDEN and token_of(request) is not None,
    }
    if session is None:
        return outside_page("error.html", context, status=status)
    return page(session, "error.html", context, title=title, section=section, status=status)


def _section_of(address: str) -> tuple[str, str, str, str]:
    """Return the section of an address: the longest path of the menu that it begins with."""
    return max(
        (each for each in SECTIONS if f"{address}/".startswith(f"{ROOT}{each[1]}/")), key=lambda each: len(each[1])
    )
