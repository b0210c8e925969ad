import asyncio
import contextlib
import functools
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final, TypeAlias, TypeVar, final
from urllib.parse import quote, urlencode, urlsplit

from attrs import evolve, frozen
from litestar import Request, Response, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency, Provide
from litestar.handlers import HTTPRouteHandler
from litestar.params import SkipValidation

from contentsvc_core.access.keyed_requests import StoredAnswer
from contentsvc_core.access.keys import Scope
from contentsvc_core.access.sessions import SESSION_LIFE, csrf_matches
from contentsvc_core.application import Application
from contentsvc_core.organizations import Organization
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.sign_in import SignedIn
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.refusals import Unsaved
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form, read_form, read_upload
from contentsvc_http.same_origin import is_foreign

_Result = TypeVar("_Result")
ROOT: Final = "/dashboard"
SIGN_IN: Final = f"{ROOT}/sign-in"
READING: Final = frozenset({"GET", "HEAD"})
_COOKIE: Final = "contentsvc_session"
_NO_FORM: Final = Form({})
#: Under this name, the state of a request has its visit.
_VISIT: Final = "dashboard_visit"
#: A page of the dashboard, as a request names it; the form of the sign-in carries it. Browsers follow a dot segment to
#: another part of the host (RFC 3986, section 5.2.4).
_OWN_PAGE: Final = re.compile(rf"{ROOT}(?![^?#]*/(?i:\.|%2e){{1,2}}(?:[/?#]|$))(/[!-~]{{1,1000}})")
#: The length of the value that distinguishes a form on a page from its copies on other pages, in characters: 119 bits.
_ONCE_LENGTH: Final = 20
#: The time in which the same form sent twice is a double click. A reload comes later: its reader has seen the answer.
_DOUBLE_CLICK: Final = timedelta(seconds=2)
_DONE: Final = StoredAnswer(status=303, headers=(), body="")
_MAY_NOT: Final = {
    Scope.READ: "This key may not read: sign in with one that has the scope read.",
    Scope.WRITE: "This key may only read: sign in with one that has the scope write.",
    Scope.ADMIN: "This key may not issue or revoke keys: sign in with one that has the scope admin.",
}


@final
class NotSignedIn(Exception):
    """The request has no valid session, and the page needs one."""

    def __init__(self, typed: Sequence[str] = ()) -> None:
        super().__init__()
        #: The texts of the form that was sent: without scripts, nothing else keeps them.
        self.typed = typed


@final
class Forbidden(Exception):
    """The request comes from another site, or the key lacks a scope; the text says which."""


@final
@frozen(kw_only=True)
class DashboardSession:
    dashboard: Dashboard
    request: Request[Any, Any, Any]
    signed_in: SignedIn
    organization: Organization
    #: The number of drafts that wait for an editor; drafts that are scheduled do not wait.
    drafts: int = 0
    #: The form of a changing request; empty: the request only reads.
    form: Form = _NO_FORM
    #: Why the form has changed nothing; ``None``: no form was refused.
    unsaved: Unsaved | None = None

    @property
    def typed(self) -> Form | None:
        """Return the form whose values its page keeps; ``None``: the page shows the stored values."""
        return self.form if self.unsaved is not None and self.unsaved.keeps else None

    @property
    def app(self) -> Application:
        return self.dashboard.app

    async def lists(self, work: Callable[[], Awaitable[_Result]]) -> _Result:
        return await self.app.shares.lists(self.organization_id, work)

    async def heavy(self, work: Callable[[], Awaitable[_Result]]) -> _Result:
        return await self.app.shares.heavy(self.organization_id, work)

    @property
    def organization_id(self) -> str:
        return self.organization.id

    @property
    def may_write(self) -> bool:
        return Scope.WRITE in self.signed_in.key.scopes

    @property
    def may_issue(self) -> bool:
        return Scope.ADMIN in self.signed_in.key.scopes

    def once(self) -> str:
        """Return the value of the field ``once`` of a form that creates something at each submission."""
        return self.app.ids.token(_ONCE_LENGTH)

    async def sent_once(self, work: Callable[[], Awaitable[_Result | Refusal]]) -> _Result | Refusal | None:
        """Return the result of a form's work; ``None``: a browser sends the form again, because its answer is reloaded.

        Both requests of a double click get the result: the browser shows the second answer only.
        A refused form has had no effect, and may be sent again at once; after a fault, a minute later.
        """
        if not self.form.text("once"):
            return await work()
        digest = sha256(urlencode(self.form.values, doseq=True).encode()).hexdigest()
        now, sent = self.app.clock.now(), self.dashboard.sent
        began, result = sent.get(digest, (now, None))
        if result is None or now - began > _DOUBLE_CLICK:
            result = asyncio.create_task(self._once(digest, work))
            sent[digest] = now, result
        # The browser leaves the first request of a double click.
        return await asyncio.shield(result)

    async def _once(self, digest: str, work: Callable[[], Awaitable[_Result | Refusal]]) -> _Result | Refusal | None:
        retention_s = 0.0
        try:
            begun = await self.app.idempotency.begin(self.signed_in.key.prefix, f"form-{digest}", digest)
            if isinstance(begun, Refusal) or begun.answer is not None:
                return None
            done = await work()
            is_refused = isinstance(done, Refusal)
            await self.app.idempotency.end(begun, None if is_refused else _DONE, refused=is_refused)
            if not is_refused:
                retention_s = _DOUBLE_CLICK.total_seconds()
            return done
        finally:
            asyncio.get_running_loop().call_later(retention_s, self.dashboard.sent.pop, digest, None)

    @property
    def is_partial(self) -> bool:
        """Return whether a script requests a part of the page; history restores and refused forms need all of it."""
        headers = self.request.headers
        is_whole = self.unsaved is not None or headers.get("HX-History-Restore-Request") == "true"
        return headers.get("HX-Request") == "true" and not is_whole

    @property
    def query(self) -> Mapping[str, str]:
        """Return the query's parameters; of repeated ones, the last."""
        return {name: values[-1] for name, values in self.request.query_params.dict().items() if values}


#: The session of a request. Its key has the scope ``read`` for GET, else ``write``, or that of the handler's ``opt``.
Visitor: TypeAlias = NamedDependency[SkipValidation[DashboardSession]]
SentForm: TypeAlias = NamedDependency[SkipValidation[Form]]
#: The session of an upload, and the file; empty: the user chose no file.
Upload: TypeAlias = NamedDependency[SkipValidation[tuple[DashboardSession, bytes]]]


def visits(dashboard: Dashboard) -> dict[str, Provide]:
    """Return the dependencies of handlers. Of a changing request, they check that its form is the dashboard's own."""

    async def session(request: Request[Any, Any, Any]) -> DashboardSession:
        scope: Scope | None = request.route_handler.opt.get("scope")
        if request.method in READING:
            return await visit(dashboard, request, scope or Scope.READ)
        return await _change(dashboard, request, scope or Scope.WRITE)

    async def form(session: Visitor) -> Form:
        return session.form

    async def upload(request: Request[Any, Any, Any]) -> tuple[DashboardSession, bytes]:
        visited = await visit(dashboard, request)
        sent, content = await read_upload(request)
        return _checked(visited, sent, Scope.WRITE), content

    return {"session": Provide(session), "form": Provide(form), "upload": Provide(upload)}


def sent(
    path: str | list[str],
    *,
    page: HTTPRouteHandler,
    **options: Any,  # noqa: ANN401  # the framework's own
) -> Callable[[Callable[..., Awaitable[Response[Any]]]], HTTPRouteHandler]:
    """Declare the handler of a form. If the handler raises :class:`Unsaved`, that of ``page`` answers in its place."""
    shown = page.fn
    names = inspect.signature(shown).parameters

    def declare(handler: Callable[..., Awaitable[Response[Any]]]) -> HTTPRouteHandler:
        @functools.wraps(handler)
        async def handle(**arguments: Any) -> Response[Any]:  # noqa: ANN401  # the handler's own
            try:
                return await handler(**arguments)
            except Unsaved as unsaved:
                arguments["session"] = evolve(arguments["session"], unsaved=unsaved)
                return await shown(**{name: arguments[name] for name in names})

        return post(path, **options)(handle)

    return declare


async def visit(dashboard: Dashboard, request: Request[Any, Any, Any], scope: Scope = Scope.READ) -> DashboardSession:
    """Return the visit of a request, or raise :class:`NotSignedIn` or, without the scope, :class:`Forbidden`."""
    token = request.cookies.get(_COOKIE)
    signed_in = None if token is None else await dashboard.app.sign_in.signed_in(token)
    if signed_in is None:
        raise NotSignedIn
    organization = await dashboard.app.stores.directory.organization_of(signed_in.key.organization_id)
    if organization is None:
        raise NotSignedIn
    if Scope.READ not in signed_in.key.scopes:
        raise Forbidden(_MAY_NOT[Scope.READ])
    drafts = await dashboard.app.stores.posts.waiting(organization.id)
    session = DashboardSession(
        dashboard=dashboard, request=request, signed_in=signed_in, organization=organization, drafts=drafts
    )
    request.scope["state"][_VISIT] = session
    if scope not in signed_in.key.scopes:
        raise Forbidden(_MAY_NOT[scope])
    return session


def visit_of(request: Request[Any, Any, Any]) -> DashboardSession | None:
    """Return the visit that a handler of the request has found; its error page has the same menu."""
    return request.scope["state"].get(_VISIT)


async def _change(dashboard: Dashboard, request: Request[Any, Any, Any], scope: Scope) -> DashboardSession:
    try:
        session = await visit(dashboard, request)
    except NotSignedIn as exc:
        raise NotSignedIn(await _typed(dashboard, request)) from exc
    return _checked(session, await read_form(request), scope)


async def _typed(dashboard: Dashboard, request: Request[Any, Any, Any]) -> tuple[str, ...]:
    """Return the texts of a form whose session has ended: values of several words, which no secret has."""
    if token_of(request) is None or is_script(request) or is_foreign(request, dashboard.app.base_url):
        return ()
    with contextlib.suppress(Refused):
        form = await read_form(request)
        return tuple(text for values in form.values.values() for text in values if " " in text.strip())
    return ()


def _checked(session: DashboardSession, form: Form, scope: Scope) -> DashboardSession:
    """Return the session with a form; :class:`Forbidden`: another site's form, or the key lacks the scope."""
    is_own = csrf_matches(session.signed_in.token, form.text("csrf"))
    if is_foreign(session.request, session.app.base_url) or not is_own:
        message = "This form is out of date. Go back to it, and send it again."
        raise Forbidden(message)
    if scope not in session.signed_in.key.scopes:
        raise Forbidden(_MAY_NOT[scope])
    return evolve(session, form=form)


def refuse_foreign(dashboard: Dashboard, request: Request[Any, Any, Any]) -> None:
    """Check that the request does not come from another site, which must not sign visitors in or out."""
    if is_foreign(request, dashboard.app.base_url):
        message = "Another site's page has sent this. Open the dashboard itself."
        raise Forbidden(message)


def keep(response: Response[Any], signed_in: SignedIn, *, secure: bool) -> None:
    response.set_cookie(_cookie(signed_in.token, max_age=int(SESSION_LIFE.total_seconds()), secure=secure))


def forget(response: Response[Any], *, secure: bool) -> None:
    response.set_cookie(_cookie("", max_age=0, secure=secure))


def sign_in_for(request: Request[Any, Any, Any]) -> str:
    """Return the address of a sign-in that leads on to the requested page, or back to the page of a sent form."""
    page = asked_page(request)
    return f"{SIGN_IN}?next={quote(page)}" if page else SIGN_IN


def asked_page(request: Request[Any, Any, Any]) -> str:
    """Return the address of the requested page, or of the page of a sent form; empty: no page of the dashboard."""
    # Not by the framework's URL, which a client with a malformed Host makes unreadable.
    query = request.scope["query_string"].decode("latin-1")
    page = f"{request.scope['path']}?{query}" if query else request.scope["path"]
    if request.method != "GET" or is_script(request):
        page = f"{ROOT}{sent_from(request)}"
    return page if own_page(page) else ""


def is_script(request: Request[Any, Any, Any]) -> bool:
    return request.headers.get("HX-Request") == "true"


def sent_from(request: Request[Any, Any, Any]) -> str:
    """Return the part below the dashboard's address of the page that has sent a request; empty: none is known."""
    try:
        page = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return ""
    return own_page(page.path + (f"?{page.query}" if page.query else ""))


def own_page(address: str) -> str:
    """Return the part of an address below the dashboard's; empty: it is no page of the dashboard."""
    found = _OWN_PAGE.fullmatch(address)
    return "" if found is None else found[1]


def token_of(request: Request[Any, Any, Any]) -> str | None:
    return request.cookies.get(_COOKIE)


def _cookie(value: str, *, max_age: int, secure: bool) -> Cookie:
    return Cookie(_COOKIE, value=value, path=ROOT, max_age=max_age, httponly=True, samesite="lax", secure=secure)
