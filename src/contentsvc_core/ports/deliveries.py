"""Where deliveries are settled, and the log of what became of each."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.content.pagination import InvalidPage, PageRequest, Pagination
from contentsvc_core.journal import LogEntry, LogQuery
from contentsvc_core.webhooks.delivery import Address, Endpoint
from contentsvc_core.webhooks.settlement import Settled, Settlement


class DeliveryStore(Protocol):
    """Where deliveries are settled (specification 4.1, steps 2 and 6)."""

    async def endpoint(self, address: Address, now: datetime, *, recall: bool = False) -> Endpoint | None:
        """Give what is known at an address; ``None``: no such integration there.

        Integration, repository, secrets, triggers and version are of one moment. The secrets are those that verify at
        ``now``: one that was rotated out verifies until its time has come, and exactly then no more. Of the triggers,
        at least those that name the repository are there.

        With ``recall`` the store may give what it remembers instead of what is there now, and only its secrets are as
        of ``now``; ``None`` is never remembered. What is decided on it counts only once :meth:`settle` has accepted it:
        an answer that no settlement confirms is to be decided anew, without ``recall``, and so is one that is
        ``STALE``.

        Args:
            address: Where.
            now: When; the secrets are as of then.
            recall: Take what is remembered, if something is.
        """
        ...

    async def settle(self, settlement: Settlement) -> Settled:
        """Make a settlement true, all of it or nothing, and answer only when it is durable.

        ``STALE`` when the organization's version differs: nothing is written. ``ALREADY_CLAIMED`` when the claim is
        held and the settlement takes or checks it: only ``settlement.duplicate_log`` is written. Of any number of
        concurrent settlements of one key, one takes the claim. A claim is free again exactly
        :data:`~contentsvc_core.webhooks.settlement.DEDUPE_WINDOW` after it was taken. Context records are upserted on
        (organization, custom id): the event is replaced; id and creation time stay. Settling the same value again,
        after an unknown outcome, writes nothing twice and gives the first answer.

        Raises:
            Unstorable: The store cannot hold this value; nothing was written.
        """
        ...


class LogWriter(Protocol):
    """Where single log entries are written."""

    async def append(self, entry: LogEntry) -> None:
        """Write an entry on its own."""
        ...


class Journal(LogWriter, Protocol):
    """The webhook log (specification 2.3)."""

    async def finish(self, entry: LogEntry) -> None:
        """Write how an entry that was pending has ended: its status, status code, error and reason.

        Everything else stays as it was appended; an entry that was swept meanwhile stays away.
        """
        ...

    async def answered(
        self, organization_id: str, integration_id: str, delivery_ids: Collection[str], *, since: datetime
    ) -> set[str]:
        """Give those of some delivery ids that the integration has answered with success since a point in time."""
        ...

    async def entries(self, organization_id: str, *, limit: int | None = None) -> Sequence[LogEntry]:
        """List entries, newest first; all of them without a limit."""
        ...

    async def page(
        self, organization_id: str, query: LogQuery, request: PageRequest, *, max_bytes: int
    ) -> tuple[Sequence[LogEntry], Pagination] | InvalidPage:
        """Return one page, newest first; count and page are of one moment.

        The payloads of a page have at most about ``max_bytes`` together as they are stored, the smallest ones first; of
        any, one is read. The others are left out (:attr:`~contentsvc_core.journal.LogEntry.left_out`).
        """
        ...

    async def entry(self, organization_id: str, log_id: str, *, max_bytes: int | None = None) -> LogEntry | None:
        """Return an entry; a payload that has more than about ``max_bytes`` as it is stored is left out."""
        ...

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` of an organization's entries older than ``before``; give how many."""
        ...

    async def sweep_claims(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` claims taken at ``before`` or earlier, of any organization; give how many."""
        ...
