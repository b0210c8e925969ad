"""Lookback windows: the stretch of time that a post reports (decisions, ``/v1``)."""

from datetime import datetime, timedelta
from enum import Enum
from typing import Final, Self, final
from zoneinfo import ZoneInfo

from attrs import evolve, frozen

from contentsvc_core.zones import instant_at, local_time, start_of_day


class Lookback(Enum):
    """The time window that a post covers, in local days, counted back from the request."""

    CURRENT_DAY = "current_day"
    YESTERDAY = "yesterday"
    LAST_7_DAYS = "last_7_days"
    LAST_14_DAYS = "last_14_days"
    LAST_30_DAYS = "last_30_days"


DEFAULT_LOOKBACK: Final = Lookback.LAST_7_DAYS
_DAY: Final = timedelta(days=1)
_DAYS: Final = {Lookback.LAST_7_DAYS: 7, Lookback.LAST_14_DAYS: 14, Lookback.LAST_30_DAYS: 30}


@final
@frozen(kw_only=True)
class LookbackWindow:
    """A stretch of time: from ``since`` on, and before ``until``."""

    since: datetime
    until: datetime

    def local_in(self, zone: ZoneInfo) -> Self:
        return evolve(self, since=self.since.astimezone(zone), until=self.until.astimezone(zone))


def window_at(lookback: Lookback, now: datetime, zone: ZoneInfo, *, local: datetime | None = None) -> LookbackWindow:
    """Return the window of a lookback at ``now``. Calendar days are local days; other windows end now.

    ``local`` is the local time from which days are counted back; by default, that of ``now``. A schedule passes the
    nominal time of its slot, so that successive windows meet even if the clocks skipped one.
    """
    local = local_time(zone, now) if local is None else local
    midnight = start_of_day(zone, local.date())
    match lookback:
        case Lookback.CURRENT_DAY:
            return LookbackWindow(since=min(midnight, now), until=now)
        case Lookback.YESTERDAY:
            return LookbackWindow(since=start_of_day(zone, local.date() - _DAY), until=midnight)
        case _:
            return LookbackWindow(since=instant_at(zone, local - _DAYS[lookback] * _DAY), until=now)
