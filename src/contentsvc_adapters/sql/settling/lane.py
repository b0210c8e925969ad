"""What lies between the queue and a database: batches, and how they are written."""

from collections.abc import Awaitable, Sequence
from typing import Protocol, final

from contentsvc_core.values import Value
from contentsvc_core.webhooks.settlement import Settled, Settlement


@final
class BatchItem(Value, frozen=True, kw_only=True):
    """One settlement in a batch."""

    settlement: Settlement
    #: Another settlement of the same key has been written, or found its claim held, after this one had been asked for:
    #: this one is a duplicate, and only its ``duplicate_log`` is written.
    is_duplicate: bool = False


class Lane(Protocol):
    """Writes batches into a database, one transaction each. A lane writes one batch at a time."""

    def write(self, batch: Sequence[BatchItem]) -> Awaitable[Sequence[Settled]]:
        """Write a batch, all of it or nothing, and answer once it is durable: an answer for each item, in order.

        Of the items of a batch, at most one takes a given key. Writing a batch again, in part, whole, or together with
        others, after an unknown outcome, writes nothing twice and gives the first answers.

        Raises:
            StoreUnavailable: Nothing was written, or it is unknown; the lane has tried again as long as that may help.
            Exception: Any other: nothing was written, and some item is the reason. Alone, it is
                :class:`~contentsvc_core.errors.Unstorable` when the value is at fault.
        """
        ...
