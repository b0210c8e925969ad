from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.access.rates import FAILED_SIGN_INS, SIGN_INS, WINDOW_MS, Bucket
from contentsvc_core.access.sessions import LINK_LIFE
from contentsvc_core.usecases.sign_in import SignedIn
from contentsvc_http.client_address import is_local
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.pages import HEADERS, go, outside_page
from contentsvc_http.dashboard.session import SIGN_IN, forget, keep, own_page, refuse_foreign, token_of
from contentsvc_http.forms import read_form
from contentsvc_http.heads import was_head
from contentsvc_http.same_origin import is_in_clear

#: The largest form here, in bytes: strangers send it, and a key has 56 characters.
_MAX_FORM: Final = 4 * 1024
_REFUSED = "That API key is not valid. It may have expired or been revoked: ask for a new one."
_TOO_OFTEN = f"Too many wrong keys came from your address. Try again in {WINDOW_MS // 1000} s."
_KEY_TOO_OFTEN = f"This key has signed in too often. Try again in {WINDOW_MS // 1000} s."
_NOT_HERE: Final = "Sign-in links work only in a browser on the machine that runs contentsvc. Sign in with an API key."
_USED_UP: Final = (
    f"This sign-in link was used, or is older than {LINK_LIFE // timedelta(minutes=1)} minutes. "
    "Sign in with an API key, or print a new link: contentsvc key sign-in PREFIX"
)


def sign_in_routes(dashboard: Dashboard) -> list[HTTPRouteHandler]:
    limiter = dashboard.app.limiter
    secure = dashboard.app.base_url.startswith("https:")

    @get(SIGN_IN)
    async def show(request: Request[Any, Any, Any]) -> Response[Any]:
        token, leads_to = token_of(request), request.query_params.get("next", "")
        if token is not None and await dashboard.app.sign_in.signed_in(token) is not None:
            return go(own_page(leads_to))
        notice = "You are signed out." if request.query_params.get("notice") == "signed-out" else None
        return sign_in_page(notice=notice, leads_to=leads_to)

    @post(SIGN_IN, request_max_body_size=_MAX_FORM)
    async def sign_in(request: Request[Any, Any, Any]) -> Response[Any]:
        refuse_foreign(dashboard, request)
        if secure and is_in_clear(request):
            # The browser would not keep the session's cookie, and would come back to an empty form.
            return sign_in_page(https=f"{dashboard.app.base_url}{SIGN_IN}", status=400)
        form = await read_form(request)
        leads_to = form.text("next")
        failures = dashboard.limits.of_address(FAILED_SIGN_INS, request.scope)
        if (await limiter.used([failures]))[failures] >= FAILED_SIGN_INS.limit:
            return sign_in_page(error=_TOO_OFTEN, leads_to=leads_to, status=429)
        presented = form.text("key")
        key = await dashboard.app.authenticator.authenticate(presented)
        if key is not None and not (await limiter.hit(Bucket.of_key(SIGN_INS, key.prefix))).admitted:
            return sign_in_page(error=_KEY_TOO_OFTEN, leads_to=leads_to, status=429)
        signed_in = None if key is None else await dashboard.app.sign_in.sign_in(presented)
        if signed_in is None:
            await limiter.hit(failures)
            return sign_in_page(error=_REFUSED, leads_to=leads_to, status=401)
        return await _entered(dashboard, request, signed_in, leads_to, secure=secure)

    return [show, sign_in, _sign_out_route(dashboard), _link_route(dashboard)]


def _sign_out_route(dashboard: Dashboard) -> HTTPRouteHandler:
    @post("/dashboard/sign-out", request_max_body_size=_MAX_FORM)
    async def sign_out(request: Request[Any, Any, Any]) -> Response[Any]:
        refuse_foreign(dashboard, request)
        if (token := token_of(request)) is not None:
            await dashboard.app.sign_in.sign_out(token)
        response = go("/sign-in", notice="signed-out")
        forget(response, secure=dashboard.app.base_url.startswith("https:"))
        return response

    return sign_out


def _link_route(dashboard: Dashboard) -> HTTPRouteHandler:
    @get(f"{SIGN_IN}/link")
    async def by_link(request: Request[Any, Any, Any]) -> Response[Any]:
        headers = request.scope["headers"]
        if not is_local(request.client and request.client.host, headers):
            return sign_in_page(error=_NOT_HERE, status=403)
        if was_head(request.scope) or "Sec-Purpose" in request.headers:
            # A prefetch, before the user opens the link: the link stays unused.
            return Response(None, status_code=503, headers=HEADERS)
        signed_in = await dashboard.app.sign_in.sign_in_by_link(request.query_params.get("token", ""))
        if signed_in is None:
            return sign_in_page(error=_USED_UP, status=401)
        # Between a browser and a server on one machine there is no network, and mostly no https.
        return await _entered(dashboard, request, signed_in, "", secure=False)

    return by_link


async def _entered(
    dashboard: Dashboard, request: Request[Any, Any, Any], signed_in: SignedIn, leads_to: str, *, secure: bool
) -> Response[Any]:
    if (old := token_of(request)) is not None:
        await dashboard.app.sign_in.sign_out(old)
    response = go(own_page(leads_to))
    keep(response, signed_in, secure=secure)
    return response


def sign_in_page(
    *,
    error: str | None = None,
    notice: str | None = None,
    https: str | None = None,
    leads_to: str = "",
    typed: Sequence[str] = (),
    status: int = 200,
) -> Response[Any]:
    # The address of another site is dropped here, too.
    shown = leads_to if own_page(leads_to) else ""
    context = {"title": "Sign in", "error": error, "notice": notice, "https": https, "leads_to": shown, "typed": typed}
    return outside_page("sign_in.html", context, status=status)
