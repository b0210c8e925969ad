"""What DBOS is held to: how long it waits, and how much it says."""

import logging
from time import monotonic
from typing import Any, Final, final

from dbos import DBOS

#: How long DBOS waits for a connection, in seconds, and for a statement, in milliseconds.
_CONNECT_S: Final = 3
_STATEMENT_MS: Final = 10_000
#: Of what DBOS reports, so many seconds pass between two lines: during an outage it would fill disks.
_QUIET_S: Final = 5.0


def engine_options(url: str) -> dict[str, Any]:
    """Bound what DBOS waits for: it sets no such limits itself."""
    if url.startswith("sqlite"):
        return {}
    arguments = {
        "application_name": "contentsvc engine",
        "connect_timeout": _CONNECT_S,
        "options": f"-c statement_timeout={_STATEMENT_MS} -c lock_timeout={_STATEMENT_MS}",
    }
    return {"connect_args": arguments, "pool_timeout": _CONNECT_S}


def give_up_in_outages(instance: DBOS) -> None:
    """Have DBOS raise what it would wait for, in threads that nobody can end, until the database is back.

    A run whose step cannot be kept has failed this time, and the ledger has it tried again. An instance has no public
    switch for that: a test stops the database, and would notice that this one has no effect any more.
    """
    instance._sys_db._retry_connection_errors = False  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


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
