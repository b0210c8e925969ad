import contextlib
import shutil
import sqlite3
from pathlib import Path
from typing import Final, final

from attrs import frozen

_LOCKED_S: Final = 1.0


@final
@frozen(kw_only=True)
class FileState:
    size: int
    #: The size of the write-ahead log in bytes; 0: there is no log.
    log_size: int
    #: In SQLite's term; empty: it could not be read.
    journal_mode: str
    #: The reason why the file cannot be written; ``None``: it can.
    fault: str | None


def file_state(path: Path) -> FileState:
    """Return the state of an existing SQLite file; nothing is written into the file."""
    # Before the file is opened: closing its last connection moves the log into the file.
    size, log_size = _size(path), _size(path.with_name(f"{path.name}-wal"))
    mode, fault = "", None
    try:
        address = f"{path.absolute().as_uri()}?mode=rw"
        opened = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_LOCKED_S)
        with contextlib.closing(opened) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            connection.execute("BEGIN IMMEDIATE")
            # On a read-only file, the statement before begins a reading transaction without an error.
            connection.execute("PRAGMA user_version = 0")
            connection.execute("ROLLBACK")
    except sqlite3.Error as exc:
        fault = str(exc)
    return FileState(size=size, log_size=log_size, journal_mode=mode, fault=fault)


def free_space(folder: Path) -> tuple[int, int]:
    usage = shutil.disk_usage(folder)
    return usage.free, usage.total


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
