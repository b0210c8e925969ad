"""The queue before a database, which writes waiting settlements in one transaction."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from time import monotonic
from typing import Final, TypeAlias, final

from attrs import define

from contentsvc_adapters.sql.settling.batch_writer import BatchItem, BatchWriter
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.values import nothing
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement, claim_is_held

#: The maximum number of event loop turns for which a batch is gathered, while each turn adds entries.
_GATHERED_TURNS: Final = 16
#: In seconds. An entry that has waited this long without success does not wait for one more timeout.
_WAITED_S: Final = 2.0
_MIB: Final = 1024 * 1024

OnSettled: TypeAlias = Callable[[Settled | Exception], object]


@final
@define(eq=False)
class _Entry:
    settlement: Settlement
    #: ``None``: it was called already.
    on_settled: OnSettled | None
    size: int
    accepted_s: float
    is_duplicate: bool = False

    @property
    def item(self) -> BatchItem:
        return BatchItem(settlement=self.settlement, is_duplicate=self.is_duplicate)


@final
@define
class _Limits:
    items: int
    size: int
    batch_items: int
    batch_size: int


@final
class SettlementQueue:
    """Writes settlements in batches, and calls each callback once its batch is durable.

    There is no timer: when a lane is free, a batch is made of the waiting entries. While each turn of the event loop
    adds entries, the batch is gathered for a few more turns.

    Of the settlements that check one claim, only one that takes it is in a lane at a time; the others wait for its
    result. Two entries with the same log entry are one settlement, delivered twice. So no lane waits for another, and
    no batch holds a key twice.

    An accepted settlement is written even if its caller has gone, and counts against the limits until then.
    """

    def __init__(
        self,
        lanes: Iterable[BatchWriter],
        *,
        size_of: Callable[[Settlement], int],
        batch_items: int,
        batch_size: int = 4 * _MIB,
        max_items: int = 2048,
        max_size: int = 32 * _MIB,
    ) -> None:
        """``size_of`` returns the size of a settlement, in the unit of the other sizes.

        A settlement larger than ``max_size`` is accepted if it is alone.
        """
        self._idle: Final = deque(lanes)
        self._size_of = size_of
        self._limits = _Limits(items=max_items, size=max_size, batch_items=batch_items, batch_size=batch_size)
        self._waiting: Final[deque[_Entry]] = deque()
        #: Entries that wait for an entry in a lane, by the key or the id of the log entry that both have.
        self._followers: Final[dict[Hashable, list[_Entry] | None]] = {}
        self._entries: Final[set[_Entry]] = set()
        self._size = 0
        self._gathering = False
        self._was_alone = True
        self._batches: Final[set[asyncio.Future[Sequence[Settled]]]] = set()
        self._closed = False
        self._drained: asyncio.Event | None = None
        self.on_batch: Callable[[int], object] = nothing
        #: Called with each stale settlement, before its own callback.
        self.on_stale: Callable[[Settlement], object] = nothing

    def put(self, settlement: Settlement, on_settled: OnSettled) -> None:
        """Accept a settlement; call ``on_settled`` once it is durable, or with the exception of :meth:`settle`.

        Raises:
            StoreUnavailable: The queue is full or closed; ``on_settled`` is not called.
        """
        if self._closed:
            message = "the service is stopping"
            raise StoreUnavailable(message)
        size = self._size_of(settlement)
        if len(self._entries) >= self._limits.items or (self._entries and self._size + size > self._limits.size):
            message = "too many deliveries are waiting to be written"
            raise StoreUnavailable(message)
        entry = _Entry(settlement, on_settled, size, monotonic())
        self._entries.add(entry)
        self._size += size
        self._waiting.append(entry)
        self._wake()

    async def settle(self, settlement: Settlement) -> Settled:
        """Write a settlement, and return once it is durable; the contract is that of the port."""
        answer: asyncio.Future[Settled] = asyncio.get_running_loop().create_future()

        def on_settled(settled: Settled | Exception) -> None:
            if answer.done():
                return
            if isinstance(settled, Exception):
                answer.set_exception(settled)
            else:
                answer.set_result(settled)

        self.put(settlement, on_settled)
        return await answer

    async def close(self, within_s: float) -> None:
        """Refuse new settlements and write the accepted ones; those left when the time is over fail as unavailable.

        A batch in a lane is not cancelled then: its outcome is unknown to its callers.
        """
        self._closed = True
        if self._entries:
            self._drained = self._drained or asyncio.Event()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._drained.wait(), within_s)
        message = "the service stopped before this was written"
        for entry in [*self._waiting, *self._parked()]:
            self._fail(entry, StoreUnavailable(message))
        self._waiting.clear()
        self._followers.clear()
        for entry in self._entries:
            _resolve(entry, StoreUnavailable(message))

    def _wake(self) -> None:
        if self._gathering or not self._waiting or not self._idle:
            return
        if self._was_alone and len(self._waiting) == 1:
            # The previous batch had one entry as well: do not gather.
            self._cut()
            return
        self._gathering = True
        asyncio.get_running_loop().call_soon(self._gather, _GATHERED_TURNS, 0)

    def _gather(self, turns: int, seen: int) -> None:
        waiting = len(self._waiting)
        if seen < waiting < self._limits.batch_items and turns:
            asyncio.get_running_loop().call_soon(self._gather, turns - 1, waiting)
            return
        self._gathering = False
        self._cut()

    def _cut(self) -> None:
        limits, batch, size = self._limits, list[_Entry](), 0
        while self._waiting and len(batch) < limits.batch_items:
            entry = self._waiting[0]
            if batch and size + entry.size > limits.batch_size:
                break
            self._waiting.popleft()
            if self._waits_for_conflict(entry):
                continue
            for name in _held(entry):
                self._followers[name] = None
            batch.append(entry)
            size += entry.size
        if not batch:
            return
        self._was_alone = len(batch) == 1
        self.on_batch(len(batch))
        # In the next turn: entries of this turn were submitted before the batch is in the lane.
        asyncio.get_running_loop().call_soon(self._write, self._idle.popleft(), [batch], None)
        self._wake()

    def _waits_for_conflict(self, entry: _Entry) -> bool:
        for name in _looked_at(entry):
            if name in self._followers:
                followers = self._followers[name]
                if followers is None:
                    self._followers[name] = [entry]
                else:
                    followers.append(entry)
                return True
        return False

    def _parked(self) -> Iterable[_Entry]:
        return [entry for followers in self._followers.values() for entry in followers or ()]

    def _write(self, lane: BatchWriter, parts: list[list[_Entry]], began_s: float | None) -> None:
        began_s = monotonic() if began_s is None else began_s
        part = parts.pop()
        writing = asyncio.ensure_future(lane.write([entry.item for entry in part]))
        # The event loop keeps only a weak reference.
        self._batches.add(writing)
        writing.add_done_callback(partial(self._written, lane, part, parts, began_s))

    def _written(
        self,
        lane: BatchWriter,
        part: list[_Entry],
        parts: list[list[_Entry]],
        began_s: float,
        writing: "asyncio.Future[Sequence[Settled]]",
    ) -> None:
        self._batches.discard(writing)
        if writing.cancelled():
            # The event loop is being closed, and no write may begin.
            return
        match writing.exception() or _miscounted(part, writing.result()):
            case None:
                self._resolve_all(part, writing.result())
            case StoreUnavailable() as exc:
                self._give_up([*part, *chain.from_iterable(parts)], exc, began_s)
                parts.clear()
            case Exception() if len(part) > 1:
                # One entry is at fault, and only that one must fail: write the halves.
                half = len(part) // 2
                parts += [part[half:], part[:half]]
            case Exception() as exc:
                self._requeue_waiters(part[0], None)
                self._fail(part[0], exc)
            case exc:
                raise exc
        if parts:
            self._write(lane, parts, began_s)
            return
        self._idle.append(lane)
        if self._drained is not None and not self._entries:
            self._drained.set()
        self._wake()

    def _resolve_all(self, part: Sequence[_Entry], answers: Sequence[Settled]) -> None:
        for entry, answer in zip(part, answers, strict=True):
            self._release(entry)
            self._requeue_waiters(entry, answer)
            if answer is Settled.STALE:
                self.on_stale(entry.settlement)
        for entry, answer in zip(part, answers, strict=True):
            _resolve(entry, answer)

    def _give_up(self, batch: Sequence[_Entry], exc: StoreUnavailable, began_s: float) -> None:
        for entry in batch:
            self._fail(entry, exc)
            self._requeue_waiters(entry, None)
        waiting = [*self._waiting]
        self._waiting.clear()
        for entry in waiting:
            if entry.accepted_s <= max(began_s, monotonic() - _WAITED_S):
                self._fail(entry, exc)
            else:
                self._waiting.append(entry)

    def _requeue_waiters(self, leader: _Entry, answer: Settled | None) -> None:
        settlement = leader.settlement
        copies = self._followers.pop(settlement.id, None) or []
        followers = (self._followers.pop(settlement.key, None) if _takes(leader) else None) or []
        if answer is Settled.ALREADY_CLAIMED:
            # The claim is held at the time of this entry; until when is unknown. The latest entry goes first: a held
            # claim at its time is held for all earlier entries.
            followers.sort(key=lambda entry: entry.settlement.at, reverse=True)
        for entry in followers:
            at = entry.settlement.at
            entry.is_duplicate = (answer is Settled.AS_DECIDED and claim_is_held(settlement.at, at)) or (
                answer is Settled.ALREADY_CLAIMED and at <= settlement.at
            )
        self._waiting.extendleft(reversed([*copies, *followers]))

    def _fail(self, entry: _Entry, exc: Exception) -> None:
        self._release(entry)
        _resolve(entry, exc)

    def _release(self, entry: _Entry) -> None:
        self._entries.discard(entry)
        self._size -= entry.size


def _miscounted(part: Sequence[_Entry], answers: Sequence[Settled]) -> Exception | None:
    return None if len(part) == len(answers) else ValueError(f"{len(answers)} answers to {len(part)} settlements")


def _resolve(entry: _Entry, answer: Settled | Exception) -> None:
    callback, entry.on_settled = entry.on_settled, None
    if callback is None:
        return
    if isinstance(answer, StoreUnavailable):
        # A new exception for each caller: raising an exception again extends its traceback.
        own = StoreUnavailable(*answer.args)
        own.__cause__ = answer
        answer = own
    try:
        callback(answer)
    except Exception as exc:  # noqa: BLE001  # a fault of one callback must not keep the others waiting
        asyncio.get_running_loop().call_exception_handler(
            {"message": "a settlement's callback failed", "exception": exc}
        )


def _takes(entry: _Entry) -> bool:
    return entry.settlement.claim is Claim.TAKE and not entry.is_duplicate


def _held(entry: _Entry) -> Sequence[Hashable]:
    settlement = entry.settlement
    return (settlement.id, settlement.key) if _takes(entry) else (settlement.id,)


def _looked_at(entry: _Entry) -> Sequence[Hashable]:
    settlement = entry.settlement
    if entry.is_duplicate or settlement.claim is Claim.NONE:
        return (settlement.id,)
    return settlement.id, settlement.key
