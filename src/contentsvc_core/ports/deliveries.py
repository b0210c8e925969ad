from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.journal import LogEntry, LogQuery
from contentsvc_core.lists.pagination import PageRequest, Pagination
from contentsvc_core.refusals import Refusal
from contentsvc_core.webhooks.delivery import Address, HookConfiguration
from contentsvc_core.webhooks.settlement import Settled, Settlement


class DeliveryStore(Protocol):
    """Settles deliveries (specification 4.1, steps 2 and 6)."""

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        """Return the configuration of a hook address; ``None``: no integration has this address.

        Integration, repository, secrets, triggers and version are read at one moment. The secrets are the ones that
        verify at ``now``: a rotated secret verifies until its overlap ends. The triggers include at least the triggers
        that name the repository. Secrets that cannot be decrypted are counted.

        With ``allow_cached`` the store may return a cached configuration, whose secrets alone are as of ``now``;
        ``None`` is never cached. A decision on a cached configuration is valid only once :meth:`settle` has accepted
        it. Decide again, without ``allow_cached``, when the decision needs no settlement or when the settlement is
        ``STALE``.
        """
        ...

    async def settle(self, settlement: Settlement) -> Settled:
        """Write a settlement in one transaction, and return when it is durable.

        ``STALE``: the organization's version differs; nothing is written. ``ALREADY_CLAIMED``: the claim that the
        settlement takes or checks is held; only ``settlement.duplicate_log`` is written. Of concurrent settlements of
        one key, one takes the claim. It expires exactly :data:`~contentsvc_core.webhooks.settlement.DEDUPE_WINDOW`
        later.

        Context records are upserted on (organization, custom id): the event is replaced; id and creation time stay. A
        repeated settlement of the same value writes nothing twice and returns the first result.

        Raises:
            Unstorable: The store cannot hold this value; nothing was written.
        """
        ...


class DeliveryQueue(Protocol):
    """A delivery store that answers by callbacks, for a driver without a task for each delivery."""

    def cached(self, address: Address, now: datetime) -> HookConfiguration | None:
        """Return the cached configuration of an address, as ``configuration`` with ``allow_cached``, or ``None``."""
        ...

    def put(self, settlement: Settlement, on_settled: Callable[[Settled | Exception], object]) -> None:
        """Settle later, and call ``on_settled`` with the result or exception; ``StoreUnavailable``: too much waits."""
        ...


class LogWriter(Protocol):
    """Writes log entries that belong to no settlement."""

    async def append(self, entry: LogEntry) -> None:
        """Write an entry in a transaction of its own."""
        ...


class Journal(LogWriter, Protocol):
    async def finish(self, entry: LogEntry) -> None:
        """Write status, status code, error and reason of a pending entry; a swept entry is not written again."""
        ...

    async def answered(
        self, organization_id: str, integration_id: str, delivery_ids: Collection[str], *, since: datetime
    ) -> set[str]:
        """Return the ids of deliveries that the integration has answered with success since a point in time."""
        ...

    async def entries(self, organization_id: str, *, limit: int | None = None) -> Sequence[LogEntry]:
        """List entries, newest first; all of them without a limit."""
        ...

    async def page(
        self, organization_id: str, query: LogQuery, request: PageRequest, *, max_bytes: int
    ) -> tuple[Sequence[LogEntry], Pagination] | Refusal:
        """Return one page, newest first; count and page are read at one moment.

        The stored payloads of a page have at most about ``max_bytes`` together, the smallest ones first; at least one
        is read. The others are left out (:attr:`~contentsvc_core.journal.LogEntry.left_out`).
        """
        ...

    async def entry(self, organization_id: str, log_id: str, *, max_bytes: int | None = None) -> LogEntry | None:
        """Return an entry; a stored payload larger than about ``max_bytes`` is left out."""
        ...

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` of an organization's entries older than ``before``; return their number."""
        ...

    async def sweep_claims(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` claims taken at ``before`` or earlier, of any organization; return the number."""
        ...
