from typing import Any, Final

from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.commands import read_command
from contentsvc_core.organizations import ChangeOrganization
from contentsvc_core.refusals import Refusal
from contentsvc_core.zones import zone_names
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.session import ROOT, DashboardSession, change, visit

_PATH: Final = f"{ROOT}/organization"
_INVALID: Final = 422
_REFUSALS: Final = FormRefusals(fields={"time_zone": "time_zone"}, labels={"time_zone": "The time zone"})


def organization_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    def page(session: DashboardSession, typed: str, refused: Refusal | None = None) -> Response[Any]:
        shown = {
            "typed": typed,
            "zones": zone_names(),
            "faults": {} if refused is None else _REFUSALS.faults(refused),
        }
        status = 200 if refused is None else _INVALID
        return pages.page(
            session, "organization.html", shown, title="Organization", section="organization", status=status
        )

    @get(_PATH)
    async def show(request: Request[Any, Any, Any]) -> Response[Any]:
        session = await visit(dashboard, request)
        return page(session, session.organization.time_zone.key)

    @post(_PATH)
    async def save(request: Request[Any, Any, Any]) -> Response[Any]:
        session, form = await change(dashboard, request)
        typed = form.text("time_zone")
        command = read_command(ChangeOrganization, {"time_zone": typed})
        refused = command
        if not isinstance(command, Refusal):
            refused = await dashboard.app.operator.change_organization(session.organization, command)
        if isinstance(refused, Refusal):
            return page(session, typed, refused)
        return go("/organization", notice="saved")

    return [show, save]
