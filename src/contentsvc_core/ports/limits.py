"""What limited operations have admitted."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol, TypeAlias

from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.window import Verdict, Window

#: From the window as it is to the window as it shall be, and what that means for the request.
Transition: TypeAlias = Callable[[Window], tuple[Window, Verdict]]


class RateLimitStore(Protocol):
    """The windows of the buckets (specification 8.1). The store gives exclusivity; the rule is the core's."""

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        """Apply a transition to a bucket's window, an empty one if there is none, and give its verdict.

        Nobody else, in whatever process, updates the bucket between the reading and the writing, the first time
        included. Where the transition gives the window that it was given, nothing is written. The transition awaits
        nothing and may be called more than once. When the connection was lost and nobody knows whether the change was
        committed, it is applied to what is there: a request may then be counted twice, and never not at all.
        """
        ...

    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        """Return the windows of buckets as they are now, all in one read; a bucket without one is left out."""
        ...

    async def sweep(self, *, before: datetime, limit: int) -> int:
        """Delete up to ``limit`` windows whose last request left at ``before`` or earlier; give how many it were."""
        ...
