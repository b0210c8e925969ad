"""Checkpoints of SQLite's write-ahead log, in a thread beside the writer.

SQLite's own checkpoints delay a commit. Here another thread copies most of the log; after a commit that is already
answered, the writer copies the few new pages, so that the log can restart from its beginning and stays bounded.

SQLite before 3.51.3 can lose committed data if a checkpoint begins on a completely copied log while a commit restarts
that log (https://www.sqlite.org/wal.html#walresetbug). So only one checkpoint runs at a time, it begins only after a
commit that followed the last one, and a completely copied log stays untouched until the next commit.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from threading import Event, Thread
from typing import Final, final

from contentsvc_core.errors import StoreUnavailable

#: A checkpoint begins after this many written rows, or when the log has grown by this many bytes.
_ROWS: Final = 3000
_GROWN: Final = 16 * 1024 * 1024
#: The writer itself copies up to this many rows. After this many turns of the other thread, it copies all that is left.
_FEW_ROWS: Final = 300
_TURNS: Final = 4
#: The size in bytes above which the writer truncates the log, which constant readers can keep from restarting; and the
#: milliseconds for which the truncation waits for them.
LARGE: Final = 64 * 1024 * 1024
_READERS_MS: Final = 100


class _State(Enum):
    """The state of the checkpoint: which thread acts next."""

    IDLE = auto()
    COPYING = auto()
    #: The thread has copied the pages that it found, perhaps including those of the current transaction.
    COPIED = auto()
    #: A commit has followed that is not copied; at the next commit, the writer decides how to continue.
    NOTED = auto()


@final
class Checkpointer:
    """Keeps the log of one database file bounded. One writer in this process reports each commit."""

    def __init__(self, path: Path, open_: Callable[[], sqlite3.Connection]) -> None:
        self._log = path.with_name(f"{path.name}-wal")
        self._open = open_
        self._thread: Thread | None = None
        self._wake: Final = Event()
        self._stopped = False
        # Each transition of the state belongs to one thread, so no lock is needed.
        self._state = _State.IDLE
        self._turns = 0
        #: Rows written since the last copy began.
        self._rows = 0
        #: The size of the log in bytes when it was last copied completely.
        self._size = 0

    def written(self, writer: sqlite3.Connection, rows: int) -> None:
        """Count ``rows`` committed rows; called in the writer's thread after each commit that wrote any."""
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
        """Stop the thread. Closing the last connection to the file copies the rest."""
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
                # The system has no more threads. The writer's thread must survive this: all writes wait for it.
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
            # TRUNCATE may follow at once: it holds the write lock, so no commit runs beside it.
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
            # The writer reports faults of the file; the next turn may succeed. Without this thread, the log would grow.
            with suppress(sqlite3.Error, OSError, StoreUnavailable):
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
