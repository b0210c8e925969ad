import time
from datetime import datetime
from typing import Final, final

from contentsvc_core.timestamps import from_ms

_NS_IN_MS: Final = 1_000_000


@final
class SystemClock:
    def now(self) -> datetime:
        return from_ms(time.time_ns() // _NS_IN_MS)
