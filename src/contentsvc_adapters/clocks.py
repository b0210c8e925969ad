import time
from datetime import datetime
from typing import Final, final

from contentsvc_core.timestamps import from_ms

_NS_IN_MS: Final = 1_000_000


@final
class SystemClock:
    #: The last time, and its milliseconds since the epoch: many deliveries arrive in one millisecond.
    _last = from_ms(0), 0

    def now(self) -> datetime:
        now, last_ms = self._last
        ms = time.time_ns() // _NS_IN_MS
        if ms != last_ms:
            now = from_ms(ms)
            self._last = now, ms
        return now
