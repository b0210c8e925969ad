"""The interface between the queue and a database: batches, and the lanes that write them."""

from collections.abc import Awaitable, Sequence
from typing import Protocol, final

from contentsvc_core.values import Value
from contentsvc_core.webhooks.settlement import Settled, Settlement


@final
class BatchItem(Value, frozen=True, kw_only=True):
    settlement: Settlement
    #: Another settlement with the same key was written, or found its claim held, after this one was submitted. This one
    #: is a duplicate, and only its ``duplicate_log`` is written.
    is_duplicate: bool = False


class BatchWriter(Protocol):
    """Writes batches into a database, one transaction each and one batch at a time."""

    def write(self, batch: Sequence[BatchItem]) -> Awaitable[Sequence[Settled]]:
        """Write a whole batch or nothing; once it is durable, return an answer for each item, in order.

        At most one item of a batch takes a given key. Writing a batch again after an unknown outcome, in part, whole,
        or together with others, writes nothing twice and returns the first answers.

        Raises:
            StoreUnavailable: Nothing was written, or the outcome is unknown; the lane has retried.
            Exception: Any other: nothing was written, because of one item. A batch of one raises
                :class:`~contentsvc_core.errors.Unstorable` if the value is at fault.
        """
        ...
