"""The ports for time, random values, and for running long work elsewhere."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol, TypeVar, final

from contentsvc_core.values import Value

_Result = TypeVar("_Result")


class Clock(Protocol):
    """The source of the time; a clock may be stepped back."""

    def now(self) -> datetime:
        """Return the current time: aware, UTC, whole milliseconds."""
        ...


class IdSource(Protocol):
    """Generates unique ids and random tokens."""

    def new_id(self, prefix: str) -> str:
        """Return ``prefix`` and a UUIDv7 (RFC 9562): the ids of one process sort by creation."""
        ...

    def token(self, length: int) -> str:
        """Return ``length`` random characters of ``A-Za-z0-9``, fit for a secret."""
        ...


class Repeatable(Protocol):
    """Makes an execution repeatable: its clock does not advance, and ids and tokens follow from a seed."""

    def __call__(self, seed: str, at: datetime, /) -> AbstractContextManager[None]:
        """Enter an execution at ``at``. Code that outlives it gets the current time and new ids again."""
        ...


class Offload(Protocol):
    """Runs long computations so that the event loop does not wait for them."""

    async def __call__(self, work: Callable[[], _Result], /) -> _Result:
        """Call ``work``, and return its result or raise its exception.

        The call may run in another thread: ``work`` is a plain function of frozen values.
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
class Shares(Value, frozen=True, kw_only=True):
    """The shares of a process, by kind of work."""

    #: Searches, excerpts, previews and whole payloads: up to seconds of processor time each.
    heavy: Share
    #: Pages of lists: milliseconds each, and many.
    lists: Share
    #: Searches of public changelogs, which need no key: up to a second of processor time each.
    public: Share
    #: Pages of public changelogs that are read and rendered: each may hold twenty posts in memory.
    pages: Share
