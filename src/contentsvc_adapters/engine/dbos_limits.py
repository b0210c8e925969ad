"""What DBOS is held to: how long it waits, how much it says, and in which words."""

import contextlib
import logging
import sqlite3
from collections.abc import Generator
from time import monotonic
from typing import Any, Final, final

from dbos import DBOS, error
from sqlalchemy.engine import make_url

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.text import one_line

#: How long DBOS waits for a connection, in seconds, and for a statement, in milliseconds.
_CONNECT_S: Final = 3
_STATEMENT_MS: Final = 10_000
#: How long what was sent may go unacknowledged, in milliseconds.
_SILENCE_MS: Final = 10_000
#: The last one: a process that stands still in the middle must not hold what others resume its runs with.
_LIMITS: Final = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
#: Of what DBOS reports, so many seconds pass between two lines: during an outage it would fill disks.
_QUIET_S: Final = 5.0


def write_ahead(url: str) -> None:
    """Have a SQLite file keep its changes apart until they are moved in: the file remembers it.

    Raises:
        sqlite3.Error: The file cannot be used.
    """
    file = make_url(url).database
    assert file is not None
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def engine_options(url: str) -> dict[str, Any]:
    """Bound what DBOS waits for: it sets no such limits itself."""
    if url.startswith("sqlite"):
        return {}
    arguments = {
        "application_name": "contentsvc engine",
        "connect_timeout": _CONNECT_S,
        # A peer that is gone without a word is noticed within some ten seconds.
        "tcp_user_timeout": _SILENCE_MS,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "options": " ".join(f"-c {limit}={_STATEMENT_MS}" for limit in _LIMITS),
    }
    return {"connect_args": arguments, "pool_timeout": _CONNECT_S}


def give_up_in_outages(instance: DBOS) -> None:
    """Have DBOS raise what it would wait for, in threads that nobody can end, until the database is back.

    A run whose step cannot be kept has failed this time, and the ledger has it tried again. An instance has no public
    switch for that: a test stops the database, and would notice that this one has no effect any more.
    """
    instance._sys_db._retry_connection_errors = False  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


@contextlib.contextmanager
def faults_named(what: str) -> Generator[None]:
    """Say in a few words what DBOS says in statements and parameters."""
    try:
        yield
    except Exception as exc:
        message = f"{what}: {type(exc).__name__}"
        raise StoreUnavailable(message) from exc


def why_not(exc: Exception) -> str:
    """Say in a line why the engine cannot start."""
    if isinstance(exc, error.DBOSInitializationError):
        return "the engine's tables are not there, or are old: run 'contentsvc migrate'"
    # The driver's own words, without the statement that the error of the layer above repeats.
    said = str(getattr(exc, "orig", None) or exc) or type(exc).__name__
    return f"the engine cannot use its tables: {one_line(said, 200)}"


@final
class _Sparing(logging.Filter):
    """Lets a line pass now and then, without its traceback: an outage is told by our own lines already."""

    def __init__(self) -> None:
        super().__init__()
        self._last = -_QUIET_S

    def filter(self, record: logging.LogRecord) -> bool:
        now = monotonic()
        # Whoever leaves a workflow unfinished cancels it: that is how runs wait for their next attempt.
        if now - self._last < _QUIET_S or str(record.msg).startswith("Asyncio task cancelled"):
            return False
        self._last = now
        # Some tracebacks stand in the message itself, after its first line or at the end of it.
        said = record.getMessage().partition("\n")[0].partition("Traceback (most recent call last)")[0]
        record.msg, record.args = one_line(said.rstrip(": "), 300), ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def quieten(logger: logging.Logger) -> None:
    """Have DBOS write where everything else is written, and little."""
    if not any(isinstance(each, logging.NullHandler) for each in logger.handlers):
        # With a handler there, it does not add one of its own.
        logger.addHandler(logging.NullHandler())
        logger.addFilter(_Sparing())
    logger.propagate = True
    logger.setLevel(logging.WARNING)
