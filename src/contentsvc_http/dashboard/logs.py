from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from attrs import evolve, field, frozen
from litestar import Response, get, post
from msgspec import ValidationError, convert

from contentsvc_core.access.rates import REPLAYING
from contentsvc_core.journal import ListedEntry, LogOutcome, LogStatus, read_log_query
from contentsvc_core.lists.cursors import BEGINNING, Cursor, read_cursor, written_cursor
from contentsvc_core.lists.parameters import choices, listed
from contentsvc_core.read_model import LogSearch
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.replay_many import BATCH, COUNTED, ReplayDeliveries
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.integration_names import all_names
from contentsvc_http.dashboard.pages import nothing_new
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor
from contentsvc_http.errors import Refused

_PAGE: Final = 50
#: The most rows of a page with live updates; beyond it, the list is loaded anew.
_MOST_ROWS: Final = 200
_PATH: Final = f"{ROOT}/integrations/logs"
_REPLAYS: Final = f"{ROOT}/integrations/logs/replay"
#: The offered events; other words may be typed.
EVENTS: Final = ("push", "release", "ping")
#: The longest text, in characters: titles and delivery ids are shorter.
MOST_TEXT: Final = 200
FIELDS: Final = ("outcome", "status", "event", "integration", "text", "since", "until")
_OFF: Final = "off"
#: The most digits of a number; Python refuses to read thousands of them.
_DIGITS: Final = 9


@final
@frozen(kw_only=True)
class LogFilters:
    outcome: str = ""
    status: str = ""
    event: str = ""
    integration: str = ""
    text: str = ""
    since: str = ""
    until: str = ""
    before: Cursor | None = None
    after: Cursor | None = None
    live: bool = True
    rows: int = 0
    search: LogSearch = field(factory=LogSearch)

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, name) for name in FIELDS)

    @property
    def query(self) -> str:
        return self._spelled({})

    @property
    def other_way(self) -> str:
        return evolve(self, live=not self.live).query

    def older(self, than: Cursor) -> str:
        return self._spelled({"before": written_cursor(than)})

    def newer(self, than: Cursor, rows: int) -> str:
        return self._spelled({"after": written_cursor(than), "rows": str(rows)})

    def _spelled(self, more: Mapping[str, str]) -> str:
        fields = {name: getattr(self, name) for name in FIELDS} | {"live": "" if self.live else _OFF, **more}
        spelled = urlencode({name: value for name, value in fields.items() if value})
        return f"?{spelled}" if spelled else ""


def read_log_filters(parameters: Mapping[str, str], zone: ZoneInfo) -> tuple[LogFilters, str | None]:
    texts: dict[str, Any] = {name: parameters.get(name, "").strip()[:MOST_TEXT] for name in FIELDS}
    filters = LogFilters(
        **texts,
        live=parameters.get("live") != _OFF,
        rows=_number(parameters.get("rows", "")),
    )
    query = read_log_query(
        {
            "status": filters.status,
            "integrationId": filters.integration,
            "since": filters.since,
            "until": filters.until,
        },
        zone,
    )
    if isinstance(query, Refusal):
        return filters, f"{query.message()}."
    outcomes = choices("outcome", filters.outcome, LogOutcome)
    if isinstance(outcomes, Refusal):
        return filters, f"{outcomes.message()}."
    cursors: dict[str, Cursor | None] = {}
    for name in ("before", "after"):
        written = parameters.get(name, "")
        cursors[name] = read_cursor(written) if written else None
        if written and cursors[name] is None:
            return filters, "This part of the log cannot be found: start from the newest."
    search = LogSearch(
        integration_ids=query.integration_ids,
        outcomes=outcomes,
        statuses=query.statuses,
        event=filters.event,
        text=filters.text,
        since=query.since,
        until=query.until,
    )
    return evolve(filters, search=search, before=cursors["before"], after=cursors["after"]), None


def outcomes() -> tuple[str, ...]:
    return tuple(outcome.value for outcome in LogOutcome)


def statuses() -> tuple[str, ...]:
    return tuple(status.value for status in LogStatus)


@get(_PATH)
async def logs(session: Visitor) -> Response[Any]:
    filters, fault = read_log_filters(session.query, session.organization.time_zone)
    if session.is_partial and filters.after is not None:
        return await _newer(session, filters)
    context = await _entries_of(session, filters, fault)
    status = 200 if fault is None else 400
    if session.is_partial:
        part = pages.part(session, "logs_part.html", {**context, "new_notice": ""}, status=status)
        part.headers["HX-Push-Url"] = f"{_PATH}{filters.query}"
        return part
    return pages.page(session, "logs.html", {**context, "error": fault}, title="Logs", section="logs", status=status)


async def _entries_of(session: DashboardSession, filters: LogFilters, fault: str | None) -> dict[str, Any]:
    organization_id = session.organization_id
    entries: Sequence[ListedEntry] = ()
    # An invalid filter matches nothing.
    if fault is None:
        entries = await session.lists(
            lambda: session.app.stores.read_model.log(
                organization_id, filters.search, limit=_PAGE + 1, before=filters.before
            ),
        )
    shown = list(entries[:_PAGE])
    names = await all_names(session)
    is_first, newest = filters.before is None, Cursor.of(shown[0]) if shown else BEGINNING
    # A filter with an end has no new deliveries.
    may_poll = is_first and not filters.until
    return {
        "path": _PATH,
        "filters": filters,
        "entries": shown,
        "names": names,
        "outcomes": outcomes(),
        "statuses": statuses(),
        "may_write": session.may_write,
        "events": EVENTS,
        "most_text": MOST_TEXT,
        "since": _shown(filters.search.since, session),
        "until": _shown(filters.search.until, session),
        "is_first": is_first,
        "may_poll": may_poll,
        "polls": filters.newer(newest, len(shown)) if may_poll and filters.live and fault is None else None,
        "older": filters.older(Cursor.of(shown[-1])) if len(entries) > _PAGE else None,
    }


async def _newer(session: DashboardSession, filters: LogFilters) -> Response[Any]:
    organization_id = session.organization_id
    entries = await session.lists(
        lambda: session.app.stores.read_model.log(
            organization_id, filters.search, limit=_PAGE + 1, after=filters.after
        ),
    )
    if not entries:
        return nothing_new()
    number = len(entries)
    notice = f"{f'more than {_PAGE}' if number > _PAGE else number} new {'delivery' if number == 1 else 'deliveries'}"
    if filters.after == BEGINNING or number > _PAGE or filters.rows + number > _MOST_ROWS:
        context = await _entries_of(session, filters, None)
        anew = pages.part(session, "logs_part.html", {**context, "new_notice": notice})
        # The script's target is a row, which new rows replace; here it must be the whole list.
        anew.headers.update({"HX-Retarget": "#found", "HX-Reswap": "innerHTML"})
        return anew
    context = {
        "path": _PATH,
        "entries": entries,
        "names": await all_names(session),
        "polls": filters.newer(Cursor.of(entries[0]), filters.rows + number),
        "new_notice": notice,
    }
    return pages.part(session, "logs_new.html", context)


@get(_REPLAYS)
async def confirm(session: Visitor) -> Response[Any]:
    filters, fault = read_log_filters(session.query, session.organization.time_zone)
    if fault is not None:
        raise Refused(400, {"error": fault})
    command = _command(filters, session.app.ids.new_id("req_"), "")
    counted = await session.app.bulk_replayer.count(session.organization_id, command)
    context = {
        "filters": filters,
        "counted": _accepted(counted),
        "request_id": command.request_id,
        "most": COUNTED,
        "batch": BATCH,
    }
    return pages.page(session, "replay.html", context, title="Replay", section="logs")


@post(_REPLAYS)
async def replay(session: Visitor, form: SentForm) -> Response[Any]:
    filters, fault = read_log_filters({name: form.text(name) for name in FIELDS}, session.organization.time_zone)
    if fault is not None:
        raise Refused(400, {"error": fault})
    command = _command(filters, form.text("request"), form.text("cursor"))
    await counting.admit(session, REPLAYING)
    batch = _accepted(await session.app.bulk_replayer.replay(session.organization_id, command))
    done, refused, runs = (_number(form.text(name)) for name in ("done", "refused", "runs"))
    context = {
        "filters": filters,
        "result": batch,
        "request_id": command.request_id,
        "done": done + len(batch.replayed) + len(batch.repeated),
        "refused": refused + len(batch.refused),
        "runs": runs + batch.runs,
    }
    return pages.page(session, "replay.html", context, title="Replay", section="logs")


def _command(filters: LogFilters, request: str, cursor: str) -> ReplayDeliveries:
    fields: dict[str, object] = {
        "requestId": request,
        "outcomes": listed(filters.outcome),
        "statuses": listed(filters.status),
        "event": filters.event,
        "text": filters.text,
        "since": filters.search.since,
        "until": filters.search.until,
        "integrationId": filters.integration or None,
        "cursor": cursor or None,
    }
    try:
        return convert(fields, ReplayDeliveries)
    except ValidationError as exc:
        raise Refused(400, {"error": f"This replay cannot go on: {exc}."}) from None


def _shown(at: datetime | None, session: DashboardSession) -> str:
    """Return a time as the form's fields hold it: without an offset, in the time zone of the organization."""
    if at is None:
        return ""
    local = at.astimezone(session.organization.time_zone).replace(tzinfo=None)
    return local.isoformat(timespec="milliseconds" if local.second or local.microsecond else "minutes")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else 0


def _accepted(value: Any) -> Any:  # noqa: ANN401  # any result of a use case
    if isinstance(value, Refusal):
        raise Refused(400, {"error": f"{value.message()}."})
    return value
