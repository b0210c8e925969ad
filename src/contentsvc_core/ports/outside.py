"""Time and chance, and where work is done that takes long."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeVar

_Result = TypeVar("_Result")


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


class Aside(Protocol):
    """Does work that takes long where nobody else has to wait for its end."""

    async def __call__(self, work: Callable[[], _Result], /) -> _Result:
        """Call ``work`` and give what it gives, or raise what it raises.

        It may be called in another thread, beside others or after them: it is a plain function of frozen values.
        """
        ...
