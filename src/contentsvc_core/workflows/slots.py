from calendar import monthrange
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from enum import Enum
from itertools import count
from typing import Any, Final, assert_never, final
from zoneinfo import ZoneInfo

from attrs import frozen

from contentsvc_core.refusals import FIELD, Refusal, RefusalKind
from contentsvc_core.zones import instant_at, local_time

_DAY: Final = timedelta(days=1)
_HOURS: Final = range(24)
_MINUTES: Final = range(60)
_DAYS_OF_WEEK: Final = range(7)
_DAYS_OF_MONTH: Final = range(1, 32)


class Frequency(Enum):
    """The frequency of a schedule."""

    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"


def cron_fault(
    *, frequency: Frequency, hour: int, minute: int, day_of_week: int | None, day_of_month: int | None
) -> Refusal | None:
    """Return the fault in a schedule's times, a day without effect included; ``None``: the times are valid."""
    weekly, monthly = frequency is Frequency.WEEKLY, frequency is Frequency.MONTHLY
    needless = f"a {frequency.value} schedule takes no {FIELD}"
    faults = (
        ("hour", f"{FIELD} must be from 0 to 23", hour not in _HOURS),
        ("minute", f"{FIELD} must be from 0 to 59", minute not in _MINUTES),
        ("day_of_week", f"a weekly schedule needs {FIELD}, from 0 (Sunday) to 6", weekly and day_of_week is None),
        ("day_of_month", f"a monthly schedule needs {FIELD}, from 1 to 31", monthly and day_of_month is None),
        ("day_of_week", needless, not weekly and day_of_week is not None),
        ("day_of_month", needless, not monthly and day_of_month is not None),
        (
            "day_of_week",
            f"{FIELD} must be from 0 (Sunday) to 6",
            day_of_week is not None and day_of_week not in _DAYS_OF_WEEK,
        ),
        (
            "day_of_month",
            f"{FIELD} must be from 1 to 31",
            day_of_month is not None and day_of_month not in _DAYS_OF_MONTH,
        ),
    )
    return next((Refusal(RefusalKind.INVALID, fault, at_fault) for at_fault, fault, applies in faults if applies), None)


@final
@frozen(kw_only=True)
class Cron:
    """The times of a schedule, in local time. Impossible times raise ValueError (:func:`cron_fault`)."""

    frequency: Frequency
    hour: int
    minute: int
    #: 0 is Sunday and 6 is Saturday, as in crontab; set for weekly schedules only.
    day_of_week: int | None = None
    #: 1 to 31; in a shorter month, its last day. Set for monthly schedules only.
    day_of_month: int | None = None

    def __attrs_post_init__(self) -> None:
        fault = cron_fault(
            frequency=self.frequency,
            hour=self.hour,
            minute=self.minute,
            day_of_week=self.day_of_week,
            day_of_month=self.day_of_month,
        )
        if fault is not None:
            raise ValueError(fault.message())


def next_slot(cron: Cron, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the first slot that is later than ``after``, in UTC."""
    return next(slot for slot in _slots(cron, after, _DAY, zone) if slot > after)


def latest_slot(cron: Cron, at: datetime, zone: ZoneInfo) -> datetime:
    """Return the last slot that is not later than ``at``, in UTC."""
    return next(slot for slot in _slots(cron, at, -_DAY, zone) if slot <= at)


def _slots(cron: Cron, start: datetime, step: timedelta, zone: ZoneInfo) -> Iterator[datetime]:
    first = local_time(zone, start).date() - step
    days = (first + number * step for number in count())
    at = time(cron.hour, cron.minute)
    return (instant_at(zone, datetime.combine(day, at)) for day in days if _has_slot(cron, day))


def nominal_time(cron: Cron, slot: datetime, zone: ZoneInfo) -> datetime:
    """Return the local time that a slot means; it differs from the clocks' time if they skipped it."""
    local = local_time(zone, slot)
    meant = local.replace(hour=cron.hour, minute=cron.minute, second=0, microsecond=0)
    meant -= _DAY if meant > local else timedelta()
    # A slot of another zone that the organization had before means the time that the clocks show.
    return meant if instant_at(zone, meant) == slot else local


def _has_slot(cron: Cron, day: date) -> bool:
    match cron.frequency:
        case Frequency.DAILY:
            return True
        case Frequency.WEEKLY:
            return day.isoweekday() % 7 == cron.day_of_week
        case Frequency.MONTHLY:
            return day.day == min(cron.day_of_month or 1, monthrange(day.year, day.month)[1])
        case _:
            assert_never(cron.frequency)


def cron_body(cron: Cron) -> dict[str, Any]:
    days = {"dayOfWeek": cron.day_of_week, "dayOfMonth": cron.day_of_month}
    return {
        "frequency": cron.frequency.value,
        "hour": cron.hour,
        "minute": cron.minute,
        **{name: day for name, day in days.items() if day is not None},
    }


def cron_of(body: Mapping[str, Any]) -> Cron:
    return Cron(
        frequency=Frequency(body["frequency"]),
        hour=body["hour"],
        minute=body["minute"],
        day_of_week=body.get("dayOfWeek"),
        day_of_month=body.get("dayOfMonth"),
    )
