from datetime import datetime, timedelta
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.journal import Direction, LogLine, LogOutcome, LogStatus
from contentsvc_core.text import storable
from contentsvc_core.timestamps import EPOCH, is_within
from contentsvc_core.values import Value

#: The lengths of the stretches of time for counts of log entries.
COUNTED_SPANS: Final = (timedelta(hours=1), timedelta(days=1))
#: ASCII only: ``str.lower`` and ``str.casefold`` convert more letters, and databases differ in those.
_SMALL: Final = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}


@final
@frozen(kw_only=True)
class LogSearch:
    """A filter of log entries; empty fields do not restrict the list."""

    integration_ids: tuple[str, ...] = field(converter=tuple[str, ...], default=())
    statuses: tuple[LogStatus, ...] = field(converter=tuple[LogStatus, ...], default=())
    outcomes: tuple[LogOutcome, ...] = field(converter=tuple[LogOutcome, ...], default=())
    #: ``None``: deliveries, and the calls and messages of the service.
    direction: Direction | None = None
    #: Only entries from ``since`` on and before ``until``; ``None``: no limit.
    since: datetime | None = None
    until: datetime | None = None
    #: Only entries whose title has this word between spaces: the event in ``Filtered push event``.
    event: str = field(converter=storable, default="")
    #: Only entries with this text in title, delivery id, error or reason, without the case of ASCII letters.
    text: str = field(converter=storable, default="")

    @property
    def event_word(self) -> str:
        return f" {self.event} " if self.event else ""

    @property
    def folded_text(self) -> str:
        return folded(self.text)

    def finds(self, entry: LogLine) -> bool:
        texts = (entry.title, entry.reference_id, entry.error_message, entry.reason)
        return (
            (not self.integration_ids or entry.integration_id in self.integration_ids)
            and (not self.statuses or entry.status in self.statuses)
            and (not self.outcomes or entry.outcome in self.outcomes)
            and self.direction in {None, entry.direction}
            and is_within(entry.created_at, self.since, self.until)
            and self.event_word in entry.title
            and any(self.folded_text in folded(text) for text in texts if text is not None)
        )


def stretch_at(at: datetime, span: timedelta) -> datetime:
    return at - (at - EPOCH) % span


def refuse_uncounted(span: timedelta) -> None:
    """Raise ``ValueError`` unless the span is in :data:`COUNTED_SPANS`."""
    if span not in COUNTED_SPANS:
        message = f"log entries are counted by the hour and by the day, not by {span}"
        raise ValueError(message)


def folded(text: str) -> str:
    return text.translate(_SMALL)


@final
class LogCount(Value, frozen=True, kw_only=True):
    """The number of an integration's entries with one status in a stretch of time."""

    starts_at: datetime
    integration_id: str
    status: LogStatus
    number: int
