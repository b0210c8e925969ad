"""Time and chance."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Give the time: aware, UTC, whole milliseconds."""
        ...


class IdSource(Protocol):
    """Makes what nobody has made before."""

    def mint(self, prefix: str) -> str:
        """Give ``prefix`` and a UUIDv7 (RFC 9562): ids of one process sort in the order in which they were made."""
        ...

    def token(self, length: int) -> str:
        """Give ``length`` random characters of ``A-Za-z0-9``, fit for a secret."""
        ...
