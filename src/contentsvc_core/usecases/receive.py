"""Receiving a delivery: decide, settle, answer."""

from collections.abc import Callable, Hashable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar, final

from contentsvc_core.errors import ReceivingFailed, StoreUnavailable
from contentsvc_core.journal import FailureBudget
from contentsvc_core.ports import Aside, Clock, DeliveryStore, IdSource, LogWriter
from contentsvc_core.webhooks.decision import admit, decide, preflight, rejected
from contentsvc_core.webhooks.delivery import Belonging, Delivery, Endpoint, VerifiedDelivery
from contentsvc_core.webhooks.outcomes import Duplicate, Fault, Outcome, Processed, Rejected
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement, settlement
from contentsvc_core.wire import event_to_json

_Result = TypeVar("_Result")

#: How often a delivery is decided anew because the configuration changed meanwhile.
_TURNS: Final = 4
#: Budgets are kept for this many repositories; an attacker cannot name more than are connected.
_BUDGETS_KEPT: Final = 10_000

#: A body that is larger is verified and read aside, in bytes: it takes as long as some hundred small ones.
LARGE_BODY: Final = 64 * 1024

#: What the sender reads of a fault of our own, and the log says (specification 7).
SERVER_ERROR: Final = "Internal server error processing webhook"
#: The same of a store that does not answer.
UNAVAILABLE: Final = "Service temporarily unavailable"
#: How many refusals are logged at a time; the others are counted. Each one takes a transaction of its own, waits for a
#: store that may not answer, and must not keep deliveries from the store.
_LOGGED_AT_A_TIME: Final = 8
#: How long a store may have failed to answer before a refusal is only counted: its sender would wait twice as long.
_SOON: Final = timedelta(seconds=1)


def _nothing_to_nudge() -> None:
    pass


async def at_once(work: Callable[[], _Result], /) -> _Result:
    """Do work where it is asked for, and wait for it (port :class:`~contentsvc_core.ports.Aside`)."""
    return work()


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
        aside: Aside = at_once,
    ) -> None:
        """Take the ports.

        Args:
            store: Where deliveries are settled.
            journal: Where refusals are logged that no settlement writes.
            clock: Tells when a delivery arrived.
            ids: Makes the ids of what it leaves behind.
            failed_rows_per_minute: How many refusals before the duplicate check, and failures of the service, the log
                of a repository takes in a minute.
            nudge: Called after workflow runs were stored, so that nobody has to wait for a poll.
            aside: Where bodies over :data:`LARGE_BODY` are verified and read; unless given, where all others are.
        """
        self._store = store
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._no_failures = FailureBudget(limit=failed_rows_per_minute)
        self._budgets: dict[Hashable, FailureBudget] = {}
        self._nudge = nudge
        self._aside = aside
        self._logging = 0

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Refuse what can be refused before the body is read; ``delivery.body`` may be empty still.

        Raises:
            StoreUnavailable: Answer 503.
            ReceivingFailed: Answer 500.
        """
        try:
            # Most of what comes this far is refused by its headers alone, or not at all: what is remembered is enough
            # to let it pass, since all of it is decided once more.
            if preflight(delivery, await self._endpoint(delivery, recall=True)) is None:
                return None
            endpoint = await self._endpoint(delivery, recall=False)
        except StoreUnavailable:
            raise
        except Exception as exc:
            raise ReceivingFailed(SERVER_ERROR) from exc
        refused = preflight(delivery, endpoint)
        if refused is not None:
            await self._log(endpoint, refused)
        return refused

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> None:
        """Log that a driver refuses a delivery whose body it did not read whole.

        Args:
            delivery: ``delivery.body`` may be empty.
            fault: The reason.
            error: The sender's text.
        """
        with suppress(Exception):
            await self._log(await self._endpoint(delivery, recall=False), rejected(delivery, fault, error))

    async def receive(self, delivery: Delivery) -> Outcome:
        """Decide a delivery and make the decision durable; return only then (specification 4.1).

        Raises:
            StoreUnavailable: Answer 503: nothing was stored, or it is unknown, and the claim decides the redelivery.
            ReceivingFailed: Answer 500: nothing was stored but, where possible, a log entry.
        """
        endpoint: Endpoint | None = None
        began = self._clock.now()
        try:
            for turn in range(_TURNS):
                at = self._clock.now()
                endpoint = await self._store.endpoint(delivery.address, at, recall=turn == 0)
                outcome = await self._settled(delivery, endpoint, at, recalled=turn == 0)
                if outcome is not None:
                    return outcome
            message = "the configuration changes faster than a delivery can be decided"
            raise StoreUnavailable(message)  # noqa: TRY301  # logged like any other
        except StoreUnavailable:
            # The sender may simply try again.
            refused = rejected(delivery, Fault.UNAVAILABLE, UNAVAILABLE)
            await self._log(endpoint, refused, counted=self._clock.now() - began >= _SOON)
            raise
        except Exception as exc:
            # Ours to fix.
            await self._log(endpoint, rejected(delivery, Fault.FAILED, SERVER_ERROR))
            raise ReceivingFailed(SERVER_ERROR) from exc

    async def _settled(
        self, delivery: Delivery, endpoint: Endpoint | None, at: datetime, *, recalled: bool
    ) -> Outcome | None:
        """Return what a delivery comes to, once that is durable; ``None``: read the endpoint, and decide anew."""
        if len(delivery.body) <= LARGE_BODY:
            outcome, event_json = _decided(delivery, endpoint), None
        else:
            # The event as a store will write it is made there, too: its size makes that as long.
            outcome, event_json = await self._aside(partial(_decided_and_written, delivery, endpoint))
        if endpoint is None:
            return outcome
        left_out = self._left_out(endpoint)
        settling = settlement(
            outcome, endpoint, at=at, mint=self._ids.mint, note=_note(left_out), event_json=event_json
        )
        if settling is None or not self._may_write(endpoint, settling, is_final=not recalled):
            # No settlement confirms what it was decided on.
            return None if recalled else outcome
        # Nearly always there is nothing to tell, and the store is all that is waited for.
        settled = await (self._settle(endpoint, settling, left_out) if left_out else self._store.settle(settling))
        match settled:
            case Settled.AS_DECIDED:
                if settling.runs:
                    self._nudge()
                return outcome
            case Settled.ALREADY_CLAIMED:
                return Duplicate(kind=settling.kind or "", delivery_id=outcome.delivery_id or "")
            case Settled.STALE:
                return None

    async def _endpoint(self, delivery: Delivery, *, recall: bool) -> Endpoint | None:
        return await self._store.endpoint(delivery.address, self._clock.now(), recall=recall)

    async def _settle(self, endpoint: Endpoint, settling: Settlement, left_out: int) -> Settled:
        # Told now, before anything is awaited: of concurrent deliveries one tells, and no count is told twice.
        self._tell(endpoint, left_out)
        told = False
        try:
            settled = await self._store.settle(settling)
            told = settled is Settled.AS_DECIDED
            return settled
        finally:
            if not told:
                self._tell(endpoint, -left_out)

    def _may_write(self, endpoint: Endpoint, settling: Settlement, *, is_final: bool) -> bool:
        """Bound what a flood of refusals writes; whatever the claim decides is always written.

        Args:
            endpoint: What it was decided on.
            settling: What would be written.
            is_final: A refusal that is not written is not decided anew: it counts among those that were left out.
        """
        if settling.claim is not Claim.NONE:
            return True
        spent, granted = self._budget(endpoint).spend(settling.at)
        if granted or is_final:
            self._keep(endpoint, spent)
        return granted

    def _budget(self, endpoint: Endpoint) -> FailureBudget:
        return self._budgets.get(_budget_key(endpoint), self._no_failures)

    def _left_out(self, endpoint: Endpoint) -> int:
        # Where nobody was refused yet there is nothing to be looked up.
        return self._budget(endpoint).left_out if self._budgets else 0

    def _tell(self, endpoint: Endpoint, left_out: int) -> None:
        if left_out:
            self._keep(endpoint, self._budget(endpoint).told(left_out))

    def _keep(self, endpoint: Endpoint, budget: FailureBudget) -> None:
        if len(self._budgets) >= _BUDGETS_KEPT:
            self._budgets.clear()
        self._budgets[_budget_key(endpoint)] = budget

    async def _log(self, endpoint: Endpoint | None, refused: Rejected, *, counted: bool = False) -> None:
        """Log a refusal that no settlement writes, in the bounds of all refusals; best effort: the answer stands.

        Args:
            endpoint: ``None``: unknown, and nothing is logged.
            refused: The refusal.
            counted: Whether the next row only counts it.
        """
        if endpoint is None:
            return
        left_out = self._left_out(endpoint)
        settling = settlement(refused, endpoint, at=self._clock.now(), mint=self._ids.mint, note=_note(left_out))
        if settling is None:
            return
        if counted or self._logging >= _LOGGED_AT_A_TIME:
            self._tell(endpoint, -1)
            return
        if not self._may_write(endpoint, settling, is_final=True):
            return
        self._tell(endpoint, left_out)
        self._logging += 1
        try:
            # Not by a settlement, which may be what fails.
            await self._journal.append(settling.log)
        except Exception:  # noqa: BLE001  # the driver logs the cause of the refusal
            self._tell(endpoint, -left_out - 1)
        finally:
            self._logging -= 1


def _decided(delivery: Delivery, endpoint: Endpoint | None) -> Outcome:
    admission = admit(delivery, endpoint)
    return decide(admission) if isinstance(admission, VerifiedDelivery) else admission


def _decided_and_written(delivery: Delivery, endpoint: Endpoint | None) -> tuple[Outcome, str | None]:
    outcome = _decided(delivery, endpoint)
    return outcome, event_to_json(outcome.event) if isinstance(outcome, Processed) else None


def _budget_key(endpoint: Endpoint) -> Hashable:
    # The repository in the path is anybody's invention until it is known to be ours: the others share one budget.
    address = endpoint.address
    ours = endpoint.repository is Belonging.OURS
    return (address.organization_id, address.integration_id, address.repository_id if ours else None)


def _note(count: int) -> str | None:
    if not count:
        return None
    return f"{count} earlier {'failure was' if count == 1 else 'failures were'} not logged"
