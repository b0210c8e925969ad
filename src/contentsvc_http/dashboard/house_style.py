from collections.abc import Mapping
from typing import Any, Final

from litestar import Response, get, post

from contentsvc_core.access.rates import PREVIEWING
from contentsvc_core.content.house_style import style_body
from contentsvc_core.content.style_fields import read_style
from contentsvc_core.refusals import Refusal
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.pages import CONFLICT, OUTDATED, UNSAVED, digest, go
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor
from contentsvc_http.dashboard.style_form import HOUSE_STYLE, fault_of, in_words
from contentsvc_http.dashboard.style_preview import ShownStyle, preview_of_override, preview_of_style

_PATH: Final = f"{ROOT}/house-style"
_SECTION: Final = "house-style"
_TITLE: Final = "House style"
_INVALID: Final = 422


@get(_PATH)
async def show(session: Visitor) -> Response[Any]:
    return _page(session, _stored(session))


@post(_PATH)
async def save(session: Visitor, form: SentForm) -> Response[Any]:
    typed = HOUSE_STYLE.typed(form)
    if form.text("seen") != digest(_stored(session)):
        return _page(session, typed, error=OUTDATED)
    style = read_style(typed)
    if isinstance(style, Refusal):
        return _page(session, typed, refused=style, error=UNSAVED)
    await session.app.stores.directory.set_house_style(session.organization_id, style)
    return go("/house-style", notice="saved")


@post(f"{_PATH}/preview")
async def preview(session: Visitor, form: SentForm) -> Response[Any]:
    await counting.admit(session, PREVIEWING)
    typed = HOUSE_STYLE.typed(form)
    style = read_style(typed)
    refused = style if isinstance(style, Refusal) else None
    shown = await preview_of_style(session, style)
    if session.is_partial:
        return _part(session, shown)
    return _page(session, typed, refused=refused, preview=shown, seen=form.text("seen"))


@post(f"{_PATH}/override")
async def preview_override(session: Visitor, form: SentForm) -> Response[Any]:
    await counting.admit(session, PREVIEWING)
    return _part(session, await preview_of_override(session, form))


@get([f"{_PATH}/preview", f"{_PATH}/override"])
async def leave_preview(session: Visitor) -> Response[Any]:
    # A reload of a preview's address, without the form's data.
    del session
    return go("/house-style")


def _stored(session: DashboardSession) -> Mapping[str, Any]:
    return style_body(session.organization.house_style) or {}


def _page(
    session: DashboardSession,
    typed: Mapping[str, Any],
    *,
    refused: Refusal | None = None,
    preview: ShownStyle | None = None,
    error: str | None = None,
    seen: str = "",
) -> Response[Any]:
    context = {
        "seen": seen or digest(_stored(session)),
        "error": error,
        "groups": HOUSE_STYLE.groups(typed, refused),
        "set": in_words(typed),
        "fault": fault_of(refused) if refused is not None and not refused.field else "",
        "refused": refused is not None,
        "style_preview": preview,
    }
    status = _INVALID if refused is not None else CONFLICT if error else 200
    return pages.page(session, "house_style.html", context, title=_TITLE, section=_SECTION, status=status)


def _part(session: DashboardSession, shown: ShownStyle) -> Response[Any]:
    return pages.part(session, "house_style_preview.html", {"style_preview": shown, "partial": True})
