from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from litestar import Response, get
from litestar.params import FromPath

from contentsvc_core.access.keys import DEFAULT_SCOPES, MAX_KEYS, Scope, is_active
from contentsvc_core.access.rates import ISSUING_KEYS, Rate, connecting_path
from contentsvc_core.organizations import NAME_LENGTH
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.operate import key_faults
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.zones import day_of, start_of_day
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.counting import WINDOW_S
from contentsvc_http.dashboard.pages import go
from contentsvc_http.dashboard.refusals import FormRefusals, Unsaved
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor, sent
from contentsvc_http.errors import Refused

_SECTION: Final = "keys"
_SCOPES: Final = {
    Scope.READ: "Read: see everything",
    Scope.WRITE: "Write: change, ask for content",
    Scope.ADMIN: "Admin: issue and revoke keys",
}
#: The most ended keys on the page, newest first: their number is not limited.
_ENDED: Final = 100
_OPERATIONS: Final = {
    ("POST", "/v1/posts/generate"): "Posts asked for",
    ("PATCH", "/v1/posts/{postId}"): "Posts changed",
    ("POST", "/v1/brand-identities/generate"): "Websites read",
    **{("POST", connecting_path(provider.slug)): f"Connected ({provider.slug})" for provider in PROVIDERS},
}
_DAY: Final = timedelta(days=1)

_REFUSALS: Final = FormRefusals(
    fields={"name": "name", "expires_at": "expires", "scopes": "scope"},
    words={
        "name": f"A name has at most {NAME_LENGTH} characters: shorten it.",
        RefusalKind.LIMIT: f"An organization has at most {MAX_KEYS} active API keys: "
        "revoke one that is not used any more.",
        RefusalKind.CONFLICT: "The key that you are signed in with has ended: sign in with another one.",
        "expires_at": "This day is over: choose today or a later one.",
        "scopes": "Your own key may not do all of this: tick less.",
    },
)


@get(f"{ROOT}/keys")
async def listed(session: Visitor) -> Response[Any]:
    keys, form = await _listed(session), session.typed
    ended = [key for key in keys if key["state"] != "active"]
    own = session.signed_in.key
    context = {
        "active": [key for key in keys if key["state"] == "active"],
        "ended": ended[:_ENDED],
        "ended_number": len(ended),
        "may_issue": session.may_issue,
        "own": own,
        "window_s": WINDOW_S,
        "scopes": [(scope.value, text) for scope, text in _SCOPES.items() if scope in own.scopes],
        "name": form.text("name") if form else "",
        "most_name": NAME_LENGTH,
        "ticked": form.texts("scope") if form else tuple(scope.value for scope in DEFAULT_SCOPES),
        "expires": form.text("expires") if form else "",
        "today": day_of(session.organization.time_zone, session.app.clock.now()).isoformat(),
    }
    return pages.page(session, "keys.html", context, title="API keys", section=_SECTION)


@sent(f"{ROOT}/keys", page=listed, opt={"scope": Scope.ADMIN})
async def issue(session: Visitor, form: SentForm) -> Response[Any]:
    scopes = [scope for scope in Scope if scope.value in form.texts("scope")]
    faults = {} if scopes else {"scope": "Tick what it may do: at least one."}
    expires = form.text("expires")
    try:
        ends_on = date.fromisoformat(expires) + _DAY if expires else None
        expires_at = None if ends_on is None else start_of_day(session.organization.time_zone, ends_on)
    except (ValueError, OverflowError):
        expires_at, faults["expires"] = None, "This is no date: write it as 2027-01-31, or leave it empty."
    own, now = session.signed_in.key, session.app.clock.now()
    for refused in key_faults(form.text("name"), scopes, expires_at, own, now):
        faults |= _REFUSALS.faults(refused)
    if faults:
        raise Unsaved(faults=faults)
    await counting.admit(session, ISSUING_KEYS)
    issued = await session.sent_once(
        lambda: session.app.operator.issue_key(
            session.organization,
            name=form.text("name"),
            scopes=scopes,
            expires_at=expires_at,
            issuer=own,
        )
    )
    if issued is None:
        return go("/keys", notice="sent-before")
    if isinstance(issued, Refusal):
        status = 409 if issued.kind is RefusalKind.LIMIT else 422
        raise Unsaved(faults=_REFUSALS.faults(issued), status=status)
    return pages.page(
        session, "key_issued.html", {"issued": issued}, title="A new API key", section=_SECTION, status=201
    )


@sent(f"{ROOT}/keys/{{prefix:str}}/revoke", page=listed, opt={"scope": Scope.ADMIN})
async def revoke(session: Visitor, prefix: FromPath[str]) -> Response[Any]:
    key = await session.app.stores.keys.key(prefix)
    if key is None or key.organization_id != session.organization_id:
        raise Refused(404, {"error": "There is no such key."})
    await session.app.stores.keys.revoke(key.prefix, session.app.clock.now())
    own = await session.app.stores.keys.key(session.signed_in.key.prefix)
    if own is None or own.revoked_at is not None:
        # The visitor's own key has ended, or its issuer: the session has ended with it.
        return go("/sign-in", notice="signed-out")
    return go("/keys", notice="revoked")


async def _listed(session: DashboardSession) -> list[dict[str, Any]]:
    now, own = session.app.clock.now(), session.signed_in.key.prefix
    newest_first = list(await session.app.stores.keys.keys(session.organization_id))[::-1]
    keys = sorted(newest_first, key=lambda key: key.prefix != own)
    active = {key.prefix for key in keys if is_active(key, now)}
    used = await counting.used(session, active)
    issued: dict[str | None, list[str]] = {}
    for key in keys:
        issued.setdefault(key.issued_by, []).append(key.prefix)
    return [
        {
            "key": key,
            "state": "active" if key.prefix in active else "revoked" if key.revoked_at else "expired",
            "is_own": key.prefix == own,
            # The number of active keys that were issued with it, directly or not: they end with it.
            "issued": len(active.intersection(_descendants(key.prefix, issued))) if key.prefix in active else 0,
            "limits": [_used(rate, number) for rate, number in used.get(key.prefix, ()) if number],
        }
        for key in keys
    ]


def _descendants(prefix: str, issued: Mapping[str | None, Sequence[str]]) -> list[str]:
    descendants = list(issued.get(prefix, ()))
    for descendant in descendants:
        # The loop reads the list while it grows: each key has one issuer, which precedes it.
        descendants.extend(issued.get(descendant, ()))
    return descendants


def _used(rate: Rate, number: int) -> dict[str, Any]:
    operation = f"{rate.method} {rate.template}"
    return {
        "operation": operation,
        "label": _OPERATIONS.get((rate.method, rate.template), operation),
        "used": number,
        "limit": rate.limit,
        "share": round(min(100.0, 100 * number / rate.limit), 2),
    }
