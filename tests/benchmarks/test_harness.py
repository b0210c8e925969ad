"""The harness in a short real run: processes, deliveries and counted rows."""

import os
import time
from pathlib import Path

import pytest
from attrs import evolve
from benchmarks.bench import Bench
from benchmarks.cores import choose
from benchmarks.loaders.load import Answers
from benchmarks.plan import Plan
from benchmarks.postgres import Postgres
from benchmarks.rounds import Contest, Turn
from benchmarks.rows.http import Pair, measure
from benchmarks.sides import Reckoning

from benchmarks import ours

pytestmark = pytest.mark.slow("measures real servers")


def test_a_ratio_of_two_sides_comes_with_rows_that_were_counted(tmp_path: Path) -> None:
    notes: list[str] = []
    bench = Bench(
        plan=Plan(short=True, rounds=1, seconds=0.2, warm_up=0.1),
        seed=3,
        folder=tmp_path,
        # It starts on first use, which does not happen.
        postgres=Postgres(),
        cores=choose(os.sched_getaffinity(0)),
        note=notes.append,
    )

    finding = measure(bench, [Pair(one="sqlite", other="floor", connections=1, goal=None)])[0]

    assert finding.invalid is None
    assert len(finding.samples) == 1
    assert all(sample > 0 for sample in finding.samples)
    sides = finding.details["sides"]
    assert sides["sqlite"]["deliveries"] > 0
    assert sides["floor"]["deliveries"] > 0
    assert any("round 1 of 1" in note for note in notes)
    # All started processes have ended.
    assert _pids_in(tmp_path) == []


def test_a_side_that_lost_something_makes_its_ratios_invalid() -> None:
    good = Turn(answers=Answers(ok=100, other=0, failed=0, seconds=1.0), cpu_us=1.0, reckoning=Reckoning())
    lost = evolve(good, reckoning=Reckoning(fault="99 rows"))
    contest = Contest(turns={"one": [good, lost], "other": [good, good]}, missing={"third": "no npm"})

    assert contest.fault("other") is None
    assert contest.fault("one", "other") == "one: 99 rows"
    assert contest.fault("other", "third") == "third: no npm"
    assert contest.ratios("other", "third", lambda turn: turn.cpu_us) == []


def test_cores_are_the_first_and_the_last() -> None:
    assert (choose([3, 0, 2]).server, choose([3, 0, 2]).loader) == (0, 3)
    assert choose([5]).server is None


def test_our_sides_inherit_no_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_LOG_LEVEL", "error")

    found = ours.environment("/somewhere/file.db", ours.sqlite().database)

    assert "CONTENTSVC_LOG_LEVEL" not in found
    assert found["CONTENTSVC_DATABASE_URL"] == "sqlite+aiosqlite:////somewhere/file.db"


def _pids_in(folder: Path) -> list[str]:
    """Return the processes that work in a folder, after waiting for ending ones."""
    found: list[str] = []
    for _ in range(50):
        found = [
            entry.name
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and (entry / "cwd").is_symlink() and _where(entry).startswith(str(folder))
        ]
        if not found:
            break
        time.sleep(0.02)
    return found


def _where(entry: Path) -> str:
    try:
        return str((entry / "cwd").readlink())
    except OSError:
        return ""
