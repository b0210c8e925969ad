"""``check_store`` names the guarantee that a store breaks."""

import asyncio
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, TypeAlias

import pytest
from attrs import evolve
from msgspec.structs import replace
from tests.refusals import accepted
from tests.usecases.conftest import World

from contentsvc_core import (
    DEDUPE_WINDOW,
    Address,
    Belonging,
    Claim,
    ContextRecord,
    Event,
    HookConfiguration,
    LogEntry,
    Pong,
    Release,
    Settled,
    Settlement,
    Unstorable,
    WorkflowRun,
)
from contentsvc_core.ports import DeliveryStore
from contentsvc_core.testing import START, CountingIds, check_store, checking, switched
from contentsvc_core.testing import stores as checked
from contentsvc_core.workflows.triggers import CreateTrigger

_Change: TypeAlias = Callable[[Settlement], Settlement]
IDS = CountingIds()
#: The time of the check's first settlement.
_FIRST: Final = START + timedelta(milliseconds=999)
_DAY_LATER: Final = _FIRST + DEDUPE_WINDOW
_MOMENT: Final = timedelta(milliseconds=1)


class Sound:
    """A store that keeps all guarantees, unless a subclass changes settlements."""

    def __init__(self, world: World, change: _Change = lambda settling: settling) -> None:
        self.world, self.changed = world, change
        self.id = world.organization.id
        self.organizations = [self.id]
        self.store: DeliveryStore = world.stores.deliveries

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        return await self.store.configuration(address, now, allow_cached=allow_cached)

    async def settle(self, settlement: Settlement) -> Settled:
        return await self.store.settle(self.changed(settlement))

    async def entries(self) -> list[LogEntry]:
        """Return the log entries, newest first."""
        rows = [await self.world.stores.journal.entries(id_) for id_ in self.organizations]
        return sorted(chain(*rows), key=lambda entry: entry.created_at, reverse=True)

    async def log(self) -> Collection[str]:
        return {entry.id: entry.title for entry in await self.entries()}

    async def every_run(self) -> list[WorkflowRun]:
        return [run for id_ in self.organizations for run in await self.world.stores.ledger.runs(id_)]

    async def runs(self) -> Collection[str]:
        return {run.id: run.cause.started_by for run in await self.every_run()}

    async def records(self) -> list[ContextRecord]:
        """Return the context records in their order."""
        rows = [await self.world.stores.contexts.records(id_) for id_ in self.organizations]
        return sorted(chain(*rows), key=lambda record: record.id)

    async def contexts(self) -> Collection[str]:
        return {record.id: record.event for record in await self.records()}

    async def change(self) -> object:
        await self.world.stores.triggers.change(self.id, self.world.trigger.id, switched(enabled=False))

    async def reopen(self) -> DeliveryStore:
        return self


class Answering(Sound):
    """Always answers ``AS_DECIDED``."""

    async def settle(self, settlement: Settlement) -> Settled:
        await self.store.settle(settlement)
        return Settled.AS_DECIDED


class AcceptingNewer(Sound):
    """Compares versions by their order."""

    async def settle(self, settlement: Settlement) -> Settled:
        hook = await self.configuration(settlement.hook.address, settlement.at)
        if hook is None:
            return await self.store.settle(settlement)
        version = self.accepted(settlement.version, hook.version)
        return await self.store.settle(evolve(settlement, hook=evolve(settlement.hook, version=version)))

    def accepted(self, version: int, current: int) -> int:
        return min(version, current)


class AcceptingOlder(AcceptingNewer):
    def accepted(self, version: int, current: int) -> int:
        return max(version, current)


class AcceptingOlderAfterAChange(AcceptingNewer):
    """Breaks its guarantee only after a change of the configuration."""

    is_changed = False

    async def change(self) -> object:
        await super().change()
        self.is_changed = True

    def accepted(self, version: int, current: int) -> int:
        return current if self.is_changed else version


class AcceptingNothingAfterAChange(AcceptingOlderAfterAChange):
    def accepted(self, version: int, current: int) -> int:
        return version - 1 if self.is_changed and version == current else version


class LosingTheHookAfterAChange(AcceptingOlderAfterAChange):
    async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
        return None if self.is_changed else await super().configuration(address, now, **options)


class ComparingVersionsFirst(AcceptingOlderAfterAChange):
    """Compares versions before it looks for a repeated settlement."""

    is_changed = True

    async def settle(self, settlement: Settlement) -> Settled:
        hook = await self.configuration(settlement.hook.address, settlement.at)
        return (
            Settled.STALE
            if self.is_changed and hook is not None and hook.version != settlement.version
            else await Sound.settle(self, settlement)
        )


class ComparingVersionsFirstAfterAChange(ComparingVersionsFirst):
    is_changed = False


class FindingAnyHook(Sound):
    """Returns the configuration of one hook for all integrations."""

    async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
        found = evolve(address, integration_id=self.world.at.integration_id)
        return await super().configuration(found, now, **options)


class FindingOneHook(Sound):
    async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
        found = await super().configuration(address, now, **options)
        return found if address.integration_id == self.world.at.integration_id else None


class RefusingRepetitions(Sound):
    """Answers that a repeated settlement is a duplicate of itself."""

    again: Settled = Settled.ALREADY_CLAIMED

    async def settle(self, settlement: Settlement) -> Settled:
        return self.again if settlement.id in await self.log() else await self.store.settle(settlement)


class AcceptingRepetitions(RefusingRepetitions):
    """Answers to each repeated settlement as if it had not been a duplicate."""

    again = Settled.AS_DECIDED


class CachingForever(Sound):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.cached: dict[Address, HookConfiguration | None] = {}

    async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
        if address not in self.cached:
            self.cached[address] = await super().configuration(address, now, **options)
        return self.cached[address]


class Racing(Sound):
    """Breaks its guarantee only while it settles something else."""

    running = 0

    async def settle(self, settlement: Settlement) -> Settled:
        self.running += 1
        await asyncio.sleep(0)
        try:
            return await (self.raced(settlement) if self.running > 1 else self.store.settle(settlement))
        finally:
            self.running -= 1

    async def raced(self, settlement: Settlement) -> Settled:
        return await self.store.settle(evolve(settlement, key=None))


class RacingRows(Racing):
    """Answers correctly, but writes the rows of duplicates."""

    async def raced(self, settlement: Settlement) -> Settled:
        settled = await self.store.settle(settlement)
        if settled is Settled.ALREADY_CLAIMED:
            await self.store.settle(renamed(evolve(settlement, key=None)))
        return settled


class RacingRepetitions(Racing):
    """Answers that a repeated settlement is a duplicate of itself."""

    async def raced(self, settlement: Settlement) -> Settled:
        if settlement.id in await self.log():
            return Settled.ALREADY_CLAIMED
        return await self.store.settle(settlement)


class DoublingRows(Sound):
    async def log(self) -> Collection[str]:
        return [id_ for id_ in await super().log() for _ in range(2)]


class LoggingAllAsProcessed(Sound):
    async def log(self) -> Collection[str]:
        return dict.fromkeys(await super().log(), "Processed push event")


class OldestFirst(Sound):
    async def log(self) -> Collection[str]:
        return list(reversed(list(await super().log())))


class KeepingEvents(Sound):
    """Keeps the first event of a context record."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.first: dict[str, object] = {}

    async def contexts(self) -> Collection[str]:
        for record in await self.records():
            self.first.setdefault(record.id, record.event)
        return self.first


class SharingRecords(Sound):
    """Has one context record of a delivery for all organizations."""

    async def contexts(self) -> Collection[str]:
        records = await self.records()
        first = {self.key(record): record.id for record in reversed(records)}
        return {first[self.key(record)]: record.event for record in records}

    def key(self, record: ContextRecord) -> str:
        return record.custom_id


class IgnoringCase(SharingRecords):
    def key(self, record: ContextRecord) -> str:
        return record.organization_id + record.custom_id.lower()


class CuttingIds(SharingRecords):
    def key(self, record: ContextRecord) -> str:
        return record.organization_id + record.custom_id[:200]


class CuttingTexts(Sound):
    """Stores the texts of pushes and releases in columns of 64 KiB."""

    async def contexts(self) -> Collection[str]:
        return {record.id: self.stored(record.event) for record in await self.records()}

    def stored(self, event: Event) -> Event:
        if isinstance(event, Release):
            return event
        return replace(event, commits=tuple(replace(each, message=each.message[:65_535]) for each in event.commits))


class LosingNotes(CuttingTexts):
    def stored(self, event: Event) -> Event:
        return replace(event, body=None) if isinstance(event, Release) else event


class FindingOtherAddresses(Sound):
    """Reads the configuration by the id of the integration alone."""

    def found(self, address: Address) -> Address:
        at = self.world.at
        return at if address.integration_id == at.integration_id else address

    async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
        found = await super().configuration(self.found(address), now, **options)
        return found and evolve(found, address=address)


class LosingUnknownRepositories(Sound):
    """Finds only hooks of connected repositories."""

    async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
        found = await super().configuration(address, now, **options)
        return found and (found if self.is_found(found) else None)

    def is_found(self, hook: HookConfiguration) -> bool:
        return hook.repository is not Belonging.UNKNOWN


class LosingRepositoriesOfOthers(LosingUnknownRepositories):
    def is_found(self, hook: HookConfiguration) -> bool:
        return hook.repository is not Belonging.ANOTHER_INTEGRATION


class SharingSecrets(Sound):
    """Returns the secrets of one integration for all."""

    async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
        found, first = [await self.store.configuration(each, now, **options) for each in (address, self.world.at)]
        return found and first and self.shared(found, first)

    def shared(self, found: HookConfiguration, first: HookConfiguration) -> HookConfiguration:
        return evolve(found, secrets=first.secrets)


class SharingTriggers(SharingSecrets):
    """Returns the triggers of a repository in all organizations."""

    def shared(self, found: HookConfiguration, first: HookConfiguration) -> HookConfiguration:
        triggers = [evolve(each, organization_id=found.address.organization_id) for each in first.triggers]
        return evolve(found, triggers=triggers) if found.address.repository_id == first.address.repository_id else found


class RewritingTriggers(SharingSecrets):
    """Returns each trigger of the organization as one of the repository in the address."""

    def shared(self, found: HookConfiguration, first: HookConfiguration) -> HookConfiguration:
        triggers = [evolve(each, repository_ids=[found.address.repository_id]) for each in first.triggers]
        same = found.address.organization_id == first.address.organization_id
        return evolve(found, triggers=triggers) if same else found


class KeepingDeletedOrganizations(Sound):
    """Stores a settlement whether its organization exists or not."""

    async def settle(self, settlement: Settlement) -> Settled:
        hook = await self.configuration(self.world.at, settlement.at)
        found = settlement.organization_id in self.organizations
        return await self.store.settle(settlement if found else evolve(settlement, hook=hook))


class FindingOtherProviders(FindingOtherAddresses):
    def found(self, address: Address) -> Address:
        return replace(address, provider=self.world.at.provider) if address.organization_id == self.id else address


class FindingOtherRepositories(FindingOtherAddresses):
    def found(self, address: Address) -> Address:
        at = self.world.at
        return at if replace(address, repository_id=at.repository_id) == at else address


class CachingForAll(CachingForever):
    """Returns a cached configuration, whether the caller allows it or not."""

    async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
        if options.get("allow_cached") or address in self.cached:
            return await super().configuration(address, now, **options)
        return await Sound.configuration(self, address, now)


class Rotating(Sound):
    """Rotates the secret of the hook, with an overlap."""

    #: What the clock of the store is ahead.
    ahead: timedelta = timedelta()

    async def change(self) -> datetime:
        end = START + timedelta(hours=1)
        await self.world.stores.hooks.rotate_secret(
            self.id, self.world.at.integration_id, "new", at=START, overlap_until=end
        )
        return end

    async def configuration(self, address: Address, now: datetime, **options: bool) -> HookConfiguration | None:
        return await super().configuration(address, now + self.ahead, **options)


class RotatingEarly(Rotating):
    ahead = _MOMENT


class RotatingLate(Rotating):
    ahead = -_MOMENT


class KeepingRows(Sound):
    """Returns the rows themselves."""

    async def log(self) -> Collection[str]:
        return {entry.id: self.kept(entry) for entry in await self.entries()}

    def kept(self, entry: LogEntry) -> object:
        return entry

    async def runs(self) -> Collection[str]:
        return {run.id: {"status": run.status, "due_at": run.due_at} for run in await self.every_run()}

    async def contexts(self) -> Collection[str]:
        return {record.id: record for record in await self.records()}


class LosingStatusCodes(KeepingRows):
    def kept(self, entry: LogEntry) -> object:
        return evolve(entry, status_code=None)


class LoggingForTheWrongOrganization(KeepingRows):
    def kept(self, entry: LogEntry) -> object:
        return {"organization_id": entry.integration_id}


class RenewingRecords(KeepingRows):
    """Replaces the creation time of a context record together with its event."""

    async def contexts(self) -> Collection[str]:
        at = {entry.detail: entry.created_at for entry in await self.entries() if isinstance(entry.detail, Event)}
        return {record.id: evolve(record, created_at=at[record.event]) for record in await self.records()}


class CuttingNumbers(KeepingRows):
    """Stores numbers in columns of 32 bits."""

    async def contexts(self) -> Collection[str]:
        return {record.id: {"repository_id": record.repository_id % 2**31} for record in await self.records()}


class RepeatingWithoutClaims(Sound):
    """Knows a repeated settlement by its claim."""

    claim = Claim.NONE

    async def settle(self, settlement: Settlement) -> Settled:
        is_repeated = settlement.claim is self.claim and settlement.id in await self.log()
        return await self.store.settle(renamed(settlement) if is_repeated else settlement)


class RepeatingChecks(RepeatingWithoutClaims):
    claim = Claim.CHECK


class Blocking(Sound):
    """Keeps its lock if a settlement is cancelled."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.is_locked = False

    async def settle(self, settlement: Settlement) -> Settled:
        if self.is_locked:
            message = "locked"
            raise RuntimeError(message)
        if settlement.hook.address == self.world.at:
            await self.waiting()
        return await self.store.settle(settlement)

    async def waiting(self) -> None:
        await asyncio.sleep(0)
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.is_locked = True
            raise


class WritingPartlyIfCancelled(Sound):
    """Writes runs in another transaction, at the latest when the settlement is repeated."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.left_out: set[str] = set()

    async def settle(self, settlement: Settlement) -> Settled:
        self.left_out.discard(settlement.id)
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.left_out.add(settlement.id)
            await self.store.settle(settlement)
            raise
        return await self.store.settle(settlement)

    async def runs(self) -> Collection[str]:
        left_out = {entry.reference_id for entry in await self.entries() if entry.id in self.left_out}
        runs = await self.every_run()
        return [run.id for run in runs if getattr(run.cause, "delivery_id", None) not in left_out]


class FinishingLater(Sound):
    """Finishes a cancelled settlement in the background, as threads do."""

    async def settle(self, settlement: Settlement) -> Settled:
        return await asyncio.shield(asyncio.create_task(self.finished(settlement)))

    async def finished(self, settlement: Settlement) -> Settled:
        for _ in range(3):
            await asyncio.sleep(0)
        return await super().settle(settlement)


class CommittingTwice(FinishingLater):
    """Writes the runs in a second transaction, in the same thread: a cancelled settlement is finished."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.late: str | None = None

    async def finished(self, settlement: Settlement) -> Settled:
        if self.late is not None:
            return await self.store.settle(settlement)
        self.late = settlement.outcome.delivery_id
        settled = await self.store.settle(settlement)
        for _ in range(3):
            await asyncio.sleep(0)
        self.late = None
        return settled

    async def runs(self) -> Collection[str]:
        runs = await self.every_run()
        return [run.id for run in runs if self.late is None or getattr(run.cause, "delivery_id", None) != self.late]


class ClaimingFirst(FinishingLater):
    """Claims a delivery in a first transaction, in the same thread: copies are answered before the rows are there."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.writing: dict[bytes, str] = {}

    async def finished(self, settlement: Settlement) -> Settled:
        key = settlement.key or b""
        if self.writing.get(key, settlement.id) != settlement.id:
            await self.world.stores.journal.append(settlement.duplicate_log)
            return Settled.ALREADY_CLAIMED
        if settlement.claim is Claim.TAKE:
            self.writing[key] = settlement.id
        for _ in range(20):  # the round trips of the second transaction
            await asyncio.sleep(0)
        self.writing.pop(key, None)
        return await self.store.settle(settlement)


class Deadlocked(Sound):
    """Keeps its lock if it refuses a settlement."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.lock = asyncio.Lock()

    async def settle(self, settlement: Settlement) -> Settled:
        await self.lock.acquire()
        settled = await self.store.settle(settlement)
        self.lock.release()
        return settled


class FailingTogether(Sound):
    """Refuses all settlements of a batch, if one of them cannot be stored."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.batch: list[Settlement] = []

    async def settle(self, settlement: Settlement) -> Settled:
        self.batch.append(settlement)
        await asyncio.sleep(0)
        bad = any(r"\ud800" in repr(each) for each in self.batch)
        await asyncio.sleep(0)
        self.batch.clear()
        if bad and not self.is_refused(settlement):
            message = "a settlement of the batch"
            raise Unstorable(message)
        return await self.store.settle(settlement)

    def is_refused(self, settlement: Settlement) -> bool:
        return r"\ud800" in repr(settlement)


class Raising(Sound):
    """Raises an exception of its driver."""

    async def settle(self, settlement: Settlement) -> Settled:
        try:
            return await self.store.settle(settlement)
        except Unstorable as exc:
            raise UnicodeError from exc


class WritingPartly(Sound):
    """Writes some rows of a settlement that it refuses."""

    async def settle(self, settlement: Settlement) -> Settled:
        try:
            return await self.store.settle(settlement)
        except Unstorable:
            await self.store.settle(evolve(settlement, outcome=Pong(delivery_id="unstorable"), started=()))
            raise


class KeepingTheClaim(Sound):
    """Keeps the claim of a settlement that it refuses."""

    kept: bytes | None = None

    async def settle(self, settlement: Settlement) -> Settled:
        if self.kept is not None and settlement.key == self.kept:
            return Settled.ALREADY_CLAIMED
        try:
            return await self.store.settle(settlement)
        except Unstorable:
            self.kept = settlement.key if self.is_late(settlement) else None
            raise

    def is_late(self, settlement: Settlement) -> bool:
        return not settlement.note


class KeepingTheClaimOfNotes(KeepingTheClaim):
    """Claims a delivery in another transaction than the one of its log entry."""

    def is_late(self, settlement: Settlement) -> bool:
        return bool(settlement.note)


class KeepingTheClaimOfRuns(KeepingTheClaim):
    """Claims a delivery in another transaction than the one of its runs."""

    def is_late(self, settlement: Settlement) -> bool:
        return r"\ud800" in repr(settlement.started)


class LosingClaims(Sound):
    async def reopen(self) -> DeliveryStore:
        await self.world.stores.journal.sweep_claims(before=_DAY_LATER, limit=99)
        return self


class LosingAnswers(Sound):
    async def reopen(self) -> DeliveryStore:
        return Sound(self.world, renamed)


def renamed(settling: Settlement) -> Settlement:
    return evolve(settling, id=IDS.new_id("log_other_"))


def without_runs(settling: Settlement) -> Settlement:
    return evolve(settling, started=())


def without_the_second_run(settling: Settlement) -> Settlement:
    return evolve(settling, started=settling.started[:1])


def with_another_record(settling: Settlement) -> Settlement:
    return evolve(settling, context_id=IDS.new_id("ctx_other_")) if settling.context_id else settling


def unclaimed(settling: Settlement) -> Settlement:
    return evolve(settling, key=None)


def claimed_by_all(settling: Settlement) -> Settlement:
    return evolve(settling, claim=Claim.TAKE) if settling.claim is Claim.CHECK else settling


def claimed_by_id_alone(settling: Settlement) -> Settlement:
    return evolve(settling, key=settling.key and (settling.outcome.delivery_id or "").encode())


def checked_by_none(settling: Settlement) -> Settlement:
    return evolve(settling, key=None) if settling.claim is Claim.CHECK else settling


def checked_for_all_ids(settling: Settlement) -> Settlement:
    is_check = settling.claim is Claim.CHECK
    return evolve(settling, key=settling.hook.claim_key("taken")) if is_check else settling


def in_whole_seconds(settling: Settlement) -> Settlement:
    return evolve(settling, at=settling.at.replace(microsecond=0))


def free_before_its_time(settling: Settlement) -> Settlement:
    return evolve(settling, at=_DAY_LATER) if settling.at < _FIRST else settling


def held_since_its_first_time(settling: Settlement) -> Settlement:
    is_later = settling.at == _DAY_LATER + DEDUPE_WINDOW - _MOMENT
    return evolve(settling, at=settling.at + _MOMENT) if is_later else settling


def checked_by_all(settling: Settlement) -> Settlement:
    return evolve(settling, key=settling.key or settling.hook.claim_key("taken"))


def held_at_the_boundary(settling: Settlement) -> Settlement:
    is_there = settling.claim is Claim.TAKE and settling.at == _DAY_LATER
    return evolve(settling, at=_DAY_LATER - _MOMENT) if is_there else settling


def free_before_the_boundary(settling: Settlement) -> Settlement:
    return evolve(settling, at=_DAY_LATER) if settling.at == _DAY_LATER - _MOMENT else settling


def checked_at_the_boundary(settling: Settlement) -> Settlement:
    return evolve(settling, at=_DAY_LATER - _MOMENT) if settling.claim is Claim.CHECK else settling


async def check(store: Sound) -> None:
    at = store.world.at
    await store.world.triggers.create(store.id, CreateTrigger(repository_ids=[at.repository_id], event_types=["push"]))
    other = await store.world.connected("acme/buoy", 2, "github")
    horn = await store.world.connected("acme/horn", 3, at.provider)
    buoy = accepted(await store.world.operator.create_organization("Buoy"))
    forked = await store.world.connected("acme/lamp", at.repository_id, at.provider, organization=buoy)
    store.organizations.append(buoy.id)
    await check_store(
        store,
        at,
        log_ids=store.log,
        run_ids=store.runs,
        context_ids=store.contexts,
        others=[
            replace(at, provider="github", integration_id=other.integration.id, repository_id=2),
            replace(at, integration_id=horn.integration.id, repository_id=3),
            replace(at, organization_id=buoy.id, integration_id=forked.integration.id),
        ],
        change=store.change,
        reopen=store.reopen,
    )


async def test_a_store_with_all_guarantees_passes(world: World) -> None:
    await check(Sound(world))


@pytest.mark.parametrize("kind", [KeepingRows, Rotating, FinishingLater])
async def test_a_store_that_the_check_sees_more_of_passes(world: World, kind: type[Sound]) -> None:
    await check(kind(world))


async def test_a_store_that_does_not_answer_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "PATIENCE_S", 1.0)

    with pytest.raises(AssertionError, match=r"concurrent settlements .* \(got no answer in 1 seconds\)"):
        await check(Deadlocked(world))


async def test_without_the_functions_of_rows_the_answers_are_checked(world: World) -> None:
    store = Sound(world)
    await check_store(store, world.at, log_ids=store.log)


async def test_the_order_in_a_set_is_not_checked(world: World) -> None:
    store = OldestFirst(world)

    async def ids() -> Collection[str]:
        return set(await store.log())

    await check_store(store, world.at, log_ids=ids)


ENTRY: Final = "log_00000000-0000-7000-8000-00000000000"
NEW: Final = "a new delivery is AS_DECIDED, also after a stale settlement"
CANCELLED: Final = "a cancelled settlement is written completely or not at all, and can be repeated"
COPY: Final = "a copy is ALREADY_CLAIMED, and only the duplicate's log entry is written"


@pytest.mark.parametrize(
    ("broken", "guarantee"),
    [
        (renamed, f"{NEW}: the log"),
        (without_runs, f"{NEW}: the runs"),
        (without_the_second_run, f"{NEW}: the runs (got 00000000-0000-7000-8000-000000000005: missing)"),
        (with_another_record, f"{NEW}: the context records"),
        (unclaimed, f"{COPY} (got"),
        (checked_by_none, "Claim.CHECK is ALREADY_CLAIMED if the claim is held (got"),
        (checked_for_all_ids, "Claim.CHECK is AS_DECIDED if the claim is free (got"),
        (free_before_its_time, "a claim is held if the clock was stepped back (got"),
        (held_since_its_first_time, "a claim that is taken again is held for 24 hours (got"),
        (checked_by_all, "Claim.NONE is AS_DECIDED even if the claim is held (got"),
        (claimed_by_all, "Claim.CHECK does not take the claim (got"),
        (in_whole_seconds, "a claim is held for 24 hours (got"),
        (free_before_the_boundary, "a claim is held for 24 hours (got"),
        (checked_at_the_boundary, "Claim.CHECK is AS_DECIDED after exactly 24 hours (got"),
        (held_at_the_boundary, "a claim is free after exactly 24 hours (got"),
        (claimed_by_id_alone, "a claim is held at its own hook alone (got"),
        (SharingRecords, "claims and context records are of an organization alone: the context records (got"),
        (IgnoringCase, "delivery ids differ by case, and have up to 255 characters: the context records (got"),
        (CuttingIds, "delivery ids differ by case, and have up to 255 characters: the context records (got"),
        (CuttingNumbers, "repository ids are up to 2^63 - 1: the context records (got ctx_"),
        (CuttingTexts, "a push is stored whole: long texts, all characters, all lines: the context records (got"),
        (LosingNotes, "a release is stored whole: long texts, all characters, all lines: the context records (got"),
        (FindingOtherAddresses, "configuration returns None for an unknown organization (got"),
        (FindingOtherProviders, "configuration returns None for an unknown provider of the integration (got"),
        (FindingOtherRepositories, "an unknown repository is Belonging.UNKNOWN (got"),
        (LosingUnknownRepositories, "an unknown repository is Belonging.UNKNOWN (got None)"),
        (LosingRepositoriesOfOthers, "a repository of another integration is not Belonging.UNKNOWN (got None)"),
        (SharingSecrets, "each integration has secrets of its own (got 1 of both)"),
        (RewritingTriggers, "a trigger is the same at each address of its organization (got [Trigger("),
        (
            KeepingDeletedOrganizations,
            "a settlement of an unknown organization is STALE, and nothing is written (got Settled.AS_DECIDED)",
        ),
        (SharingTriggers, "triggers are of an organization alone (got"),
        (RotatingEarly, "a replaced secret verifies until exactly the end of its overlap (got 0 of 1"),
        (RotatingLate, "a replaced secret verifies until exactly the end of its overlap (got 1 of 1"),
        (LosingStatusCodes, f"{NEW}: the log (got {ENTRY}2.status_code: None instead of 200)"),
        (LoggingForTheWrongOrganization, f"{NEW}: the log (got {ENTRY}2.organization_id: 'int_"),
        (RenewingRecords, "a claim is free after exactly 24 hours: the context records (got ctx_"),
        (CachingForAll, "each change of the configuration increments its version (got"),
        (
            RepeatingWithoutClaims,
            "a repeated settlement with Claim.NONE is AS_DECIDED, and nothing is written: the log",
        ),
        (RepeatingChecks, "a repeated settlement with Claim.CHECK returns the first answer (got"),
        (Blocking, f"{CANCELLED} (got RuntimeError('locked'))"),
        (WritingPartlyIfCancelled, f"{CANCELLED}: the runs (got"),
        (Answering, "a settlement of another version is STALE, and nothing is written: an older one (got"),
        (AcceptingOlder, "a settlement of another version is STALE, and nothing is written: an older one (got"),
        (AcceptingNewer, "a settlement of another version is STALE, and nothing is written: a newer one (got"),
        (AcceptingOlderAfterAChange, "a settlement from before a change is STALE, and nothing is written (got"),
        (AcceptingNothingAfterAChange, "a new delivery is AS_DECIDED, also after a change (got"),
        (LosingTheHookAfterAChange, "configuration returns the changed hook (got"),
        (ComparingVersionsFirst, "a repeated settlement is never STALE (got"),
        (ComparingVersionsFirstAfterAChange, "a repeated settlement is never STALE, also after a change (got"),
        (FindingAnyHook, "configuration returns None for an unknown integration (got"),
        (FindingOneHook, "configuration returns the hook at the other address (got"),
        (RefusingRepetitions, "a repeated settlement returns the first answer, and nothing is written (got"),
        (AcceptingRepetitions, "a repeated copy returns the first answer, and nothing is written (got"),
        (CachingForever, "each change of the configuration increments its version (got"),
        (DoublingRows, f"{NEW}: the log (got {ENTRY}2: not expected)"),
        (LoggingAllAsProcessed, f"{COPY}: the log (got {ENTRY}7: 'Processed push event' instead of 'Duplicate push"),
        (KeepingEvents, "a claim is free after exactly 24 hours: the context records"),
        (Racing, "of 8 concurrent copies, 1 is AS_DECIDED and 7 are ALREADY_CLAIMED (got"),
        (RacingRows, "of 8 concurrent copies, 1 is AS_DECIDED and 7 are ALREADY_CLAIMED: the log"),
        (RacingRepetitions, "a settlement that is repeated concurrently is AS_DECIDED (got"),
        (CommittingTwice, "the rows of a settlement are visible together (got the log, and not yet the runs: 0"),
        (ClaimingFirst, "a copy is ALREADY_CLAIMED only when the rows of the first one are visible (got Settled.ALR"),
        (Raising, "a value that cannot be stored raises Unstorable, and nothing is written (got"),
        (WritingPartly, "a value that cannot be stored raises Unstorable, and nothing is written: the log"),
        (FailingTogether, "concurrent settlements have their own answers (got"),
        (KeepingTheClaim, "a value that cannot be stored takes no claim (got"),
        (KeepingTheClaimOfNotes, "a value that cannot be stored takes no claim (got"),
        (KeepingTheClaimOfRuns, "a value that cannot be stored takes no claim (got"),
        (LosingClaims, "a claim is held after a restart (got"),
        (LosingAnswers, "a repeated settlement returns the first answer, also after a restart (got"),
        (OldestFirst, "the log is newest first (got"),
    ],
)
async def test_the_broken_guarantee_is_named(
    world: World, broken: _Change | type[Sound], guarantee: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked, "_READS", 3)
    store = broken(world) if isinstance(broken, type) else Sound(world, broken)

    with pytest.raises(AssertionError) as raised:
        await check(store)

    assert str(raised.value).startswith(f"the store breaks a guarantee: {guarantee}")


async def test_a_store_without_the_hook_is_named(world: World) -> None:
    with pytest.raises(AssertionError, match="configuration returns the hook at its address"):
        await check_store(
            world.stores.deliveries, evolve(world.at, integration_id="int_other"), log_ids=Sound(world).log
        )
