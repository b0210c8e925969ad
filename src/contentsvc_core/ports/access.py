from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol, TypeAlias

from contentsvc_core.access.keyed_requests import KeyedRequest
from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.sessions import Session
from contentsvc_core.access.window import Verdict, Window
from contentsvc_core.refusals import Refusal

#: Maps the current window to the new window and the verdict on the request.
Transition: TypeAlias = Callable[[Window], tuple[Window, Verdict]]
#: Maps the stored request (``None``: the key is free) to the new one, or to a refusal, which changes nothing.
RequestTransition: TypeAlias = Callable[[KeyedRequest | None], KeyedRequest | Refusal | None]


class Sessions(Protocol):
    """The sessions. Rights and the validity of a session's key are checked elsewhere."""

    async def add(self, session: Session) -> None:
        """Store a session; a repeated call changes nothing."""
        ...

    async def session(self, digest: str) -> Session | None:
        """Return a session by its token's digest, expired or not; ``None``: it is unknown."""
        ...

    async def remove(self, digest: str) -> bool:
        """Delete a session; ``False``: it is unknown. Of concurrent calls, one returns ``True``."""
        ...

    async def sweep(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` sessions that had expired at ``before``, oldest first; return their number."""
        ...


class RateLimitStore(Protocol):
    """The windows of the buckets (specification 8.1). The store provides exclusive updates; the core has the rule."""

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        """Apply a transition to a bucket's window (empty at first), and return the verdict.

        Read and write are exclusive among all processes, for a new bucket, too. The same window is not written. The
        transition awaits nothing and may be called more than once: if the connection is lost at the commit, it is
        applied again, so that a request may be counted twice, but never not at all.
        """
        ...

    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        """Return the current windows of buckets, in one read; buckets without a window are left out."""
        ...

    async def sweep(self, *, before: datetime, limit: int) -> int:
        """Delete up to ``limit`` windows whose last request left at ``before`` or earlier; return their number."""
        ...


class KeyedRequests(Protocol):
    """The requests with an idempotency key; seeds and answers are sealed. The core has the rules."""

    async def update(
        self, key_prefix: str, name: str, transition: RequestTransition, *, now: datetime
    ) -> KeyedRequest | Refusal | None:
        """Apply a transition to the request with an idempotency key, and return its result.

        The database measures ``busy_until`` by its own clock: the transition gets it by the clock that shows ``now``.
        Read and write are exclusive among all processes, for a new key, too. The same request is not written. The
        transition awaits nothing and may be called more than once: if the connection is lost at the commit, it is
        applied again.
        """
        ...

    async def sweep(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` requests that were first made before ``before``, oldest first."""
        ...
