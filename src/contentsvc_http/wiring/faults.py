from time import monotonic
from typing import Final

import structlog

from contentsvc_core.errors import StoreUnavailable

#: The minimum time between two equal lines during an outage, in seconds.
_QUIET_S: Final = 5.0
_LOG: Final = structlog.get_logger("contentsvc")


class _Faults:
    def __init__(self) -> None:
        self._reason = ""
        self._since = 0.0
        self._more = 0

    def __call__(self, exc: Exception) -> None:
        if not isinstance(exc, StoreUnavailable):
            _LOG.error("fault", exc_info=exc)
            return
        now = monotonic()
        if str(exc) == self._reason and now - self._since < _QUIET_S:
            self._more += 1
            return
        _LOG.warning("store unavailable", reason=str(exc), **({"more_before": self._more} if self._more else {}))
        self._reason, self._since, self._more = str(exc), now, 0


log_fault: Final = _Faults()
