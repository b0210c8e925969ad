"""One serving process per SQLite file: its engine recovers all running runs, which must not belong to another one."""

import contextlib
import fcntl
import os
from collections.abc import Generator
from pathlib import Path

from contentsvc_core.errors import StoreUnavailable


@contextlib.contextmanager
def serving_alone(database: Path) -> Generator[None]:
    """Hold the lock for serving a file; the operating system releases it when the process ends."""
    path = _lock_of(database)
    try:
        file = path.open("a")
    except OSError as exc:
        message = access_fault(database) or f"the file {path} cannot be made: {exc.strerror or exc}"
        raise StoreUnavailable(message) from exc
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            message = (
                f"another process serves {database} already: a SQLite file has one serving process; "
                "stop that one first, give this one a file of its own, or use PostgreSQL, which several can serve"
            )
            raise StoreUnavailable(message) from exc
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        # The lock file stays: if it were deleted, a third process could lock a new file of the same name.
        yield


def access_fault(database: Path) -> str | None:
    """Return the missing permission on a file, and a remedy; ``None``: no permission is missing."""
    if not database.parent.is_dir():
        fault = "its folder does not exist; create it"
    elif not os.access(database.parent, os.W_OK | os.X_OK, effective_ids=True):
        fault = "you may not write in its folder; use another folder, or change the owner of this one"
    elif database.exists() and not os.access(database, os.R_OK | os.W_OK, effective_ids=True):
        fault = "you may not read and write it; run this as its owner, or change its owner"
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
