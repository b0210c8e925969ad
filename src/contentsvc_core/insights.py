"""What people who look ask for: parts of the log, and how much of what there was."""

from datetime import UTC, datetime, timedelta
from typing import Final, Protocol, Self, final

from attrs import field, frozen

from contentsvc_core.journal import LogLine, LogStatus
from contentsvc_core.text import storable

#: How long the stretches are that log entries are counted by.
COUNTED_SPANS: Final = (timedelta(hours=1), timedelta(days=1))
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: ``str.lower`` and ``str.casefold`` know more than ASCII, and databases know that each in another way.
_SMALL: Final = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}


class _Placed(Protocol):
    @property
    def created_at(self) -> datetime: ...

    @property
    def id(self) -> str: ...


@final
@frozen(kw_only=True)
class Place:
    """Where something stands in a list that is ordered by creation time and then id."""

    created_at: datetime
    id: str

    @classmethod
    def of(cls, listed: _Placed) -> Self:
        """Give where a log entry or a run stands."""
        return cls(created_at=listed.created_at, id=listed.id)


@final
@frozen(kw_only=True)
class LogSearch:
    """Which entries of a log; each part that is empty asks for nothing."""

    #: Only these integrations', by id; one that was removed has its entries still.
    integration_ids: tuple[str, ...] = field(converter=tuple, default=())
    #: Only these.
    statuses: tuple[LogStatus, ...] = field(converter=tuple, default=())
    #: Only those whose title has this between spaces: the event's word, as in ``Filtered push event``.
    event: str = field(converter=storable, default="")
    #: Only those that have this in their title, delivery id, error message or reason; ASCII letters in either case.
    text: str = field(converter=storable, default="")

    @property
    def event_word(self) -> str:
        """Give what the title has to hold; empty: anything."""
        return f" {self.event} " if self.event else ""

    @property
    def folded_text(self) -> str:
        """Give what one of the texts has to hold when their ASCII letters are small ones."""
        return folded(self.text)

    def finds(self, entry: LogLine) -> bool:
        """Tell whether an entry is one of those."""
        texts = (entry.title, entry.reference_id, entry.error_message, entry.reason)
        return (
            (not self.integration_ids or entry.integration_id in self.integration_ids)
            and (not self.statuses or entry.status in self.statuses)
            and self.event_word in entry.title
            and any(self.folded_text in folded(text) for text in texts if text is not None)
        )


def stretch_at(at: datetime, span: timedelta) -> datetime:
    """Give when the stretch begins that a point in time lies in."""
    return at - (at - _EPOCH) % span


def refuse_uncounted(span: timedelta) -> None:
    """Refuse stretches that nothing is counted by.

    Raises:
        ValueError: It is none of :data:`COUNTED_SPANS`.
    """
    if span not in COUNTED_SPANS:
        message = f"log entries are counted by the hour and by the day, not by {span}"
        raise ValueError(message)


def folded(text: str) -> str:
    """Make ASCII's capital letters small, and no others."""
    return text.translate(_SMALL)


@final
@frozen(kw_only=True)
class LogCount:
    """How many entries of an integration ended so in a stretch of time."""

    #: A whole hour, or day, in UTC.
    starts_at: datetime
    integration_id: str
    status: LogStatus
    number: int
