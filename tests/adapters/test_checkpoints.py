"""Checkpoints of SQLite beside the writer: bounded, outside of commits, and never while the log may restart."""

import sqlite3
import threading
import time
from collections.abc import Generator
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from contentsvc_adapters.sql.dialects import checkpoints
from contentsvc_adapters.sql.dialects.checkpoints import Checkpointer

_KIB = 1024
_ROW = "x" * 500


class Writer:
    """A writer of a file, which records the checkpointer's calls."""

    def __init__(self, path: Path) -> None:
        self.log = path.with_name(f"{path.name}-wal")
        self.statements: list[tuple[str, str]] = []
        self.connect = partial(sqlite3.connect, path, isolation_level=None, check_same_thread=False)
        self.connection = self.opened()
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA wal_autocheckpoint=0")
        self.connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, x TEXT)")
        self.checkpointer = Checkpointer(path, self.opened)

    def opened(self) -> sqlite3.Connection:
        connection = self.connect()
        connection.set_trace_callback(lambda sql: self.statements.append((threading.current_thread().name, sql)))
        return connection

    def write(self, rows: int) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany("INSERT INTO t (x) VALUES (?)", [(_ROW,)] * rows)
        self.connection.execute("COMMIT")
        self.checkpointer.written(self.connection, rows)

    def settle(self) -> None:
        """Wait until the thread has finished its task."""
        deadline = time.monotonic() + 60
        while self.checkpointer._state is checkpoints._State.COPYING:  # pyright: ignore[reportPrivateUsage]
            assert time.monotonic() < deadline
            time.sleep(0.001)

    @property
    def checkpoints(self) -> list[str]:
        """Name the threads that began checkpoints, and the commits between them."""
        statements = [("commit" if sql == "COMMIT" else thread, sql) for thread, sql in self.statements]
        return [each for each, sql in statements if sql == "COMMIT" or "wal_checkpoint" in sql]


@pytest.fixture
def writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Writer]:
    monkeypatch.setattr(checkpoints, "_ROWS", 100)
    monkeypatch.setattr(checkpoints, "_FEW_ROWS", 10)
    created = Writer(tmp_path / "store.db")
    yield created
    created.checkpointer.stop()
    created.connection.close()
    # The last checkpoint has copied all frames.
    assert not created.log.exists()


def test_the_log_stays_small_however_much_is_written(writer: Writer) -> None:
    for _ in range(300):
        writer.write(10)
        writer.settle()

    assert writer.connection.execute("PRAGMA page_count").fetchone()[0] * 4 * _KIB > 1500 * _KIB
    assert writer.log.stat().st_size < 500 * _KIB
    assert writer.connection.execute("SELECT count(*) FROM t").fetchone() == (3000,)


def test_a_commit_copies_nothing_but_the_little_that_came_while_the_thread_copied(writer: Writer) -> None:
    me = threading.current_thread().name
    for _ in range(10):
        writer.write(10)
    writer.settle()
    # Many new frames: a second copy by the thread, and then by the writer.
    for _ in range(2):
        writer.write(50)
        writer.write(1)
        writer.settle()
    writer.write(1)
    writer.write(1)

    copied = ["SQLite checkpoints", "commit", "commit"]
    assert writer.checkpoints == [*["commit"] * 10, *copied, *copied, *copied, me]


def test_a_commit_that_the_thread_has_copied_begins_no_checkpoint(writer: Writer) -> None:
    for _ in range(9):
        writer.write(10)
    writer.write(10)
    writer.connection.execute("INSERT INTO t (x) VALUES ('while the thread copies')")
    writer.settle()
    before = writer.checkpoints

    # The writer reports the commit only now.
    writer.checkpointer.written(writer.connection, 100)
    writer.settle()

    assert writer.checkpoints == before


def test_no_checkpoint_begins_without_a_commit_since_the_last_one_or_beside_another(writer: Writer) -> None:
    """Otherwise SQLite before 3.51.3 could lose commits when the log restarts."""
    for number in range(400):
        writer.write(1 + number % 60)
        if number % 7 == 0:
            writer.settle()

    writer.settle()
    begun = writer.checkpoints
    assert begun.count("SQLite checkpoints") > 3
    assert begun.count(threading.current_thread().name) > 3
    for one, next_ in pairwise(begun):
        assert "commit" in {one, next_}


def test_a_log_that_was_always_read_from_is_cut_once_it_is_not(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "LARGE", 200 * _KIB)
    monkeypatch.setattr(checkpoints, "_READERS_MS", 1)
    reader = writer.connect()
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
    for _ in range(100):
        writer.write(10)
        writer.settle()
    assert writer.log.stat().st_size > 500 * _KIB
    # Its snapshot is unchanged.
    assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
    reader.close()

    for _ in range(40):
        writer.write(10)
        writer.settle()

    assert writer.log.stat().st_size < 300 * _KIB
    # The writer's busy timeout is restored.
    assert writer.connection.execute("PRAGMA busy_timeout").fetchone() == (5000,)


def test_one_large_row_is_enough(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "_GROWN", 100 * _KIB)
    writer.connection.execute("INSERT INTO t (x) VALUES (?)", ("x" * 200 * _KIB,))
    writer.checkpointer.written(writer.connection, 1)
    writer.settle()

    assert "SQLite checkpoints" in writer.checkpoints


def test_a_thread_that_cannot_copy_is_tried_again(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = [sqlite3.OperationalError("disk I/O error")] * 2

    def opened() -> sqlite3.Connection:
        if failures:
            raise failures.pop()
        return writer.opened()

    monkeypatch.setattr(writer.checkpointer, "_open", opened)
    for _ in range(50):
        writer.write(20)
        writer.settle()

    assert not failures
    assert "SQLite checkpoints" in writer.checkpoints


def test_a_writer_that_is_given_no_thread_copies_itself(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_thread: threading.Thread) -> None:
        message = "can't start new thread"
        raise RuntimeError(message)

    monkeypatch.setattr(threading.Thread, "start", start)
    for _ in range(100):
        writer.write(10)

    assert writer.log.stat().st_size < 300 * _KIB
    monkeypatch.undo()
    writer.write(10)
    writer.checkpointer.stop()
    assert set(writer.checkpoints) == {"commit", threading.current_thread().name}
