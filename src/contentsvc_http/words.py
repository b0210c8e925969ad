"""Displayed words for values of the wire."""

from collections.abc import Mapping, Sequence
from typing import Final

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.queries import PostOrder
from contentsvc_core.content.windows import Lookback
from contentsvc_core.text import one_line
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import Trigger

CONTENT: Final[Mapping[ContentType, str]] = {
    ContentType.CHANGELOG: "Changelog",
    ContentType.BLOG_POST: "Blog post",
    ContentType.LINKEDIN_POST: "LinkedIn post",
    ContentType.TWITTER_POST: "Post for X",
    ContentType.INVESTOR_UPDATE: "Investor update",
}
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
#: 0 is Sunday, as in crontab.
WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_LAST_EVERYWHERE: Final = 28
#: The longest foreign line, in characters: two lines of a page.
_LINE_LENGTH: Final = 200


def events_of(trigger: Trigger) -> str:
    """Return the events of a trigger, as text."""
    names = [EVENTS.get(kind, kind) for kind in trigger.event_types or EVENTS]
    return " and ".join(names).capitalize()


def times_of(cron: Cron) -> str:
    """Return the times of a schedule, as text."""
    at = f"at {cron.hour:02d}:{cron.minute:02d} UTC"
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
    """Return the first name, and the number of further ones."""
    if not names:
        return "nothing"
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def sentence(reason: str) -> str:
    """Return a refusal's reason as a sentence."""
    text = reason[:1].upper() + reason[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def first_line(text: str) -> str:
    """Return the first line of a foreign text, without control characters and cut to 200 characters."""
    return one_line(text[: 8 * _LINE_LENGTH].partition("\n")[0], _LINE_LENGTH)
