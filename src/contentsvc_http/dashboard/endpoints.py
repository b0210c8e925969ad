"""Webhook endpoint pages: list, deliveries, secrets."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final, final

from attrs import frozen
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from contentsvc_core.access.rates import CREATING_ENDPOINTS, TESTING_ENDPOINTS
from contentsvc_core.content.brand import TEXT_LIMIT
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.insights import LogSearch
from contentsvc_core.journal import ListedEntry
from contentsvc_core.outgoing.endpoints import DESCRIPTION_LIMIT, UNKNOWN_ENDPOINT, WebhookEndpoint
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.webhook_endpoints import EndpointChanges, NewSecret
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.integration_names import endpoint_name, names_of
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.visits import ROOT, Visit, change, visit
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form, by_field

_SECTION: Final = "endpoints"
_PATH: Final = f"{ROOT}/endpoints"
_ONE: Final = f"{_PATH}/{{endpoint_id:str}}"
_NEWEST: Final = 10
_EVENTS: Final = {
    EventType.POST_CREATED: "A post was created",
    EventType.POST_PUBLISHED: "A post was published",
    EventType.RUN_FAILED: "A run failed for good",
}
#: The choices for the overlap of an old secret, by the form's value in hours.
_OVERLAPS: Final = {"0": "Not at all: it ends at once", "1": "1 hour", "24": "24 hours", "168": "7 days"}
_USUAL_OVERLAP: Final = "24"

_REFUSALS: Final = FormRefusals(
    fields={"": "url", "url": "url", "description": "description"}, labels={"url": "It", "description": "It"}
)


@final
@frozen(kw_only=True)
class EndpointRow:
    """An endpoint in the list."""

    endpoint: WebhookEndpoint
    #: ``None``: no message was sent, or its entry was swept.
    newest: ListedEntry | None

    @property
    def name(self) -> str:
        return endpoint_name(self.endpoint)


def endpoint_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    return [*_list_routes(dashboard, pages), *_one_routes(dashboard, pages), *_acting_routes(dashboard, pages)]


def _list_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    counting = Counting(dashboard)

    async def page(
        found: Visit, form: Form | None, *, faults: Mapping[str, str] | None = None, status: int = 200
    ) -> Response[Any]:
        mine = found.organization_id
        newest = await dashboard.app.shares.lists(mine, lambda: dashboard.app.stores.insights.newest_entries(mine))
        endpoints = await dashboard.app.stores.endpoints.endpoints(mine)
        context = {
            "rows": [EndpointRow(endpoint=each, newest=newest.get(each.id)) for each in endpoints],
            **_typed(form, None),
            "faults": by_field(faults),
        }
        return pages.page(found, "endpoints.html", context, title="Webhooks out", section=_SECTION, status=status)

    @get(_PATH, name="dashboard_endpoints")
    async def listed(request: Request[Any, Any, Any]) -> Response[Any]:
        return await page(await visit(dashboard, request), None)

    @post(_PATH, name="dashboard_endpoint_create")
    async def create(request: Request[Any, Any, Any]) -> Response[Any]:
        found, form = await change(dashboard, request)
        await counting.admit(found, CREATING_ENDPOINTS)
        made = await dashboard.app.endpoint_editor.create(
            found.organization_id,
            url=form.text("url"),
            description=form.text("description"),
            event_types=_ticked(form),
        )
        if isinstance(made, Refusal):
            return await page(found, form, faults=_REFUSALS.faults(made), status=422)
        return _secret_page(pages, found, made, is_new=True)

    return [listed, create]


def _one_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    @get(_ONE, name="dashboard_endpoint")
    async def show(request: Request[Any, Any, Any], endpoint_id: FromPath[str]) -> Response[Any]:
        found = await visit(dashboard, request)
        return await _page(dashboard, pages, found, await _endpoint(dashboard, found, endpoint_id))

    @post(_ONE, name="dashboard_endpoint_change")
    async def edit(request: Request[Any, Any, Any], endpoint_id: FromPath[str]) -> Response[Any]:
        found, form = await change(dashboard, request)
        endpoint = await _endpoint(dashboard, found, endpoint_id)
        changes = EndpointChanges(url=form.text("url"), description=form.text("description"), event_types=_ticked(form))
        changed = await dashboard.app.endpoint_editor.change(found.organization_id, endpoint.id, **changes)
        if isinstance(changed, Refusal):
            return await _page(
                dashboard, pages, found, endpoint, form=form, faults=_REFUSALS.faults(changed), status=422
            )
        return go(f"/endpoints/{changed.id}", told="saved")

    return [show, edit]


def _acting_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    counting = Counting(dashboard)

    @post(f"{_ONE}/switch", name="dashboard_endpoint_switch")
    async def switch(request: Request[Any, Any, Any], endpoint_id: FromPath[str]) -> Response[Any]:
        found, form = await change(dashboard, request)
        enabled = form.text("to") == "on"
        switched = await dashboard.app.endpoint_editor.change(found.organization_id, endpoint_id, enabled=enabled)
        if isinstance(switched, Refusal):
            raise _unknown()
        return go(f"/endpoints/{switched.id}", told="enabled" if enabled else "disabled")

    @post(f"{_ONE}/test", name="dashboard_endpoint_test")
    async def test(request: Request[Any, Any, Any], endpoint_id: FromPath[str]) -> Response[Any]:
        found, _ = await change(dashboard, request)
        await counting.admit(found, TESTING_ENDPOINTS)
        endpoint = await _endpoint(dashboard, found, endpoint_id)
        message_id = await dashboard.app.endpoint_editor.test(found.organization_id, endpoint.id)
        if isinstance(message_id, Refusal):
            return await _page(dashboard, pages, found, endpoint, error=_REFUSALS.sentence(message_id), status=409)
        return go(f"/endpoints/{endpoint.id}", told="test-sent")

    @post(f"{_ONE}/rotate", name="dashboard_endpoint_rotate")
    async def rotate(request: Request[Any, Any, Any], endpoint_id: FromPath[str]) -> Response[Any]:
        found, form = await change(dashboard, request)
        endpoint = await _endpoint(dashboard, found, endpoint_id)
        overlap = form.text("overlap")
        if overlap not in _OVERLAPS:
            error = "Choose how long the old secret goes on to sign."
            return await _page(dashboard, pages, found, endpoint, error=error, status=422)
        rotated = await dashboard.app.endpoint_editor.rotate(
            found.organization_id, endpoint.id, overlap=timedelta(hours=int(overlap))
        )
        if not isinstance(rotated, NewSecret):
            raise _unknown()
        return _secret_page(pages, found, rotated, is_new=False)

    @post(f"{_ONE}/delete", name="dashboard_endpoint_delete")
    async def delete(request: Request[Any, Any, Any], endpoint_id: FromPath[str]) -> Response[Any]:
        found, _ = await change(dashboard, request)
        if not await dashboard.app.endpoint_editor.remove(found.organization_id, endpoint_id):
            raise _unknown()
        return go("/endpoints", told="deleted")

    return [switch, test, rotate, delete]


async def _endpoint(dashboard: Dashboard, found: Visit, endpoint_id: str) -> WebhookEndpoint:
    endpoint = None
    if is_own_id(endpoint_id):
        endpoint = await dashboard.app.stores.endpoints.endpoint(found.organization_id, endpoint_id)
    if endpoint is None:
        raise _unknown()
    return endpoint


async def _page(  # one parameter for each part of the page
    dashboard: Dashboard,
    pages: Pages,
    found: Visit,
    endpoint: WebhookEndpoint,
    *,
    form: Form | None = None,
    faults: Mapping[str, str] | None = None,
    error: str | None = None,
    status: int = 200,
) -> Response[Any]:
    mine, search = found.organization_id, LogSearch(integration_ids=(endpoint.id,))
    entries = await dashboard.app.shares.lists(
        mine, lambda: dashboard.app.stores.insights.log(mine, search, limit=_NEWEST)
    )
    context = {
        "endpoint": endpoint,
        "name": endpoint_name(endpoint),
        "entries": entries,
        "names": names_of((), [endpoint]),
        **_typed(form, endpoint),
        "faults": by_field(faults),
        "overlaps": _OVERLAPS,
        "overlap": _USUAL_OVERLAP,
        "error": error,
    }
    title = endpoint_name(endpoint)
    return pages.page(found, "endpoint.html", context, title=title, section=_SECTION, status=status)


def _secret_page(pages: Pages, found: Visit, made: NewSecret, *, is_new: bool) -> Response[Any]:
    # The secret is shown on this page only, which cannot be reloaded.
    context = {"endpoint": made.endpoint, "secret": made.secret, "is_new": is_new}
    title = "A new endpoint" if is_new else "Secret rotated"
    status = 201 if is_new else 200
    return pages.page(found, "endpoint_secret.html", context, title=title, section=_SECTION, status=status)


def _typed(form: Form | None, endpoint: WebhookEndpoint | None) -> dict[str, Any]:
    standing: Iterable[EventType] = () if endpoint is None else endpoint.event_types
    ticked = form.texts("event") if form else tuple(kind.value for kind in standing)
    return {
        "url": form.text("url") if form else "" if endpoint is None else endpoint.url,
        "description": form.text("description") if form else "" if endpoint is None else endpoint.description,
        "events": [(kind.value, text, kind.value in ticked) for kind, text in _EVENTS.items()],
        "most_url": TEXT_LIMIT,
        "most_description": DESCRIPTION_LIMIT,
    }


def _ticked(form: Form) -> list[EventType]:
    known = {kind.value: kind for kind in EventType}
    return [known[text] for text in form.texts("event") if text in known]


def _unknown() -> Refused:
    return Refused(404, {"error": f"{UNKNOWN_ENDPOINT.message()}."})
