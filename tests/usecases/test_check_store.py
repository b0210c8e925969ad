"""``check_store`` names the guarantee that a store breaks."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

import pytest
from attrs import evolve
from tests.usecases.conftest import World

from contentsvc_core import Address, Claim, HookConfiguration, Settled, Settlement
from contentsvc_core.ports import DeliveryStore
from contentsvc_core.testing import CountingIds, check_store

_Change: TypeAlias = Callable[[Settlement], Settlement]
IDS = CountingIds()


class Broken:
    """Changes settlements or answers on their way to and from a store that keeps all guarantees."""

    def __init__(self, store: DeliveryStore, change: _Change, answers: dict[Settled, Settled]) -> None:
        self.store, self.change, self.answers = store, change, answers

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        return await self.store.configuration(address, now, allow_cached=allow_cached)

    async def settle(self, settlement: Settlement) -> Settled:
        answer = await self.store.settle(self.change(settlement))
        return self.answers.get(answer, answer)


def nothing(settling: Settlement) -> Settlement:
    return settling


def renamed(settling: Settlement) -> Settlement:
    return evolve(settling, id=IDS.new_id("log_"))


def claimed_by_all(settling: Settlement) -> Settlement:
    return evolve(settling, claim=Claim.TAKE) if settling.claim is Claim.CHECK else settling


def without_runs(settling: Settlement) -> Settlement:
    return evolve(settling, started=())


def with_another_record(settling: Settlement) -> Settlement:
    return evolve(settling, context_id=IDS.new_id("ctx_")) if settling.context_id else settling


def unclaimed(settling: Settlement) -> Settlement:
    return evolve(settling, key=None)


def checked_by_all(settling: Settlement) -> Settlement:
    return evolve(settling, key=settling.key or settling.hook.claim_key("taken"))


async def log_ids(world: World) -> list[str]:
    return [entry.id for entry in await world.stores.journal.entries(world.organization.id)]


async def run_ids(world: World) -> list[str]:
    return [run.id for run in await world.stores.ledger.runs(world.organization.id)]


async def context_ids(world: World) -> list[str]:
    return [record.id for record in await world.stores.contexts.records(world.organization.id)]


async def check(store: DeliveryStore, world: World) -> None:
    await check_store(
        store,
        world.at,
        log_ids=lambda: log_ids(world),
        run_ids=lambda: run_ids(world),
        context_ids=lambda: context_ids(world),
    )


async def test_a_store_with_all_guarantees_passes(world: World) -> None:
    await check(world.stores.deliveries, world)


@pytest.mark.parametrize(
    ("change", "answers", "guarantee"),
    [
        (renamed, {}, "a new delivery is AS_DECIDED, also after a stale settlement: the log"),
        (without_runs, {}, "a new delivery is AS_DECIDED, also after a stale settlement: the runs"),
        (with_another_record, {}, "a new delivery is AS_DECIDED, also after a stale settlement: the context records"),
        (unclaimed, {}, "a copy is ALREADY_CLAIMED, and only the duplicate's log entry is written"),
        (nothing, {Settled.ALREADY_CLAIMED: Settled.AS_DECIDED}, "a copy is ALREADY_CLAIMED"),
        (nothing, {Settled.STALE: Settled.AS_DECIDED}, "a settlement of another version is STALE"),
        (checked_by_all, {}, "Claim.NONE is AS_DECIDED even if the claim is held"),
        (claimed_by_all, {}, "Claim.CHECK does not take the claim"),
    ],
)
async def test_the_broken_guarantee_is_named(
    world: World, change: _Change, answers: dict[Settled, Settled], guarantee: str
) -> None:
    store = Broken(world.stores.deliveries, change, answers)

    with pytest.raises(AssertionError, match=f"the store breaks a guarantee: {guarantee}"):
        await check(store, world)


async def test_a_store_without_the_hook_is_named(world: World) -> None:
    with pytest.raises(AssertionError, match="configuration returns the hook at its address"):
        await check_store(
            world.stores.deliveries, evolve(world.at, integration_id="int_other"), log_ids=lambda: log_ids(world)
        )
