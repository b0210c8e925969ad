"""Moving what was written from SQLite's write-ahead log into the file, beside the writer.

SQLite's own checkpoints run inside a commit, and whoever asked for that waits for them. Here another thread copies most
of the log while the writer goes on, and the writer copies the little that came meanwhile, after a commit that it has
answered already. Only then can the log begin again from its start, which it has to: else it would grow for ever.

SQLite before 3.51.3 can lose what was committed when a checkpoint begins on a log that was copied to its end, while a
commit makes that log begin again (https://www.sqlite.org/wal.html#walresetbug). That cannot happen between the threads
of this process: a checkpoint begins only when something was committed since the last one had ended, and one at a time.
So a log that is copied to its end stays untouched until the next commit.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from threading import Event, Thread
from typing import Final, final

#: A checkpoint begins when this many rows have been written, or when the log has grown by this many bytes.
_ROWS: Final = 3000
_GROWN: Final = 16 * 1024 * 1024
#: So few rows the writer copies itself; and after this many turns of the other thread whatever is left.
_FEW_ROWS: Final = 300
_TURNS: Final = 4
#: A log that is larger, since somebody was always reading from it, waits for the readers: for this many milliseconds.
LARGE: Final = 64 * 1024 * 1024
_READERS_MS: Final = 100


class _State(Enum):
    """Whose turn it is."""

    #: Nothing is copied.
    IDLE = auto()
    #: The thread copies.
    COPYING = auto()
    #: The thread has copied what it found, the transaction that is under way perhaps included.
    COPIED = auto()
    #: The next commit is one that nobody has copied; with it the writer decides how to go on.
    NOTED = auto()


@final
class Checkpointer:
    """Keeps the log of one file bounded; the file has one writer in this process, which tells of each commit."""

    def __init__(self, path: Path, open_: Callable[[], sqlite3.Connection]) -> None:
        """Take the file, and what opens a connection to it."""
        self._log = path.with_name(f"{path.name}-wal")
        self._open = open_
        self._thread: Thread | None = None
        self._wake: Final = Event()
        self._stopped = False
        # Each change of the state is one side's alone, so that no lock is needed.
        self._state = _State.IDLE
        self._turns = 0
        #: Rows written since the writer, or the thread, last began to copy.
        self._rows = 0
        #: How large the log was when it was last copied to its end.
        self._size = 0

    def written(self, writer: sqlite3.Connection, rows: int) -> None:
        """Take note that ``rows`` were committed; called in the writer's thread, after each commit of any."""
        self._rows += rows
        if self._state is _State.COPYING:
            return
        if self._state is _State.COPIED:
            self._state = _State.NOTED
        elif self._state is _State.IDLE:
            if self._rows >= _ROWS or self._log_size() >= self._size + _GROWN:
                self._turns = 0
                self._copy(writer)
        elif self._rows > _FEW_ROWS and self._turns < _TURNS:
            self._copy(writer)
        else:
            self._finish(writer)

    def stop(self) -> None:
        """End the thread; what is left is copied when the last connection to the file is closed."""
        if self._thread is not None:
            self._stopped = True
            self._wake.set()
            self._thread.join()

    def _copy(self, writer: sqlite3.Connection) -> None:
        if self._thread is None:
            thread = Thread(target=self._work, name="SQLite checkpoints", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # The system gives no more threads. The writer's must not end for that: all who write wait for it.
                self._finish(writer)
                return
            self._thread = thread
        self._turns += 1
        self._rows = 0
        self._state = _State.COPYING
        self._wake.set()

    def _finish(self, writer: sqlite3.Connection) -> None:
        with suppress(sqlite3.Error):
            _checkpoint(writer, "PASSIVE")
            # This one may follow at once: it holds the write lock, and nothing is committed beside it.
            if self._log_size() > LARGE:
                (patience,) = writer.execute("PRAGMA busy_timeout").fetchone()
                writer.execute(f"PRAGMA busy_timeout = {_READERS_MS}")
                try:
                    _checkpoint(writer, "TRUNCATE")
                finally:
                    writer.execute(f"PRAGMA busy_timeout = {patience}")
        self._size = self._log_size()
        self._rows = 0
        self._state = _State.IDLE

    def _work(self) -> None:
        connection: sqlite3.Connection | None = None
        while self._wake.wait() and not self._stopped:
            self._wake.clear()
            # Whatever is wrong with the file, whoever writes is told of it; and the next turn may find it well again.
            with suppress(sqlite3.Error):
                connection = connection or self._open()
                _checkpoint(connection, "PASSIVE")
            self._state = _State.COPIED
        if connection is not None:
            connection.close()

    def _log_size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0


def _checkpoint(connection: sqlite3.Connection, mode: str) -> None:
    connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
