"""Signing in with an API key, and out."""

from typing import Any, Final

from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.forms import read_form
from contentsvc_http.dashboard.pages import go, outside_page
from contentsvc_http.dashboard.visits import SIGN_IN, change_of_anybody, forget, keep, token_of

#: The largest form here, in bytes: strangers send it, and a key has 56 characters.
_MAX_FORM: Final = 4 * 1024
_REFUSED = "This key opens nothing: it is unknown, expired or revoked."


def sign_in_routes(dashboard: Dashboard) -> list[HTTPRouteHandler]:
    """Give the routes."""
    secure = dashboard.base_url.startswith("https:")

    @get(SIGN_IN, name="dashboard_sign_in")
    async def show(request: Request[Any, Any, Any]) -> Response[Any]:
        token = token_of(request)
        if token is not None and await dashboard.sign_in.signed_in(token) is not None:
            return go("")
        told = "You are signed out." if request.query_params.get("told") == "signed-out" else None
        return outside_page("sign_in.html", {"title": "Sign in", "error": None, "told": told})

    @post(SIGN_IN, name="dashboard_sign_in_done", request_max_body_size=_MAX_FORM)
    async def sign_in(request: Request[Any, Any, Any]) -> Response[Any]:
        change_of_anybody(request)
        form = await read_form(request)
        made = await dashboard.sign_in.sign_in(form.text("key"))
        if made is None:
            return outside_page("sign_in.html", {"title": "Sign in", "error": _REFUSED, "told": None}, status=401)
        # A session of before is of no use any more.
        if (old := token_of(request)) is not None:
            await dashboard.sign_in.sign_out(old)
        response = go("")
        keep(response, made, secure=secure)
        return response

    @post("/dashboard/sign-out", name="dashboard_sign_out", request_max_body_size=_MAX_FORM)
    async def sign_out(request: Request[Any, Any, Any]) -> Response[Any]:
        change_of_anybody(request)
        if (token := token_of(request)) is not None:
            await dashboard.sign_in.sign_out(token)
        response = go("/sign-in", told="signed-out")
        forget(response, secure=secure)
        return response

    return [show, sign_in, sign_out]
