"""The webhook log: entries, their wire form, queries, and the budget for failures."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from tests.builders import an_entry
from tests.refusals import existing, message_of

from contentsvc_core import LogStatus, Push
from contentsvc_core.events.normalized import HeadCommit
from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.journal import (
    DESCRIBED,
    FACTS_COST,
    Direction,
    FailureBudget,
    LogQuery,
    left_out,
    line_body,
    listed_entry,
    log_body,
    read_log_query,
    retention_cutoff,
)
from contentsvc_core.lists.pagination import how_many_fit
from contentsvc_core.organizations import Organization
from contentsvc_core.read_model import LogSearch, refuse_uncounted, stretch_at
from contentsvc_core.testing import START

_PUSH: Final = Push(
    ref="refs/heads/main", branch="main", commits=(), head_commit=HeadCommit(id="a" * 40, message="feat: x")
)

NO_TIME: Final = "no date and no time, such as 2026-11-22 or 2026-11-22T08:30:00Z"
_PUSH_DATA: Final[dict[str, Any]] = {
    "ref": "refs/heads/main",
    "branch": "main",
    "commits": [],
    "headCommit": {"id": "a" * 40, "message": "feat: x"},
}


ENTRY: Final = an_entry(
    repository_id=4242, reference_id="d-1", error_message="None at all", detail=_PUSH, reason="1 workflow run started"
)


def test_the_wire_form_of_an_entry_has_ten_fields() -> None:
    assert log_body(ENTRY) == {
        "id": "log_1",
        "referenceId": "d-1",
        "title": "Processed push event",
        "integrationType": "codehost",
        "direction": "incoming",
        "status": "success",
        "statusCode": 200,
        "errorMessage": "None at all",
        "payload": {"event": "push", "action": "pushed", "data": _PUSH_DATA},
        "createdAt": "2026-01-01T00:00:00.000Z",
    }
    assert evolve(ENTRY, detail=None).payload is None
    assert evolve(ENTRY, detail={"a": 1}).payload == {"a": 1}


def test_a_listed_entry_has_every_field_but_the_payload() -> None:
    listed = listed_entry(ENTRY)

    assert listed.event == EventSummary.of(_PUSH)
    assert {**line_body(listed), "payload": ENTRY.payload} == log_body(ENTRY)
    assert listed.reason == ENTRY.reason
    assert listed_entry(evolve(ENTRY, detail={"event": "ping"})).event is None


@pytest.mark.parametrize(
    ("sizes", "budget", "without"),
    [
        ([], 10, set[int]()),
        ([0, 0], 0, set[int]()),
        ([4, 4, 4], 10, {2}),
        ([9, 1, 2], 10, {0}),
        ([90, 80, 0], 10, {0}),
        ([90], 10, set[int]()),
        ([5, 5], 10, set[int]()),
    ],
)
def test_the_smallest_payloads_are_kept_and_at_least_one(sizes: list[int], budget: int, without: set[int]) -> None:
    assert left_out(sizes, budget) == without


@pytest.mark.parametrize(
    ("sizes", "budget", "fit"),
    [([], 5, 0), ([9], 5, 1), ([2, 3], 5, 2), ([2, 3, 1], 5, 2), ([2, 4], 5, 1), ([9, 1], 5, 1)],
)
def test_one_item_always_fits(sizes: list[int], budget: int, fit: int) -> None:
    assert how_many_fit(sizes, budget) == fit


def test_a_query_without_values_means_all() -> None:
    assert read_log_query({}) == read_log_query({"status": ",", "integrationId": " "}) == LogQuery()
    assert read_log_query({"status": "failed,pending", "integrationId": "int_1,int_2"}) == LogQuery(
        integration_ids=("int_1", "int_2"), statuses=(LogStatus.FAILED, LogStatus.PENDING)
    )


def test_times_of_a_query_are_those_of_its_zone_without_an_offset() -> None:
    read = read_log_query({"since": "2026-01-02", "until": "2026-01-02T08:30:00Z"}, ZoneInfo("Asia/Tokyo"))

    assert read == LogQuery(since=datetime(2026, 1, 1, 15, tzinfo=UTC), until=datetime(2026, 1, 2, 8, 30, tzinfo=UTC))


def test_a_query_finds_entries_from_its_first_time_on_and_before_its_last() -> None:
    at, after = ENTRY.created_at, ENTRY.created_at + timedelta(milliseconds=1)

    for query in (LogQuery, LogSearch):
        assert query(since=at, until=after).finds(ENTRY)
        assert not query(since=after).finds(ENTRY)
        assert not query(until=at).finds(ENTRY)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"since": "yesterday"}, f"Invalid since: 'yesterday' is {NO_TIME}"),
        ({"until": "1e3"}, f"Invalid until: '1e3' is {NO_TIME}"),
        ({"status": "lost"}, "Invalid status: 'lost' is not one of success, failed, pending"),
        ({"integrationId": "int_1,no id"}, "Invalid integrationId: 'no id' is unknown"),
        ({"integrationId": "x" * 65}, f"Invalid integrationId: '{'x' * 63}…' is unknown"),
    ],
)
def test_an_unknown_value_of_a_query_is_named(parameters: dict[str, str], error: str) -> None:
    assert message_of(read_log_query(parameters)) == error


@pytest.mark.parametrize(
    ("search", "found"),
    [
        (LogSearch(), True),
        (LogSearch(integration_ids=["int_1", "int_2"], statuses=[LogStatus.SUCCESS]), True),
        (LogSearch(integration_ids=["int_2"]), False),
        (LogSearch(statuses=[LogStatus.FAILED, LogStatus.PENDING]), False),
        (LogSearch(direction=Direction.INCOMING), True),
        (LogSearch(direction=Direction.OUTGOING), False),
        (LogSearch(event="push"), True),
        (LogSearch(event="pus"), False),
        (LogSearch(event="Processed"), False),
        (LogSearch(text="D-1"), True),
        (LogSearch(text="none AT all"), True),
        (LogSearch(text="workflow"), True),
        (LogSearch(text="processed"), True),
        (LogSearch(text="codehost"), False),
    ],
)
def test_entries_are_found_by_integration_status_event_and_text(search: LogSearch, *, found: bool) -> None:
    assert search.finds(ENTRY) is found


def test_entries_are_counted_by_hours_or_days() -> None:
    at = START + timedelta(days=2, hours=3, minutes=4, seconds=5)
    assert stretch_at(at, timedelta(hours=1)) == START + timedelta(days=2, hours=3)
    assert stretch_at(at, timedelta(days=1)) == START + timedelta(days=2)
    refuse_uncounted(timedelta(hours=1))
    with pytest.raises(ValueError, match=r"are counted by the hour and by the day, not by 0:05:00"):
        refuse_uncounted(timedelta(minutes=5))


def test_a_budget_grants_its_limit_a_minute_and_counts_the_rest() -> None:
    budget = FailureBudget(limit=2)
    granted: list[bool] = []
    for second in (0, 1, 2, 59, 60):
        budget, may = budget.spend(START + timedelta(seconds=second))
        granted.append(may)

    assert granted == [True, True, False, False, True]
    assert budget.left_out == 2
    assert budget.reported(2).left_out == 0


def test_the_facts_of_a_row_cost_as_much_as_some_rows() -> None:
    budget = FailureBudget(limit=FACTS_COST + 1, written=1)

    described = existing(budget.describe())

    assert described == FailureBudget(limit=FACTS_COST + 1, written=FACTS_COST + 1, described=1)
    assert described.describe() is None
    assert FailureBudget(limit=1000, described=DESCRIBED).describe() is None


def test_a_clock_that_is_stepped_back_begins_a_new_minute_of_the_budget() -> None:
    budget, _ = FailureBudget(limit=1).spend(START)

    assert budget.spend(START - timedelta(hours=1))[1]


def test_retention_follows_the_plan() -> None:
    assert retention_cutoff(7, START) == START - timedelta(days=7)
    with pytest.raises(ValueError, match="7 or 30 days"):
        Organization(id="o", slug="o", name="o", retention_days=8, created_at=START)
