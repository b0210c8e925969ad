"""Receiving a delivery: decide, settle, answer. The steps are generators of requests, which a driver answers."""

from collections import Counter
from collections.abc import Callable, Generator, Hashable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any, Final, TypeAlias, TypeVar, assert_never, final

from msgspec.structs import replace

from contentsvc_core.errors import ReceivingFailed, SecretUnreadable, StoreUnavailable
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.journal import FailureBudget, LogEntry
from contentsvc_core.ports import Clock, DeliveryStore, IdSource, LogWriter, Offload
from contentsvc_core.values import Value, nothing
from contentsvc_core.webhooks.decision import admit, decide, preflight, rejected
from contentsvc_core.webhooks.delivery import Address, Belonging, Delivery, HookConfiguration, VerifiedDelivery
from contentsvc_core.webhooks.examination import examine
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Processed, Rejected
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement, settlement

_Result = TypeVar("_Result")

#: The maximum number of decisions on a delivery, if the configuration changes meanwhile.
_TURNS: Final = 4
#: The maximum number of stored budgets; only connected repositories have one, so an attacker cannot create more.
_BUDGETS_LIMIT: Final = 10_000

#: In bytes. Larger bodies are verified and decoded in a thread: one takes as long as some hundred small ones.
LARGE_BODY: Final = 64 * 1024

# A member of an enumeration takes three times as long to look up in its class.
_AS_DECIDED, _ALREADY_CLAIMED, _STALE = Settled.AS_DECIDED, Settled.ALREADY_CLAIMED, Settled.STALE
_NO_CLAIM: Final = Claim.NONE

SERVER_ERROR: Final = "Internal server error processing webhook"
UNAVAILABLE: Final = "Service temporarily unavailable"
#: The maximum number of refusals that are being logged; further ones are only counted. Each takes a transaction, waits
#: for a store that may not answer, and must not keep deliveries from the store.
_LOGGED_AT_A_TIME: Final = 8
#: The same for one organization, so that a flood at one address leaves places for refusals of other organizations.
_LOGGED_PER_ORGANIZATION: Final = 4
#: A refusal whose delivery has waited this long for the store is only counted: its sender would wait twice as long.
_SOON: Final = timedelta(seconds=1)


@final
class Lookup(Value, frozen=True, kw_only=True):
    """The request for the configuration at an address (:meth:`~contentsvc_core.ports.DeliveryStore.configuration`)."""

    address: Address
    at: datetime
    allow_cached: bool


@final
class Work(Value, frozen=True, kw_only=True):
    """The request for a computation that may take long."""

    call: Callable[[], Any]


#: The request of a delivery's step: a configuration, a result, the answer to a settlement, or a log entry.
Need: TypeAlias = Lookup | Work | Settlement | LogEntry
Steps: TypeAlias = Generator[Need, Any, _Result]


async def run_inline(work: Callable[[], _Result], /) -> _Result:
    return work()


@final
class Receiver:
    """Receives deliveries, for any driver."""

    def __init__(
        self,
        store: DeliveryStore,
        journal: LogWriter,
        clock: Clock,
        ids: IdSource,
        *,
        failed_rows_per_minute: int = 1000,
        notify: Callable[[], None] = nothing,
        offload: Offload = run_inline,
        source: Callable[[Delivery], str | None] = attrgetter("peer"),
    ) -> None:
        """Create the receiver.

        ``failed_rows_per_minute`` limits a repository's log entries for failures, and for refusals before the duplicate
        check. ``notify`` is called after workflow runs were stored. ``offload`` verifies and reads bodies over
        :data:`LARGE_BODY`, usually in a thread. ``source`` returns the address of a refused delivery's sender.
        """
        self._store = store
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._no_failures = FailureBudget(limit=failed_rows_per_minute)
        self._budgets: dict[Hashable, FailureBudget] = {}
        self._notify = notify
        self._offload = offload
        self._source = source
        #: The refusals that are being logged, by organization.
        self._logging = Counter[str]()

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Check the headers of a delivery, whose body may be missing; return the refusal, or ``None`` to read the body.

        Raises:
            StoreUnavailable: Answer 503.
            ReceivingFailed: Answer 500.
        """
        return await self._meet_all(self._preflight(delivery))

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> Rejected:
        """Log that the driver refuses a delivery whose body is incomplete, and return the outcome to answer.

        ``error`` is the text for the sender.
        """
        refused = rejected(delivery, fault, error)
        with suppress(Exception):
            await self._meet_all(self._refuse(refused, delivery))
        return refused

    async def receive(self, delivery: Delivery) -> Outcome:
        """Decide a delivery and make the decision durable; return only then (specification 4.1).

        Raises:
            StoreUnavailable: Answer 503: nothing was stored, or it is unknown, and the claim decides the redelivery.
            ReceivingFailed: Answer 500: nothing was stored but, where possible, a log entry. Log its ``__cause__``.
        """
        return await self._meet_all(self.steps(delivery))

    async def meet(self, need: Need) -> object:
        """Answer the request of a step; the step handles exceptions of ports."""
        match need:
            case Lookup():
                return await self._store.configuration(need.address, need.at, allow_cached=need.allow_cached)
            case Settlement():
                return await self._store.settle(need)
            case LogEntry():
                return await self._journal.append(need)
            case Work():
                return await self._offload(need.call)
            case _:
                assert_never(need)

    async def _meet_all(self, steps: Steps[_Result]) -> _Result:
        met: object = None
        fault: BaseException | None = None
        try:
            while True:
                try:
                    need = steps.send(met) if fault is None else steps.throw(fault)
                except StopIteration as end:
                    return end.value
                try:
                    met, fault = await self.meet(need), None
                except BaseException as exc:  # noqa: BLE001  # the steps handle every exception
                    fault = exc
        finally:
            # An exception that a frame of its own traceback holds is garbage that only the collector finds.
            fault = None

    def steps(self, delivery: Delivery) -> Steps[Outcome]:
        """Decide a delivery and settle the decision: the steps of :meth:`receive`, for a driver that awaits nothing."""
        hook: HookConfiguration | None = None
        began = self._clock.now()
        try:
            for turn in range(_TURNS):
                at = self._clock.now() if turn else began
                hook = yield Lookup(address=delivery.address, at=at, allow_cached=turn == 0)
                outcome = yield from self._settled(delivery, hook, at, recalled=turn == 0)
                if outcome is not None:
                    return outcome
            message = "the configuration changes faster than a delivery can be decided"
            raise StoreUnavailable(message)  # noqa: TRY301  # handled below like any other
        except StoreUnavailable:
            refused = rejected(delivery, Fault.UNAVAILABLE, UNAVAILABLE)
            yield from self._log(hook, refused, delivery, counted=self._clock.now() - began >= _SOON)
            raise
        except Exception as exc:
            yield from self._log(hook, rejected(delivery, Fault.FAILED, SERVER_ERROR), delivery)
            raise ReceivingFailed(SERVER_ERROR) from exc

    def _preflight(self, delivery: Delivery) -> Steps[Rejected | None]:
        address = delivery.address
        try:
            # Most deliveries are refused by their headers alone, or not at all. A cached configuration is sufficient to
            # pass a delivery, because the complete delivery is decided again.
            if preflight(delivery, (yield Lookup(address=address, at=self._clock.now(), allow_cached=True))) is None:
                return None
            hook = yield Lookup(address=address, at=self._clock.now(), allow_cached=False)
        except StoreUnavailable:
            raise
        except Exception as exc:
            raise ReceivingFailed(SERVER_ERROR) from exc
        refused = preflight(delivery, hook)
        if refused is not None:
            yield from self._log(hook, refused, delivery, is_complete=False)
        return refused

    def _refuse(self, refused: Rejected, delivery: Delivery) -> Steps[None]:
        hook = yield Lookup(address=delivery.address, at=self._clock.now(), allow_cached=False)
        yield from self._log(hook, refused, delivery, is_complete=False)

    def _settled(
        self, delivery: Delivery, hook: HookConfiguration | None, at: datetime, *, recalled: bool
    ) -> Steps[Outcome | None]:
        if len(delivery.body) <= LARGE_BODY:
            outcome, event_json = _decided(delivery, hook)
        else:
            outcome, event_json = yield Work(call=partial(_decided, delivery, hook))
        if hook is None:
            return outcome
        if hook.unreadable and isinstance(outcome, Rejected) and outcome.fault is Fault.INVALID_SIGNATURE:
            message = (
                f"{hook.unreadable} webhook secrets of the integration were sealed with another key: add that key to "
                "CONTENTSVC_SECRET_KEY"
            )
            raise SecretUnreadable(message)
        left_out = self._left_out(hook)
        settling = settlement(
            outcome, hook, at=at, new_id=self._ids.new_id, note=_note(left_out), event_json=event_json
        )
        if settling is None or not self._may_write(settling, is_final=not recalled):
            # No settlement confirms the configuration that decided the outcome.
            return None if recalled else outcome
        if isinstance(outcome, Rejected):
            settling = yield from self._with_facts(settling, delivery)
        settled: Settled = (yield from self._counted(settling, left_out)) if left_out else (yield settling)
        if self._is_stale(settling, settled):
            return None
        if isinstance(outcome, Processed) and outcome.also and (yield from self._also(outcome, hook, at)):
            return None
        return settling.duplicate.outcome if settled is _ALREADY_CLAIMED else outcome

    def _counted(self, settling: Settlement, left_out: int) -> Steps[Settled]:
        # Before the settlement is written: of concurrent deliveries, one reports the count, and only once.
        self._report(settling.hook, left_out)
        is_reported = False
        try:
            settled: Settled = yield settling
            is_reported = settled is _AS_DECIDED
            return settled
        finally:
            if not is_reported:
                self._report(settling.hook, -left_out)

    def _also(self, outcome: Processed, hook: HookConfiguration, at: datetime) -> Steps[bool]:
        """Settle the further events of a delivery; return whether one of the settlements is stale."""
        for other in outcome.also:
            # The claim of the first event says nothing of the others: an attempt may have ended between them.
            settling = settlement(other, hook, at=at, new_id=self._ids.new_id)
            assert settling is not None  # a processed event has one
            if self._is_stale(settling, (yield settling)):
                return True
        return False

    def _is_stale(self, settling: Settlement, settled: object) -> bool:
        """Return whether a settlement must be decided again; of a written settlement with runs, notify the worker."""
        if settled is _AS_DECIDED:
            if settling.started:
                self._notify()
        elif settled is not _ALREADY_CLAIMED and settled is not _STALE:
            # Without an answer, nothing shows that the delivery is stored.
            message = f"the store must answer a settlement with a Settled, and returned {type(settled).__name__}"
            raise TypeError(message)
        return settled is _STALE

    def _with_facts(self, refusing: Settlement, delivery: Delivery, *, is_complete: bool = True) -> Steps[Settlement]:
        hook = refusing.hook
        if refusing.claim is _NO_CLAIM:
            described = self._budget(hook).describe()
            if described is None:
                return refusing
            self._store_budget(hook, described)
        look = partial(examine, delivery, hook, source=self._source(delivery), is_complete=is_complete)
        received = look() if len(delivery.body) <= LARGE_BODY else (yield Work(call=look))
        return replace(refusing, received=received)

    def _may_write(self, settling: Settlement, *, is_final: bool) -> bool:
        """Check whether a settlement may be written: the number of rows for refusals is bounded.

        With ``is_final``, a refusal that is not written counts as left out; otherwise it is decided again.
        """
        if settling.claim is not _NO_CLAIM:
            return True
        spent, granted = self._budget(settling.hook).spend(settling.at)
        if granted or is_final:
            self._store_budget(settling.hook, spent)
        return granted

    def _budget(self, hook: HookConfiguration) -> FailureBudget:
        return self._budgets.get(_budget_key(hook), self._no_failures)

    def _left_out(self, hook: HookConfiguration) -> int:
        return self._budget(hook).left_out if self._budgets else 0

    def _report(self, hook: HookConfiguration, count: int) -> None:
        """Note that a row reports ``count`` refusals that were not logged; negative: a later row has to."""
        if count:
            self._store_budget(hook, self._budget(hook).reported(count))

    def _store_budget(self, hook: HookConfiguration, budget: FailureBudget) -> None:
        if len(self._budgets) >= _BUDGETS_LIMIT:
            self._budgets.clear()
        self._budgets[_budget_key(hook)] = budget

    def _log(
        self,
        hook: HookConfiguration | None,
        refused: Rejected,
        delivery: Delivery,
        *,
        counted: bool = False,
        is_complete: bool = True,
    ) -> Steps[None]:
        """Log a refusal that no settlement writes, within the bounds of all refusals; a failure is ignored.

        Without a configuration, nothing is logged. ``counted``: the next row only counts the refusal.
        """
        if hook is None:
            return
        left_out = self._left_out(hook)
        try:
            settling = settlement(refused, hook, at=self._clock.now(), new_id=self._ids.new_id, note=_note(left_out))
        except Exception:  # noqa: BLE001  # the driver logs the cause of the refusal
            self._report(hook, -1)
            return
        if settling is None:
            return
        owner = hook.address.organization_id
        if counted or self._logging.total() >= _LOGGED_AT_A_TIME or self._logging[owner] >= _LOGGED_PER_ORGANIZATION:
            self._report(hook, -1)
            return
        if not self._may_write(settling, is_final=True):
            return
        self._report(hook, left_out)
        self._logging[owner] += 1
        try:
            yield (yield from self._with_facts(settling, delivery, is_complete=is_complete)).log
        except Exception:  # noqa: BLE001  # the driver logs the cause of the refusal
            self._report(hook, -left_out - 1)
        finally:
            self._logging -= Counter([owner])


def _decided(delivery: Delivery, hook: HookConfiguration | None) -> tuple[Outcome, str | None]:
    admission = admit(delivery, hook)
    outcome = decide(admission) if isinstance(admission, VerifiedDelivery) else admission
    return outcome, event_to_json(outcome.event) if isinstance(outcome, Processed) else None


def _budget_key(hook: HookConfiguration) -> Hashable:
    # An unknown repository in the path is the sender's invention: all unknown repositories share one budget.
    address = hook.address
    is_known = hook.repository is Belonging.THIS_INTEGRATION
    return (address.organization_id, address.integration_id, address.repository_id if is_known else None)


def _note(count: int) -> str:
    if not count:
        return ""
    return f"{count} earlier {'failure was' if count == 1 else 'failures were'} not logged"
