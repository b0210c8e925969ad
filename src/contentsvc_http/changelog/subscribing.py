from collections.abc import Callable
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlsplit

from litestar import Request, Response, post
from litestar.handlers import HTTPRouteHandler, route

from contentsvc_core.access.rates import SUBSCRIBING, SUBSCRIBING_TOGETHER, Bucket
from contentsvc_core.content.public.links import ALERTS_ROOT, ROOT
from contentsvc_core.refusals import RefusalKind
from contentsvc_http.changelog.answers import PAGE, PublicPage, answer
from contentsvc_http.changelog.pages import HTML, mail_page, render
from contentsvc_http.changelog.reading import READ, ChangelogRequest, Public, PublicReading, View, not_here, public
from contentsvc_http.errors import Refused
from contentsvc_http.forms import read_form
from contentsvc_http.same_origin import is_foreign

_CHANGELOG: Final = f"{ROOT}/{{slug:str}}"
#: For pages with a token in their address, and for answers to one reader.
_OWN: Final = PAGE | {
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
#: The maximum size of a form, in bytes: an address has 254 characters, each of which may be sent as three.
_sent: Final = partial(post, request_max_body_size=4 * 1024)
_SENT: Final = (
    "If the address can be subscribed, a mail with a link is on its way. Open the link within 24 hours to confirm. "
    "An address that is subscribed already gets no further mail."
)
_TOO_OFTEN: Final = "Too many addresses were entered in the last minute. Try again in a minute."
_ENDED: Final = "This link does not work any more"
_USED: Final = "This link was used before, or is older than 24 hours. Enter your address again to get a new one."
_USED_BY_RECIPIENT: Final = (
    "This link was used before, or is older than 24 hours. If you want alerts, ask for a new confirmation mail where "
    "your address was entered."
)
_LEFT: Final = "Your address gets no more alerts, and cannot be entered again. If this was a mistake, get alerts again."


@public("/subscribe")
async def subscribe(view: View, reading: Public) -> Response[Any]:
    by_mail = reading.sends_mail

    async def read() -> Callable[[], bytes]:
        return lambda: _subscribe_page(view, by_mail=by_mail)

    return await answer(view, PublicPage(part=f"subscribe {by_mail}", media_type=HTML, headers=PAGE), read)


@_sent(f"{_CHANGELOG}/subscribe")
async def enter(request: Request[Any, Any, Any], view: View, reading: Public) -> Response[Any]:
    if is_foreign(request, reading.app.base_url):
        raise Refused(403, {"error": "This form was sent by the page of another site. Open the Subscribe page."})
    address = (await read_form(request)).text("address")
    if not await _admitted(reading, request, view):
        return _own(_subscribe_page(view, by_mail=True, typed=address, fault=_TOO_OFTEN), 429)
    refused = await reading.app.subscriptions.request(view.changelog, address)
    if refused is not None:
        status = 422 if refused.kind is RefusalKind.INVALID else 503
        return _own(_subscribe_page(view, by_mail=True, typed=address, fault=refused.message()), status)
    return _own(mail_page(reading.base_url, "Check your mail", _SENT, back=view.links.home))


async def _admitted(reading: PublicReading, request: Request[Any, Any, Any], view: ChangelogRequest) -> bool:
    limiter, owner = reading.app.limiter, view.changelog.organization_id
    own = await limiter.hit(reading.limits.of_address(SUBSCRIBING, request.scope))
    return own.admitted and (await limiter.hit(Bucket.of_organization(SUBSCRIBING_TOGETHER, owner))).admitted


# Programs open links in mails to check them: so confirming and leaving need a button.
@public("/subscribe/confirm")
async def ask(view: View, reading: Public) -> Response[Any]:
    text = f"Get new posts of {view.changelog.title} by e-mail."
    return _question(reading, view.request, "Confirm your subscription", text, action="Subscribe", back=view.links.home)


@_sent(f"{_CHANGELOG}/subscribe/confirm")
async def confirm(view: View, reading: Public) -> Response[Any]:
    links, base_url = view.links, reading.base_url
    if not await reading.app.subscriptions.confirm(_token(view.request)):
        return _own(mail_page(base_url, _ENDED, _USED, back=links.subscribe, back_text="Enter your address"), 410)
    text = f"New posts of {view.changelog.title} come by e-mail from now on. Each mail has a link to unsubscribe."
    return _own(mail_page(base_url, "You are subscribed", text, back=links.home))


# Independent of the changelog's visibility and of a mail server: a reader can leave at any time.
@public("/subscribe/leave")
async def offer(request: Request[Any, Any, Any], reading: Public) -> Response[Any]:
    text = "After you press the button, you get no more mails, and your address is deleted."
    return _question(reading, request, "Unsubscribe", text, action="Unsubscribe")


@_sent(f"{_CHANGELOG}/subscribe/leave")
async def leave(request: Request[Any, Any, Any], reading: Public) -> Response[Any]:
    await reading.app.subscriptions.leave(_token(request))
    return _own(mail_page(reading.base_url, "You are unsubscribed", "Your address is deleted. You get no more mails."))


@route(f"{ALERTS_ROOT}/confirm", http_method=READ)
async def ask_recipient(request: Request[Any, Any, Any], reading: Public) -> Response[Any]:
    text = "You get a mail when a draft waits, or when something fails."
    return _question(reading, request, "Confirm your address", text, action="Get alerts")


@_sent(f"{ALERTS_ROOT}/confirm")
async def confirm_recipient(request: Request[Any, Any, Any], reading: Public) -> Response[Any]:
    if not await reading.app.consents.confirm(_token(request)):
        return _own(mail_page(reading.base_url, _ENDED, _USED_BY_RECIPIENT), 410)
    text = "Alerts come by e-mail from now on. Each mail has a link to get no more of them."
    return _own(mail_page(reading.base_url, "Your address is confirmed", text))


@route(f"{ALERTS_ROOT}/leave", http_method=READ)
async def offer_recipient(request: Request[Any, Any, Any], reading: Public) -> Response[Any]:
    text = "After you press the button, your address gets no more alerts, and cannot be entered again."
    return _question(reading, request, "Get no more alerts", text, action="Remove my address")


@_sent(f"{ALERTS_ROOT}/leave")
async def leave_as_recipient(request: Request[Any, Any, Any], reading: Public) -> Response[Any]:
    token = _token(request)
    await reading.app.consents.leave(token)
    back = f"{urlsplit(reading.base_url).path}{ALERTS_ROOT}/confirm?token={quote(token, safe='')}"
    return _own(mail_page(reading.base_url, "Your address is removed", _LEFT, action="Get alerts again", at=back))


def subscribe_routes(*, sends_mail: bool) -> list[HTTPRouteHandler]:
    by_mail = [enter, ask, confirm] if sends_mail else []
    recipient = [ask_recipient, confirm_recipient, offer_recipient, leave_as_recipient]
    return [subscribe, *by_mail, offer, leave, *recipient]


def _question(
    reading: PublicReading, request: Request[Any, Any, Any], title: str, text: str, *, action: str, back: str = ""
) -> Response[Any]:
    """Return the page of a link in a mail, whose button sends the token of the link."""
    if not _token(request):
        raise not_here()
    return _own(mail_page(reading.base_url, title, text, action=action, back=back))


def _subscribe_page(view: ChangelogRequest, *, by_mail: bool, typed: str = "", fault: str = "") -> bytes:
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
