"""Lookback windows: the stretch of time that a post reports (decisions, ``/v1``)."""

from datetime import datetime, timedelta
from enum import Enum
from typing import Final, final

from attrs import frozen


class Lookback(Enum):
    """The time window that a post covers, in UTC, counted back from the request."""

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


def window_at(lookback: Lookback, now: datetime) -> LookbackWindow:
    """Return the window of a lookback at ``now``. Calendar days begin at midnight UTC; other windows end now."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    match lookback:
        case Lookback.CURRENT_DAY:
            return LookbackWindow(since=midnight, until=now)
        case Lookback.YESTERDAY:
            return LookbackWindow(since=midnight - _DAY, until=midnight)
        case _:
            return LookbackWindow(since=now - _DAYS[lookback] * _DAY, until=now)
