from collections.abc import Mapping
from typing import Any, Final, final
from urllib.parse import urlencode

from attrs import evolve, field, frozen

from contentsvc_core.journal import LogOutcome, LogStatus, read_log_query
from contentsvc_core.lists.cursors import Cursor, read_cursor, written_cursor
from contentsvc_core.lists.parameters import choices
from contentsvc_core.read_model import LogSearch
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import read_iso

#: The offered events; other words may be typed.
EVENTS: Final = ("push", "release", "ping")
#: The longest text, in characters: titles and delivery ids are shorter.
MOST_TEXT: Final = 200
FIELDS: Final = ("outcome", "status", "event", "integration", "text", "since")
_OFF: Final = "off"
_DIGITS: Final = 6


@final
@frozen(kw_only=True)
class LogFilters:
    outcome: str = ""
    status: str = ""
    event: str = ""
    integration: str = ""
    text: str = ""
    since: str = ""
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


def read_log_filters(parameters: Mapping[str, str]) -> tuple[LogFilters, str | None]:
    texts: dict[str, Any] = {name: parameters.get(name, "").strip()[:MOST_TEXT] for name in FIELDS}
    rows = parameters.get("rows", "")
    filters = LogFilters(
        **texts,
        live=parameters.get("live") != _OFF,
        rows=int(rows) if rows.isascii() and rows.isdigit() and len(rows) <= _DIGITS else 0,
    )
    query = read_log_query({"status": filters.status, "integrationId": filters.integration})
    if isinstance(query, Refusal):
        return filters, f"{query.message()}."
    outcomes = choices("outcome", filters.outcome, LogOutcome)
    if isinstance(outcomes, Refusal):
        return filters, f"{outcomes.message()}."
    began = read_iso(filters.since) if filters.since else None
    if filters.since and began is None:
        return filters, "since must be a time, such as 2026-01-01T12:00:00Z."
    places: dict[str, Cursor | None] = {}
    for name in ("before", "after"):
        written = parameters.get(name, "")
        places[name] = read_cursor(written) if written else None
        if written and places[name] is None:
            return filters, "This part of the log cannot be found: start from the newest."
    search = LogSearch(
        integration_ids=query.integration_ids,
        outcomes=outcomes,
        statuses=query.statuses,
        event=filters.event,
        text=filters.text,
        since=began,
    )
    return evolve(filters, search=search, before=places["before"], after=places["after"]), None


def outcomes() -> tuple[str, ...]:
    return tuple(outcome.value for outcome in LogOutcome)


def statuses() -> tuple[str, ...]:
    return tuple(status.value for status in LogStatus)
