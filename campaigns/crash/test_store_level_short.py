"""Repeated ``kill -9`` of a process that settles on a file. The long form is ``make crash-store``."""

import os
import signal
import sqlite3
from pathlib import Path
from typing import Any, cast

import pytest
from campaigns.crash.store_level import run_store_campaign

from contentsvc_adapters.sql.settling import sqlite as sqlite_lane

pytestmark = pytest.mark.slow("kills a process again and again")


def test_a_kill_at_any_time_leaves_each_delivery_complete_and_once(tmp_path: Path) -> None:
    report = run_store_campaign(tmp_path, count=5, seed=1, answers=3)

    assert report.faults == []
    assert report.cycles == 5
    assert report.attempts >= report.acknowledged >= 5 * 3
    assert list(tmp_path.iterdir()) == []


def test_a_torn_line_of_the_ledger_is_ignored(tmp_path: Path) -> None:
    torn = 0

    def tear() -> None:
        nonlocal torn
        ledger = tmp_path / "ledger-0"
        # A kill may leave only the beginning of a line that crosses the end of a page of the file.
        ledger.write_bytes(ledger.read_bytes() + b'{"delivery":"d-0123456789abcdef","log')
        torn += 1

    report = run_store_campaign(tmp_path, count=4, seed=1, on_cycle=tear)

    assert report.faults == []
    assert (report.cycles, torn) == (4, 4)


def test_a_claim_in_a_transaction_of_its_own_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(left: Any, cursor: sqlite3.Cursor) -> None:
        claims, left.claims = left.claims, []
        takes.add(claims, cursor)
        cursor.connection.commit()
        # The kill comes between the two transactions, where the fault shows.
        os.kill(os.getpid(), signal.SIGKILL)
        cursor.execute("BEGIN IMMEDIATE")
        sound(left, cursor)

    # Private names: only here can a transaction be split.
    left_of_a_batch, takes = cast("Any", sqlite_lane)._BatchRows, cast("Any", sqlite_lane)._TAKE
    sound = left_of_a_batch.write
    monkeypatch.setattr(left_of_a_batch, "write", write)
    # The process ends before its first answer, so no timer kills it.
    report = run_store_campaign(tmp_path, count=1, seed=1, answers=1)

    assert report.partial or report.lost
