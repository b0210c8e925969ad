from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Self, final
from zoneinfo import ZoneInfo

from attrs import frozen
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from contentsvc_core.code_hosts import HostAnswer
from contentsvc_core.errors import SecretUnreadable
from contentsvc_core.identifiers import repository_id
from contentsvc_core.journal import ListedEntry
from contentsvc_core.organizations import Integration, Organization, webhook_url
from contentsvc_core.read_model import LogCount, LogSearch
from contentsvc_core.refusals import Refusal
from contentsvc_core.webhooks.delivery import Address
from contentsvc_core.webhooks.outcomes import Outcome, Rejected
from contentsvc_core.webhooks.pings import made_ping
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, Provider, provider_named
from contentsvc_http.dashboard.charts import Columns, columns, last_days, share, span_of
from contentsvc_http.dashboard.choices import OVERLAPS, USUAL_OVERLAP
from contentsvc_http.dashboard.connecting import (
    connecting_routes,
    no_form,
    no_integration,
    serves_this_machine,
    shown_integration,
)
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.integration_names import name_of, names_of
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.session import ROOT, DashboardSession, change, visit
from contentsvc_http.errors import Refused

_ROTATING: Final = ("POST", "/v1/integrations/{integrationId}/rotate-secret")
_SECTION: Final = "integrations"
_NEWEST: Final = 10
DAYS: Final = 14


@final
@frozen(kw_only=True)
class Traffic:
    chart: Columns

    @classmethod
    def of(cls, counts: Sequence[LogCount], days: Sequence[datetime], zone: ZoneInfo) -> Self:
        return cls(chart=columns(counts, days, zone, label="%d %b"))

    @property
    def number(self) -> int:
        return sum(self.chart.totals.values())

    @property
    def failed(self) -> int:
        return self.chart.totals["failed"]

    @property
    def succeeded(self) -> str:
        success = self.chart.totals["success"]
        return share(success, success + self.failed)


async def traffic(dashboard: Dashboard, organization: Organization) -> Mapping[str, Traffic]:
    zone, days = organization.time_zone, _days(dashboard, organization)
    counts: dict[str, list[LogCount]] = {}
    for count in await dashboard.app.stores.read_model.log_counts(organization.id, since=days[0], span=span_of(zone)):
        counts.setdefault(count.integration_id, []).append(count)
    return {integration_id: Traffic.of(own_counts, days, zone) for integration_id, own_counts in counts.items()}


def no_traffic(dashboard: Dashboard, organization: Organization) -> Traffic:
    return Traffic.of((), _days(dashboard, organization), organization.time_zone)


def _days(dashboard: Dashboard, organization: Organization) -> list[datetime]:
    return last_days(dashboard.app.clock.now(), DAYS, organization.time_zone)


@final
@frozen(kw_only=True)
class IntegrationRow:
    integration: Integration
    traffic: Traffic
    #: ``None``: no delivery has arrived, or its entry was swept.
    newest: ListedEntry | None

    @property
    def name(self) -> str:
        return name_of(self.integration)


def integration_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    @get(f"{ROOT}/integrations")
    async def integrations(request: Request[Any, Any, Any]) -> Response[Any]:
        session = await visit(dashboard, request)
        shown = await rows(dashboard, session)
        if session.is_partial:
            return pages.part(session, "integrations_now.html", shown)
        return pages.page(session, "integrations.html", {**shown, **no_form()}, title="Integrations", section=_SECTION)

    return [
        integrations,
        *connecting_routes(dashboard, pages, lambda session: rows(dashboard, session)),
        *_one_routes(dashboard, pages),
        *_ping_routes(dashboard, pages),
        *_secret_routes(dashboard, pages, Counting(dashboard)),
    ]


async def rows(dashboard: Dashboard, session: DashboardSession) -> dict[str, Any]:
    organization_id = session.organization_id
    connected = await dashboard.app.stores.directory.integrations(organization_id)
    newest = await dashboard.app.shares.lists(
        organization_id, lambda: dashboard.app.stores.read_model.newest_entries(organization_id)
    )
    passed = await traffic(dashboard, session.organization)
    none = no_traffic(dashboard, session.organization)
    return {
        "rows": [
            IntegrationRow(
                integration=integration, traffic=passed.get(integration.id, none), newest=newest.get(integration.id)
            )
            for integration in connected
        ],
    }


def _one_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    @get(f"{ROOT}/integrations/{{integration_id:str}}")
    async def show(request: Request[Any, Any, Any], integration_id: FromPath[str]) -> Response[Any]:
        session = await visit(dashboard, request)
        integration = await shown_integration(dashboard, session, integration_id)
        return await _page(dashboard, pages, session, integration)

    async def switched(request: Request[Any, Any, Any], integration_id: str, *, enabled: bool) -> Response[Any]:
        session, _ = await change(dashboard, request)
        integration = await shown_integration(dashboard, session, integration_id)
        if not await dashboard.app.stores.directory.enable_integration(
            session.organization_id, integration.id, enabled=enabled
        ):
            raise no_integration()
        return go(f"/integrations/{integration.id}", notice="enabled" if enabled else "disabled")

    @post(f"{ROOT}/integrations/{{integration_id:str}}/enable")
    async def enable(request: Request[Any, Any, Any], integration_id: FromPath[str]) -> Response[Any]:
        return await switched(request, integration_id, enabled=True)

    @post(f"{ROOT}/integrations/{{integration_id:str}}/disable")
    async def disable(request: Request[Any, Any, Any], integration_id: FromPath[str]) -> Response[Any]:
        return await switched(request, integration_id, enabled=False)

    return [show, enable, disable]


def _ping_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    @post(f"{ROOT}/integrations/{{integration_id:str}}/ping")
    async def ping(request: Request[Any, Any, Any], integration_id: FromPath[str]) -> Response[Any]:
        session, form = await change(dashboard, request)
        integration = await shown_integration(dashboard, session, integration_id)
        number = repository_id(form.text("repository"))
        if number is None or all(repository.id != number for repository in integration.repositories):
            raise Refused(404, {"error": "This integration has no such repository."})
        try:
            outcome = await _pinged(dashboard, integration, number)
        except SecretUnreadable as exc:
            return await _page(dashboard, pages, session, integration, error=f"No ping was sent: {exc}.", status=409)
        if outcome is None:
            raise no_integration()
        if isinstance(outcome, Rejected):
            error = f"The ping was refused with {outcome.status}: {outcome.error}."
            return await _page(dashboard, pages, session, integration, error=error, status=outcome.status)
        return go(f"/integrations/{integration.id}", notice="pinged")

    return [ping]


async def _pinged(dashboard: Dashboard, integration: Integration, number: int) -> Outcome | None:
    address = Address(
        provider=integration.provider,
        organization_id=integration.organization_id,
        integration_id=integration.id,
        repository_id=number,
    )
    secrets = await dashboard.app.stores.directory.secrets(
        integration.organization_id, integration.id, dashboard.app.clock.now()
    )
    if not secrets:
        return None
    delivery = made_ping(address, secret=secrets[0], delivery_id=dashboard.app.ids.new_id(""))
    refused = await dashboard.receiver.preflight(delivery)
    return await dashboard.receiver.receive(delivery) if refused is None else refused


def _secret_routes(dashboard: Dashboard, pages: Pages, counting: Counting) -> list[HTTPRouteHandler]:
    @post(f"{ROOT}/integrations/{{integration_id:str}}/rotate")
    async def rotate(request: Request[Any, Any, Any], integration_id: FromPath[str]) -> Response[Any]:
        session, form = await change(dashboard, request)
        integration = await shown_integration(dashboard, session, integration_id)
        if (refused := await counting.refusal(session, *_ROTATING)) is not None:
            return await _page(dashboard, pages, session, integration, error=refused, status=429)
        overlap = form.text("overlap")
        if overlap not in OVERLAPS:
            error = "Choose how long the old secret goes on to verify."
            return await _page(dashboard, pages, session, integration, error=error, status=422)
        rotated = await dashboard.app.rotator.rotate(
            session.organization_id, integration.id, overlap=timedelta(hours=int(overlap))
        )
        if isinstance(rotated, Refusal):
            raise Refused(404, {"error": f"{rotated.message()}."})
        is_set_at_host = isinstance(rotated.at_host, HostAnswer)
        context = {
            "integration": integration,
            "provider": provider_of(integration),
            "name": name_of(integration),
            "urls": urls_of(dashboard, integration),
            "secret": None if is_set_at_host else rotated.secret,
            "refusal": None if is_set_at_host else rotated.at_host,
            "overlap_until": rotated.overlap_until,
            "overlaps": rotated.overlap_until > dashboard.app.clock.now(),
        }
        return pages.page(session, "integration_rotated.html", context, title="Secret rotated", section=_SECTION)

    return [rotate]


def provider_of(integration: Integration) -> Provider:
    """Return the provider of an integration; for one that no longer exists, the default one's words do."""
    return provider_named(integration.provider) or DEFAULT_PROVIDER


def urls_of(dashboard: Dashboard, integration: Integration) -> Mapping[int, str]:
    return {
        repository.id: webhook_url(dashboard.app.base_url, integration, repository.id)
        for repository in integration.repositories
    }


async def _page(
    dashboard: Dashboard,
    pages: Pages,
    session: DashboardSession,
    integration: Integration,
    *,
    error: str | None = None,
    status: int = 200,
) -> Response[Any]:
    organization_id = session.organization_id
    search = LogSearch(integration_ids=(integration.id,))
    entries = await dashboard.app.shares.lists(
        organization_id, lambda: dashboard.app.stores.read_model.log(organization_id, search, limit=_NEWEST)
    )
    passed = await traffic(dashboard, session.organization)
    context = {
        "integration": integration,
        "provider": provider_of(integration),
        "name": name_of(integration),
        "urls": urls_of(dashboard, integration),
        "is_local": serves_this_machine(dashboard),
        "traffic": passed.get(integration.id) or no_traffic(dashboard, session.organization),
        "entries": entries,
        "names": names_of([integration]),
        "overlaps": OVERLAPS,
        "overlap": USUAL_OVERLAP,
        "error": error,
    }
    return pages.page(session, "integration.html", context, title=name_of(integration), section=_SECTION, status=status)
