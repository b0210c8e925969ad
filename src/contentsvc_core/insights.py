"""Filters and results of the queries for lists and overviews."""

from datetime import UTC, datetime, timedelta
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.journal import LogLine, LogStatus
from contentsvc_core.text import storable

#: The lengths of the stretches of time for counts of log entries.
COUNTED_SPANS: Final = (timedelta(hours=1), timedelta(days=1))
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: ASCII only: ``str.lower`` and ``str.casefold`` convert more letters, and databases differ in those.
_SMALL: Final = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}


@final
@frozen(kw_only=True)
class LogSearch:
    """A filter of log entries; empty fields do not restrict the list."""

    #: Only entries of these integrations, by id; removed integrations still have entries.
    integration_ids: tuple[str, ...] = field(converter=tuple, default=())
    #: Only entries with these statuses.
    statuses: tuple[LogStatus, ...] = field(converter=tuple, default=())
    #: Only entries whose title has this word between spaces: the event in ``Filtered push event``.
    event: str = field(converter=storable, default="")
    #: Only entries with this text in title, delivery id, error message or reason, compared without the case of ASCII
    #: letters.
    text: str = field(converter=storable, default="")

    @property
    def event_word(self) -> str:
        """Return the part of the title that must match; empty: any title."""
        return f" {self.event} " if self.event else ""

    @property
    def folded_text(self) -> str:
        """Return the searched text with small ASCII letters."""
        return folded(self.text)

    def finds(self, entry: LogLine) -> bool:
        """Check whether an entry matches."""
        texts = (entry.title, entry.reference_id, entry.error_message, entry.reason)
        return (
            (not self.integration_ids or entry.integration_id in self.integration_ids)
            and (not self.statuses or entry.status in self.statuses)
            and self.event_word in entry.title
            and any(self.folded_text in folded(text) for text in texts if text is not None)
        )


def stretch_at(at: datetime, span: timedelta) -> datetime:
    """Return the beginning of the stretch that contains a point in time."""
    return at - (at - _EPOCH) % span


def refuse_uncounted(span: timedelta) -> None:
    """Raise unless the span is one that entries are counted by.

    Raises:
        ValueError: It is not in :data:`COUNTED_SPANS`.
    """
    if span not in COUNTED_SPANS:
        message = f"log entries are counted by the hour and by the day, not by {span}"
        raise ValueError(message)


def folded(text: str) -> str:
    """Convert ASCII's capital letters to small ones, and no other letters."""
    return text.translate(_SMALL)


@final
@frozen(kw_only=True)
class LogCount:
    """The number of an integration's entries with one status in a stretch of time."""

    #: A whole hour or day, in UTC.
    starts_at: datetime
    integration_id: str
    status: LogStatus
    number: int
