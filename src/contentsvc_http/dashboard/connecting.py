from typing import Any, Final

from litestar import Response
from litestar.params import FromPath

from contentsvc_core.access.rates import connecting_path
from contentsvc_core.identifiers import full_name_in, repository_id
from contentsvc_core.organizations import Integration, webhook_url
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.usecases.connect import UNKNOWN, Connected, Disconnected
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, provider_named
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.integration_names import name_of
from contentsvc_http.dashboard.integrations import UNKNOWN_INTEGRATION, integrations, serves_this_machine, show
from contentsvc_http.dashboard.refusals import Unsaved, found
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor, sent
from contentsvc_http.forms import Form
from contentsvc_http.words import sentence

_SECTION: Final = "integrations"
_SHOWN: Final = 100
_WITHOUT: Final = " You can also enter the repository id: then the code host is not asked."
_AT_FAULT: Final = {
    "repository_id": "repository_id",
    "provider": "provider",
    "full_name": "repository",
    "token": "token",
    "branch": "branch",
}


@sent(f"{ROOT}/integrations", page=integrations)
async def connect(session: Visitor, form: SentForm) -> Response[Any]:
    provider = provider_named(form.text("provider"))
    # Counted as the same operation of /v1; unknown providers are refused anyway.
    if provider is not None:
        await counting.count(session, "POST", connecting_path(provider.slug))
    connected = await session.sent_once(lambda: _connect(session, form))
    if connected is None:
        return pages.go("/integrations", notice="sent-before")
    if isinstance(connected, Connected):
        context = {
            "integration": connected.integration,
            "provider": provider or DEFAULT_PROVIDER,
            "repository": connected.integration.repositories[0],
            "url": connected.url,
            "is_local": serves_this_machine(session),
            "secret": None if connected.created_at_host else connected.secret,
        }
        return pages.page(
            session, "integration_connected.html", context, title="Connected", section=_SECTION, status=201
        )
    fault = sentence(connected.message())
    if connected.retry_after_s is not None:
        fault += f" Try again in {connected.retry_after_s} seconds."
    if connected.kind is RefusalKind.HOST_UNREACHABLE and not form.text("repository_id") and not form.text("token"):
        fault += _WITHOUT
    if (at_fault := _AT_FAULT.get(connected.field or "")) is None:
        raise Unsaved(error=fault)
    raise Unsaved(faults={at_fault: fault})


@sent(f"{ROOT}/integrations/{{integration_id:str}}/disconnect", page=show)
async def disconnect(session: Visitor, integration_id: FromPath[str]) -> Response[Any]:
    done = await session.sent_once(lambda: _disconnect(session, integration_id))
    if done is None:
        return pages.go("/integrations", notice="sent-already")
    integration, gone = found(done, UNKNOWN_INTEGRATION)
    context = {
        "integration": integration,
        "name": name_of(integration),
        "urls": [
            webhook_url(session.app.base_url, integration, repository.id) for repository in integration.repositories
        ],
        "gone": gone,
        "hook": gone.hook.name,
        **await _removed_objects(session, gone),
    }
    return pages.page(session, "integration_disconnected.html", context, title="Disconnected", section=_SECTION)


async def _connect(session: DashboardSession, form: Form) -> Connected | Refusal:
    number, typed_id = None, form.text("repository_id")
    if typed_id:
        number = repository_id(typed_id)
        if number is None:
            fault = f"'{one_line(typed_id, _SHOWN)}' is no repository id: it is a whole number from 1 on"
            return Refusal(RefusalKind.INVALID, fault, "repository_id")
    return await session.app.connector.connect(
        session.organization_id,
        full_name=full_name_in(form.text("repository")),
        provider=form.text("provider"),
        repository_id=number,
        branch=form.text("branch") or None,
        token=form.text("token") or None,
    )


async def _disconnect(session: DashboardSession, integration_id: str) -> tuple[Integration, Disconnected] | Refusal:
    integration = await session.app.stores.directory.integration(session.organization_id, integration_id)
    gone = await session.app.connector.disconnect(session.organization_id, integration_id)
    return UNKNOWN if integration is None or gone is None else (integration, gone)


async def _removed_objects(session: DashboardSession, gone: Disconnected) -> dict[str, Any]:
    triggers = {disabled.id for disabled in gone.removed.disabled_events}
    schedules = {disabled.id for disabled in gone.removed.disabled_schedules}
    return {
        "triggers": [
            trigger
            for trigger in (await session.app.stores.triggers.all_of(session.organization_id) if triggers else ())
            if trigger.id in triggers
        ],
        "schedules": [
            schedule
            for schedule in (await session.app.stores.schedules.all_of(session.organization_id) if schedules else ())
            if schedule.id in schedules
        ],
    }
