import functools
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote
from zoneinfo import ZoneInfo

from jinja2 import pass_context
from jinja2.runtime import Context
from litestar import Response
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import Redirect, Template
from litestar.template.config import TemplateConfig
from markupsafe import Markup, escape

from contentsvc_core.content.public.html import directed
from contentsvc_core.timestamps import iso_ms, read_iso
from contentsvc_http.dashboard.assets import asset_url
from contentsvc_http.dashboard.payloads import beginning, visible
from contentsvc_http.dashboard.refusals import Unsaved
from contentsvc_http.dashboard.session import ROOT, DashboardSession
from contentsvc_http.forms import Form, by_field
from contentsvc_http.templates import page_environment
from contentsvc_http.words import first_line

_CODE: Final = re.compile("`([^`]+)`")
#: A time within a sentence, as the core writes it.
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")
#: Flash messages by their codes in the address; no text of the address is shown.
_NOTICES: Final = {
    "saved": "Saved.",
    "created": "Created.",
    "deleted": "Deleted.",
    "brand-deleted": "Deleted. The triggers and schedules that used it are switched off.",
    "enabled": "Switched on.",
    "disabled": "Switched off.",
    "published": "Published.",
    "scheduled": "Saved. The post goes public at the time that is shown below.",
    "all-published": "The posts are published.",
    "all-unpublished": "The posts are drafts again.",
    "all-deleted": "The posts are deleted.",
    "restored": "Restored: the post has this text again.",
    "unpublished": "Back to draft.",
    "revoked": "Revoked. Requests with this key are refused from now on.",
    "replayed": "The delivery is processed again.",
    "resent": "The message is sent again. Its new entry appears here.",
    "asked": "The confirmation mail is sent. The state changes when the link in the mail is used.",
    "test-sent": "The test message is sent. The answer appears here.",
    "retried": "The run is started again.",
    "cancelled": "The run is cancelled.",
    "pinged": "The ping arrived.",
    "sent-already": "This form was sent before, and has no second effect.",
    "sent-before": "This form was sent before, and has no second effect. A secret is shown only once.",
    "signed-out": "You are signed out.",
}
#: The menu: each section with its path, its name and its icon.
SECTIONS: Final = (
    ("overview", "", "Overview", "chart"),
    ("integrations", "/integrations", "Integrations", "plug"),
    ("logs", "/integrations/logs", "Logs", "list"),
    ("endpoints", "/endpoints", "Webhooks out", "arrow"),
    ("triggers", "/triggers", "Triggers", "bolt"),
    ("schedules", "/schedules", "Schedules", "clock"),
    ("runs", "/runs", "Runs", "play"),
    ("posts", "/posts", "Posts", "page"),
    ("search", "/search", "Search", "look"),
    ("changelog", "/changelog", "Public changelog", "globe"),
    ("house-style", "/house-style", "House style", "align"),
    ("brands", "/brands", "Brand identities", "tag"),
    ("keys", "/keys", "API keys", "key"),
    ("organization", "/organization", "Organization", "building"),
)
#: Scripts, styles and fonts load from this service only; a post cannot load anything from elsewhere.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Vary": "HX-Request",
}
#: The browser shows the top of the page again, and a marked field may be far below.
UNSAVED: Final = "Nothing was saved: correct what is marked below."
#: For a form whose field ``seen`` differs from the digest of the stored object.
OUTDATED: Final = (
    "This was saved elsewhere since you opened it. What you have typed is below, and not saved yet: "
    "save again to overwrite the other change."
)
#: The status of such a form.
CONFLICT: Final = 409
#: The shown part of a commit's hash, in characters: git's default.
_HASH_LENGTH: Final = 7
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
#: From this age on, a date is clearer than a number of days.
_FAR: Final = timedelta(days=60)


@functools.cache
def template_config() -> TemplateConfig[JinjaTemplateEngine]:
    """Return the template configuration, created once so that each template is compiled once."""
    environment = page_environment("contentsvc_http.dashboard")
    filters: dict[str, Any] = environment.filters
    filters.update(asset=asset_url, commit=commit, coded=_coded, timed=_timed)
    filters.update(moment=_moment, ago=_ago, short=short, thousands=thousands, line=first_line)
    filters.update(beginning=beginning, visible=visible, directed=directed)
    return TemplateConfig(instance=JinjaTemplateEngine.from_environment(environment))


def page(
    session: DashboardSession,
    template: str,
    context: Mapping[str, Any] | None = None,
    *,
    title: str,
    section: str,
    status: int = 200,
) -> Template:
    """Return a page; after a refused form, with the reason and the status of the refusal."""
    unsaved = session.unsaved
    shown = {
        "title": title,
        "section": section,
        "notice": _NOTICES.get(session.query.get("notice", "")),
        "faults": by_field(None if unsaved is None else unsaved.faults),
        "error": None if unsaved is None else unsaved.error,
        **(context or {}),
    }
    status = status if unsaved is None else unsaved.status
    if not shown.get("error") and (shown.get("faults") or shown.get("add_faults")):
        shown["error"] = UNSAVED
    return part(session, template, shown, status=status)


def part(session: DashboardSession, template: str, context: Mapping[str, Any], *, status: int = 200) -> Template:
    shown = {
        "root": ROOT,
        "visit": session,
        "organization": session.organization,
        "key": session.signed_in.key,
        "csrf": session.signed_in.csrf,
        "sections": SECTIONS,
        "may_write": session.may_write,
        "now": session.app.clock.now(),
        "error": None,
        **context,
    }
    return Template(template_name=template, context=shown, status_code=status, headers=HEADERS)


def outside_page(template: str, context: Mapping[str, Any], *, status: int) -> Template:
    return Template(template_name=template, context={"root": ROOT, **context}, status_code=status, headers=HEADERS)


def digest(*shown: object) -> str:
    """Return a digest of what a page shows; a later request compares it, to find out whether the page is outdated."""
    return sha256(repr(shown).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def check_seen(form: Form, stored: object) -> None:
    """Check that the stored values are the ones that a form was opened with; else raise :class:`Unsaved`."""
    if form.text("seen") != digest(stored):
        raise Unsaved(error=OUTDATED, status=CONFLICT)


def go(path: str, *, notice: str | None = None, at: str = "") -> Redirect:
    """Redirect a browser after an action, so that a reload does not repeat it.

    ``notice`` is a key of ``_NOTICES``, and ``at`` the id of the element where the action was.
    """
    assert notice is None or notice in _NOTICES
    query = "" if notice is None else f"{'&' if '?' in path else '?'}notice={notice}"
    fragment = f"#{quote(at)}" if at else ""
    return Redirect(f"{ROOT}{path}{query}{fragment}", status_code=303, headers=HEADERS)


def nothing_new() -> Response[None]:
    return Response(None, status_code=204, headers=HEADERS)


def moment(at: datetime, zone: ZoneInfo, form: str = "%-d %b %Y, %H:%M") -> Markup:
    """Return a local time for people and machines; pages name the zone once."""
    return _time(at, zone, at.astimezone(zone).strftime(form))


def ago(at: datetime, zone: ZoneInfo, now: datetime) -> Markup:
    """Return the time since or until a point in time; dates far away are shown as local dates."""
    passed = now - at
    if abs(passed) > _FAR:
        return moment(at, zone, "%-d %b %Y")
    if passed < timedelta(0):
        text = f"in {_length(-passed)}"
    elif passed < timedelta(seconds=5):
        text = "just now"
    else:
        text = f"{_length(passed)} ago"
    return _time(at, zone, text)


@pass_context
def _moment(context: Context, at: datetime, *args: str) -> Markup:
    return moment(at, _zone(context), *args)


@pass_context
def _ago(context: Context, at: datetime, now: datetime) -> Markup:
    return ago(at, _zone(context), now)


@pass_context
def _timed(context: Context, text: str) -> Markup:
    """Return a sentence as HTML, with its times in the zone of the page.

    A sentence may cite the answer of an endpoint. An impossible time there, such as one in a 13th month, stays text.
    """
    parts = ((part, read_iso(part) if number % 2 else None) for number, part in enumerate(_TIME.split(text)))
    return Markup("").join(part if at is None else _moment(context, at) for part, at in parts)


def _zone(context: Context) -> ZoneInfo:
    visitor: DashboardSession = context["visit"]
    return visitor.organization.time_zone


def _time(at: datetime, zone: ZoneInfo, text: str) -> Markup:
    # A script prepends the reader's local time to the title.
    title = f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S} {zone.key}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(iso_ms(at), title, text)


def _length(span: timedelta) -> str:
    if span < _MINUTE:
        return f"{span.seconds} s"
    if span < _HOUR:
        return f"{span // _MINUTE} min"
    if span < _DAY:
        return f"{span // _HOUR} h"
    return "1 day" if span < 2 * _DAY else f"{span // _DAY} days"


def _coded(text: str) -> Markup:
    """Return a sentence as HTML, with its words in backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  # escaped


def short(text: str, length: int = 12) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def commit(hash_: str) -> str:
    return first_line(hash_[:_HASH_LENGTH])


def thousands(number: int) -> str:
    return f"{number:,}"
