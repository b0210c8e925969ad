"""Time and chance, and where work is done that takes long."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Protocol, TypeVar, final

from attrs import frozen

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


class Share(Protocol):
    """Bounds the work of one kind that runs at once, and shares its places fairly between organizations."""

    async def __call__(self, organization_id: str, work: Callable[[], Awaitable[_Result]], /) -> _Result:
        """Run ``work`` in a place of the organization, and return its result or raise its exception.

        Work of one organization begins in the order of the calls; organizations that wait are served in turns. A call
        that is cancelled while it waits leaves the queue. Work that has begun runs to its end and holds its place
        until then, even when the call is cancelled: a client that leaves early frees nothing that is still in use.

        Raises:
            Overloaded: The organization's queue is full; nothing was begun.
        """
        ...


@final
@frozen(kw_only=True)
class Shares:
    """The shares of a process, by kind of work."""

    #: Searches, excerpts, previews and whole payloads: up to seconds of processor time each.
    heavy: Share
    #: Pages of lists: milliseconds each, and many.
    lists: Share
