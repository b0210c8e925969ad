import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from tests.forwarding import Failing
from tests.golden import OTHERS, REPOSITORY_ID, delivered, golden_address
from tests.refusals import accepted, existing
from tests.usecases.conftest import Between, World

from contentsvc_core import (
    Address,
    Delivery,
    Duplicate,
    Fault,
    Headers,
    HookConfiguration,
    LogEntry,
    LogStatus,
    Processed,
    Push,
    Receiver,
    ReceivingFailed,
    Rejected,
    SecretUnreadable,
    Settled,
    Settlement,
    StoreUnavailable,
    Unstorable,
)
from contentsvc_core.ports import DeliveryStore, LogWriter
from contentsvc_core.testing import push_body, signed
from contentsvc_core.usecases.receive import LARGE_BODY
from contentsvc_core.workflows.triggers import CreateTrigger


def push(world: World, message: str = "feat: x", delivery_id: str = "d-1", secret: str | None = None) -> Delivery:
    body = push_body(message, repository_id=REPOSITORY_ID)
    return signed(body, at=world.at, secret=secret or world.secret, delivery_id=delivery_id)


async def entries(world: World) -> list[LogEntry]:
    return list(await world.stores.journal.entries(world.organization.id))


async def test_a_claimed_id_with_a_broken_body_is_a_duplicate(world: World) -> None:
    await world.receiver.receive(push(world))

    outcome = await world.receiver.receive(
        signed(b"{", at=world.at, secret=world.secret, event="release", delivery_id="d-1")
    )

    assert outcome == Duplicate(kind="release", delivery_id="d-1")
    assert [entry.title for entry in await entries(world)] == ["Duplicate release delivery", "Processed push event"]


async def test_a_refused_delivery_does_not_use_its_id_up(world: World) -> None:
    broken = signed(b"{", at=world.at, secret=world.secret, delivery_id="d-1")

    assert isinstance(await world.receiver.receive(broken), Rejected)
    assert isinstance(await world.receiver.receive(push(world, secret="wrong")), Rejected)
    assert isinstance(await world.receiver.receive(push(world)), Processed)


async def test_a_flood_of_bad_signatures_leaves_bounded_rows_and_a_count(world: World) -> None:
    for number in range(10):
        outcome = await world.receiver.receive(push(world, delivery_id=f"bad-{number}", secret="wrong"))
        assert outcome.status == 401
    assert len(await entries(world)) == 3

    await world.receiver.receive(push(world, delivery_id="good"))

    newest = (await entries(world))[0]
    assert newest.title == "Processed push event"
    assert newest.reason is not None
    assert "7 earlier failures were not logged" in newest.reason
    world.clock.advance(timedelta(minutes=1))
    await world.receiver.receive(push(world, delivery_id="bad", secret="wrong"))
    assert (await entries(world))[0].reason == "Invalid webhook signature"


async def test_a_flood_to_invented_repositories_shares_one_budget(world: World) -> None:
    for number in range(1, 11):
        at = evolve(world.at, repository_id=number)
        delivery = signed(push_body("x", repository_id=number), at=at, secret="wrong")
        assert (await world.receiver.receive(delivery)).status == 401

    assert len(await entries(world)) == 3


async def test_a_flood_takes_no_rows_from_other_repositories(world: World) -> None:
    other = accepted(await world.operator.create_organization("Other"))
    made = await world.connected("other/lamp", REPOSITORY_ID, organization=other)
    other_address = evolve(world.at, organization_id=other.id, integration_id=made.integration.id)
    invented = evolve(world.at, repository_id=REPOSITORY_ID + 1)

    for at in (invented, world.at, other_address):
        for number in range(5):
            body = push_body("x", repository_id=at.repository_id)
            refused = await world.receiver.receive(signed(body, at=at, secret="wrong", delivery_id=f"bad-{number}"))
            assert refused.status == 401

    rows = Counter(entry.repository_id for entry in await entries(world))
    assert rows == {REPOSITORY_ID + 1: 3, REPOSITORY_ID: 3}
    assert len(await world.stores.journal.entries(other.id)) == 3


class ChangingStore:
    """Answers ``STALE`` some times, before the real store answers."""

    def __init__(self, store: DeliveryStore, *, times: int) -> None:
        self.store = store
        self.left = times
        self.settled: list[Settlement] = []

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        return await self.store.configuration(address, now, allow_cached=allow_cached)

    async def settle(self, settlement: Settlement) -> Settled:
        self.settled.append(settlement)
        if self.left:
            self.left -= 1
            return Settled.STALE
        return await self.store.settle(settlement)


async def test_when_the_configuration_changes_meanwhile_it_is_decided_anew(world: World) -> None:
    store = ChangingStore(world.stores.deliveries, times=3)
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids)

    assert isinstance(await receiver.receive(push(world)), Processed)
    assert len({settling.log.id for settling in store.settled}) == 4
    assert len(await entries(world)) == 1


async def test_when_it_changes_faster_than_that_the_sender_is_asked_to_come_again(world: World) -> None:
    store = ChangingStore(world.stores.deliveries, times=99)
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids)

    with pytest.raises(StoreUnavailable, match=r"^the configuration changes faster than a delivery can be decided$"):
        await receiver.receive(push(world))
    assert len(store.settled) == 4
    assert [entry.title for entry in await entries(world)] == ["Service temporarily unavailable"]


@pytest.mark.parametrize("exc", [Unstorable("no"), ZeroDivisionError()])
async def test_a_fault_of_our_own_is_logged_without_internals_and_uses_no_id_up(world: World, exc: Exception) -> None:
    store: Any = Failing(world.stores.deliveries, settle=exc)
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids)

    with pytest.raises(ReceivingFailed, match="Internal server error processing webhook") as raised:
        await receiver.receive(push(world))

    assert raised.value.__cause__ is exc
    (entry,) = await entries(world)
    assert entry == LogEntry(
        id=entry.id,
        organization_id=world.organization.id,
        integration_id=world.connection.integration.id,
        repository_id=REPOSITORY_ID,
        reference_id="d-1",
        title="Webhook processing failed",
        integration_type="codehost",
        status=LogStatus.FAILED,
        status_code=500,
        error_message="Internal server error processing webhook",
        reason="Internal server error processing webhook",
        created_at=world.clock.now(),
        received=entry.received,
    )
    assert entry.received is not None
    assert entry.id.startswith("log_")
    assert isinstance(await world.receiver.receive(push(world)), Processed)


async def test_a_store_that_does_not_answer_with_a_settled_is_a_fault(world: World) -> None:
    class Silent(ChangingStore):
        async def settle(self, settlement: Settlement) -> Settled:
            await super().settle(settlement)
            return None  # pyright: ignore[reportReturnType]  # the fault

    receiver = Receiver(Silent(world.stores.deliveries, times=0), world.stores.journal, world.clock, world.ids)

    with pytest.raises(ReceivingFailed) as raised:
        await receiver.receive(push(world))
    assert "must answer a settlement with a Settled, and returned NoneType" in str(raised.value.__cause__)


async def test_a_failing_source_of_ids_is_a_fault_like_any_other(world: World) -> None:
    class Exhausted:
        def new_id(self, prefix: str) -> str:
            raise ZeroDivisionError(prefix)

        def token(self, length: int) -> str:
            raise ZeroDivisionError(length)

    receiver = Receiver(world.stores.deliveries, world.stores.journal, world.clock, Exhausted())
    large = evolve(push(world), headers=Headers.of([(b"content-length", b"99999999")]))

    with pytest.raises(ReceivingFailed) as raised:
        await receiver.receive(push(world))
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert isinstance(await receiver.preflight(large), Rejected)
    assert await entries(world) == []


async def test_a_signature_by_an_unreadable_secret_is_a_fault_of_our_own_and_logged(world: World) -> None:
    class Unreadable(ChangingStore):
        async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
            hook = await super().configuration(address, now, **options)
            return None if hook is None else evolve(hook, unreadable=1)

    store = Unreadable(world.stores.deliveries, times=0)
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids)

    with pytest.raises(ReceivingFailed) as raised:
        await receiver.receive(push(world, secret="unreadable"))
    assert isinstance(raised.value.__cause__, SecretUnreadable)
    (entry,) = await entries(world)
    assert (entry.title, entry.status_code) == ("Webhook processing failed", 500)
    assert isinstance(await receiver.receive(push(world)), Processed)


async def test_an_unavailable_store_is_reported_and_logged_if_possible(world: World) -> None:
    store: Any = Failing(world.stores.deliveries, settle=StoreUnavailable("away"))
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids)

    with pytest.raises(StoreUnavailable):
        await receiver.receive(push(world))
    (entry,) = await entries(world)
    assert (entry.title, entry.status_code, entry.payload) == ("Service temporarily unavailable", 503, None)
    assert (entry.reference_id, entry.error_message) == ("d-1", "Service temporarily unavailable")
    assert isinstance(await world.receiver.receive(push(world)), Processed)


async def test_a_store_that_kept_the_sender_waiting_is_not_waited_for_once_more(world: World) -> None:
    async def waits() -> None:
        world.clock.advance(timedelta(seconds=1))

    store: Any = Between(Failing(world.stores.deliveries, settle=StoreUnavailable("away")), "settle", waits)
    journal = Journal(world.stores.journal)
    receiver = Receiver(store, journal, world.clock, world.ids)
    with pytest.raises(StoreUnavailable):
        await receiver.receive(push(world))
    assert journal.appending == 0

    store.faults.clear()
    await receiver.receive(push(world))
    (entry,) = await entries(world)
    assert entry.reason == "1 workflow run started; 1 earlier failure was not logged"


class Journal:
    """Writes no entry until a test releases it, or none at all."""

    def __init__(self, journal: LogWriter, *, is_away: bool = False) -> None:
        self.journal = journal
        self.is_away = is_away
        self.appending = 0
        self.go = asyncio.Event()

    async def append(self, entry: LogEntry) -> None:
        if self.is_away:
            message = "away"
            raise StoreUnavailable(message)
        self.appending += 1
        await self.go.wait()
        await self.journal.append(entry)


async def test_a_refusal_that_cannot_be_logged_is_counted_by_the_next_row(world: World) -> None:
    store: Any = Failing(world.stores.deliveries, settle=StoreUnavailable("away"))
    journal = Journal(world.stores.journal, is_away=True)
    receiver = Receiver(store, journal, world.clock, world.ids)
    for number in range(3):
        with pytest.raises(StoreUnavailable):
            await receiver.receive(push(world, delivery_id=f"d-{number}"))
    assert await entries(world) == []

    store.faults.clear()
    await receiver.receive(push(world))

    (entry,) = await entries(world)
    assert entry.reason == "1 workflow run started; 3 earlier failures were not logged"


async def test_so_many_refusals_of_one_organization_are_logged_at_a_time_and_the_others_are_counted(
    world: World,
) -> None:
    journal = Journal(world.stores.journal)
    receiver = Receiver(world.stores.deliveries, journal, world.clock, world.ids)
    late = [
        asyncio.create_task(receiver.refuse(push(world, delivery_id=f"d-{number}"), Fault.BODY_LATE, "late"))
        for number in range(20)
    ]
    while sum(each.done() for each in late) < 16:
        await asyncio.sleep(0)
    assert journal.appending == 4
    journal.go.set()
    await asyncio.gather(*late)

    await receiver.receive(push(world))

    counted, *logged = await entries(world)
    assert counted.reason == "1 workflow run started; 16 earlier failures were not logged"
    assert [(each.title, each.status_code) for each in logged] == [("Webhook body timed out", 408)] * 4


async def test_a_flood_of_refusals_at_one_address_hides_no_refusal_of_another_organization(world: World) -> None:
    journal = Journal(world.stores.journal)
    receiver = Receiver(world.stores.deliveries, journal, world.clock, world.ids)
    other = accepted(await world.operator.create_organization("Other"))
    connection = accepted(await world.connected("other/boat", 77, organization=other))
    at = evolve(world.at, organization_id=other.id, integration_id=connection.integration.id, repository_id=77)
    flood = [
        asyncio.create_task(receiver.refuse(push(world, delivery_id=f"d-{number}"), Fault.BODY_LATE, "late"))
        for number in range(20)
    ]
    while sum(each.done() for each in flood) + journal.appending < len(flood):
        await asyncio.sleep(0)
    before = journal.appending

    late = asyncio.create_task(receiver.refuse(evolve(push(world), address=at), Fault.BODY_LATE, "late"))
    while not late.done() and journal.appending == before:
        await asyncio.sleep(0)
    journal.go.set()
    await asyncio.gather(*flood, late)

    (entry,) = await world.stores.journal.entries(other.id)
    assert (entry.title, entry.status_code) == ("Webhook body timed out", 408)


UNREAD = [
    ((b"content-length", b"99999999"), 413, "Webhook body too large", "Webhook body exceeds 25 MiB"),
    ((b"content-encoding", b"gzip"), 415, "Unsupported content encoding", "Content-Encoding is not supported"),
]


@pytest.mark.parametrize(("header", "status", "title", "error"), UNREAD)
async def test_a_preflight_refusal_is_logged_for_known_integrations_only(
    world: World, header: tuple[bytes, bytes], status: int, title: str, error: str
) -> None:
    known = push(world)
    known = evolve(known, headers=Headers.of((*known.headers, header)))
    unknown = evolve(known, address=evolve(known.address, integration_id="int_unknown"))

    refused = existing(await world.receiver.preflight(known))
    assert (refused.status, refused.error) == (status, error)
    nowhere = existing(await world.receiver.preflight(unknown))
    assert nowhere.status == 404
    assert (await world.receiver.receive(unknown)).status == 404
    await world.receiver.refuse(unknown, Fault.BODY_LATE, "late")

    (entry,) = await entries(world)
    assert (entry.title, entry.status_code, entry.error_message, entry.payload) == (title, status, error, None)
    assert entry.reference_id == "d-1"


async def test_preflight_refusals_share_the_log_bound_of_bad_signatures(world: World) -> None:
    for number in range(2):
        await world.receiver.receive(push(world, delivery_id=f"bad-{number}", secret="wrong"))
    for number in range(4):
        await world.receiver.refuse(push(world, delivery_id=f"late-{number}"), Fault.BODY_LATE, "late")

    assert [entry.status_code for entry in await entries(world)] == [408, 401, 401]
    await world.receiver.receive(push(world))
    assert "3 earlier failures were not logged" in ((await entries(world))[0].reason or "")


@pytest.mark.parametrize("exc", [StoreUnavailable("away"), ZeroDivisionError()])
async def test_nothing_is_logged_where_the_integration_is_not_known(world: World, exc: Exception) -> None:
    store: Any = Failing(world.stores.deliveries, configuration=exc)
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids)

    with pytest.raises((StoreUnavailable, ReceivingFailed)):
        await receiver.receive(push(world))
    await receiver.refuse(push(world), Fault.BODY_LATE, "late")
    assert await entries(world) == []


class StaleAt(ChangingStore):
    """Has another configuration at one settlement, counted from 1."""

    def __init__(self, store: DeliveryStore, place: int) -> None:
        super().__init__(store, times=0)
        self.place = place

    async def settle(self, settlement: Settlement) -> Settled:
        self.left = int(len(self.settled) + 1 == self.place)
        return await super().settle(settlement)


@pytest.mark.parametrize("stale_at", [None, 1, 2])
async def test_each_event_of_a_delivery_starts_its_run_once(world: World, stale_at: int | None) -> None:
    (sent,) = [each for each in OTHERS if (each.provider, each.name) == ("bitbucket", "push__with_a_tag")]
    number = existing(golden_address(provider="bitbucket").repository_id)
    connection = await world.connected("acme/lighthouse", number, "bitbucket")
    await world.triggers.create(
        world.organization.id, CreateTrigger(repository_ids=[number], provider="bitbucket", auto_publish=True)
    )
    at = evolve(world.at, provider="bitbucket", integration_id=connection.integration.id, repository_id=number)
    delivery = signed(sent.body, at=at, secret=connection.secret, event=sent.event, delivery_id="d-1")
    store, nudges = StaleAt(world.stores.deliveries, stale_at or 0), list[str]()
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids, notify=lambda: nudges.append("now"))

    outcome = await receiver.receive(delivery)

    assert isinstance(outcome, Processed if stale_at != 2 else Duplicate)
    assert nudges == ["now", "now"]
    runs = await world.stores.ledger.runs(world.organization.id)
    assert sorted(delivered(run).event.type for run in runs) == ["push", "release"]
    assert isinstance(await receiver.receive(delivery), Duplicate)
    assert await world.stores.ledger.runs(world.organization.id) == runs
    assert nudges == ["now", "now"]


async def test_exactly_one_of_concurrent_deliveries_reports_the_unlogged_failures(world: World) -> None:
    for number in range(8):
        await world.receiver.receive(push(world, delivery_id=f"bad-{number}", secret="wrong"))

    await asyncio.gather(*(world.receiver.receive(push(world, delivery_id=f"good-{number}")) for number in range(3)))

    reasons = [entry.reason or "" for entry in await entries(world)]
    assert sum("5 earlier failures were not logged" in reason for reason in reasons) == 1
    assert sum("not logged" in reason for reason in reasons) == 1


async def test_a_count_whose_row_failed_is_in_the_next_row(world: World) -> None:
    store: Any = Failing(world.stores.deliveries, settle=StoreUnavailable("away"))
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids, failed_rows_per_minute=0)
    await receiver.receive(push(world, secret="wrong"))
    with pytest.raises(StoreUnavailable):
        await receiver.receive(push(world))

    store.faults.clear()
    await receiver.receive(push(world))

    (entry,) = await entries(world)
    assert entry.reason == "1 workflow run started; 2 earlier failures were not logged"


async def test_a_fault_before_the_body_is_read_is_named_like_any_other(world: World) -> None:
    store: Any = Failing(world.stores.deliveries, configuration=ZeroDivisionError())
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids)

    with pytest.raises(ReceivingFailed, match="Internal server error processing webhook"):
        await receiver.preflight(push(world))


class StubbornStore(ChangingStore):
    """Caches its first read without an end."""

    def __init__(self, store: DeliveryStore) -> None:
        super().__init__(store, times=0)
        self.remembered: HookConfiguration | None = None
        self.asked: list[bool] = []

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        self.asked.append(allow_cached)
        if not allow_cached or self.remembered is None:
            self.remembered = self.remembered or await self.store.configuration(address, now)
            return await self.store.configuration(address, now)
        return self.remembered


async def test_the_cache_is_read_first_and_not_again_after_a_stale_answer(world: World) -> None:
    store = StubbornStore(world.stores.deliveries)
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids)
    assert isinstance(await receiver.receive(push(world)), Processed)
    await world.triggers.create(
        world.organization.id, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=("push",))
    )

    assert isinstance(await receiver.receive(push(world, delivery_id="d-2")), Processed)

    assert store.asked == [True, True, False]
    assert len(await world.stores.ledger.runs(world.organization.id)) == 3


async def test_a_refusal_that_is_decided_twice_is_counted_once(world: World) -> None:
    store = StubbornStore(world.stores.deliveries)
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids, failed_rows_per_minute=1)

    for number in range(3):
        assert (await receiver.receive(push(world, delivery_id=f"bad-{number}", secret="wrong"))).status == 401
    # The settlement confirms the refusal with a row; each other refusal is decided again.
    assert store.asked == [True, True, False, True, False]

    await receiver.receive(push(world))
    assert (await entries(world))[0].reason == ("1 workflow run started; 2 earlier failures were not logged")


class ForgetfulStore(ChangingStore):
    """Caches that there is no configuration."""

    def __init__(self, store: DeliveryStore) -> None:
        super().__init__(store, times=0)
        self.asked: list[bool] = []
        self.there = True

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        self.asked.append(allow_cached)
        return None if allow_cached or not self.there else await self.store.configuration(address, now)


async def test_a_preflight_never_refuses_by_the_cache_alone(world: World) -> None:
    store = ForgetfulStore(world.stores.deliveries)
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids)

    assert await receiver.preflight(push(world)) is None
    assert store.asked == [True, False]

    store.there = False
    refused = existing(await receiver.preflight(push(world)))
    assert refused.status == 404


class SlowStore(StubbornStore):
    """Advances the clock to the next minute with each cached read."""

    def __init__(self, world: World) -> None:
        super().__init__(world.stores.deliveries)
        self.world = world
        self.slow = False

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        if allow_cached and self.slow:
            self.world.clock.advance(timedelta(minutes=1))
        return await super().configuration(address, now, allow_cached=allow_cached)


async def test_a_refusal_logged_on_retry_is_not_counted_as_unlogged(world: World) -> None:
    store = SlowStore(world)
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids, failed_rows_per_minute=1)

    assert (await receiver.receive(push(world, delivery_id="bad-1", secret="wrong"))).status == 401
    store.slow = True
    assert (await receiver.receive(push(world, delivery_id="bad-2", secret="wrong"))).status == 401

    # Too many refusals in one minute; the decision is repeated in the next minute.
    assert store.asked == [True, True, False]
    assert [entry.reason for entry in await entries(world)] == ["Invalid webhook signature"] * 2
    await receiver.receive(push(world))
    assert (await entries(world))[0].reason == "1 workflow run started"


@pytest.mark.parametrize(("more", "large"), [(0, False), (1, True)])
async def test_a_large_body_is_read_aside(world: World, more: int, *, large: bool) -> None:
    asides: list[object] = []

    async def offload(work: Any, /) -> Any:
        asides.append(work)
        return work()

    stores = world.stores
    receiver = Receiver(stores.deliveries, stores.journal, world.clock, world.ids, offload=offload)
    body = push_body("feat: x", repository_id=REPOSITORY_ID)
    size = len(signed({**body, "pad": ""}, at=world.at, secret="x").body)
    padded = {**body, "pad": "x" * (LARGE_BODY - size + more)}
    delivery = signed(padded, at=world.at, secret=world.secret)
    assert len(delivery.body) == LARGE_BODY + more
    assert isinstance(await receiver.receive(delivery), Processed)
    assert bool(asides) is large
    (record,) = await stores.contexts.records(world.organization.id)
    assert isinstance(record.event, Push)
    assert record.event.commits[0].message == "feat: x"
    # Without an offload, the body is read at once.
    again = signed(padded, at=world.at, secret=world.secret, delivery_id="d-2")
    assert isinstance(await world.receiver.receive(again), Processed)
