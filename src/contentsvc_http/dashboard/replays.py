from typing import Any, Final

from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from msgspec import ValidationError, convert

from contentsvc_core.access.rates import REPLAYING
from contentsvc_core.lists.parameters import listed
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.replay_many import BATCH, COUNTED, ReplayDeliveries
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.log_filters import FIELDS, LogFilters, read_log_filters
from contentsvc_http.dashboard.pages import Pages
from contentsvc_http.dashboard.session import ROOT, change, visit
from contentsvc_http.errors import Refused

_PATH: Final = f"{ROOT}/integrations/logs/replay"


def replay_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    counting = Counting(dashboard)

    @get(_PATH)
    async def confirm(request: Request[Any, Any, Any]) -> Response[Any]:
        session = await visit(dashboard, request)
        filters, fault = read_log_filters(session.query)
        if fault is not None:
            raise Refused(400, {"error": fault})
        command = _command(filters, dashboard.app.ids.new_id("req_"), "")
        counted = await dashboard.app.bulk_replayer.count(session.organization_id, command)
        context = {
            "filters": filters,
            "counted": _accepted(counted),
            "request_id": command.request_id,
            "most": COUNTED,
            "batch": BATCH,
        }
        return pages.page(session, "replay.html", context, title="Replay", section="logs")

    @post(_PATH)
    async def replay(request: Request[Any, Any, Any]) -> Response[Any]:
        session, form = await change(dashboard, request)
        filters, fault = read_log_filters({name: form.text(name) for name in FIELDS})
        if fault is not None:
            raise Refused(400, {"error": fault})
        command = _command(filters, form.text("request"), form.text("cursor"))
        await counting.admit(session, REPLAYING)
        batch = _accepted(await dashboard.app.bulk_replayer.replay(session.organization_id, command))
        before = [form.text(name) for name in ("done", "refused", "runs")]
        done, refused, runs = (int(text) if text.isascii() and text.isdigit() else 0 for text in before)
        context = {
            "filters": filters,
            "result": batch,
            "request_id": command.request_id,
            "done": done + len(batch.replayed) + len(batch.repeated),
            "refused": refused + len(batch.refused),
            "runs": runs + batch.runs,
        }
        return pages.page(session, "replay.html", context, title="Replay", section="logs")

    return [confirm, replay]


def _command(filters: LogFilters, request: str, cursor: str) -> ReplayDeliveries:
    fields: dict[str, object] = {
        "requestId": request,
        "outcomes": listed(filters.outcome),
        "statuses": listed(filters.status),
        "event": filters.event,
        "text": filters.text,
        "since": filters.search.since,
        "integrationId": filters.integration or None,
        "cursor": cursor or None,
    }
    try:
        return convert(fields, ReplayDeliveries)
    except ValidationError as exc:
        raise Refused(400, {"error": f"This replay cannot go on: {exc}."}) from None


def _accepted(value: Any) -> Any:  # noqa: ANN401  # any result of a use case
    if isinstance(value, Refusal):
        raise Refused(400, {"error": f"{value.message()}."})
    return value
