from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol, TypeAlias

from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.window import Verdict, Window

#: Maps the current window to the new window and the verdict on the request.
Transition: TypeAlias = Callable[[Window], tuple[Window, Verdict]]


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
