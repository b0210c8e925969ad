from typing import Any, Final

from litestar import Response, get, post

from contentsvc_core.commands import read_command
from contentsvc_core.organizations import ChangeOrganization
from contentsvc_core.refusals import Refusal
from contentsvc_core.zones import zone_names
from contentsvc_http.dashboard import pages
from contentsvc_http.dashboard.pages import go
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor

_PATH: Final = f"{ROOT}/organization"
_INVALID: Final = 422
_REFUSALS: Final = FormRefusals(fields={"time_zone": "time_zone"}, labels={"time_zone": "The time zone"})


def _page(session: DashboardSession, typed: str, refused: Refusal | None = None) -> Response[Any]:
    shown = {
        "typed": typed,
        "zones": zone_names(),
        "faults": {} if refused is None else _REFUSALS.faults(refused),
    }
    status = 200 if refused is None else _INVALID
    return pages.page(session, "organization.html", shown, title="Organization", section="organization", status=status)


@get(_PATH)
async def show(session: Visitor) -> Response[Any]:
    return _page(session, session.organization.time_zone.key)


@post(_PATH)
async def save(session: Visitor, form: SentForm) -> Response[Any]:
    typed = form.text("time_zone")
    command = read_command(ChangeOrganization, {"time_zone": typed})
    refused = command
    if not isinstance(command, Refusal):
        refused = await session.app.operator.change_organization(session.organization, command)
    if isinstance(refused, Refusal):
        return _page(session, typed, refused)
    return go("/organization", notice="saved")
