"""One serving process per SQLite file: its engine recovers all running runs, which must not belong to another one."""

import contextlib
import fcntl
from collections.abc import Generator
from pathlib import Path

from contentsvc_core.errors import StoreUnavailable


@contextlib.contextmanager
def serving_alone(database: Path) -> Generator[None]:
    """Hold the lock for serving a file; the operating system releases it when the process ends."""
    path = database.with_name(f"{database.name}.serving")
    try:
        file = path.open("w")
    except OSError as exc:
        message = f"the file {path} cannot be made: {exc.strerror or exc}"
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
        # The lock file stays: if it were deleted, a third process could lock a new file of the same name.
        yield
