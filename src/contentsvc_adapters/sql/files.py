"""What can be seen of a SQLite file, and of the disk that it lies on."""

import contextlib
import shutil
import sqlite3
from pathlib import Path
from typing import Final, final

from attrs import frozen

#: How long another process's lock is waited for, in seconds.
_LOCKED_S: Final = 1.0


@final
@frozen(kw_only=True)
class FileState:
    """How a SQLite file stands."""

    #: In bytes.
    size: int
    #: Of the write-ahead log beside it, in bytes; 0: there is none.
    log_size: int
    #: In SQLite's word; empty: it could not be asked.
    journal_mode: str
    #: Why nothing can be written; ``None``: it can.
    fault: str | None


def file_state(path: Path) -> FileState:
    """Look at a SQLite file that is there; nothing is written into it."""
    # Before it is opened: who opens it last, and closes it, moves the log into the file.
    size, log_size = _size(path), _size(path.with_name(f"{path.name}-wal"))
    mode, fault = "", None
    try:
        address = f"{path.absolute().as_uri()}?mode=rw"
        opened = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_LOCKED_S)
        with contextlib.closing(opened) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            # The lock that a write begins with: a file that may only be read does not give it.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.Error as exc:
        fault = str(exc)
    return FileState(size=size, log_size=log_size, journal_mode=mode, fault=fault)


def free_space(folder: Path) -> tuple[int, int]:
    """Give how many bytes of a folder's disk are free for us, and how many there are.

    Raises:
        OSError: The folder is not there.
    """
    usage = shutil.disk_usage(folder)
    return usage.free, usage.total


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
