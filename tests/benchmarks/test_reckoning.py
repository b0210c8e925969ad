"""Rows against 200s: a fast loss is no result."""

import sqlite3
from pathlib import Path

import pytest
from benchmarks.loaders.load import Answers
from benchmarks.sides import KINDS, Database, Prepared, Side, count, reckon


def _rows(number: int, **others: int) -> dict[str, int]:
    return dict.fromkeys(KINDS, number) | others


def _answers(ok: int = 100, *, other: int = 0, failed: int = 0, unanswered: int = 0) -> Answers:
    return Answers(ok=ok, other=other, failed=failed, seconds=1.0, unanswered=unanswered)


def test_as_many_rows_as_200s_are_well() -> None:
    found = reckon(_rows(7), _rows(107), _answers(), given_up=0)

    assert found.fault is None
    assert found.stored == _rows(100)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_row_of_any_table_is_a_fault(kind: str) -> None:
    found = reckon(_rows(0), _rows(100, **{kind: 99}), _answers(), given_up=64)

    assert found.fault is not None
    assert "differ" in found.fault


def test_a_delivery_that_was_answered_and_not_stored_is_seen() -> None:
    found = reckon(_rows(0), _rows(99), _answers(), given_up=64)

    assert found.fault is not None
    assert "100 answers of 200" in found.fault


def test_rows_may_exceed_the_answers_by_the_abandoned_requests_only() -> None:
    assert reckon(_rows(0), _rows(164), _answers(), given_up=64).fault is None
    assert reckon(_rows(0), _rows(165), _answers(), given_up=64).fault is not None


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (_answers(other=1), "not 200"),
        (_answers(failed=1), "failed"),
        (_answers(unanswered=1), "never answered"),
        (_answers(ok=0), "nothing was answered"),
    ],
)
def test_every_other_end_of_a_delivery_is_a_fault(answers: Answers, message: str) -> None:
    found = reckon(_rows(0), _rows(answers.ok), answers, given_up=64)

    assert found.fault is not None
    assert message in found.fault


def test_several_runs_a_delivery_are_counted_as_that() -> None:
    assert reckon(_rows(0), _rows(100, runs=1000), _answers(), given_up=0, factors={"runs": 10}).fault is None
    assert reckon(_rows(0), _rows(100, runs=999), _answers(), given_up=0, factors={"runs": 10}).fault is not None


def test_runs_where_none_are_due_are_a_fault() -> None:
    assert reckon(_rows(0), _rows(100, runs=0), _answers(), given_up=0, factors={"runs": 0}).fault is None
    assert reckon(_rows(0), _rows(100, runs=1), _answers(), given_up=0, factors={"runs": 0}).fault is not None


def test_a_side_that_stores_nothing_has_nothing_to_be_counted() -> None:
    assert reckon({}, {}, _answers(), given_up=0).fault is None


def test_rows_are_counted_in_the_database_itself(tmp_path: Path) -> None:
    file = tmp_path / "side.db"
    with sqlite3.connect(file) as created:
        created.execute("CREATE TABLE things (kind TEXT)")
        created.executemany("INSERT INTO things VALUES (?)", [("claims",), ("claims",), ("events",)])
    created.close()

    def never(*_: object) -> Prepared:
        raise AssertionError

    queries = {kind: f"SELECT count(*) FROM things WHERE kind = '{kind}'" for kind in KINDS}  # noqa: S608  # constants
    side = Side(name="side", title="", database=Database.SQLITE, counts=queries, prepare=never)

    assert count(side, str(file)) == {"claims": 2, "events": 1, "contexts": 0, "runs": 0, "logs": 0}
