"""Rows against 200s: a fast but lossy side has no valid result."""

import sqlite3
from pathlib import Path

import pytest
from benchmarks.loaders.load import Answers
from benchmarks.sides import KINDS, Database, Prepared, Side, count, reckon


def _rows(number: int, **others: int) -> dict[str, int]:
    return dict.fromkeys(KINDS, number) | others


def _answers(ok: int = 100, *, other: int = 0, failed: int = 0, unanswered: int = 0) -> Answers:
    return Answers(ok=ok, other=other, failed=failed, seconds=1.0, unanswered=unanswered)


@pytest.mark.parametrize(
    ("after", "answers", "given_up", "factors", "fault"),
    [
        (_rows(100), _answers(), 0, {}, None),
        *((_rows(100, **{kind: 99}), _answers(), 64, {}, "differ") for kind in KINDS),
        (_rows(99), _answers(), 64, {}, "100 answers of 200"),
        # Rows may exceed the answers by the abandoned requests.
        (_rows(164), _answers(), 64, {}, None),
        (_rows(165), _answers(), 64, {}, "100 answers of 200"),
        (_rows(100), _answers(other=1), 64, {}, "not 200"),
        (_rows(100), _answers(failed=1), 64, {}, "failed"),
        (_rows(100), _answers(unanswered=1), 64, {}, "never answered"),
        (_rows(0), _answers(ok=0), 64, {}, "nothing was answered"),
        (_rows(100, runs=1000), _answers(), 0, {"runs": 10}, None),
        (_rows(100, runs=999), _answers(), 0, {"runs": 10}, ""),
        (_rows(100, runs=0), _answers(), 0, {"runs": 0}, None),
        (_rows(100, runs=1), _answers(), 0, {"runs": 0}, ""),
        # A side that stores nothing.
        ({}, _answers(), 0, {}, None),
    ],
)
def test_rows_and_answers_agree_or_there_is_a_fault(
    after: dict[str, int], answers: Answers, given_up: int, factors: dict[str, int], fault: str | None
) -> None:
    found = reckon(
        dict.fromkeys(after, 7),
        {kind: 7 + number for kind, number in after.items()},
        answers,
        given_up=given_up,
        factors=factors,
    )

    assert (found.fault is None) == (fault is None)
    assert fault is None or fault in str(found.fault)
    assert found.stored == after


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
