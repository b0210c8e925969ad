"""Local days, windows and slots in every time zone of tzdata, around its transitions."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.refusals import message_of, the_refusal

from contentsvc_core.content.windows import Lookback, window_at
from contentsvc_core.lists.parameters import read_time
from contentsvc_core.testing import START
from contentsvc_core.workflows.slots import Cron, Frequency, latest_slot, next_slot, nominal_time
from contentsvc_core.zones import (
    DEFAULT_ZONE,
    day_of,
    end_of_day,
    end_of_week,
    instant_at,
    local_time,
    read_zone,
    start_of_day,
    week_of,
    zone_names,
)

_SECOND = timedelta(seconds=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
#: Its clocks went back at one minute after midnight, to the previous day.
ST_JOHNS = ZoneInfo("America/St_Johns")
#: It skipped 30 December 2011.
APIA = ZoneInfo("Pacific/Apia")
#: Its clocks change by half an hour.
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@cache
def transitions(zone: ZoneInfo, year: int) -> tuple[datetime, ...]:
    """Return the instants of a year at which a zone's offset from UTC changes."""

    def found() -> Iterator[datetime]:
        begins = datetime(year, 1, 1, tzinfo=UTC)
        for before, after in pairwise(begins + number * _DAY for number in range(367)):
            if before.astimezone(zone).utcoffset() != after.astimezone(zone).utcoffset():
                yield bisected(zone, before, after)

    return tuple(found())


def bisected(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    offset = before.astimezone(zone).utcoffset()
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after


@st.composite
def moments(draw: st.DrawFn) -> tuple[ZoneInfo, datetime]:
    """A zone, and an instant: mostly one near a transition of that zone."""
    zone = ZoneInfo(draw(st.sampled_from(zone_names())))
    year = draw(st.integers(1972, 2037))
    around = draw(st.sampled_from(transitions(zone, year) or (datetime(year, 7, 1, tzinfo=UTC),)))
    return zone, around + draw(st.integers(-200, 200)) * timedelta(minutes=15)


crons = st.builds(Cron, frequency=st.just(Frequency.DAILY), hour=st.integers(0, 23), minute=st.sampled_from((0, 1, 30)))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-06-01", "2026-05-31T22:00:00"),
        (" 2026-06-01T08:30:00 ", "2026-06-01T06:30:00"),
        ("2026-06-01T08:30:00Z", "2026-06-01T08:30:00"),
        # An unescaped plus sign in a URL.
        ("2026-06-01T08:30:00 02:00", "2026-06-01T06:30:00"),
        ("2026-13-01", None),
        ("0001-01-01", None),
        # Not every time zone can show it.
        ("0001-01-01T23:59:59Z", None),
        ("9999-12-31T00:00:00Z", None),
        ("9999-12-30T23:59:59Z", "9999-12-30T23:59:59"),
        ("tomorrow", None),
    ],
)
def test_a_time_without_an_offset_is_one_of_the_zone(text: str, at: str | None) -> None:
    found = read_time("since", text, BERLIN)

    if at is None:
        fault = f"Invalid since: '{text}' is no date and no time, such as 2026-11-22 or 2026-11-22T08:30:00Z"
        assert message_of(found) == fault
    else:
        assert found == utc(at)


def test_a_local_time_is_the_same_at_both_ends_of_a_repeated_hour() -> None:
    assert local_time(BERLIN, utc("2026-10-25T01:30:00")).fold == 0


@given(moments())
@example((APIA, utc("2011-12-30T10:00:00")))
@example((ST_JOHNS, utc("2010-11-07T02:31:00")))
def test_the_instant_of_a_local_time_is_the_first_at_which_clocks_show_it_or_a_later_one(
    moment: tuple[ZoneInfo, datetime],
) -> None:
    zone, near = moment
    # The same local time on both sides of any transition: it may be in a gap, or shown twice.
    for local in (local_time(zone, near), local_time(zone, near - 2 * _HOUR) + 2 * _HOUR):
        at = instant_at(zone, local)

        assert local_time(zone, at) >= local
        earlier = [at - _SECOND, *(at - number * timedelta(minutes=5) for number in range(1, 600))]
        assert all(local_time(zone, each) < local for each in earlier)


@given(moments())
@example((APIA, utc("2011-12-30T09:59:59")))
@example((ST_JOHNS, utc("2010-11-07T02:31:00")))
def test_each_instant_is_in_one_day_and_in_one_week(moment: tuple[ZoneInfo, datetime]) -> None:
    zone, at = moment
    day, monday = day_of(zone, at), week_of(zone, at)

    assert start_of_day(zone, day) <= at < end_of_day(zone, at) == start_of_day(zone, day + _DAY)
    assert start_of_day(zone, monday) <= at < end_of_week(zone, at) == start_of_day(zone, monday + 7 * _DAY)
    assert monday.weekday() == 0
    assert abs((local_time(zone, at).date() - day).days) <= 1


@given(moments(), crons)
def test_a_daily_schedule_fires_once_for_each_local_day(moment: tuple[ZoneInfo, datetime], cron: Cron) -> None:
    zone, at = moment
    slots = [next_slot(cron, at, zone)]
    for _ in range(4):
        slots.append(next_slot(cron, slots[-1], zone))

    for before, after in pairwise(slots):
        assert latest_slot(cron, after - _SECOND, zone) == before
        assert latest_slot(cron, after, zone) == after
    meant = [nominal_time(cron, slot, zone) for slot in slots]
    assert all((each.hour, each.minute) == (cron.hour, cron.minute) for each in meant)
    assert [instant_at(zone, each) for each in meant] == slots
    # A day has no slot only if the zone skipped it; its slot is then that of the next day.
    assert all(after - before == _DAY or instant_at(zone, before + _DAY) in slots for before, after in pairwise(meant))


@given(moments(), crons)
@example((BERLIN, utc("2026-03-29T02:00:00")), Cron(frequency=Frequency.DAILY, hour=2, minute=30))
@example((BERLIN, utc("2026-04-05T02:00:00")), Cron(frequency=Frequency.DAILY, hour=2, minute=30))
def test_the_windows_of_weekly_schedules_leave_no_gap(moment: tuple[ZoneInfo, datetime], times: Cron) -> None:
    zone, at = moment
    cron = Cron(frequency=Frequency.WEEKLY, hour=times.hour, minute=times.minute, day_of_week=0)
    before = latest_slot(cron, at, zone)
    slot = next_slot(cron, before, zone)

    window = window_at(Lookback.LAST_7_DAYS, slot, zone, local=nominal_time(cron, slot, zone))
    assert (window.since, window.until) == (before, slot)


@given(moments())
def test_yesterday_ends_where_today_begins(moment: tuple[ZoneInfo, datetime]) -> None:
    zone, at = moment
    today, yesterday = window_at(Lookback.CURRENT_DAY, at, zone), window_at(Lookback.YESTERDAY, at, zone)
    assert yesterday.since <= yesterday.until
    assert yesterday.until in {today.since, start_of_day(zone, local_time(zone, at).date())}


@pytest.mark.parametrize(
    ("zone", "after", "slots"),
    [
        # A skipped local time fires at the first instant after the gap.
        (BERLIN, "2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-30T00:30"]),
        # A time that exists twice fires once.
        (BERLIN, "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]),
        (NEW_YORK, "2026-03-07T12:00", ["2026-03-08T07:00", "2026-03-09T06:30"]),
        (LORD_HOWE, "2026-10-03T00:00", ["2026-10-03T15:30", "2026-10-04T15:30"]),
    ],
)
def test_a_daily_schedule_over_summer_time(zone: ZoneInfo, after: str, slots: list[str]) -> None:
    cron = Cron(frequency=Frequency.DAILY, hour=2, minute=30)
    first = next_slot(cron, utc(after), zone)
    assert [first, next_slot(cron, first, zone)] == [utc(each) for each in slots]


def test_nine_on_monday_stays_nine_on_monday() -> None:
    cron = Cron(frequency=Frequency.WEEKLY, hour=9, minute=0, day_of_week=1)
    assert next_slot(cron, utc("2026-03-27T00:00"), BERLIN) == utc("2026-03-30T07:00")
    assert latest_slot(cron, utc("2026-03-27T00:00"), BERLIN) == utc("2026-03-23T08:00")


def test_the_days_of_a_window_are_local_days() -> None:
    now = utc("2026-03-30T22:30")  # 31 March in Berlin, in the week of the change
    window = window_at(Lookback.YESTERDAY, now, BERLIN)
    assert (window.since, window.until) == (utc("2026-03-29T22:00"), utc("2026-03-30T22:00"))
    assert window_at(Lookback.CURRENT_DAY, now, BERLIN).since == utc("2026-03-30T22:00")
    # The day of the change has 23 hours.
    assert window_at(Lookback.LAST_7_DAYS, now, BERLIN).since == utc("2026-03-23T23:30")


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kolkata"])
def test_a_known_zone_is_read(name: str) -> None:
    assert read_zone(name) == ZoneInfo(name)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("europe/berlin", "did you mean Europe/Berlin?"),
        ("Berlin", "did you mean Europe/Berlin?"),
        ("New York", "did you mean America/New_York?"),
        ("Europe/Berlni", "did you mean Europe/Berlin?"),
        ("+02:00", "use a name such as Europe/Berlin"),
        ("../../etc/passwd", "use a name such as Europe/Berlin"),
        ("Factory", "use a name such as Europe/Berlin"),
        ("localtime", "use a name such as Europe/Berlin"),
        ("", "use a name such as Europe/Berlin"),
        ("x" * 10_000, "use a name such as Europe/Berlin"),
    ],
)
def test_an_unknown_zone_is_refused_with_the_nearest_name(name: str, advice: str) -> None:
    refused = the_refusal(read_zone(name))
    assert refused.field == "time_zone"
    assert refused.message().startswith("timeZone must be an IANA time zone, and '")
    assert refused.message().endswith(advice)
    assert len(refused.message()) < 200


_WITHOUT_ZONES: Final = """
import copy, pickle, sys
sys.modules["tzdata"] = None
import contentsvc_core
for name in contentsvc_core.__all__:
    getattr(contentsvc_core, name)
from contentsvc_core.zones import DEFAULT_ZONE, read_zone, stored_zone, zone_fault, zone_names
berlin = stored_zone("Europe/Berlin")
print(zone_names(), read_zone("UTC") is DEFAULT_ZONE, zone_fault(DEFAULT_ZONE, "Acme"), DEFAULT_ZONE)
print(all(copy.deepcopy(each) is pickle.loads(pickle.dumps(each)) is each for each in (DEFAULT_ZONE, berlin)))
print(zone_fault(berlin, "A"), read_zone("Europe/Berlin").reason, sep="\\n")
"""


def test_a_machine_without_zones_knows_utc() -> None:
    without = {**os.environ, "PYTHONTZPATH": ""}
    command = [sys.executable, "-c", _WITHOUT_ZONES]

    printed = subprocess.run(command, env=without, capture_output=True, text=True, check=False)

    assert printed.stderr == ""
    assert printed.stdout.splitlines() == [
        "('UTC',) True None UTC",
        "True",
        "the organization 'A' starts no runs at fixed times: this machine does not know the time zone 'Europe/Berlin'",
        "{field} must be an IANA time zone, and 'Europe/Berlin' is none; this machine knows UTC alone: install tzdata",
    ]


def test_a_day_is_a_date_of_the_zone() -> None:
    assert day_of(NEW_YORK, utc("2026-01-01T04:59:59")) == date(2025, 12, 31)
    assert day_of(NEW_YORK, utc("2026-01-01T05:00")) == date(2026, 1, 1)


@pytest.mark.parametrize(
    ("lookback", "since", "until"),
    [
        (Lookback.CURRENT_DAY, "2026-03-02T00:00", "2026-03-02T10:11:12.013"),
        (Lookback.YESTERDAY, "2026-03-01T00:00", "2026-03-02T00:00"),
        (Lookback.LAST_7_DAYS, "2026-02-23T10:11:12.013", "2026-03-02T10:11:12.013"),
        (Lookback.LAST_14_DAYS, "2026-02-16T10:11:12.013", "2026-03-02T10:11:12.013"),
        (Lookback.LAST_30_DAYS, "2026-01-31T10:11:12.013", "2026-03-02T10:11:12.013"),
    ],
)
def test_a_lookback_ends_now_or_at_midnight(lookback: Lookback, since: str, until: str) -> None:
    now = START.replace(month=3, day=2, hour=10, minute=11, second=12, microsecond=13_000)
    window = window_at(lookback, now, DEFAULT_ZONE)
    begin, end = (START.fromisoformat(f"{text}+00:00") for text in (since, until))
    assert (window.since, window.until) == (begin, end)
