"""A short campaign, and the proof that its checker finds planted faults."""

import contextlib
import json
import shutil
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from campaigns.crash.campaign import Report, run_campaign, slow_recovery
from campaigns.crash.stored import Stored, read_file
from campaigns.crash.traffic import Attempt, Kind, Sending, read_ledger, unacknowledged
from campaigns.crash.verdict import Verdict, judge

pytestmark = pytest.mark.slow("kills a server again and again")

_CLEAN: Final = {"lost": 0, "doubled": 0, "partial": 0, "invented": 0, "unexpected": 0}
_ROWS: Final = 1000
_RUN_COLUMNS: Final = (
    "organization_id, trigger_id, event_id, status, attempts, kills, error, post_id, created_at, due_at"
)
_AGAIN: Final = (
    f"INSERT INTO workflow_runs (id, {_RUN_COLUMNS}) SELECT 'again', {_RUN_COLUMNS} FROM workflow_runs"  # noqa: S608  # constants
    " WHERE event_id = ? LIMIT 1"
)
#: The statements about one victim, and the faults that the checker must find for each.
_CORRUPTIONS: Final = (
    ("DELETE FROM context_records WHERE event_id = ?", {"lost", "partial"}),
    ("DELETE FROM log_entries WHERE event_id = ?", {"lost", "partial"}),
    ("DELETE FROM claims WHERE log_id = ?", {"lost", "partial"}),
    (_AGAIN, {"doubled", "partial"}),
    (
        "DELETE FROM workflow_runs WHERE id = (SELECT min(id) FROM workflow_runs WHERE event_id = ?)",
        {"lost", "partial"},
    ),
    ("DELETE FROM posts WHERE run_id = (SELECT min(id) FROM workflow_runs WHERE event_id = ?)", {"lost", "partial"}),
    ("UPDATE events SET data = '{}' WHERE id = ?", {"partial"}),
    ("UPDATE workflow_runs SET status = 'pending' WHERE event_id = ?", {"lost"}),
    ("UPDATE workflow_runs SET status = 'running' WHERE event_id = ?", {"lost"}),
    ("UPDATE workflow_runs SET status = 'failed' WHERE event_id = ?", {"lost"}),
    ("UPDATE workflow_runs SET status = 'skipped' WHERE event_id = ?", {"lost"}),
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return run_campaign(tmp_path_factory.mktemp("crash"), count=3, seed=7, rows=_ROWS)


@pytest.fixture(scope="module")
def stored(report: Report) -> Stored:
    return read_file(report.prepared.installation.database)


@pytest.fixture(scope="module")
def attempts(report: Report) -> list[Attempt]:
    return read_ledger(report.ledger)


@pytest.fixture(scope="module")
def victim(stored: Stored) -> str:
    """The event of a push whose posts were written."""
    pushes = {event["id"] for event in stored.events if event["type"] == "push"}
    return next(str(run["event_id"]) for run in stored.runs if run["event_id"] in pushes and run["post_id"])


def _corrupted(report: Report, folder: Path, *statements: tuple[str, str]) -> Verdict:
    """Judge a copy of the database after statements, each about one victim."""
    for file in report.prepared.installation.folder.glob("contentsvc.db*"):
        shutil.copy(file, folder)
    database = folder / "contentsvc.db"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        for statement, victim in statements:
            assert connection.execute(statement, (victim,)).rowcount > 0, statement
        connection.commit()
    return judge(read_ledger(report.ledger), read_file(database), report.triggers)


def _found(verdict: Verdict) -> set[str]:
    return {name for name, count in verdict.figures.items() if count}


def test_nothing_is_lost_doubled_or_partial_when_the_server_is_killed(report: Report) -> None:
    assert report.verdict.faults == []


def test_a_campaign_sends_processes_and_kills_in_earnest(
    report: Report, attempts: list[Attempt], stored: Stored
) -> None:
    assert any(attempt.status is None for attempt in attempts)
    assert {attempt.answer for attempt in attempts} >= {"processed", "filtered", "ignored"}
    assert sum(attempt.is_acknowledged for attempt in attempts) > 20
    assert {run["status"] for run in stored.runs} == {"completed", "skipped"}
    assert report.figures["clock_steps"] == 1
    assert report.figures["recovery_ms_max"] is not None
    assert report.prepared.installation.folder.joinpath("serve.log").stat().st_size


def test_the_log_of_another_organization_is_ignored(report: Report, stored: Stored) -> None:
    assert report.prepared.installation.count("SELECT count(*) FROM log_entries") == _ROWS + len(stored.logs)


def test_a_server_that_is_back_late_too_often_is_caught() -> None:
    assert slow_recovery([1.0] * 99 + [2.9, 3.0]) == []
    assert len(slow_recovery([1.0] * 98 + [3.1, 3.1])) == 1
    # Below a hundred cycles, the percentile would be the slowest cycle.
    assert slow_recovery([9.0] * 99) == []


def test_the_checker_finds_nothing_where_nothing_was_done_to_the_database(report: Report, tmp_path: Path) -> None:
    assert _corrupted(report, tmp_path).figures == _CLEAN


@pytest.mark.parametrize(("statement", "faults"), _CORRUPTIONS)
def test_the_checker_sees_what_is_done_to_a_row(
    report: Report, victim: str, tmp_path: Path, statement: str, faults: set[str]
) -> None:
    assert _found(_corrupted(report, tmp_path, (statement, victim))) >= faults


def test_the_checker_sees_that_all_of_an_acknowledged_delivery_is_gone(
    report: Report, victim: str, tmp_path: Path
) -> None:
    verdict = _corrupted(
        report,
        tmp_path,
        ("DELETE FROM posts WHERE run_id IN (SELECT id FROM workflow_runs WHERE event_id = ?)", victim),
        ("DELETE FROM workflow_runs WHERE event_id = ?", victim),
        ("DELETE FROM context_records WHERE event_id = ?", victim),
        ("DELETE FROM claims WHERE log_id = ?", victim),
        ("DELETE FROM log_entries WHERE event_id = ?", victim),
        ("DELETE FROM events WHERE id = ?", victim),
    )
    assert "lost" in _found(verdict)
    assert not verdict.partial


def test_the_checker_finds_doubles_that_the_schema_forbids(
    report: Report, stored: Stored, attempts: list[Attempt]
) -> None:
    def found(changed: Stored) -> set[str]:
        return _found(judge(attempts, changed, report.triggers))

    assert "doubled" in found(evolve(stored, posts=[*stored.posts, stored.posts[0] | {"id": "post_again"}]))
    assert "doubled" in found(evolve(stored, contexts=[*stored.contexts, stored.contexts[0]]))
    assert "doubled" in found(evolve(stored, claims=[*stored.claims, stored.claims[0]]))
    assert "partial" in found(evolve(stored, faults=["row 1 missing from index ix"]))


def test_the_checker_sees_two_posts_of_one_release(report: Report, stored: Stored, attempts: list[Attempt]) -> None:
    release = next(event for event in stored.events if event["type"] == "release")
    run = next(run for run in stored.runs if run["event_id"] == release["id"])
    tag = json.loads(release["data"])["tagName"]
    twin = Attempt(sending=Sending(delivery="twin", kind=Kind.RELEASE, tag=tag), status=200, answer="processed")
    more: dict[str, Any] = {"id": "log_twin", "delivery": "twin", "event_id": "log_twin"}
    changed = evolve(
        stored,
        claims=[*stored.claims, {"log_id": "log_twin", "delivery": "twin"}],
        contexts=[*stored.contexts, {"custom_id": "codehost:4242:twin", "event_id": "log_twin"}],
        events=[*stored.events, release | more],
        logs=[*stored.logs, {**more, "title": "Processed release event"}],
        runs=[*stored.runs, run | {**more, "id": "r", "status": "completed", "error": None, "post_id": "p"}],
        posts=[*stored.posts, {"id": "p", "run_id": "r"}],
    )
    verdict = judge([*attempts, twin], changed, report.triggers)
    assert _found(verdict) == {"doubled"}


def test_the_checker_finds_deliveries_that_were_never_sent(
    report: Report, stored: Stored, attempts: list[Attempt]
) -> None:
    pushes = (attempt.sending for attempt in attempts if attempt.sending.kind is Kind.PUSH)
    processed = next(sending.delivery for sending in pushes if not sending.forged)
    others = [attempt for attempt in attempts if attempt.sending.delivery != processed]
    assert _found(judge(others, stored, report.triggers)) == {"invented"}


def test_the_checker_finds_two_processed_answers_for_one_delivery(
    report: Report, stored: Stored, attempts: list[Attempt]
) -> None:
    processed = next(attempt for attempt in attempts if attempt.answer == "processed")
    assert "doubled" in _found(judge([*attempts, processed], stored, report.triggers))


def test_the_checker_finds_a_stored_delivery_without_a_processed_answer(
    report: Report, stored: Stored, attempts: list[Attempt]
) -> None:
    alone = Counter(attempt.sending.delivery for attempt in attempts)
    processed = next(each for each in attempts if each.answer == "processed" and alone[each.sending.delivery] == 1)
    changed = [evolve(each, answer="duplicate") if each is processed else each for each in attempts]
    assert _found(judge(changed, stored, report.triggers)) == {"unexpected"}


def test_the_checker_sees_answers_that_nothing_explains(
    report: Report, stored: Stored, attempts: list[Attempt]
) -> None:
    for status, answer in ((500, "Internal server error processing webhook"), (200, "pong"), (401, "?")):
        changed = [evolve(attempts[0], status=status, answer=answer), *attempts[1:]]
        assert "unexpected" in _found(judge(changed, stored, report.triggers))
    forged = Attempt(sending=evolve(attempts[0].sending, forged=True), status=200, answer="processed")
    assert "unexpected" in _found(judge([*attempts, forged], stored, report.triggers))


def test_only_deliveries_without_an_acknowledgement_are_sent_again() -> None:
    sending = Sending(delivery="1", kind=Kind.PUSH)
    silent = Attempt(sending=sending)
    refused = Attempt(sending=sending, status=503, answer="Service temporarily unavailable")
    answered = Attempt(sending=sending, status=200, answer="processed")
    forged = Attempt(sending=evolve(sending, forged=True), status=401, answer="Invalid webhook signature")
    assert unacknowledged([silent, refused, forged]) == [sending]
    assert unacknowledged([silent, answered, silent]) == []
