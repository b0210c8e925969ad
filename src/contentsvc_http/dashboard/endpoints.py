from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, TypeVar

from litestar import Response, get
from litestar.params import FromPath

from contentsvc_core.access.rates import CONFIRMING_TOGETHER, CREATING_ENDPOINTS, TESTING_ENDPOINTS
from contentsvc_core.commands import read_command
from contentsvc_core.content.brand import TEXT_LIMIT
from contentsvc_core.journal import LogStatus
from contentsvc_core.outgoing.endpoints import (
    DESCRIPTION_LIMIT,
    UNKNOWN_ENDPOINT,
    ChangeEndpoint,
    CreateEndpoint,
    WebhookEndpoint,
)
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.recipients import RecipientBody, RecipientStatus
from contentsvc_core.outgoing.targets import format_of_target
from contentsvc_core.read_model import LogSearch, stretch_at
from contentsvc_core.usecases.webhook_endpoints import NewSecret
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.charts import share
from contentsvc_http.dashboard.choices import OVERLAPS, USUAL_OVERLAP, overlap_of
from contentsvc_http.dashboard.integration_names import endpoint_name, names_of
from contentsvc_http.dashboard.pages import check_seen, digest, go
from contentsvc_http.dashboard.refusals import FormRefusals, Unsaved, found
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor, sent
from contentsvc_http.forms import Form

_Command = TypeVar("_Command", CreateEndpoint, ChangeEndpoint)
_SECTION: Final = "endpoints"
_PATH: Final = f"{ROOT}/endpoints"
_ONE: Final = f"{_PATH}/{{endpoint_id:str}}"
_NEWEST: Final = 10
_EVENTS: Final = {
    EventType.POST_CREATED: "A post was created",
    EventType.POST_PUBLISHED: "A post was published",
    EventType.DRAFT_WAITING: "A draft waits for an editor",
    EventType.RUN_FAILED: "A run failed for good",
    EventType.INTEGRATION_FAILING: "Deliveries of an integration fail",
    EventType.INTEGRATION_RECOVERED: "Deliveries of an integration are accepted again",
    EventType.ENDPOINT_DISABLED: "Another endpoint was disabled by itself",
}
_FORMATS: Final = {
    EndpointFormat.STANDARD: "Standard Webhooks",
    EndpointFormat.SLACK: "Slack",
    EndpointFormat.DISCORD: "Discord",
    EndpointFormat.TEAMS: "Microsoft Teams",
    EndpointFormat.EMAIL: "E-mail",
}
_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)
_NO_MESSAGES: Final = "no messages"
_UNKNOWN: Final = f"{UNKNOWN_ENDPOINT.message()}."

_REFUSALS: Final = FormRefusals(
    fields={"": "url", "url": "url", "description": "description", "format": "format"},
    labels={"url": "The address", "description": "The description", "format": "The format"},
)


@get(_PATH)
async def listed(session: Visitor) -> Response[Any]:
    owner = session.organization_id
    newest = await session.lists(lambda: session.app.stores.read_model.newest_entries(owner))
    stored = await session.app.stores.endpoints.endpoints(owner)
    endpoints = [endpoint.shown(to_writer=session.may_write) for endpoint in stored]
    bodies = await session.app.consents.bodies(owner, endpoints)
    successes = await _successes(session)
    context = {
        "rows": [
            {
                "endpoint": endpoint,
                "name": endpoint_name(endpoint),
                "format": _FORMATS[endpoint.format],
                # Absent if no message was sent, or its entry was swept.
                "newest": newest.get(endpoint.id),
                "success": successes.get(endpoint.id, _NO_MESSAGES),
                "unconfirmed": _unconfirmed(body.recipients),
            }
            for endpoint, body in zip(endpoints, bodies, strict=True)
        ],
        **_typed(session.typed, None),
    }
    return pages.page(session, "endpoints.html", context, title="Webhooks out", section=_SECTION)


@sent(_PATH, page=listed)
async def create(session: Visitor, form: SentForm) -> Response[Any]:
    await counting.admit(session, CREATING_ENDPOINTS)
    command = _command(session, CreateEndpoint, form)
    created = _REFUSALS.accepted(
        await session.sent_once(lambda: session.app.endpoint_editor.create(session.organization_id, command))
    )
    if created is None:
        return go("/endpoints", notice="sent-before")
    if not created.endpoint.is_signed:
        return go(f"/endpoints/{created.endpoint.id}", notice="created")
    return _secret_page(session, created, is_new=True)


@get(_ONE)
async def show(session: Visitor, endpoint_id: FromPath[str]) -> Response[Any]:
    endpoint = await _endpoint(session, endpoint_id)
    owner, search = session.organization_id, LogSearch(integration_ids=(endpoint.id,))
    entries = await session.lists(lambda: session.app.stores.read_model.log(owner, search, limit=_NEWEST))
    recipients = (await session.app.consents.body(endpoint)).recipients
    statuses = [each.status for each in recipients]
    context = {
        "endpoint": endpoint,
        "seen": digest(_typed(None, endpoint)),
        "recipients": recipients,
        "unconfirmed": RecipientStatus.UNCONFIRMED in statuses,
        "may_test": not statuses or RecipientStatus.CONFIRMED in statuses,
        "most_confirmations": CONFIRMING_TOGETHER.limit,
        "format": _FORMATS[endpoint.format],
        "success": (await _successes(session)).get(endpoint.id, _NO_MESSAGES),
        "name": endpoint_name(endpoint),
        "entries": entries,
        "names": names_of((), [endpoint]),
        **_typed(session.typed, endpoint),
        "overlaps": OVERLAPS,
        "overlap": USUAL_OVERLAP,
    }
    return pages.page(session, "endpoint.html", context, title=endpoint_name(endpoint), section=_SECTION)


@sent(_ONE, page=show)
async def edit(session: Visitor, form: SentForm, endpoint_id: FromPath[str]) -> Response[Any]:
    endpoint = await _endpoint(session, endpoint_id)
    check_seen(form, _typed(None, endpoint))
    command = _command(session, ChangeEndpoint, form)
    changed = await session.app.endpoint_editor.change(session.organization_id, endpoint.id, command)
    return go(f"/endpoints/{_REFUSALS.accepted(changed).id}", notice="saved")


@sent(f"{_ONE}/test", page=show)
async def test(session: Visitor, endpoint_id: FromPath[str]) -> Response[Any]:
    await counting.admit(session, TESTING_ENDPOINTS)
    endpoint = await _endpoint(session, endpoint_id)
    _REFUSALS.performed(await session.app.endpoint_editor.test(session.organization_id, endpoint.id))
    return go(f"/endpoints/{endpoint.id}", notice="test-sent")


@sent(f"{_ONE}/confirmations", page=show)
async def confirm(session: Visitor, endpoint_id: FromPath[str]) -> Response[Any]:
    endpoint = await _endpoint(session, endpoint_id)
    asked = _REFUSALS.performed(await session.app.endpoint_editor.ask(session.organization_id, endpoint.id))
    if not asked.addresses:
        error = " ".join(f"{address} was not asked: {reason}." for address, reason in asked.not_asked.items())
        raise Unsaved(error=error, status=429, keeps=False)
    return go(f"/endpoints/{endpoint.id}", notice="asked")


@sent(f"{_ONE}/switch", page=show)
async def switch(session: Visitor, form: SentForm, endpoint_id: FromPath[str]) -> Response[Any]:
    enabled = form.text("to") == "on"
    switching = ChangeEndpoint(enabled=enabled)
    switched = await session.app.endpoint_editor.change(session.organization_id, endpoint_id, switching)
    return go(f"/endpoints/{found(switched, _UNKNOWN).id}", notice="enabled" if enabled else "disabled")


@sent(f"{_ONE}/rotate", page=show)
async def rotate(session: Visitor, form: SentForm, endpoint_id: FromPath[str]) -> Response[Any]:
    endpoint = await _endpoint(session, endpoint_id)
    overlap = overlap_of(form, "sign")
    rotated = _REFUSALS.performed(
        await session.sent_once(
            lambda: session.app.endpoint_editor.rotate(session.organization_id, endpoint.id, overlap=overlap)
        )
    )
    if rotated is None:
        return go(f"/endpoints/{endpoint.id}", notice="sent-before")
    return _secret_page(session, rotated, is_new=False)


@sent(f"{_ONE}/delete", page=show)
async def delete(session: Visitor, endpoint_id: FromPath[str]) -> Response[Any]:
    found(await session.app.endpoint_editor.remove(session.organization_id, endpoint_id), _UNKNOWN)
    return go("/endpoints", notice="deleted")


async def _endpoint(session: DashboardSession, endpoint_id: str) -> WebhookEndpoint:
    stored = await session.app.stores.endpoints.endpoint(session.organization_id, endpoint_id)
    return found(stored, _UNKNOWN).shown(to_writer=session.may_write)


def _unconfirmed(recipients: Sequence[RecipientBody]) -> str:
    """Return how many addresses get no messages; empty: all get them."""
    number = sum(each.status is not RecipientStatus.CONFIRMED for each in recipients)
    return f"{number} of {len(recipients)} addresses not confirmed" if number else ""


def _secret_page(session: DashboardSession, created: NewSecret, *, is_new: bool) -> Response[Any]:
    context = {"endpoint": created.endpoint, "secret": created.secret, "is_new": is_new}
    title = "A new endpoint" if is_new else "Secret rotated"
    status = 201 if is_new else 200
    return pages.page(session, "endpoint_secret.html", context, title=title, section=_SECTION, status=status)


def _typed(form: Form | None, endpoint: WebhookEndpoint | None) -> dict[str, Any]:
    current: Iterable[EventType] = () if endpoint is None else endpoint.event_types
    ticked = form.texts("event") if form else tuple(kind.value for kind in current)
    formats = [{"value": "", "label": "By the address"}]
    formats += [{"value": kind.value, "label": label} for kind, label in _FORMATS.items()]
    return {
        "url": form.text("url") if form else "" if endpoint is None else endpoint.url,
        "description": form.text("description") if form else "" if endpoint is None else endpoint.description,
        "formats": formats,
        "chosen_format": form.text("format") if form else "" if endpoint is None else _chosen_format(endpoint),
        "events": [(kind.value, text, kind.value in ticked) for kind, text in _EVENTS.items()],
        "most_url": TEXT_LIMIT,
        "most_description": DESCRIPTION_LIMIT,
    }


def _chosen_format(endpoint: WebhookEndpoint) -> str:
    by_address = format_of_target(endpoint.url)
    return "" if by_address is endpoint.format else endpoint.format.value


def _command(session: DashboardSession, command: type[_Command], form: Form) -> _Command:
    known = {kind.value for kind in EventType}
    fields = {
        "url": form.text("url"),
        "description": form.text("description"),
        "format": form.text("format") or None,
        "event_types": [text for text in form.texts("event") if text in known],
    }
    # The format determines the form of the address.
    chosen = {"format": fields["format"]}
    _REFUSALS.check(fields, lambda each: session.app.endpoint_editor.fault_of({**chosen, **each}))
    return _REFUSALS.accepted(read_command(command, fields))


async def _successes(session: DashboardSession) -> Mapping[str, str]:
    """Return the shares of delivered messages of the last 24 hours, by the ids of endpoints."""
    since = stretch_at(session.app.clock.now() - _DAY, _HOUR) + _HOUR
    counts = await session.app.stores.read_model.log_counts(session.organization_id, since=since, span=_HOUR)
    delivered, ended = Counter[str](), Counter[str]()
    for count in counts:
        if count.status is not LogStatus.PENDING:
            ended[count.integration_id] += count.number
            delivered[count.integration_id] += count.number if count.status is LogStatus.SUCCESS else 0
    return {id_: f"{share(delivered[id_], number)} of {number}" for id_, number in ended.items()}
