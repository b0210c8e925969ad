"""Limits of DBOS: its timeouts, its log output, and its error messages."""

import contextlib
import logging
import sqlite3
from collections.abc import Generator
from time import monotonic
from typing import Any, Final

from dbos import DBOS, error
from sqlalchemy.engine import make_url

from contentsvc_adapters.engine.dbos_tables import in_a_sentence
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.text import one_line

#: The timeouts of DBOS for a connection, in seconds, and for a statement, in milliseconds.
_CONNECT_S: Final = 3
_STATEMENT_MS: Final = 10_000
#: TCP user timeout: how long sent data may stay unacknowledged, in milliseconds.
_SILENCE_MS: Final = 10_000
#: The last one protects others from a stalled process that holds locks in a transaction.
_LIMITS: Final = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
#: Overrides the setting of the role or database, as the sessions of the stores do.
_WRITES: Final = "-c default_transaction_read_only=off"
#: The least time between two log lines of DBOS, in seconds: during an outage it would fill disks.
_QUIET_S: Final = 5.0


def write_ahead(url: str) -> None:
    """Switch a SQLite file to write-ahead logging; the setting is stored in the file."""
    file = make_url(url).database
    assert file is not None
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def engine_options(url: str) -> dict[str, Any]:
    if url.startswith("sqlite"):
        return {}
    arguments = {
        "application_name": "contentsvc engine",
        "connect_timeout": _CONNECT_S,
        # A dead peer is detected within some 10 s.
        "tcp_user_timeout": _SILENCE_MS,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "options": " ".join((_WRITES, *(f"-c {limit}={_STATEMENT_MS}" for limit in _LIMITS))),
    }
    return {"connect_args": arguments, "pool_timeout": _CONNECT_S}


def writing(url: str) -> str:
    """Return the URL for ``DBOS.migrate``, which takes no options."""
    if url.startswith("sqlite"):
        return url
    return make_url(url).update_query_dict({"options": _WRITES}).render_as_string(hide_password=False)


def give_up_in_outages(instance: DBOS) -> None:
    """Disable DBOS's endless retries of lost connections, which block threads; the ledger retries the run instead.

    DBOS has no public option for this. A test that stops the database notices if the attribute loses its effect.
    """
    instance._sys_db._retry_connection_errors = False  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


@contextlib.contextmanager
def faults_named(what: str) -> Generator[None]:
    """Replace DBOS's exceptions, which contain statements and parameters, by a short :class:`StoreUnavailable`."""
    try:
        yield
    except Exception as exc:
        message = f"{what}: {type(exc).__name__}"
        raise StoreUnavailable(message) from exc


def why_not(exc: Exception) -> str:
    if isinstance(exc, error.DBOSInitializationError):
        return "the engine's tables are not there, or are old: run 'contentsvc migrate'"
    return in_a_sentence("the engine cannot use its tables", exc)


class _LogLimit(logging.Filter):
    """Rate limits log lines and drops their tracebacks: the service logs an outage itself."""

    def __init__(self) -> None:
        super().__init__()
        self._last = -_QUIET_S

    def filter(self, record: logging.LogRecord) -> bool:
        now = monotonic()
        # Not a fault: a workflow is cancelled on purpose, so that its run waits for the next attempt.
        if now - self._last < _QUIET_S or str(record.msg).startswith("Asyncio task cancelled"):
            return False
        self._last = now
        text = record.getMessage().partition("\n")[0].partition("Traceback (most recent call last)")[0]
        record.msg, record.args = one_line(text.rstrip(": "), 300), ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def quieten(logger: logging.Logger) -> None:
    if not any(isinstance(each, logging.NullHandler) for each in logger.handlers):
        # With any handler, DBOS does not add its own.
        logger.addHandler(logging.NullHandler())
        logger.addFilter(_LogLimit())
    logger.propagate = True
    logger.setLevel(logging.WARNING)
