"""The main job with the operator's commands alone: `history`, `send` to a real server, `receive` without one."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, Final, final

import pytest
from attrs import frozen
from tests.server_process import REPOSITORY, REPOSITORY_ID, Installation, Prepared, prepare, serving

from contentsvc_cli.develop.recordings import RecordedDelivery, line_of, read_lines
from contentsvc_cli.start.sample import other_kinds, sample_history

pytestmark = pytest.mark.slow("starts a server, and a command for each recording")
_TABLES: Final = ("claims", "context_records", "events", "workflow_runs", "posts")


@final
@frozen(kw_only=True)
class World:
    prepared: Prepared
    url: str
    folder: Path

    @property
    def installation(self) -> Installation:
        return self.prepared.installation

    def recorded(self, name: str, deliveries: Iterable[RecordedDelivery]) -> str:
        """Write a recording; return its path."""
        path = self.folder / name
        with path.open("wb") as stream:
            stream.writelines(map(line_of, deliveries))
        return str(path)

    def send(self, recording: str, secret: str | None = None) -> tuple[int, list[dict[str, Any]]]:
        """Send a recording; return the exit code and the rows."""
        done = self.installation.run(
            *("send", recording, "--url", self.url, "--json"),
            CONTENTSVC_WEBHOOK_SECRET=secret or self.prepared.hook.secret,
        )
        return done.returncode, json.loads(done.stdout)

    def totals(self) -> dict[str, int]:
        """Count the stored rows, once every run has ended; duplicates leave log entries alone."""
        self.installation.until_runs_ended()
        return {table: self.installation.count(f"SELECT count(*) FROM {table}") for table in _TABLES}  # noqa: S608  # constants


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare(tmp_path_factory.mktemp("template"))


@pytest.fixture
def world(template: Prepared, tmp_path: Path) -> Generator[World]:
    served = tmp_path / "served"
    served.mkdir()
    prepared = template.copied_to(served)
    with serving(prepared.installation) as server:
        yield World(prepared=prepared, url=f"{server.url}{prepared.hook.path}", folder=tmp_path)


def _repository(path: Path) -> Path:
    """Make a git repository with four commits, a merge and two tags."""
    path.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(path),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_EMAIL": "ada@example.com" for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_DATE": "2026-01-01T12:00:00Z" for role in ("AUTHOR", "COMMITTER")},
    }

    def git(*command: str) -> None:
        subprocess.run(["git", "-C", str(path), *command], env=environment, check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch=main")
    git("commit", "--quiet", "--allow-empty", "--message=feat: light the lamp")
    git("tag", "v0.1.0")
    git("switch", "--quiet", "--create=side")
    git("commit", "--quiet", "--allow-empty", "--message=fix: do not flicker\n\nIt did, at dusk.")
    git("switch", "--quiet", "main")
    git("commit", "--quiet", "--allow-empty", "--message=chore(release): 0.2.0")
    git("merge", "--quiet", "--no-ff", "--message=Merge branch 'side'", "side")
    git("tag", "--annotate", "--message=Steady light.", "v0.2.0")
    return path


def _history(world: World) -> str:
    """Record a repository's history with the command; return the recording's path."""
    repository = _repository(world.folder / "lighthouse")
    done = world.installation.run(
        *("history", str(repository), "--repository", REPOSITORY, "--repository-id", str(REPOSITORY_ID))
    )
    assert done.returncode == 0, done.stderr
    recording = world.folder / "history.jsonl"
    recording.write_text(done.stdout, "utf-8")
    return str(recording)


def _read(recording: str) -> list[RecordedDelivery]:
    with Path(recording).open("rb") as lines:
        return list(read_lines(lines, recording))


def test_a_history_is_processed_once_however_often_it_is_sent(world: World) -> None:
    recording = _history(world)
    deliveries = _read(recording)
    assert Counter(delivery.event for delivery in deliveries) == {"push": 3, "release": 2}

    code, rows = world.send(recording)
    assert code == 0
    assert [(row["delivery"], row["status"], row["answer"]) for row in rows] == [
        (delivery.delivery, 200, "processed") for delivery in deliveries
    ]
    totals = world.totals()
    # A push starts two runs, a release one. The chore is nothing to report, in both of its runs.
    assert totals == {"claims": 5, "context_records": 5, "events": 5, "workflow_runs": 8, "posts": 6}

    code, rows = world.send(recording)
    assert code == 0
    assert [(row["status"], row["answer"]) for row in rows] == [(200, "duplicate")] * len(deliveries)
    assert world.totals() == totals


def test_the_sample_is_processed_once_and_only_processed_deliveries_become_duplicates(world: World) -> None:
    history, others = list(sample_history()), other_kinds()
    recording = world.recorded("sample.jsonl", [*history, *others])

    code, first = world.send(recording)
    assert code == 0
    assert [row["answer"] for row in first[: len(history)]] == ["processed"] * len(history)
    others_answered = ["pong", *["filtered"] * 6, "processed", *["ignored"] * 2]
    assert [row["answer"] for row in first[len(history) :]] == others_answered
    totals = world.totals()
    processed = len(history) + 1
    assert totals["claims"] == totals["context_records"] == totals["events"] == processed
    pushes = sum(delivery.event == "push" for delivery in history)
    assert totals["workflow_runs"] == processed + pushes
    ends = world.installation.rows("SELECT DISTINCT status FROM workflow_runs")
    assert {row["status"] for row in ends} <= {"completed", "skipped"}

    code, again = world.send(recording)
    assert code == 0
    expected = ["duplicate" if row["answer"] == "processed" else row["answer"] for row in first]
    assert [row["answer"] for row in again] == expected
    assert world.totals() == totals


def test_a_wrong_secret_is_an_exit_code_and_leaves_nothing_but_the_log(world: World) -> None:
    recording = world.recorded("sample.jsonl", list(sample_history())[:3])
    done = world.installation.run(
        *("send", recording, "--url", world.url, "--json"),
        CONTENTSVC_WEBHOOK_SECRET=f"not {world.prepared.hook.secret}",
    )
    assert done.returncode == 1
    rows = json.loads(done.stdout)
    assert [(row["status"], row["answer"], row["error"]) for row in rows] == [
        (401, "error", "Invalid webhook signature")
    ] * 3
    assert set(world.totals().values()) == {0}
    assert world.installation.count("SELECT count(*) FROM log_entries WHERE status = 'failed'") == 3
