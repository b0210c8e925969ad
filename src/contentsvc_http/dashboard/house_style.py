from collections.abc import Mapping
from typing import Any, Final

from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.access.rates import PREVIEWING
from contentsvc_core.content.house_style import style_body
from contentsvc_core.content.style_fields import read_style
from contentsvc_core.refusals import Refusal
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.pages import UNSAVED, Pages, go
from contentsvc_http.dashboard.session import ROOT, DashboardSession, change, visit
from contentsvc_http.dashboard.style_form import HOUSE_STYLE, fault_of, in_words
from contentsvc_http.dashboard.style_preview import ShownStyle, preview_of_override, preview_of_style
from contentsvc_http.forms import Form

_PATH: Final = f"{ROOT}/house-style"
_SECTION: Final = "house-style"
_TITLE: Final = "House style"
_INVALID: Final = 422


def house_style_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    style_pages = _StylePages(dashboard, pages)

    @get(_PATH)
    async def show(request: Request[Any, Any, Any]) -> Response[Any]:
        session = await visit(dashboard, request)
        return await style_pages.page(session, style_body(session.organization.house_style) or {})

    @post(_PATH)
    async def save(request: Request[Any, Any, Any]) -> Response[Any]:
        return await style_pages.save(*await change(dashboard, request))

    @post(f"{_PATH}/preview")
    async def preview(request: Request[Any, Any, Any]) -> Response[Any]:
        return await style_pages.preview(*await change(dashboard, request))

    @post(f"{_PATH}/override")
    async def preview_override(request: Request[Any, Any, Any]) -> Response[Any]:
        return await style_pages.preview_override(*await change(dashboard, request))

    @get([f"{_PATH}/preview", f"{_PATH}/override"])
    async def leave_preview(request: Request[Any, Any, Any]) -> Response[Any]:
        # A reload of a preview's address, without the form's data.
        await visit(dashboard, request)
        return go("/house-style")

    return [show, save, preview, preview_override, leave_preview]


class _StylePages:
    def __init__(self, dashboard: Dashboard, pages: Pages) -> None:
        self._dashboard = dashboard
        self._pages = pages
        self._counting = Counting(dashboard)

    async def page(
        self,
        session: DashboardSession,
        typed: Mapping[str, Any],
        *,
        refused: Refusal | None = None,
        preview: ShownStyle | None = None,
        error: str | None = None,
    ) -> Response[Any]:
        context = {
            "error": error,
            "groups": HOUSE_STYLE.groups(typed, refused),
            "set": in_words(typed),
            "fault": fault_of(refused) if refused is not None and not refused.field else "",
            "refused": refused is not None,
            "style_preview": preview,
        }
        status = 200 if refused is None else _INVALID
        return self._pages.page(session, "house_style.html", context, title=_TITLE, section=_SECTION, status=status)

    async def save(self, session: DashboardSession, form: Form) -> Response[Any]:
        typed = HOUSE_STYLE.typed(form)
        style = read_style(typed)
        if isinstance(style, Refusal):
            return await self.page(session, typed, refused=style, error=UNSAVED)
        await self._dashboard.app.stores.directory.set_house_style(session.organization_id, style)
        return go("/house-style", notice="saved")

    async def preview(self, session: DashboardSession, form: Form) -> Response[Any]:
        await self._counting.admit(session, PREVIEWING)
        typed = HOUSE_STYLE.typed(form)
        style = read_style(typed)
        refused = style if isinstance(style, Refusal) else None
        shown = await preview_of_style(self._dashboard, session, style)
        if session.is_partial:
            return self._part(session, shown)
        return await self.page(session, typed, refused=refused, preview=shown)

    async def preview_override(self, session: DashboardSession, form: Form) -> Response[Any]:
        await self._counting.admit(session, PREVIEWING)
        return self._part(session, await preview_of_override(self._dashboard, session, form))

    def _part(self, session: DashboardSession, shown: ShownStyle) -> Response[Any]:
        return self._pages.part(session, "house_style_preview.html", {"style_preview": shown, "partial": True})
