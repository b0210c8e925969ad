"""Short campaigns on several nodes, and the proof that their checkers find planted faults."""

import json
from pathlib import Path
from typing import Final

import psycopg
import pytest
from attrs import evolve
from campaigns.crash.verdict import Verdict, judge
from campaigns.nodes.cluster import unreadable
from campaigns.nodes.cuts import run_cuts
from campaigns.nodes.kills import run_kills
from campaigns.nodes.load import Exchange
from campaigns.nodes.outage import BACK_S, LINE_BYTES, LOG_BYTES, SLOWEST_S, Outage, faults_of, run_outage
from campaigns.nodes.reckoning import Report, stored_in
from campaigns.nodes.upgrade import run_upgrade
from tests import postgres

pytestmark = pytest.mark.slow("kills nodes on one PostgreSQL")

#: The corruptions of a campaign's data, and the fault that the checker must find for each.
_CORRUPTIONS: Final = (
    ("DELETE FROM claims WHERE log_id = %s", {"lost", "partial"}),
    ("DELETE FROM context_records WHERE event_id = %s", {"lost", "partial"}),
    ("DELETE FROM log_entries WHERE event_id = %s", {"lost", "partial", "invented"}),
    ("DELETE FROM posts WHERE run_id = (SELECT min(id) FROM workflow_runs WHERE event_id = %s)", {"lost", "partial"}),
    ("UPDATE events SET data = '{}' WHERE id = %s", {"partial"}),
    ("UPDATE workflow_runs SET status = 'pending' WHERE event_id = %s", {"lost", "doubled", "partial"}),
    ("UPDATE workflow_runs SET status = 'failed' WHERE event_id = %s", {"lost", "doubled", "partial"}),
    (
        """INSERT INTO workflow_runs SELECT (made.again).* FROM (
            SELECT jsonb_populate_record(workflow_runs, '{"id": "again"}') AS again
            FROM workflow_runs WHERE event_id = %s LIMIT 1) AS made""",
        {"lost", "doubled", "partial"},
    ),
)


def _found(verdict: Verdict) -> set[str]:
    return {name for name, count in verdict.figures.items() if count}


# Several processes start repeatedly, on a machine that may be busy.
@pytest.mark.timeout(300)
def test_killed_and_stalled_nodes_lose_and_double_nothing(tmp_path: Path) -> None:
    with postgres.database(migrated=False) as url:
        report = run_kills(tmp_path, url, count=2, seed=2, per_s=8)

        assert report.verdict.faults == [], report.line
        _was_in_earnest(report, "takeovers", "posts", "duplicates")
        # In one test: with several tests, each process of the test run would run a campaign of its own.
        _the_checker_sees_what_is_done_to(report, url.replace("+asyncpg", "", 1))


def _was_in_earnest(report: Report, *figures: str) -> None:
    assert all(report.figures[each] for each in figures), report.line
    assert {each.answer for each in report.attempts} >= {"processed", "filtered", "ignored"}


def _the_checker_sees_what_is_done_to(report: Report, address: str) -> None:
    with psycopg.connect(address) as connection:
        found = connection.execute(
            "SELECT event_id FROM workflow_runs JOIN events ON events.id = event_id"
            " WHERE type = 'push' AND post_id IS NOT NULL LIMIT 1"
        ).fetchone()
    assert found is not None
    assert not _found(judge(report.attempts, stored_in(address), report.triggers))
    for statement, faults in _CORRUPTIONS:
        verdict = judge(report.attempts, stored_in(address, (statement, found[0])), report.triggers)
        assert _found(verdict) == faults, statement
    stored = stored_in(address)
    again = evolve(stored, posts=[*stored.posts, stored.posts[0] | {"id": "post_again"}])
    assert _found(judge(report.attempts, again, report.triggers)) == {"doubled", "partial"}
    processed = next(each for each in report.attempts if each.answer == "processed")
    answered = [evolve(each, status=500, answer="?") if each is processed else each for each in report.attempts]
    assert "unexpected" in _found(judge(answered, stored, report.triggers))
    unsent = [each for each in report.attempts if each.sending.delivery != processed.sending.delivery]
    assert "invented" in _found(judge(unsent, stored, report.triggers))


@pytest.mark.timeout(300)
def test_nothing_is_lost_when_the_database_is_stopped_under_load(tmp_path: Path) -> None:
    report = run_outage(tmp_path, seed=7, away_s=3, per_s=12)

    assert report.verdict.faults == [], report.line
    _was_in_earnest(report, "refused", "posts")


@pytest.mark.timeout(300)
def test_a_delivery_with_a_cut_off_commit_has_its_effects_once(tmp_path: Path) -> None:
    report = run_cuts(tmp_path, rounds=6, seed=7)

    assert report.verdict.faults == [], report.line
    assert report.figures["before"] == report.figures["after"] == 6
    assert report.figures["before_in_runs"] == report.figures["after_in_runs"] == 3


@pytest.mark.timeout(300)
def test_nothing_is_lost_when_the_next_version_migrates_the_database_and_serves_beside_this_one(tmp_path: Path) -> None:
    with postgres.database(migrated=False) as url:
        report = run_upgrade(tmp_path, url, seed=7, per_s=12)

    assert report.verdict.faults == [], report.line
    _was_in_earnest(report, "looks", "posts")


def test_an_outage_is_judged_by_every_promise() -> None:
    outage = Outage(began=0, ending=10, back=12)

    def exchange(status: int | None, began: float, seconds: float) -> Exchange:
        return Exchange(began=began, ended=began + seconds, status=status)

    fine = [exchange(200, -1, 0.1), exchange(503, 1, 0.1), exchange(200, 11, 2)]
    line = '{"event": "store unavailable"}\n'
    assert faults_of(outage, fine, [line], BACK_S) == []
    for faulty in (exchange(None, 1, 1), exchange(500, 1, 1), exchange(200, 1, 1), exchange(503, 1, SLOWEST_S + 0.1)):
        assert len(faults_of(outage, [*fine, faulty], [line], BACK_S)) == 1
    assert len(faults_of(outage, fine, [line], BACK_S + 0.1)) == 1
    assert len(faults_of(outage, fine, [line * (LOG_BYTES // len(line) + 1)], BACK_S)) == 1
    requests = '{"event": "request", "request_id": "1"}\n'
    assert faults_of(outage, fine, [requests * LOG_BYTES], BACK_S) == []
    long = json.dumps({"event": "request", "request_id": "1", "path": "/" * LINE_BYTES})
    assert len(faults_of(outage, fine, [long], BACK_S)) == 1
    assert len(faults_of(outage, fine[:1], [line], BACK_S)) == 1


def test_a_log_is_readable_when_each_line_is_one_and_has_no_traceback() -> None:
    assert unreadable('{"event": "ready"}\n{"event": "request", "status": 200}\n') == []
    assert unreadable('Traceback (most recent call last):\n{"event": "ready"}\n') == [
        "Traceback (most recent call last):"
    ]
    told = '{"event": "fault", "exception": "Traceback (most recent call last):…"}'
    assert unreadable(told) == [told]
