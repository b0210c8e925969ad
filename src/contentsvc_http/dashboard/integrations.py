from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from litestar import Response, get
from litestar.params import FromPath

from contentsvc_core.code_hosts import HostAnswer
from contentsvc_core.errors import SecretUnreadable
from contentsvc_core.identifiers import is_loopback, repository_id
from contentsvc_core.organizations import Integration, webhook_url
from contentsvc_core.read_model import LogCount, LogSearch
from contentsvc_core.usecases.connect import UNKNOWN
from contentsvc_core.webhooks.delivery import Address
from contentsvc_core.webhooks.outcomes import Outcome, Rejected
from contentsvc_core.webhooks.pings import made_ping
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, PROVIDERS, Provider, provider_named
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.charts import columns, last_days, share, span_of
from contentsvc_http.dashboard.choices import OVERLAPS, USUAL_OVERLAP, overlap_of
from contentsvc_http.dashboard.integration_names import name_of, names_of
from contentsvc_http.dashboard.pages import go
from contentsvc_http.dashboard.refusals import Unsaved, found
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor, sent

_ROTATING: Final = ("POST", "/v1/integrations/{integrationId}/rotate-secret")
_SECTION: Final = "integrations"
_NEWEST: Final = 10
UNKNOWN_INTEGRATION: Final = f"{UNKNOWN.message()}."
#: The fields of the form that connects a repository.
_FIELDS: Final = ("repository", "provider", "repository_id", "branch")
#: The providers in the order of the form: those with a public code host first.
_PROVIDERS: Final = sorted(PROVIDERS, key=lambda provider: not provider.api_url)
DAYS: Final = 14


async def traffic(session: DashboardSession) -> Callable[[str], Mapping[str, Any]]:
    """Return a function that returns the deliveries of an integration in the last days."""
    zone = session.organization.time_zone
    days = last_days(session.app.clock.now(), DAYS, zone)
    read_model = session.app.stores.read_model
    counts = defaultdict[str, list[LogCount]](list)
    for count in await read_model.log_counts(session.organization_id, since=days[0], span=span_of(zone)):
        counts[count.integration_id].append(count)

    def of(integration_id: str) -> Mapping[str, Any]:
        chart = columns(counts[integration_id], days, zone, label="%d %b")
        success, failed = chart["totals"]["success"], chart["totals"]["failed"]
        number = sum(chart["totals"].values())
        return {"chart": chart, "number": number, "failed": failed, "succeeded": share(success, success + failed)}

    return of


@get(f"{ROOT}/integrations")
async def integrations(session: Visitor) -> Response[Any]:
    shown, typed = await _rows(session), session.typed
    if session.is_partial:
        return pages.part(session, "integrations_now.html", shown)
    context = {
        **shown,
        "providers": _PROVIDERS,
        "typed": {name: typed.text(name) if typed else "" for name in _FIELDS},
        "had_token": typed is not None and bool(typed.text("token")),
    }
    return pages.page(session, "integrations.html", context, title="Integrations", section=_SECTION)


async def shown_integration(session: DashboardSession, integration_id: str) -> Integration:
    return found(
        await session.app.stores.directory.integration(session.organization_id, integration_id), UNKNOWN_INTEGRATION
    )


def serves_this_machine(session: DashboardSession) -> bool:
    """Check whether payload URLs name this machine: code hosts elsewhere cannot reach them."""
    return is_loopback(urlsplit(session.app.base_url).hostname or "")


async def _rows(session: DashboardSession) -> dict[str, Any]:
    organization_id = session.organization_id
    connected = await session.app.stores.directory.integrations(organization_id)
    newest = await session.lists(lambda: session.app.stores.read_model.newest_entries(organization_id))
    passed = await traffic(session)
    return {
        "rows": [
            {
                "integration": integration,
                "name": name_of(integration),
                "traffic": passed(integration.id),
                # Absent if no delivery has arrived, or its entry was swept.
                "newest": newest.get(integration.id),
            }
            for integration in connected
        ],
    }


@get(f"{ROOT}/integrations/{{integration_id:str}}")
async def show(session: Visitor, integration_id: FromPath[str]) -> Response[Any]:
    integration = await shown_integration(session, integration_id)
    organization_id = session.organization_id
    search = LogSearch(integration_ids=(integration.id,))
    entries = await session.lists(lambda: session.app.stores.read_model.log(organization_id, search, limit=_NEWEST))
    passed = await traffic(session)
    context = {
        "integration": integration,
        "provider": provider_of(integration),
        "name": name_of(integration),
        "urls": urls_of(session, integration),
        "is_local": serves_this_machine(session),
        "traffic": passed(integration.id),
        "entries": entries,
        "names": names_of([integration]),
        "overlaps": OVERLAPS,
        "overlap": USUAL_OVERLAP,
    }
    return pages.page(session, "integration.html", context, title=name_of(integration), section=_SECTION)


@sent([f"{ROOT}/integrations/{{integration_id:str}}/{verb}" for verb in ("enable", "disable")], page=show)
async def switch(session: Visitor, integration_id: FromPath[str]) -> Response[Any]:
    enabled = session.request.scope["path"].endswith("/enable")
    integration = await shown_integration(session, integration_id)
    switched = session.app.stores.directory.enable_integration(session.organization_id, integration.id, enabled=enabled)
    found(await switched, UNKNOWN_INTEGRATION)
    return go(f"/integrations/{integration.id}", notice="enabled" if enabled else "disabled")


@sent(f"{ROOT}/integrations/{{integration_id:str}}/ping", page=show)
async def ping(session: Visitor, form: SentForm, integration_id: FromPath[str]) -> Response[Any]:
    integration = await shown_integration(session, integration_id)
    number, numbers = repository_id(form.text("repository")), {each.id for each in integration.repositories}
    number = found(number if number in numbers else None, "This integration has no such repository.")
    try:
        outcome = found(await _pinged(session, integration, number), UNKNOWN_INTEGRATION)
    except SecretUnreadable as exc:
        raise Unsaved(error=f"No ping was sent: {exc}.", status=409) from exc
    if isinstance(outcome, Rejected):
        raise Unsaved(error=f"The ping was refused with {outcome.status}: {outcome.error}.", status=409)
    return go(f"/integrations/{integration.id}", notice="pinged")


async def _pinged(session: DashboardSession, integration: Integration, number: int) -> Outcome | None:
    address = Address(
        provider=integration.provider,
        organization_id=integration.organization_id,
        integration_id=integration.id,
        repository_id=number,
    )
    secrets = await session.app.stores.directory.secrets(
        integration.organization_id, integration.id, session.app.clock.now()
    )
    if not secrets:
        return None
    delivery = made_ping(address, secret=secrets[0], delivery_id=session.app.ids.new_id(""))
    refused = await session.dashboard.receiver.preflight(delivery)
    return await session.dashboard.receiver.receive(delivery) if refused is None else refused


@sent(f"{ROOT}/integrations/{{integration_id:str}}/rotate", page=show)
async def rotate(session: Visitor, form: SentForm, integration_id: FromPath[str]) -> Response[Any]:
    integration = await shown_integration(session, integration_id)
    await counting.count(session, *_ROTATING)
    overlap = overlap_of(form, "verify")
    rotated = await session.sent_once(
        lambda: session.app.rotator.rotate(session.organization_id, integration.id, overlap=overlap)
    )
    if rotated is None:
        return go(f"/integrations/{integration.id}", notice="sent-before")
    rotated = found(rotated, UNKNOWN_INTEGRATION)
    is_set_at_host = isinstance(rotated.at_host, HostAnswer)
    context = {
        "integration": integration,
        "provider": provider_of(integration),
        "name": name_of(integration),
        "urls": urls_of(session, integration),
        "secret": None if is_set_at_host else rotated.secret,
        "refusal": None if is_set_at_host else rotated.at_host,
        "overlap_until": rotated.overlap_until,
        "overlaps": rotated.overlap_until > session.app.clock.now(),
    }
    return pages.page(session, "integration_rotated.html", context, title="Secret rotated", section=_SECTION)


def provider_of(integration: Integration) -> Provider:
    """Return the provider of an integration, or the default provider if the provider no longer exists."""
    return provider_named(integration.provider) or DEFAULT_PROVIDER


def urls_of(session: DashboardSession, integration: Integration) -> Mapping[int, str]:
    return {
        repository.id: webhook_url(session.app.base_url, integration, repository.id)
        for repository in integration.repositories
    }
