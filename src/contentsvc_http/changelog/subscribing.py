from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from litestar import Request, Response, post
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, route
from litestar.params import FromPath

from contentsvc_core.access.rates import SUBSCRIBING, SUBSCRIBING_TOGETHER, Bucket
from contentsvc_core.content.public.links import ALERTS_ROOT, ROOT
from contentsvc_core.refusals import RefusalKind
from contentsvc_http.changelog.answers import PAGE, PublicPage, answer
from contentsvc_http.changelog.pages import HTML, mail_page, render
from contentsvc_http.changelog.reading import PublicReading, Shown, not_here, shown
from contentsvc_http.errors import Refused
from contentsvc_http.forms import read_form
from contentsvc_http.same_origin import is_foreign

_READ: Final = [HttpMethod.GET, HttpMethod.HEAD]
#: For pages with a token in their address, and for answers to one reader.
_OWN: Final = PAGE | {
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
#: The maximum size of a form, in bytes: an address has 254 characters, each of which may be sent as three.
_MAX_FORM: Final = 4 * 1024
_SENT: Final = (
    "If the address can be subscribed, a mail with a link is on its way. Open the link within 24 hours to confirm. "
    "An address that is subscribed already gets no further mail."
)
_TOO_OFTEN: Final = "Too many addresses were entered in the last minute. Try again in a minute."
_USED: Final = "This link was used before, or is older than 24 hours. Enter your address again to get a new one."
_USED_BY_RECIPIENT: Final = (
    "This link was used before, or is older than 24 hours. If you want alerts, ask for a new confirmation mail where "
    "your address was entered."
)
_LEFT: Final = "Your address gets no more alerts, and cannot be entered again. If this was a mistake, get alerts again."


def subscribe_routes(reading: PublicReading) -> list[HTTPRouteHandler]:
    @route(f"{ROOT}/{{slug:str}}/subscribe", http_method=_READ)
    async def subscribe(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)
        by_mail = reading.sends_mail

        async def read() -> Callable[[], bytes]:
            return lambda: _subscribe_page(view, by_mail=by_mail)

        return await answer(view, PublicPage(part=f"subscribe {by_mail}", media_type=HTML, headers=PAGE), read)

    by_mail = _mail_routes(reading) if reading.sends_mail else []
    return [subscribe, *by_mail, *_leave_routes(reading), *_recipient_routes(reading)]


def _mail_routes(reading: PublicReading) -> list[HTTPRouteHandler]:
    limiter, subscriptions = reading.app.limiter, reading.app.subscriptions

    @post(f"{ROOT}/{{slug:str}}/subscribe", request_max_body_size=_MAX_FORM)
    async def enter(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)
        if is_foreign(request, reading.app.base_url):
            raise Refused(403, {"error": "This form was sent by the page of another site. Open the Subscribe page."})
        address = (await read_form(request)).text("address")
        if not await _admitted(request, view):
            return _own(_subscribe_page(view, by_mail=True, typed=address, fault=_TOO_OFTEN), 429)
        refused = await subscriptions.request(view.changelog, address)
        if refused is not None:
            status = 422 if refused.kind is RefusalKind.INVALID else 503
            return _own(_subscribe_page(view, by_mail=True, typed=address, fault=refused.message()), status)
        return _own(mail_page("Check your mail", _SENT, back=view.links.home))

    async def _admitted(request: Request[Any, Any, Any], view: Shown) -> bool:
        own = await limiter.hit(reading.limits.of_address(SUBSCRIBING, request.scope))
        if not own.admitted:
            return False
        owner = view.changelog.organization_id
        return (await limiter.hit(Bucket.of_organization(SUBSCRIBING_TOGETHER, owner))).admitted

    return [enter, *_confirm_routes(reading)]


def _confirm_routes(reading: PublicReading) -> list[HTTPRouteHandler]:
    # Programs open links in mails to check them: so confirming and leaving need a button.
    @route(f"{ROOT}/{{slug:str}}/subscribe/confirm", http_method=_READ)
    async def ask(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)
        _wanted_token(request)
        text = f"Get new posts of {view.changelog.title} by e-mail."
        return _own(mail_page("Confirm your subscription", text, action="Subscribe", back=view.links.home))

    @post(f"{ROOT}/{{slug:str}}/subscribe/confirm", request_max_body_size=_MAX_FORM)
    async def confirm(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)
        if not await reading.app.subscriptions.confirm(_token(request)):
            return _own(
                mail_page(
                    "This link does not work any more", _USED, back=view.links.subscribe, back_text="Enter your address"
                ),
                410,
            )
        text = f"New posts of {view.changelog.title} come by e-mail from now on. Each mail has a link to unsubscribe."
        return _own(mail_page("You are subscribed", text, back=view.links.home))

    return [ask, confirm]


def _leave_routes(reading: PublicReading) -> list[HTTPRouteHandler]:
    # Independent of the changelog's visibility and of a mail server: a reader can leave at any time.
    @route(f"{ROOT}/{{slug:str}}/subscribe/leave", http_method=_READ)
    async def offer(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        del slug
        _wanted_token(request)
        text = "After you press the button, you get no more mails, and your address is deleted."
        return _own(mail_page("Unsubscribe", text, action="Unsubscribe"))

    @post(f"{ROOT}/{{slug:str}}/subscribe/leave", request_max_body_size=_MAX_FORM)
    async def leave(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        del slug
        await reading.app.subscriptions.leave(_token(request))
        return _own(mail_page("You are unsubscribed", "Your address is deleted. You get no more mails."))

    return [offer, leave]


def _recipient_routes(reading: PublicReading) -> list[HTTPRouteHandler]:
    consents = reading.app.consents

    @route(f"{ALERTS_ROOT}/confirm", http_method=_READ)
    async def ask(request: Request[Any, Any, Any]) -> Response[Any]:
        _wanted_token(request)
        text = "You get a mail when a draft waits, or when something fails."
        return _own(mail_page("Confirm your address", text, action="Get alerts"))

    @post(f"{ALERTS_ROOT}/confirm", request_max_body_size=_MAX_FORM)
    async def confirm(request: Request[Any, Any, Any]) -> Response[Any]:
        if not await consents.confirm(_token(request)):
            return _own(mail_page("This link does not work any more", _USED_BY_RECIPIENT), 410)
        text = "Alerts come by e-mail from now on. Each mail has a link to get no more of them."
        return _own(mail_page("Your address is confirmed", text))

    @route(f"{ALERTS_ROOT}/leave", http_method=_READ)
    async def offer(request: Request[Any, Any, Any]) -> Response[Any]:
        _wanted_token(request)
        text = "After you press the button, your address gets no more alerts, and cannot be entered again."
        return _own(mail_page("Get no more alerts", text, action="Remove my address"))

    @post(f"{ALERTS_ROOT}/leave", request_max_body_size=_MAX_FORM)
    async def leave(request: Request[Any, Any, Any]) -> Response[Any]:
        token = _token(request)
        await consents.leave(token)
        back = f"{ALERTS_ROOT}/confirm?token={quote(token, safe='')}"
        return _own(mail_page("Your address is removed", _LEFT, action="Get alerts again", at=back))

    return [ask, confirm, offer, leave]


def _wanted_token(request: Request[Any, Any, Any]) -> str:
    token = _token(request)
    if not token:
        raise not_here()
    return token


def _subscribe_page(view: Shown, *, by_mail: bool, typed: str = "", fault: str = "") -> bytes:
    return render(
        "subscribe.html",
        view,
        title="Subscribe",
        here=view.links.subscribe,
        by_mail=by_mail,
        typed=typed,
        fault=fault,
    )


def _token(request: Request[Any, Any, Any]) -> str:
    return request.query_params.get("token", "")


def _own(body: bytes, status: int = 200) -> Response[Any]:
    return Response(body, status_code=status, media_type=HTML, headers=_OWN)
