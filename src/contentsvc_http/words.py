from collections.abc import Mapping, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from contentsvc_core.content.posts import ContentType, PostStatus
from contentsvc_core.content.queries import PostOrder
from contentsvc_core.content.windows import Lookback
from contentsvc_core.text import one_line
from contentsvc_core.workflows.filters import Batch
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import Trigger

CONTENT: Final = {kind: kind.noun[:1].upper() + kind.noun[1:] for kind in ContentType}
PUBLISHES: Final[Mapping[PostStatus, str]] = {PostStatus.DRAFT: "after review", PostStatus.PUBLISHED: "at once"}
ORDERS: Final[Mapping[PostOrder, str]] = {
    PostOrder.CREATED_AT: "when it was written",
    PostOrder.OCCURRED_AT: "when it happened",
}
LOOKBACKS: Final[Mapping[Lookback, str]] = {
    Lookback.CURRENT_DAY: "the day so far",
    Lookback.YESTERDAY: "the day before",
    Lookback.LAST_7_DAYS: "the last 7 days",
    Lookback.LAST_14_DAYS: "the last 14 days",
    Lookback.LAST_30_DAYS: "the last 30 days",
}
EVENTS: Final[Mapping[str, str]] = {"push": "Pushes", "release": "Releases"}
BATCHES: Final[Mapping[Batch, str]] = {
    Batch.NONE: "One post for each event",
    Batch.DAILY: "One post a day",
    Batch.WEEKLY: "One post a week",
}
_FILTERS: Final = {"branches": "branches", "tags": "tags", "paths": "files", "scopes": "scopes"}
#: 0 is Sunday, as in crontab.
WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_LAST_EVERYWHERE: Final = 28
#: The longest untrusted line, in characters: two lines of a page.
_LINE_LENGTH: Final = 200


def events_of(trigger: Trigger) -> str:
    names = [EVENTS.get(kind, kind) for kind in trigger.event_types or EVENTS]
    return " and ".join(names).capitalize()


def filters_of(trigger: Trigger) -> list[str]:
    options = trigger.options
    parts = [
        f"{label}: {', '.join(getattr(options, name))}" for name, label in _FILTERS.items() if getattr(options, name)
    ]
    if not options.pre_releases:
        parts.append("no pre-releases")
    if options.batch is not Batch.NONE:
        parts.append(BATCHES[options.batch].lower())
    return parts


def times_of(cron: Cron, zone: ZoneInfo) -> str:
    at = f"at {cron.hour:02d}:{cron.minute:02d} {zone.key}"
    match cron.frequency:
        case Frequency.DAILY:
            return f"Every day {at}"
        case Frequency.WEEKLY:
            return f"Every {WEEKDAYS[cron.day_of_week or 0]} {at}"
        case Frequency.MONTHLY:
            day = cron.day_of_month or 1
            # In a shorter month, the last day fires.
            suffix = " or the last one" if day > _LAST_EVERYWHERE else ""
            return f"On day {day}{suffix} of every month {at}"


def some_of(names: Sequence[str]) -> str:
    if not names:
        return "nothing"
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def sentence(reason: str) -> str:
    text = reason[:1].upper() + reason[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def first_line(text: str) -> str:
    """Return the first line of an untrusted text, without control characters and cut to 200 characters."""
    return one_line(text[: 8 * _LINE_LENGTH].partition("\n")[0], _LINE_LENGTH)
