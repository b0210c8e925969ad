"""Time zones. A skipped local time is the first instant after the gap; one shown twice, the earlier one."""

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from io import BytesIO
from typing import Final, final
from zoneinfo import ZoneInfo, available_timezones

from contentsvc_core.refusals import Refusal, invalid
from contentsvc_core.text import one_line

_LONGEST: Final = 64
_SECOND: Final = timedelta(seconds=1)
_DAY: Final = timedelta(days=1)
_DAYS_OF_WEEK: Final = 7
#: Entries that are no zones: the value of a machine without a zone, and links to the zone of the machine.
_NO_ZONES: Final = frozenset({"Factory", "localtime", "posixrules"})
#: UTC as a file of time zones (RFC 9636, section 3): no transitions, one local time type with the offset 0.
_UTC_FILE: Final = b"TZif" + bytes(35) + b"\1" + bytes(3) + b"\4" + bytes(6) + b"UTC\0"


class _MadeZone(ZoneInfo):
    """A zone with the times of UTC, which this machine has no file of."""

    def __reduce__(self) -> tuple[object, ...]:
        return stored_zone, (self.key,)


@final
class UnknownZone(_MadeZone):
    """A stored time zone that this machine does not know: the stored name, with the times of UTC."""


@cache
def zone_names() -> tuple[str, ...]:
    """Return the names of the zones that this machine knows: UTC at least."""
    return tuple(sorted({*available_timezones(), "UTC"} - _NO_ZONES))


def read_zone(name: str) -> ZoneInfo | Refusal:
    """Return the time zone with an IANA name; an unknown name is refused with the nearest known one."""
    if name in zone_names():
        return stored_zone(name)
    zones = {each.lower(): each for each in zone_names()}
    normalized = name[:_LONGEST].strip().lower().replace(" ", "_")
    cities = {each.rpartition("/")[2]: each for each in zones}
    near = _nearest(normalized, zones, cities)
    some = "use a name such as Europe/Berlin" if len(zones) > 1 else "this machine knows UTC alone: install tzdata"
    advice = f"did you mean {near}?" if near else some
    return invalid("time_zone", f"must be an IANA time zone, and '{one_line(name, _LONGEST)}' is none; {advice}")


@cache
def stored_zone(name: str) -> ZoneInfo:
    """Return the zone that an organization stores; another machine, with newer zones, may have stored its name."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # Windows and slim images have no files of zones.
        kind = _MadeZone if name == "UTC" else UnknownZone
        return kind.from_file(BytesIO(_UTC_FILE), key=name)


DEFAULT_ZONE: Final = stored_zone("UTC")


def zone_fault(zone: ZoneInfo, organization: str) -> str | None:
    """Return why no schedule of an organization fires on this machine; ``None``: the machine knows the zone."""
    if not isinstance(zone, UnknownZone):
        return None
    fault = f"this machine does not know the time zone '{one_line(zone.key, _LONGEST)}'"
    return f"the organization '{organization}' starts no runs at fixed times: {fault}"


def instant_at(zone: ZoneInfo, local: datetime) -> datetime:
    """Return the instant, in UTC, at which the clocks of a zone show ``local``, a time without ``tzinfo``."""
    at = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if local_time(zone, at) == local:
        return at
    # The clocks skip this time. In a gap, fold=1 is the offset after the transition, and so the earlier instant.
    before, after = (each.replace(microsecond=0) for each in (local.replace(tzinfo=zone, fold=1).astimezone(UTC), at))
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if local_time(zone, middle) < local:
            before = middle
        else:
            after = middle
    return after


def local_time(zone: ZoneInfo, at: datetime) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None, fold=0)


def start_of_day(zone: ZoneInfo, day: date) -> datetime:
    """Return the first instant of a local day, in UTC."""
    return instant_at(zone, datetime.combine(day, time.min))


def day_of(zone: ZoneInfo, at: datetime) -> date:
    """Return the local day of an instant; an hour that is repeated over midnight belongs to the new day."""
    day = local_time(zone, at).date()
    return day + _DAY if start_of_day(zone, day + _DAY) <= at else day


def week_of(zone: ZoneInfo, at: datetime) -> date:
    day = day_of(zone, at)
    return day - day.weekday() * _DAY


def end_of_day(zone: ZoneInfo, at: datetime) -> datetime:
    return start_of_day(zone, day_of(zone, at) + _DAY)


def end_of_week(zone: ZoneInfo, at: datetime) -> datetime:
    return start_of_day(zone, week_of(zone, at) + _DAYS_OF_WEEK * _DAY)


def _nearest(name: str, zones: dict[str, str], cities: dict[str, str]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415  # only for a wrong name

    near = get_close_matches(name, [*zones, *cities], n=1, cutoff=0.7)
    return zones.get(cities.get(near[0], near[0])) if near else None
