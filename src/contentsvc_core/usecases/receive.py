"""Receiving a delivery: decide, settle, answer."""

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from typing import Final, final

from contentsvc_core.errors import ReceivingFailed, StoreUnavailable
from contentsvc_core.journal import FailureBudget, LogEntry, LogStatus
from contentsvc_core.ports import Clock, DeliveryStore, IdSource, LogWriter
from contentsvc_core.webhooks.decision import admit, decide, delivery_id, preflight
from contentsvc_core.webhooks.delivery import Belonging, Delivery, Endpoint, VerifiedDelivery
from contentsvc_core.webhooks.outcomes import Duplicate, Outcome, Rejected
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement, settlement

#: How often a delivery is decided anew because the configuration changed meanwhile.
_TURNS: Final = 4
#: Budgets are kept for this many repositories; an attacker cannot name more than are connected.
_BUDGETS_KEPT: Final = 10_000

#: What the sender reads of a fault of our own, and the log says (specification 7).
SERVER_ERROR: Final = "Internal server error processing webhook"


def _nothing_to_nudge() -> None:
    pass


@final
class Receiver:
    """Receives deliveries, from whatever driver."""

    def __init__(
        self,
        store: DeliveryStore,
        journal: LogWriter,
        clock: Clock,
        ids: IdSource,
        *,
        failed_rows_per_minute: int = 1000,
        nudge: Callable[[], None] = _nothing_to_nudge,
    ) -> None:
        """Take the ports.

        Args:
            store: Where deliveries are settled.
            journal: Where a failure of our own is noted.
            clock: Tells when a delivery arrived.
            ids: Makes the ids of what it leaves behind.
            failed_rows_per_minute: How many refusals before the duplicate check a repository's log takes in a minute.
            nudge: Called after workflow runs were stored, so that nobody has to wait for a poll.
        """
        self._store = store
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._no_failures = FailureBudget(limit=failed_rows_per_minute)
        self._budgets: dict[Hashable, FailureBudget] = {}
        self._nudge = nudge

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Refuse what can be refused before the body is read; ``delivery.body`` may be empty still.

        Raises:
            StoreUnavailable: Answer 503.
            ReceivingFailed: Answer 500.
        """
        with _faults_named():
            return preflight(delivery, await self._store.endpoint(delivery.address, self._clock.now()))

    async def receive(self, delivery: Delivery) -> Outcome:
        """Decide a delivery and make the decision durable; return only then (specification 4.1).

        Raises:
            StoreUnavailable: Answer 503: nothing was stored, or it is unknown, and the claim decides the redelivery.
            ReceivingFailed: Answer 500: nothing was stored but, where possible, a log entry.
        """
        try:
            with _faults_named():
                return await self._receive(delivery)
        except ReceivingFailed:
            await self._note_failure(delivery)
            raise

    async def _receive(self, delivery: Delivery) -> Outcome:
        for _ in range(_TURNS):
            endpoint = await self._store.endpoint(delivery.address, self._clock.now())
            admission = admit(delivery, endpoint)
            outcome = decide(admission) if isinstance(admission, VerifiedDelivery) else admission
            if endpoint is None:
                return outcome
            left_out = self._budget(endpoint).left_out
            settling = settlement(
                outcome, endpoint, at=self._clock.now(), mint=self._ids.mint, note=_left_out(left_out)
            )
            if settling is None or not self._may_write(endpoint, settling):
                return outcome
            # Told now, before anything is awaited: of concurrent deliveries one tells, and no count is told twice.
            self._tell(endpoint, left_out)
            told = False
            try:
                settled = await self._store.settle(settling)
                told = settled is Settled.AS_DECIDED
            finally:
                if not told:
                    self._tell(endpoint, -left_out)
            match settled:
                case Settled.AS_DECIDED:
                    if settling.runs:
                        self._nudge()
                    return outcome
                case Settled.ALREADY_CLAIMED:
                    return Duplicate(kind=settling.kind or "", delivery_id=outcome.delivery_id or "")
                case Settled.STALE:
                    continue
        message = "the configuration changes faster than a delivery can be decided"
        raise StoreUnavailable(message)

    def _may_write(self, endpoint: Endpoint, settling: Settlement) -> bool:
        """Bound what a flood of refusals writes; whatever the claim decides is always written."""
        # Without a row there is no version check either; that is right, since the endpoint was read for this delivery.
        if settling.claim is not Claim.NONE:
            return True
        spent, granted = self._budget(endpoint).spend(settling.at)
        if len(self._budgets) >= _BUDGETS_KEPT:
            self._budgets.clear()
        self._budgets[_budget_key(endpoint)] = spent
        return granted

    def _budget(self, endpoint: Endpoint) -> FailureBudget:
        return self._budgets.get(_budget_key(endpoint), self._no_failures)

    def _tell(self, endpoint: Endpoint, left_out: int) -> None:
        if left_out:
            self._budgets[_budget_key(endpoint)] = self._budget(endpoint).told(left_out)

    async def _note_failure(self, delivery: Delivery) -> None:
        address = delivery.address
        entry = LogEntry(
            id=self._ids.mint("log_"),
            organization_id=address.organization_id,
            integration_id=address.integration_id,
            repository_id=address.repository_id,
            reference_id=delivery_id(delivery),
            title="Webhook processing failed",
            integration_type=address.provider,
            status=LogStatus.FAILED,
            status_code=500,
            error_message=SERVER_ERROR,
            created_at=self._clock.now(),
        )
        try:
            await self._journal.append(entry)
        except Exception:  # noqa: BLE001  # best effort: the answer is the same, and the driver logs the cause
            return


@contextmanager
def _faults_named() -> Generator[None]:
    """Tell what is ours to fix from what the sender may simply try again."""
    try:
        yield
    except StoreUnavailable:
        raise
    except Exception as exc:
        raise ReceivingFailed(SERVER_ERROR) from exc


def _budget_key(endpoint: Endpoint) -> Hashable:
    # The repository in the path is anybody's invention until it is known to be ours: the others share one budget.
    address = endpoint.address
    ours = endpoint.repository is Belonging.OURS
    return (address.organization_id, address.integration_id, address.repository_id if ours else None)


def _left_out(count: int) -> str | None:
    if not count:
        return None
    return f"{count} earlier {'failure was' if count == 1 else 'failures were'} not logged, over the limit per minute"
