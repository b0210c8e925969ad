from typing import Any, Final

from litestar import Response, get

from contentsvc_core.commands import read_command
from contentsvc_core.organizations import ChangeOrganization
from contentsvc_core.zones import zone_names
from contentsvc_http.dashboard import pages
from contentsvc_http.dashboard.pages import check_seen, digest, go
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.session import ROOT, SentForm, Visitor, sent

_PATH: Final = f"{ROOT}/organization"
_NAMES: Final = ("name", "time_zone")
_REFUSALS: Final = FormRefusals(
    fields={name: name for name in _NAMES}, labels={"name": "The name", "time_zone": "The time zone"}
)


@get(_PATH)
async def show(session: Visitor) -> Response[Any]:
    typed, stored = session.typed, _stored(session)
    values = {name: typed.text(name) for name in _NAMES} if typed else stored
    shown = {"values": values, "seen": digest(stored), "zones": zone_names()}
    return pages.page(session, "organization.html", shown, title="Organization", section="organization")


@sent(_PATH, page=show)
async def save(session: Visitor, form: SentForm) -> Response[Any]:
    check_seen(form, _stored(session))
    command = _REFUSALS.accepted(read_command(ChangeOrganization, {name: form.text(name) for name in _NAMES}))
    _REFUSALS.accepted(await session.app.operator.change_organization(session.organization, command))
    return go("/organization", notice="saved")


def _stored(session: Visitor) -> dict[str, str]:
    return {"name": session.organization.name, "time_zone": session.organization.time_zone.key}
