"""Replays: a stored event is processed again, with the current configuration."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from tests.golden import REPOSITORY_ID, delivered
from tests.refusals import accepted
from tests.usecases.conftest import Between, World
from tests.usecases.test_perform import pushed

from contentsvc_core import Integration, LogEntry, LogStatus, StoreUnavailable
from contentsvc_core.journal import UNKNOWN_LOG
from contentsvc_core.testing import push_body, signed
from contentsvc_core.usecases.replay import (
    BODY_NOT_STORED,
    INTEGRATION_DISABLED,
    INTEGRATION_GONE,
    NOT_PROCESSED,
    REPOSITORY_GONE,
    Replayed,
    Replayer,
)
from contentsvc_core.workflows.triggers import ChangeTrigger


def replayer(world: World, *, store: Any = None, notify: Callable[[], None] | None = None) -> Replayer:
    stores = world.stores
    more: dict[str, Any] = {} if notify is None else {"notify": notify}
    return Replayer(
        store or stores.deliveries,
        stores.journal,
        stores.contexts,
        stores.endpoints,
        stores.outbox,
        world.clock,
        world.ids,
        **more,
    )


async def entry_of(world: World) -> LogEntry:
    entries = await world.stores.journal.entries(world.organization.id)
    (entry,) = [each for each in entries if each.title == "Processed push event"]
    return entry


async def test_a_replay_is_a_delivery_of_its_own_that_happened_when_the_first_did(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    entry = await entry_of(world)
    arrived = world.clock.now()
    world.clock.advance(timedelta(days=2))
    nudges: list[int] = []

    done = accepted(await replayer(world, notify=lambda: nudges.append(1)).replay(world.organization.id, entry.id))

    assert (done.runs, nudges) == (1, [1])
    assert str(UUID(done.delivery_id)) == done.delivery_id
    newest, first = await world.stores.ledger.runs(world.organization.id)
    assert delivered(newest) == evolve(delivered(first), delivery_id=done.delivery_id, replayed=True)
    assert newest.created_at == world.clock.now()
    log, _ = await world.stores.journal.entries(world.organization.id)
    assert (log.reference_id, log.title, log.status) == (done.delivery_id, "Processed push event", LogStatus.SUCCESS)
    assert log.reason == f"1 workflow run started; replay of {entry.id}"
    records = {each.delivery_id: each for each in await world.stores.contexts.records(world.organization.id)}
    assert set(records) == {"d-1", done.delivery_id}
    assert records[done.delivery_id].created_at == arrived
    # The replay can be replayed.
    assert isinstance(await replayer(world).replay(world.organization.id, log.id), Replayed)


async def test_a_replay_without_runs_does_not_wake_the_worker(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await world.triggers.change(world.organization.id, world.trigger.id, ChangeTrigger(enabled=False))
    nudges: list[int] = []

    done = accepted(
        await replayer(world, notify=lambda: nudges.append(1)).replay(world.organization.id, (await entry_of(world)).id)
    )

    assert (done.runs, nudges) == (0, [])


async def test_an_entry_without_an_event_and_an_unknown_one_cannot_be_replayed(world: World) -> None:
    await world.receiver.receive(
        signed(push_body("feat: x", repository_id=REPOSITORY_ID), at=world.at, secret="wrong", delivery_id="d-1")
    )
    (refused,) = await world.stores.journal.entries(world.organization.id)
    replay = replayer(world).replay

    assert await replay(world.organization.id, refused.id) is BODY_NOT_STORED
    for unknown in ("log_unknown", "no id"):
        assert await replay(world.organization.id, unknown) is UNKNOWN_LOG
    await pushed(world, "d-2", "feat: a lamp")
    assert await replay("org_other", (await entry_of(world)).id) is UNKNOWN_LOG


async def test_an_event_without_its_record_cannot_be_replayed(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    entry = await entry_of(world)
    for orphan in (evolve(entry, id="log_2", reference_id="d-lost"), evolve(entry, id="log_3", reference_id=None)):
        await world.stores.journal.append(orphan)
        fault = await replayer(world).replay(world.organization.id, orphan.id)
        assert fault is NOT_PROCESSED


async def test_deliveries_of_a_disconnected_repository_are_not_replayed(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    entry = await entry_of(world)
    directory = world.stores.directory
    owner, integration = world.organization.id, world.connection.integration
    await directory.enable_integration(owner, integration.id, enabled=False)
    assert await replayer(world).replay(owner, entry.id) is INTEGRATION_DISABLED

    await directory.enable_integration(owner, integration.id, enabled=True)
    elsewhere = evolve(entry, id="log_2", repository_id=7, reference_id="d-1")
    await world.stores.journal.append(elsewhere)
    (record,) = await world.stores.contexts.records(owner)

    class Library:
        async def record(self, *_: object) -> object:
            return record

    library: Any = Library()
    stores = world.stores
    other = Replayer(
        stores.deliveries, stores.journal, library, stores.endpoints, stores.outbox, world.clock, world.ids
    )
    assert await other.replay(owner, elsewhere.id) is REPOSITORY_GONE

    await directory.remove_integration(owner, integration.id)
    assert await replayer(world).replay(owner, entry.id) is INTEGRATION_GONE


@pytest.mark.parametrize(("times", "replayed"), [(1, True), (3, True), (4, False)])
async def test_a_replay_is_decided_anew_when_the_configuration_changes_meanwhile(
    world: World, times: int, *, replayed: bool
) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    entry = await entry_of(world)
    beside = _switched(world, world.connection.integration)
    between = Between(world.stores.deliveries, "settle", beside, times=times)
    replay = replayer(world, store=between).replay(world.organization.id, entry.id)

    if replayed:
        assert isinstance(await replay, Replayed)
    else:
        with pytest.raises(StoreUnavailable, match="the configuration changes faster than a replay can be decided"):
            await replay
    assert between.left == 0
    assert len(await world.stores.ledger.runs(world.organization.id)) == 1 + replayed


def _switched(world: World, integration: Integration) -> Callable[[], Awaitable[object]]:
    async def beside() -> None:
        for enabled in (False, True):
            await world.stores.directory.enable_integration(world.organization.id, integration.id, enabled=enabled)

    return beside
