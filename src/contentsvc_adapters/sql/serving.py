"""One serving process for a SQLite file: its engine recovers what it finds running, which must be nobody else's."""

import contextlib
import fcntl
from collections.abc import Generator
from pathlib import Path

from contentsvc_core.errors import StoreUnavailable


@contextlib.contextmanager
def serving_alone(database: Path) -> Generator[None]:
    """Hold the right to serve a file; the operating system frees it with the process, however that ends.

    Raises:
        StoreUnavailable: Another process serves the file, or no file can be made beside it.
    """
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
        # The file stays: were it removed, a third process could lock a new one under the same name.
        yield
