from time import monotonic
from typing import Final

import structlog

from contentsvc_core.errors import StoreUnavailable, UnreadableRow

#: A write this long after the last fault ends an outage, in seconds: two heartbeats of a process that performs runs.
_QUIET_S: Final = 5.0
#: A fault this long after the last one begins another outage, in seconds: a write may wait for several.
_SILENT_S: Final = 60.0
#: The most unreadable rows that are remembered as logged. Beyond that, all are forgotten, to limit the memory.
_ROWS: Final = 1_000
_ADVICE: Final = "see that the database runs and has room; 'contentsvc doctor' names the cause"
_LOG: Final = structlog.get_logger("contentsvc")


class _Faults:
    """Logs faults. Each reason of an outage of the database is logged once, and each row that cannot be read once."""

    def __init__(self) -> None:
        self._reasons = set[str]()
        self._unreadable = set[str]()
        self._first = self._last = 0.0

    def __call__(self, exc: Exception) -> None:
        if isinstance(exc, UnreadableRow):
            # A loop reads such a row at every turn until an operator restores or deletes it.
            if str(exc) in self._unreadable:
                return
            if len(self._unreadable) >= _ROWS:
                self._unreadable.clear()
            self._unreadable.add(str(exc))
        if not isinstance(exc, StoreUnavailable):
            _LOG.error("fault", exc_info=exc)
            return
        now = monotonic()
        if now - self._last >= _SILENT_S:
            self._reasons.clear()
        if not self._reasons:
            self._first = now
        self._last = now
        if (reason := str(exc)) not in self._reasons:
            self._reasons.add(reason)
            _LOG.warning("store unavailable", reason=reason, advice=_ADVICE)

    def note_write(self) -> None:
        """Log the end of an outage; called after each write, such as a heartbeat."""
        now = monotonic()
        if self._reasons and now - self._last >= _QUIET_S:
            self._reasons.clear()
            _LOG.warning("store available again", after_s=round(now - self._first, 1))


log_fault: Final = _Faults()
