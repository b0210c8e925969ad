"""The firing of schedules, and its effects (decisions, ``/v1``, "Schedules")."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st
from tests import builders
from tests.refusals import existing, message_of

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback, LookbackWindow
from contentsvc_core.refusals import too_many
from contentsvc_core.testing import START
from contentsvc_core.workflows.automations import Firing, refuse_addition
from contentsvc_core.workflows.bodies import ScheduleBody
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.runs import RunStatus
from contentsvc_core.workflows.schedules import (
    DUPLICATE_SCHEDULE,
    NO_REPOSITORY,
    Schedule,
    changed,
    disabled,
    due_from,
)
from contentsvc_core.workflows.slots import (
    Cron,
    Frequency,
    cron_body,
    cron_fault,
    cron_of,
    latest_slot,
    next_slot,
    nominal_time,
)
from contentsvc_core.zones import DEFAULT_ZONE

_HOUR = timedelta(hours=1)
BERLIN = ZoneInfo("Europe/Berlin")
_DAILY = Cron(frequency=Frequency.DAILY, hour=9, minute=30)
_LAST_OF_MONTH = Cron(frequency=Frequency.MONTHLY, hour=23, minute=59, day_of_month=31)
_LIGHTHOUSE = Source(provider="codehost", repository_id=1, full_name="acme/lighthouse")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def crons() -> st.SearchStrategy[Cron]:
    times: dict[str, Any] = {"hour": st.integers(0, 23), "minute": st.integers(0, 59)}
    return (
        st.builds(Cron, frequency=st.just(Frequency.DAILY), **times)
        | st.builds(Cron, frequency=st.just(Frequency.WEEKLY), day_of_week=st.integers(0, 6), **times)
        | st.builds(Cron, frequency=st.just(Frequency.MONTHLY), day_of_month=st.integers(1, 31), **times)
    )


def fires(cron: Cron, hour: datetime) -> bool:
    """Check by the calendar whether a schedule fires in an hour."""
    if hour.hour != cron.hour:
        return False
    if cron.day_of_week is not None:
        return ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")[cron.day_of_week] == hour.strftime("%a")
    if cron.day_of_month is not None:
        is_last = (hour + timedelta(days=1)).month != hour.month
        return hour.day == cron.day_of_month or (is_last and cron.day_of_month > hour.day)
    return True


def walked(cron: Cron, start: datetime, step: timedelta) -> datetime:
    """Step by hours from a time to the next slot, or back to the previous one."""
    hour = start.replace(minute=0, second=0, microsecond=0)
    while True:
        slot = hour.replace(minute=cron.minute)
        beyond = slot > start if step > timedelta() else slot <= start
        if fires(cron, hour) and beyond:
            return slot
        hour += step


@given(cron=crons(), now=st.datetimes(datetime(1999, 12, 1), datetime(2101, 3, 2), timezones=st.just(UTC)))  # noqa: DTZ001
@example(cron=_LAST_OF_MONTH, now=at("2024-02-29T23:59"))
@example(cron=_LAST_OF_MONTH, now=at("2100-02-28T23:58:59.999"))
def test_slots_follow_the_calendar(cron: Cron, now: datetime) -> None:
    assert next_slot(cron, now, DEFAULT_ZONE) == walked(cron, now, _HOUR)
    assert latest_slot(cron, now, DEFAULT_ZONE) == walked(cron, now, -_HOUR)
    # Two neighbouring slots.
    assert next_slot(cron, latest_slot(cron, now, DEFAULT_ZONE), DEFAULT_ZONE) == next_slot(cron, now, DEFAULT_ZONE)
    assert latest_slot(cron, next_slot(cron, now, DEFAULT_ZONE), DEFAULT_ZONE) == next_slot(cron, now, DEFAULT_ZONE)


@pytest.mark.parametrize(
    ("cron", "after", "slots"),
    [
        (_DAILY, "2026-01-01T09:29:59.999", ["2026-01-01T09:30", "2026-01-02T09:30"]),
        (_DAILY, "2026-12-31T09:30", ["2027-01-01T09:30"]),
        (
            Cron(frequency=Frequency.WEEKLY, hour=0, minute=0, day_of_week=0),
            "2026-01-01",
            ["2026-01-04T00:00", "2026-01-11T00:00"],
        ),
        (Cron(frequency=Frequency.WEEKLY, hour=0, minute=0, day_of_week=6), "2026-12-27", ["2027-01-02T00:00"]),
        (
            _LAST_OF_MONTH,
            "2024-01-31T23:59",
            ["2024-02-29T23:59", "2024-03-31T23:59", "2024-04-30T23:59", "2024-05-31T23:59"],
        ),
        (_LAST_OF_MONTH, "2026-01-31T23:59", ["2026-02-28T23:59"]),
        (
            Cron(frequency=Frequency.MONTHLY, hour=6, minute=0, day_of_month=29),
            "2027-01-30",
            ["2027-02-28T06:00", "2027-03-29T06:00"],
        ),
        (Cron(frequency=Frequency.MONTHLY, hour=6, minute=0, day_of_month=1), "2026-12-02", ["2027-01-01T06:00"]),
    ],
)
def test_slots_come_at_these_times(cron: Cron, after: str, slots: list[str]) -> None:
    now = at(after)
    for slot in slots:
        now = next_slot(cron, now, DEFAULT_ZONE)
        assert now == at(slot)


@pytest.mark.parametrize(
    ("hour", "minute", "zone", "slot", "meant"),
    [
        (2, 30, "Europe/Berlin", "2026-03-28T01:30", "2026-03-28T02:30"),
        # The clocks skip this hour, and in Apia this day.
        (2, 30, "Europe/Berlin", "2026-03-29T01:00", "2026-03-29T02:30"),
        (10, 15, "Pacific/Apia", "2011-12-30T10:00", "2011-12-30T10:15"),
        # A slot in the organization's previous time zone.
        (2, 30, "Europe/Berlin", "2026-03-28T12:34", "2026-03-28T13:34"),
        (2, 30, "Europe/Berlin", "2026-03-28T00:34", "2026-03-28T01:34"),
    ],
)
def test_a_slot_means_a_local_time(hour: int, minute: int, zone: str, slot: str, meant: str) -> None:
    cron = Cron(frequency=Frequency.DAILY, hour=hour, minute=minute)

    assert nominal_time(cron, at(slot), ZoneInfo(zone)) == datetime.fromisoformat(meant)


def test_slots_are_in_utc_for_any_zone() -> None:
    now = datetime(2026, 1, 2, 1, 0, tzinfo=timezone(timedelta(hours=5)))

    assert next_slot(Cron(frequency=Frequency.DAILY, hour=21, minute=0), now, DEFAULT_ZONE) == at("2026-01-01T21:00")
    assert latest_slot(Cron(frequency=Frequency.DAILY, hour=20, minute=0), now, DEFAULT_ZONE) == at("2026-01-01T20:00")


@pytest.mark.parametrize(
    ("frequency", "times", "fault"),
    [
        ("daily", {"hour": 24}, "hour must be from 0 to 23"),
        ("daily", {"hour": -1}, "hour must be from 0 to 23"),
        ("daily", {"minute": 60}, "minute must be from 0 to 59"),
        ("daily", {"day_of_week": 1}, "a daily schedule takes no dayOfWeek"),
        ("daily", {"day_of_month": 1}, "a daily schedule takes no dayOfMonth"),
        ("weekly", {}, "a weekly schedule needs dayOfWeek, from 0 (Sunday) to 6"),
        ("weekly", {"day_of_week": 7}, "dayOfWeek must be from 0 (Sunday) to 6"),
        ("weekly", {"day_of_week": 1, "day_of_month": 1}, "a weekly schedule takes no dayOfMonth"),
        ("monthly", {}, "a monthly schedule needs dayOfMonth, from 1 to 31"),
        ("monthly", {"day_of_month": 0}, "dayOfMonth must be from 1 to 31"),
        ("monthly", {"day_of_month": 32}, "dayOfMonth must be from 1 to 31"),
        ("monthly", {"day_of_month": 1, "day_of_week": 1}, "a monthly schedule takes no dayOfWeek"),
    ],
)
def test_times_that_can_never_be_are_refused_by_name(frequency: str, times: dict[str, int], fault: str) -> None:
    given: dict[str, Any] = {"hour": 9, "minute": 0, "day_of_week": None, "day_of_month": None, **times}

    assert message_of(cron_fault(frequency=Frequency(frequency), **given)) == fault
    with pytest.raises(ValueError, match="^" + fault.replace("(", r"\(").replace(")", r"\)")):
        Cron(frequency=Frequency(frequency), **given)


@given(crons())
def test_times_read_back_as_they_were(cron: Cron) -> None:
    assert cron_of(cron_body(cron)) == cron


def a_schedule(**fields: Any) -> Schedule:
    values: dict[str, Any] = {
        "cron": _DAILY,
        "repository_ids": (2, 1, 2),
        "due_at": next_slot(_DAILY, START, DEFAULT_ZONE),
    }
    return builders.a_schedule(**values | fields)


def fired(schedule: Schedule, now: datetime, *sources: Source) -> Firing:
    return existing(schedule.firing(now, DEFAULT_ZONE, sources=sources, run_id="run_1"))


class TestSchedules:
    def test_the_wire_form_has_the_decided_fields(self) -> None:
        assert msgspec.to_builtins(ScheduleBody.of(a_schedule(brand_identity_id="brand_1"))) == {
            "id": "sch_1",
            "organizationId": "org_1",
            "name": "Every morning",
            "sourceType": "cron",
            "sourceConfig": {"cron": {"frequency": "daily", "hour": 9, "minute": 30}},
            "targets": {"repositoryIds": ["1", "2"]},
            "outputType": "changelog",
            "outputConfig": {"brandIdentityId": "brand_1"},
            "enabled": True,
            "autoPublish": False,
            "lookbackWindow": "last_7_days",
            "nextRunAt": "2026-01-01T09:30:00.000Z",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "updatedAt": "2026-01-01T00:00:00.000Z",
        }

    def test_one_is_due_while_it_is_enabled_and_only_then(self) -> None:
        for impossible in ({"due_at": None}, {"enabled": False}):
            with pytest.raises(ValueError, match="due"):
                a_schedule(**impossible)
        with pytest.raises(ValueError, match="needs a repository"):
            a_schedule(repository_ids=())

    @pytest.mark.parametrize(
        ("changes", "same"),
        [
            ({}, True),
            ({"name": "Another", "auto_publish": True, "enabled": False, "due_at": None}, True),
            ({"repository_ids": (2, 1)}, True),
            ({"repository_ids": (1,)}, False),
            ({"cron": evolve(_DAILY, minute=31)}, False),
            ({"output_type": ContentType.BLOG_POST}, False),
            ({"brand_identity_id": "brand_1"}, False),
            ({"lookback": Lookback.YESTERDAY}, False),
            ({"organization_id": "org_2"}, False),
        ],
    )
    def test_two_do_the_same_when_they_write_the_same_at_the_same_times(
        self, changes: dict[str, Any], *, same: bool
    ) -> None:
        assert a_schedule().does_the_same_as(a_schedule(id="sch_2", **changes)) is same

    def test_one_is_added_up_to_the_limit_unless_another_writes_the_same(self) -> None:
        other = a_schedule(id="sch_2", lookback=Lookback.YESTERDAY)

        assert refuse_addition([a_schedule()], a_schedule(id="sch_2"), at_most=1) is DUPLICATE_SCHEDULE
        assert refuse_addition([a_schedule()], other, at_most=1) == too_many("schedules", 1)
        assert refuse_addition([a_schedule()] * 99, other, at_most=None) is None
        assert refuse_addition([a_schedule()] * 100, other, at_most=None) == too_many("schedules", 100)

    def test_a_change_of_other_things_leaves_it_due_as_it_was(self) -> None:
        now = at("2026-01-01T10:00")

        # The slot of 09:30 was missed, and renaming does not lose it.
        assert changed(
            a_schedule(), now, DEFAULT_ZONE, {"name": "Daily", "cron": _DAILY, "enabled": True}
        ) == a_schedule(name="Daily", updated_at=now)

    def test_one_that_is_switched_off_misses_its_slots_for_good(self) -> None:
        off = changed(a_schedule(), at("2026-01-01T08:00"), DEFAULT_ZONE, {"enabled": False})
        assert off.due_at is None
        assert changed(off, at("2026-01-05T12:00"), DEFAULT_ZONE, {"enabled": True}).due_at == at("2026-01-06T09:30")
        # Other times do not enable a disabled schedule.
        assert changed(off, at("2026-01-05T12:00"), DEFAULT_ZONE, {"cron": _LAST_OF_MONTH}).due_at is None

    def test_other_times_count_from_the_change_on(self) -> None:
        now = at("2026-01-01T12:00")
        assert changed(a_schedule(), now, DEFAULT_ZONE, {"cron": evolve(_DAILY, hour=11)}).due_at == at(
            "2026-01-02T11:30"
        )
        assert changed(a_schedule(), now, DEFAULT_ZONE, {"cron": evolve(_DAILY, hour=13)}).due_at == at(
            "2026-01-01T13:30"
        )

    def test_another_zone_moves_a_slot_unless_it_is_due(self) -> None:
        schedule = a_schedule()
        assert schedule.due_at is not None

        assert schedule.moved(START, BERLIN) == a_schedule(due_at=at("2026-01-01T08:30"))
        assert schedule.moved(schedule.due_at, BERLIN) == schedule
        assert disabled(schedule).moved(START, BERLIN) == disabled(schedule)

    def test_a_clock_that_was_stepped_back_fires_no_slot_again(self) -> None:
        slot = at("2026-01-01T09:30")
        done = fired(a_schedule(), slot)
        after = a_schedule(due_at=done.next_due_at, last_slot=done.slot)
        stepped_back = at("2026-01-01T09:00")

        assert after.firing(stepped_back, DEFAULT_ZONE, sources=[], run_id="again") is None
        again = changed(
            changed(after, stepped_back, DEFAULT_ZONE, {"enabled": False}),
            stepped_back,
            DEFAULT_ZONE,
            {"enabled": True},
        )
        assert again.due_at == at("2026-01-02T09:30")
        assert due_from(_DAILY, stepped_back, DEFAULT_ZONE, last_slot=None) == slot


class TestFiring:
    def test_a_slot_is_not_fired_before_its_time(self) -> None:
        just_before = at("2026-01-01T09:29:59.999")
        assert a_schedule().firing(just_before, DEFAULT_ZONE, sources=[_LIGHTHOUSE], run_id="run_1") is None
        assert (
            disabled(a_schedule()).firing(at("2027-01-01"), DEFAULT_ZONE, sources=[_LIGHTHOUSE], run_id="run_1") is None
        )

    def test_a_firing_starts_a_run_over_the_window_of_its_slot(self) -> None:
        schedule = a_schedule(
            brand_identity_id="brand_1",
            lookback=Lookback.CURRENT_DAY,
            output_type=ContentType.BLOG_POST,
            auto_publish=True,
        )
        now = at("2026-01-01T09:30:01.500")
        done = fired(schedule, now, _LIGHTHOUSE)

        assert (done.automation_id, done.due_at, done.slot) == ("sch_1", schedule.due_at, schedule.due_at)
        assert done.next_due_at == at("2026-01-02T09:30")
        run = done.run
        assert (run.id, run.organization_id, run.status, run.created_at) == ("run_1", "org_1", RunStatus.PENDING, now)
        assert run.cause == Generation(
            schedule_id="sch_1",
            content_type=ContentType.BLOG_POST,
            lookback=Lookback.CURRENT_DAY,
            window=LookbackWindow(since=at("2026-01-01"), until=at("2026-01-01T09:30")),
            sources=(_LIGHTHOUSE,),
            brand_identity_id="brand_1",
            auto_publish=True,
        )

    def test_a_window_is_counted_back_from_the_time_that_the_clocks_skipped(self) -> None:
        schedule = a_schedule(cron=evolve(_DAILY, hour=2), due_at=at("2026-03-29T01:00"))

        done = existing(schedule.firing(at("2026-03-29T01:00:07"), BERLIN, sources=[_LIGHTHOUSE], run_id="run_1"))

        assert done.run.cause == Generation(
            schedule_id="sch_1",
            content_type=ContentType.CHANGELOG,
            lookback=Lookback.LAST_7_DAYS,
            window=LookbackWindow(since=at("2026-03-22T01:30"), until=at("2026-03-29T01:00")),
            sources=(_LIGHTHOUSE,),
        )

    def test_slots_that_were_missed_fire_once_for_the_latest(self) -> None:
        done = fired(a_schedule(), at("2026-01-08T09:29"), _LIGHTHOUSE)

        assert done.slot == at("2026-01-07T09:30")
        assert done.next_due_at == at("2026-01-08T09:30")
        assert isinstance(done.run.cause, Generation)
        assert done.run.cause.window.until == done.slot

    def test_a_run_without_a_repository_has_ended_with_its_reason(self) -> None:
        run = fired(a_schedule(), at("2026-01-01T09:30")).run
        assert (run.status, run.error) == (RunStatus.SKIPPED, NO_REPOSITORY)
