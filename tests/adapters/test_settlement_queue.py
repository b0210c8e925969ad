"""The queue in front of the lanes: batches, leaders, failures, and the queue at close."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import final

import pytest

from contentsvc_adapters.sql.settling.batch_writer import BatchItem
from contentsvc_adapters.sql.settling.queue import SettlementQueue
from contentsvc_core.errors import StoreUnavailable, Unstorable
from contentsvc_core.testing import START, address
from contentsvc_core.webhooks.delivery import Belonging, HookConfiguration
from contentsvc_core.webhooks.outcomes import Pong
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Claim, Settled, Settlement, claim_is_held

_NUMBERS = count(1)


HOOK = HookConfiguration(address=address(), enabled=True, secrets=(), repository=Belonging.THIS_INTEGRATION, version=1)


def settling(delivery_id: str = "", claim: Claim = Claim.TAKE, *, at: datetime = START, note: str = "") -> Settlement:
    number = next(_NUMBERS)
    delivery_id = delivery_id or f"delivery-{number}"
    return Settlement(
        hook=HOOK,
        outcome=Pong(delivery_id=delivery_id),
        claim=claim,
        key=None if claim is Claim.NONE else HOOK.claim_key(delivery_id),
        at=at,
        id=f"log_{number}",
        note=note,
    )


@final
class Store:
    """The settlements that the lanes of one database have taken, and those in progress."""

    def __init__(self) -> None:
        self.claims: dict[bytes | None, datetime] = {}
        self.under_way: list[BatchItem] = []

    def begin(self, batch: Sequence[BatchItem]) -> None:
        self.under_way += batch
        looking = [item.settlement for item in self.under_way if item.settlement.key and not item.is_duplicate]
        keys = Counter(each.key for each in looking)
        assert all(keys[each.key] == 1 for each in looking if each.claim is Claim.TAKE)
        ids = Counter(item.settlement.id for item in self.under_way)
        assert set(ids.values()) == {1}

    def settle(self, item: BatchItem) -> Settled:
        settlement = item.settlement
        claimed_at = self.claims.get(settlement.key)
        if item.is_duplicate or (claimed_at is not None and claim_is_held(claimed_at, settlement.at)):
            return Settled.ALREADY_CLAIMED
        if settlement.claim is Claim.TAKE:
            self.claims[settlement.key] = settlement.at
        return Settled.AS_DECIDED

    def end(self, batch: Sequence[BatchItem]) -> None:
        for item in batch:
            self.under_way.remove(item)


@final
class ScriptedLane:
    """Records batches, waits on request, and answers by a script."""

    def __init__(self, answer: Callable[[BatchItem], Settled | None] | None = None, store: Store | None = None) -> None:
        self.batches: list[Sequence[BatchItem]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.answer = answer
        self.store = Store() if store is None else store

    @property
    def sizes(self) -> list[int]:
        return [len(batch) for batch in self.batches]

    @property
    def written(self) -> list[str]:
        return [item.settlement.id for batch in self.batches for item in batch]

    async def write(self, batch: Sequence[BatchItem]) -> Sequence[Settled]:
        self.batches.append(batch)
        self.store.begin(batch)
        try:
            await asyncio.sleep(0)
            await self.open.wait()
            scripted = [None if self.answer is None else self.answer(item) for item in batch]
            return [
                self.store.settle(item) if answer is None else answer
                for item, answer in zip(batch, scripted, strict=True)
            ]
        finally:
            self.store.end(batch)


@pytest.fixture
def lane() -> ScriptedLane:
    return ScriptedLane()


def queue(*lanes: ScriptedLane, batch_items: int = 128, batch_size: int = 10**6, **limits: int) -> SettlementQueue:
    return SettlementQueue(
        lanes, size_of=lambda settlement: len(settlement.note), batch_items=batch_items, batch_size=batch_size, **limits
    )


def asked(of: SettlementQueue, *settlements: Settlement) -> "list[asyncio.Task[Settled]]":
    return [asyncio.create_task(of.settle(each)) for each in settlements]


async def outcomes(tasks: "list[asyncio.Task[Settled]]") -> list[Settled | BaseException]:
    return await asyncio.gather(*tasks, return_exceptions=True)


async def turns(number: int = 50) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_a_single_settlement_is_written_without_a_timer(
    lane: ScriptedLane, monkeypatch: pytest.MonkeyPatch
) -> None:
    settling_queue = queue(lane)
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", None)
    monkeypatch.setattr(asyncio.get_running_loop(), "call_at", None)
    for number in range(1, 4):
        task = asyncio.create_task(settling_queue.settle(settling()))
        # The lane asks; the batch begins in the next turn, and this lane in the turn after it.
        await turns(3)
        assert len(lane.batches) == number
        assert await task is Settled.AS_DECIDED


async def test_settlements_that_wait_for_the_lane_form_one_batch(lane: ScriptedLane) -> None:
    lane.open.clear()
    of = queue(lane)
    first = asked(of, settling())
    await turns()
    others = asked(of, *(settling() for _ in range(9)))
    await turns()
    assert lane.sizes == [1]
    lane.open.set()

    assert await outcomes(first + others) == [Settled.AS_DECIDED] * 10

    assert lane.sizes == [1, 9]


async def test_while_each_turn_brings_more_a_batch_is_gathered(lane: ScriptedLane) -> None:
    of = queue(lane)
    await outcomes(asked(of, *(settling() for _ in range(3))))
    tasks: list[asyncio.Task[Settled]] = []
    for _ in range(5):
        tasks += asked(of, settling(), settling())
        await asyncio.sleep(0)

    await outcomes(tasks)

    assert lane.sizes == [1, 2, 10]


async def test_but_not_for_ever(lane: ScriptedLane) -> None:
    of = queue(lane)
    await outcomes(asked(of, *(settling() for _ in range(3))))
    tasks: list[asyncio.Task[Settled]] = []
    while len(lane.batches) < 3 and len(tasks) < 100:
        tasks += asked(of, settling(), settling())
        await asyncio.sleep(0)

    assert 30 <= lane.sizes[2] <= 40
    assert await outcomes(tasks) == [Settled.AS_DECIDED] * len(tasks)


async def test_a_batch_is_bounded_by_items_and_by_size(lane: ScriptedLane) -> None:
    of = queue(lane, batch_items=4, batch_size=100)
    sizes = [0, *[10] * 6, 80, 60, 500, 30]

    await outcomes(asked(of, *(settling(note="x" * size) for size in sizes)))

    assert lane.sizes == [1, 4, 3, 1, 1, 1]


async def test_lanes_write_at_the_same_time() -> None:
    store = Store()
    lanes = ScriptedLane(store=store), ScriptedLane(store=store)
    of = queue(*lanes, batch_items=2)
    await outcomes(asked(of, *(settling() for _ in range(6))))
    for lane in lanes:
        lane.open.clear()
        lane.batches.clear()
    tasks = asked(of, *(settling() for _ in range(6)))
    await turns()
    assert [lane.sizes for lane in lanes] == [[2], [2]]
    for lane in lanes:
        lane.open.set()

    assert await outcomes(tasks) == [Settled.AS_DECIDED] * 6


async def test_of_64_copies_one_leads_in_any_lane() -> None:
    store = Store()
    lanes = [ScriptedLane(store=store) for _ in range(3)]
    of = queue(*lanes, batch_items=8)
    for number in range(20):
        tasks = asked(of, *(settling(f"d-{number}") for _ in range(64)))

        answers = await outcomes(tasks)

        assert answers.count(Settled.AS_DECIDED) == 1
        assert answers.count(Settled.ALREADY_CLAIMED) == 63
    assert sum(len(lane.written) for lane in lanes) == 20 * 64


async def test_a_follower_is_written_before_later_settlements(lane: ScriptedLane) -> None:
    lane.open.clear()
    of = queue(lane, batch_items=2)
    leader, follower, *others = settling("d"), settling("d"), settling(), settling(), settling()
    blocking = settling()
    tasks = asked(of, blocking, leader, follower, *others)
    await turns()
    lane.open.set()
    await outcomes(tasks)

    assert lane.written == [each.id for each in (blocking, leader, others[0], follower, *others[1:])]
    assert [item.is_duplicate for item in lane.batches[2]] == [True, False]


async def test_a_check_waits_for_a_pending_take_and_a_settlement_without_claim_for_none(lane: ScriptedLane) -> None:
    lane.open.clear()
    of = queue(lane)
    taking, checking, careless = settling("d"), settling("d", Claim.CHECK), settling("d", Claim.NONE)
    tasks = asked(of, settling(), taking, checking, careless, settling("d", Claim.NONE))
    await turns()
    lane.open.set()

    decided, duplicate = Settled.AS_DECIDED, Settled.ALREADY_CLAIMED
    assert await outcomes(tasks) == [decided, decided, duplicate, decided, decided]
    assert lane.sizes == [1, 3, 1]
    assert [(item.settlement, item.is_duplicate) for item in lane.batches[2]] == [(checking, True)]


async def test_checks_of_one_claim_do_not_wait_for_each_other(lane: ScriptedLane) -> None:
    await outcomes(asked(queue(lane), settling(), *(settling("d", Claim.CHECK) for _ in range(5))))

    assert lane.sizes == [1, 5]


async def test_the_end_of_a_check_releases_no_copy_of_a_take_in_another_lane() -> None:
    lanes = ScriptedLane(), ScriptedLane()
    for lane in lanes:
        lane.open.clear()
    of = queue(*lanes)
    checks = asked(of, settling("d", Claim.CHECK))
    await turns()
    copies = asked(of, settling("d"), settling("d"))
    await turns()

    lanes[0].open.set()
    assert await outcomes(checks) == [Settled.AS_DECIDED]
    await turns()
    assert [lane.sizes for lane in lanes] == [[1], [1]]

    lanes[1].open.set()
    assert await outcomes(copies) == [Settled.AS_DECIDED, Settled.ALREADY_CLAIMED]


@pytest.mark.parametrize("end", ["stale", "poison"])
async def test_when_the_leader_writes_nothing_the_next_one_leads(end: str) -> None:
    leader = settling("d")

    def answer(item: BatchItem) -> Settled | None:
        if item.settlement is not leader:
            return None
        if end == "stale":
            return Settled.STALE
        raise Unstorable(end)

    lane = ScriptedLane(answer)
    _, first, second, *others = await outcomes(
        asked(queue(lane), settling(), leader, *(settling("d") for _ in range(5)))
    )

    assert first is Settled.STALE or isinstance(first, Unstorable)
    assert second is Settled.AS_DECIDED
    assert others == [Settled.ALREADY_CLAIMED] * 4


@pytest.mark.parametrize(
    ("after", "answer"),
    [
        (timedelta(), Settled.ALREADY_CLAIMED),
        (timedelta(seconds=-5), Settled.ALREADY_CLAIMED),
        (DEDUPE_WINDOW - timedelta(milliseconds=1), Settled.ALREADY_CLAIMED),
        (DEDUPE_WINDOW, Settled.AS_DECIDED),
    ],
)
async def test_a_follower_is_a_duplicate_for_a_day(after: timedelta, answer: Settled) -> None:
    leader, follower = settling("d"), settling("d", at=START + after)

    lane = ScriptedLane()
    assert await outcomes(asked(queue(lane), settling(), leader, follower)) == [Settled.AS_DECIDED] * 2 + [answer]

    # The queue knows the answer, so the lane does not query.
    assert [item.is_duplicate for item in lane.batches[2]] == [answer is Settled.ALREADY_CLAIMED]


async def test_of_copies_that_find_their_claim_held_the_latest_decides_for_the_others() -> None:
    """The time of the claim is unknown: for the last of these, the claim has ended."""
    lane = ScriptedLane()
    # Two at the same time, and each other one later than the previous one.
    copies = [settling("d", at=START + timedelta(milliseconds=number)) for number in (0, *range(9))]
    lane.store.claims[copies[0].key] = copies[-1].at - DEDUPE_WINDOW
    lane.open.clear()

    tasks = asked(queue(lane), settling(), *copies)
    await turns()
    lane.open.set()

    _, *answers = await outcomes(tasks)

    assert answers == [Settled.ALREADY_CLAIMED] * 9 + [Settled.AS_DECIDED]
    assert lane.written[1:3] == [copies[0].id, copies[-1].id]
    # The earlier one, the leader, the latest one with the leader's duplicate, and the others in one batch.
    assert lane.sizes == [1, 1, 2, 7]


@pytest.mark.parametrize("claim", Claim)
async def test_one_settlement_sent_twice_is_in_a_lane_once_at_a_time(claim: Claim) -> None:
    store = Store()
    lanes = [ScriptedLane(store=store) for _ in range(2)]
    of = queue(*lanes)
    same = settling("d", claim)

    await outcomes(asked(of, *[same] * 8))

    assert [item.settlement for lane in lanes for batch in lane.batches for item in batch] == [same] * 8


async def test_only_the_poisonous_settlements_of_a_batch_fail() -> None:
    poison = {3, 17, 40}
    settlements = [settling() for _ in range(65)]
    bad = {settlements[number].id for number in poison}

    def answer(item: BatchItem) -> None:
        if item.settlement.id in bad:
            raise OverflowError(item.settlement.id)

    lane = ScriptedLane(answer)
    answers = await outcomes(asked(queue(lane), *settlements))

    for number, result in enumerate(answers):
        if number in poison:
            assert type(result) is OverflowError
            assert str(result) == settlements[number].id
        else:
            assert result is Settled.AS_DECIDED
    # In the order in which they were accepted.
    whole = [batch for batch in lane.batches if bad.isdisjoint(item.settlement.id for item in batch)]
    assert [item.settlement.id for batch in whole for item in batch] == [
        each.id for each in settlements if each.id not in bad
    ]
    # The batch is split in halves, not into single settlements.
    assert len(lane.batches) < 50


async def test_an_outage_fails_all_that_waited_and_is_not_bisected() -> None:
    away = True

    def answer(_item: BatchItem) -> None:
        if away:
            message = "away"
            raise StoreUnavailable(message)

    lane = ScriptedLane(answer)
    lane.open.clear()
    of = queue(lane, batch_items=4)
    tasks = asked(of, *(settling("d") for _ in range(10)))
    await turns()
    late = asked(of, settling(), settling())
    await turns()
    lane.open.set()
    answers = await outcomes(tasks)

    assert all(type(each) is StoreUnavailable and str(each) == "away" for each in answers)
    # Each has an exception of its own, so that no traceback grows.
    assert len({id(each) for each in answers}) == 10
    # Copies that arrived before it was in the lane are not tried one by one; later ones are.
    await outcomes(late)
    assert lane.sizes == [1, 2]
    away = False
    assert await outcomes(asked(of, settling("d"), settling("d"))) == [Settled.AS_DECIDED, Settled.ALREADY_CLAIMED]


async def test_an_outage_fails_later_settlements_that_have_waited_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contentsvc_adapters.sql.settling.queue._WAITED_S", 0.0)

    def answer(_item: BatchItem) -> None:
        message = "away"
        raise StoreUnavailable(message)

    lane = ScriptedLane(answer)
    lane.open.clear()
    of = queue(lane)
    first = asked(of, settling())
    await turns()
    late = asked(of, settling(), settling())
    await turns()
    lane.open.set()

    assert [type(each) for each in await outcomes([*first, *late])] == [StoreUnavailable] * 3
    # No caller waits for two timeouts in a row.
    assert lane.sizes == [1]


async def test_an_answer_too_few_is_an_error_and_no_hang(lane: ScriptedLane) -> None:
    lane.write = lambda _batch: asyncio.sleep(0, [])  # pyright: ignore[reportAttributeAccessIssue]

    (outcome,) = await outcomes(asked(queue(lane), settling()))

    assert type(outcome) is ValueError


async def test_a_client_that_goes_away_changes_nothing(lane: ScriptedLane) -> None:
    lane.open.clear()
    of = queue(lane, max_items=50)
    tasks = asked(of, *(settling(f"d-{number % 25}") for number in range(50)))
    await turns()
    for leaving in tasks:
        leaving.cancel()
    assert all(isinstance(each, asyncio.CancelledError) for each in await outcomes(tasks))
    # Their requests still count.
    with pytest.raises(StoreUnavailable, match="too many"):
        await of.settle(settling())
    lane.open.set()
    await of.close(1)

    assert len(lane.written) == len(set(lane.written)) == 50


async def test_the_queue_is_bounded_by_items(lane: ScriptedLane) -> None:
    lane.open.clear()
    of = queue(lane, max_items=100)

    tasks = asked(of, *(settling() for _ in range(500)))
    await turns()
    lane.open.set()
    answers = await outcomes(tasks)

    assert answers[:100] == [Settled.AS_DECIDED] * 100
    assert all(type(each) is StoreUnavailable for each in answers[100:])
    assert len(lane.written) == 100
    # All have been released.
    assert await outcomes(asked(of, *(settling() for _ in range(100)))) == [Settled.AS_DECIDED] * 100


async def test_the_queue_is_bounded_by_size(lane: ScriptedLane) -> None:
    lane.open.clear()
    of = queue(lane, max_size=100)
    tasks = asked(of, *(settling(note="x" * size) for size in (40, 40, 40, 20, 1)))
    await turns()
    lane.open.set()
    answers = await outcomes(tasks)
    assert [type(each) is StoreUnavailable for each in answers] == [False, False, True, False, True]
    # A settlement that is larger than the room is accepted when the queue is empty.
    assert await of.settle(settling(note="x" * 101)) is Settled.AS_DECIDED
    assert await outcomes(asked(of, settling(note="x" * 100))) == [Settled.AS_DECIDED]


@pytest.mark.parametrize("end", ["poison", "outage"])
async def test_failed_settlements_release_their_reservations(end: str) -> None:
    def answer(item: BatchItem) -> None:
        raise (Unstorable if end == "poison" else StoreUnavailable)(item.settlement.id)

    of = queue(ScriptedLane(answer), max_items=8, max_size=8)
    for _ in range(3):
        answers = await outcomes(asked(of, *(settling(f"d-{number % 4}", note="x") for number in range(8))))
        assert {type(each) for each in answers} == {Unstorable if end == "poison" else StoreUnavailable}
        assert not any("too many" in str(each) for each in answers)


async def test_closing_writes_all_accepted_settlements_and_accepts_no_more(lane: ScriptedLane) -> None:
    of = queue(lane, batch_items=16)
    tasks = asked(of, *(settling(f"d-{number % 400}") for number in range(500)))
    await asyncio.sleep(0)
    closing = asyncio.create_task(of.close(60))
    await asyncio.sleep(0)

    with pytest.raises(StoreUnavailable, match="stopping"):
        await of.settle(settling())

    await closing
    answers = await outcomes(tasks)
    assert (answers.count(Settled.AS_DECIDED), answers.count(Settled.ALREADY_CLAIMED)) == (400, 100)
    assert len(lane.written) == 500


async def test_closing_an_idle_queue_takes_no_time() -> None:
    of = queue(ScriptedLane())
    await asyncio.wait_for(of.close(600), 60)
    await asyncio.wait_for(of.close(600), 60)


async def test_closing_ends_at_its_time_limit_and_fails_the_rest(lane: ScriptedLane) -> None:
    lane.open.clear()
    of = queue(lane, batch_items=4)
    tasks = asked(of, *(settling(f"d-{number % 6}") for number in range(12)))
    await turns()
    before = lane.sizes

    await asyncio.wait_for(of.close(0.05), 60)

    assert all(type(each) is StoreUnavailable and "stopped" in str(each) for each in await outcomes(tasks))
    # The lane continues, its result is ignored; no new batch begins.
    lane.open.set()
    await turns()
    assert lane.sizes == before == [1]
