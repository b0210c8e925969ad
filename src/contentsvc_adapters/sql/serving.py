"""One serving process per SQLite file: its engine recovers all running runs, which must not belong to another one."""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from contentsvc_core.errors import SchemaMismatch, StoreUnavailable

#: The result codes of SQLite without access; any other fault may pass.
_NO_ACCESS: Final = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


@contextlib.contextmanager
def serving_alone(database: Path) -> Generator[None]:
    """Hold the lock for serving a file; the operating system releases it when the process ends."""
    path = _lock_of(database)
    is_new = not path.exists()
    try:
        # Without a buffer: closing the file would write a refused number again.
        file = path.open("ab", buffering=0)
    except OSError as exc:
        message = access_fault(database) or f"the file {path} cannot be made: {exc.strerror or exc}"
        raise StoreUnavailable(message) from exc
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            message = (
                f"another process serves {database} already: a SQLite file has one serving process; "
                "stop that one first, give this one a file of its own, or use PostgreSQL, which several can serve"
            )
            raise StoreUnavailable(message) from exc
        except OSError as exc:
            message = f"the file {path} cannot be locked: {exc.strerror or exc}; use a local disk for the database"
            raise StoreUnavailable(message) from exc
        try:
            file.truncate(0)
            file.write(str(os.getpid()).encode())
        except OSError as exc:
            message = f"the file {path} cannot be written: {exc.strerror or exc}; see that its disk has room"
            raise StoreUnavailable(message) from exc
        # The lock file stays: if it were deleted, a third process could lock a new file of the same name.
        try:
            yield
        except SchemaMismatch:
            # The file is not served. It may belong to another application, beside whose files nothing is left.
            if is_new:
                path.unlink(missing_ok=True)
            raise


def check_writable(database: Path) -> None:
    """Check that an existing file can be written; a lock of another process is no fault.

    Raises:
            StoreUnavailable: The user of this process may not write the file or its log.
    """
    try:
        opened = sqlite3.connect(file_uri(database, "rw"), uri=True, isolation_level=None, timeout=0)
        with contextlib.closing(opened) as connection:
            try_to_write(connection)
    except sqlite3.Error as exc:
        if not has_no_access(exc):
            return
        message = access_fault(database) or (
            f"the database file '{database}' cannot be written: {exc}; give the user of this process write access to "
            "it and to its '-wal' and '-shm' files"
        )
        raise StoreUnavailable(message) from exc


def file_uri(database: Path, mode: str) -> str:
    """Return the address of a file for SQLite: ``mode`` is ``ro``, ``rw`` or ``rwc``."""
    # Path.as_uri imports an HTTP client on Python 3.14: 38 modules that a command does not need.
    return f"file://{quote(os.fsencode(database.absolute()))}?mode={mode}"


def try_to_write(connection: sqlite3.Connection) -> None:
    """Write and roll back; the error of SQLite names why a file cannot be written."""
    connection.execute("BEGIN IMMEDIATE")
    # On a read-only file, the statement before begins a reading transaction without an error.
    connection.execute("PRAGMA user_version = 0")
    connection.execute("ROLLBACK")


def has_no_access(exc: BaseException | None) -> bool:
    return primary_code(exc) in _NO_ACCESS


def primary_code(exc: BaseException | None) -> int:
    # The low byte of an extended result code is the primary code.
    return getattr(exc, "sqlite_errorcode", 0) & 0xFF


def access_fault(database: Path) -> str | None:
    """Return why a file cannot be opened for writing, and a remedy; ``None``: nothing is in the way."""
    if not database.parent.is_dir():
        fault = "its folder does not exist; create it"
    elif database.is_dir():
        fault = "it is a folder; name a file in CONTENTSVC_DATABASE_URL"
    elif os.statvfs(database.parent).f_flag & os.ST_RDONLY:
        fault = "its file system is read-only; mount it for writing, or use another folder"
    elif not os.access(database.parent, os.W_OK | os.X_OK, effective_ids=True):
        fault = "you may not write in its folder; use another folder, or change the owner of this one"
    elif database.exists() and not os.access(database, os.R_OK | os.W_OK, effective_ids=True):
        fault = "you may not read and write it; run this as its owner, or change its owner or its mode"
    else:
        return None
    return f"the database file '{database}' cannot be opened: {fault}"


def is_served(database: Path) -> bool:
    """Return whether another process serves a file."""
    try:
        with _lock_of(database).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                # A server of an earlier version has not written its number.
                return file.read() != str(os.getpid())
    except FileNotFoundError:
        pass
    return False


def _lock_of(database: Path) -> Path:
    return database.with_name(f"{database.name}.serving")
