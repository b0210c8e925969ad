"""The clock of the machine (port :class:`~contentsvc_core.ports.Clock`)."""

from datetime import UTC, datetime
from typing import final

from contentsvc_core.timestamps import whole_ms


@final
class SystemClock:
    """Tells the machine's time."""

    def now(self) -> datetime:
        """Give the time: aware, UTC, whole milliseconds."""
        return whole_ms(datetime.now(UTC))
