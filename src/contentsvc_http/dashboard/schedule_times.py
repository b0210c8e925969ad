from datetime import datetime
from typing import Final, Self, final
from zoneinfo import ZoneInfo

from attrs import frozen

from contentsvc_core.content.windows import Lookback, LookbackWindow, window_at
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.schedules import Schedule, due_from
from contentsvc_core.workflows.slots import Cron, Frequency, cron_fault, next_slot, nominal_time
from contentsvc_http.dashboard.choices import named

_NEXT: Final = 3
_DIGITS: Final = 2


@final
@frozen(kw_only=True)
class TypedTimes:
    """The fields of a form; the frequency decides which day field is used."""

    frequency: str = Frequency.WEEKLY.value
    hour: str = "09"
    minute: str = "00"
    day_of_week: str = "1"
    day_of_month: str = "1"

    @classmethod
    def of(cls, cron: Cron) -> Self:
        usual = cls()
        return cls(
            frequency=cron.frequency.value,
            hour=f"{cron.hour:02d}",
            minute=f"{cron.minute:02d}",
            day_of_week=usual.day_of_week if cron.day_of_week is None else str(cron.day_of_week),
            day_of_month=usual.day_of_month if cron.day_of_month is None else str(cron.day_of_month),
        )


@final
@frozen(kw_only=True)
class FiringTime:
    at: datetime
    window: LookbackWindow


def read_times(typed: TypedTimes) -> Cron | Refusal:
    """Read times; forms of the dashboard send known frequencies only."""
    frequency = named(Frequency, typed.frequency)
    hour, minute = _number(typed.hour), _number(typed.minute)
    day_of_week = _number(typed.day_of_week) if frequency is Frequency.WEEKLY else None
    day_of_month = _number(typed.day_of_month) if frequency is Frequency.MONTHLY else None
    fault = cron_fault(
        frequency=frequency, hour=hour, minute=minute, day_of_week=day_of_week, day_of_month=day_of_month
    )
    return fault or Cron(
        frequency=frequency, hour=hour, minute=minute, day_of_week=day_of_week, day_of_month=day_of_month
    )


def firings_of(
    cron: Cron, lookback: Lookback, zone: ZoneInfo, *, schedule: Schedule | None, now: datetime
) -> list[FiringTime]:
    if schedule is not None and schedule.due_at is not None and schedule.cron == cron:
        at = schedule.due_at
    else:
        at = due_from(cron, now, zone, last_slot=None if schedule is None else schedule.last_slot)
    firings: list[FiringTime] = []
    for _ in range(_NEXT):
        firings.append(FiringTime(at=at, window=window_at(lookback, at, zone, local=nominal_time(cron, at, zone))))
        at = next_slot(cron, at, zone)
    return firings


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else -1
