"""The main job by the operator's commands: `history`, and `send` to a real server."""

import json
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, final

import pytest
from attrs import frozen
from tests.checkouts import Work
from tests.server_process import REPOSITORY, REPOSITORY_ID, Installation, Prepared, prepare, serving

from contentsvc_cli.develop.recordings import RecordedDelivery, read_lines

pytestmark = pytest.mark.slow("starts a server and commands")
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

    def send(self, recording: str) -> tuple[int, list[dict[str, Any]]]:
        """Send a recording; return the exit code and the rows."""
        done = self.installation.run(
            *("send", recording, "--url", self.url, "--json"), CONTENTSVC_WEBHOOK_SECRET=self.prepared.hook.secret
        )
        return done.returncode, json.loads(done.stdout)

    def totals(self) -> dict[str, int]:
        """Count the stored rows after all runs have ended; duplicates only have log entries."""
        self.installation.until_runs_ended()
        return {table: self.installation.count(f"SELECT count(*) FROM {table}") for table in _TABLES}  # noqa: S608  # constants


@pytest.fixture
def world(tmp_path: Path) -> Generator[World]:
    served = tmp_path / "served"
    served.mkdir()
    prepared = prepare(served)
    with serving(prepared.installation) as server:
        yield World(prepared=prepared, url=f"{server.url}{prepared.hook.path}", folder=tmp_path)


def _repository(path: Path) -> Path:
    """Create a git repository with four commits, a merge and two tags."""
    work = Work(path)
    work.commit("feat: light the lamp")
    work.git("tag", "v0.1.0")
    work.git("switch", "--quiet", "--create=side")
    work.commit("fix: do not flicker\n\nIt did, at dusk.")
    work.git("switch", "--quiet", "main")
    work.commit("chore(release): 0.2.0")
    work.merge("side")
    work.git("tag", "--annotate", "--message=Steady light.", "v0.2.0")
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
    # A push starts two runs, and a release one. Both runs of the chore are skipped.
    assert totals == {"claims": 5, "context_records": 5, "events": 5, "workflow_runs": 8, "posts": 6}

    code, rows = world.send(recording)
    assert code == 0
    assert [(row["status"], row["answer"]) for row in rows] == [(200, "duplicate")] * len(deliveries)
    assert world.totals() == totals
