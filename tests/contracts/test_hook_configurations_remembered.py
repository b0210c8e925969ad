"""A cached configuration never decides: every change applies from the next delivery on."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from contract_values import IDS, SECRET, RotatingSealer, Tenant, a_trigger, an_integration, later, tenant
from sqlalchemy import event
from tests import postgres, sqlite
from tests.refusals import existing

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.deliveries import HookConfigurations
from contentsvc_core import (
    Delivery,
    Duplicate,
    HookConfiguration,
    Organization,
    Outcome,
    Processed,
    Receiver,
    StoreUnavailable,
)
from contentsvc_core.testing import START, ManualClock, push_body, signed
from contentsvc_core.webhooks.delivery import Belonging, Headers
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.triggers import Trigger

A_MOMENT = timedelta(milliseconds=1)


@frozen(kw_only=True)
class Nodes:
    """Two nodes with one database: one receives, and the other one changes the configuration."""

    acme: Tenant
    other_node: SqlStores
    receiver: Receiver
    clock: ManualClock

    def push(self, delivery_id: str, secret: str = SECRET) -> Delivery:
        return signed(push_body("feat: x"), at=self.acme.address, secret=secret, delivery_id=delivery_id)

    async def deliver(self, delivery_id: str, secret: str = SECRET) -> Outcome:
        return await self.receiver.receive(self.push(delivery_id, secret))

    async def recalled(self, now: datetime = START, repository_id: int = 1) -> HookConfiguration | None:
        at = evolve(self.acme.address, repository_id=repository_id)
        return await self.acme.stores.deliveries.configuration(at, now, allow_cached=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    if request.param == "sqlite":
        yield sqlite.migrated(tmp_path / "store.db")
    else:
        with postgres.emptied() as emptied:
            yield emptied


@pytest.fixture
async def nodes(url: str) -> AsyncGenerator[Nodes]:
    own_value, other_node = (SqlStores(Database(url), RotatingSealer()) for _ in range(2))
    clock = ManualClock()
    yield Nodes(
        acme=await tenant(own_value),
        other_node=other_node,
        # None of its refusals stores a row, so no settlement confirms them.
        receiver=Receiver(own_value.deliveries, own_value.journal, clock, IDS, failed_rows_per_minute=0),
        clock=clock,
    )
    await own_value.close()
    await other_node.close()


async def test_a_read_configuration_is_cached_and_returned_without_another_read(nodes: Nodes) -> None:
    read = await nodes.acme.hook()

    assert await nodes.recalled() is read
    again = await nodes.acme.hook()
    assert again == read
    assert again is not read
    await nodes.acme.stores.deliveries.settle(await nodes.acme.processed("d-1"))
    assert await nodes.recalled() is not None


async def test_a_change_behind_its_back_counts_from_the_next_delivery_on(nodes: Nodes) -> None:
    acme, other_node = nodes.acme, nodes.other_node
    directory = other_node.directory
    triggers = other_node.triggers
    assert isinstance(await nodes.deliver("d-0"), Processed)
    assert len(await other_node.ledger.runs(acme.id)) == 2

    # An additional trigger, and a removed one.
    assert isinstance(await triggers.add(a_trigger(acme.id, 1, name="third")), Trigger)
    assert isinstance(await nodes.deliver("d-1"), Processed)
    assert len(await other_node.ledger.runs(acme.id)) == 5
    for trigger in acme.triggers:
        assert await triggers.remove(acme.id, trigger.id)
    assert isinstance(await nodes.deliver("d-2"), Processed)
    assert len(await other_node.ledger.runs(acme.id)) == 6

    # Switched off, and on again.
    assert await directory.enable_integration(acme.id, acme.integration.id, enabled=False)
    assert (await nodes.deliver("d-3")).status == 403
    assert await directory.enable_integration(acme.id, acme.integration.id, enabled=True)
    assert isinstance(await nodes.deliver("d-3"), Processed)

    # Another secret.
    assert await other_node.hooks.rotate_secret(acme.id, acme.integration.id, "new", at=START, overlap_until=START)
    assert isinstance(await nodes.deliver("d-4", "new"), Processed)
    assert (await nodes.deliver("d-5")).status == 401

    # Removed, and the repository connected again through another integration.
    assert await directory.remove_integration(acme.id, acme.integration.id)
    encoded = evolve(nodes.push("d-6", "new"), headers=Headers.of(((b"content-encoding", b"gzip"),)))
    refused = existing(await nodes.receiver.preflight(encoded))
    assert refused.status == 404
    assert (await nodes.deliver("d-6", "new")).status == 404
    moved = an_integration(acme.id, (1, "acme/lighthouse"))
    assert await directory.add_integration(moved, "other")
    assert (await nodes.deliver("d-6", "new")).status == 404


async def test_a_repository_that_moves_to_another_integration_counts_there(nodes: Nodes) -> None:
    acme, directory = nodes.acme, nodes.other_node.directory
    other = evolve(acme, integration=an_integration(acme.id, (2, "acme/buoy")))
    assert await directory.add_integration(other.integration, SECRET)
    at_the_other = evolve(acme.address, integration_id=other.integration.id)
    strayed = signed(push_body("feat: x"), at=at_the_other, secret=SECRET, delivery_id="d-1")
    assert (await nodes.receiver.receive(strayed)).status == 403

    assert await directory.remove_integration(acme.id, acme.integration.id)
    assert (await nodes.receiver.receive(strayed)).status == 404


async def test_a_cached_configuration_still_finds_duplicates(nodes: Nodes) -> None:
    assert isinstance(await nodes.deliver("d-1"), Processed)
    assert isinstance(await nodes.deliver("d-1"), Duplicate)


async def test_a_missing_configuration_is_never_cached(nodes: Nodes) -> None:
    acme = nodes.acme
    created = an_integration(acme.id, (2, "acme/buoy"))
    at = evolve(acme.address, integration_id=created.id, repository_id=2)
    deliveries = acme.stores.deliveries
    assert await deliveries.configuration(at, START, allow_cached=True) is None
    # An unknown repository is not cached either: senders may invent ids.
    assert await nodes.recalled(repository_id=2) is not await nodes.recalled(repository_id=2)

    assert await nodes.other_node.directory.add_integration(created, SECRET)

    assert await deliveries.configuration(at, START, allow_cached=True) is not None


async def test_a_secret_ends_exactly_at_its_time_without_another_read(nodes: Nodes) -> None:
    acme = nodes.acme
    end = later(seconds=60)
    await nodes.other_node.hooks.rotate_secret(acme.id, acme.integration.id, "new", at=START, overlap_until=end)
    assert (await acme.hook()).secrets == ("new", SECRET)
    # From here on, reads fail.
    await nodes.acme.stores.close()

    before, at, after = [await nodes.recalled(now) for now in (end - A_MOMENT, end, end + A_MOMENT)]

    assert before is not None
    assert before.secrets == ("new", SECRET)
    assert at is not None
    assert at == evolve(before, secrets=("new",), former_secrets=(SECRET,))
    assert after is at
    # With a clock that was set back, the secret verifies again, which only a read can show.
    with pytest.raises(StoreUnavailable):
        await nodes.recalled(end - A_MOMENT)


async def test_a_stale_answer_clears_the_cache_of_its_organization_only(nodes: Nodes) -> None:
    acme = nodes.acme
    zenith = evolve(nodes, acme=await tenant(acme.stores, "zenith"))
    assert await acme.stores.directory.add_integration(an_integration(acme.id, (2, "acme/buoy")), SECRET)
    other_node, own, other = [
        await each.recalled(repository_id=id_) for each, id_ in ((zenith, 1), (nodes, 1), (nodes, 2))
    ]
    settling = await acme.processed("d-1")
    assert await nodes.other_node.triggers.remove(acme.id, acme.triggers[0].id)

    assert await acme.stores.deliveries.settle(settling) is Settled.STALE

    assert await zenith.recalled() is other_node
    assert await nodes.recalled() != own
    assert await nodes.recalled(repository_id=2) != other
    # A repetition is too old to invalidate newer entries.
    newer = await nodes.recalled()
    assert await acme.stores.deliveries.settle(settling) is Settled.STALE
    assert await nodes.recalled() is newer


async def test_a_bounded_number_of_addresses_is_remembered(database: Database) -> None:
    stores = SqlStores(database, RotatingSealer())
    tenants = [await tenant(stores, slug) for slug in ("acme", "buoy", "zenith")]
    configurations = HookConfigurations(database, RotatingSealer(), cache_size=2)
    first, second, third = [each.address for each in tenants]
    for address in (first, second):
        await configurations.read(address, START)
    assert configurations.cached(first, START) is not None

    await configurations.read(third, START)

    # The least recently used entry was evicted.
    assert [configurations.cached(address, START) is not None for address in (first, second, third)] == [
        True,
        False,
        True,
    ]
    assert isinstance(tenants[0].organization, Organization)
    await stores.close()


async def test_concurrent_reads_of_addresses_are_one_query_with_separate_results(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(url)
    stores = SqlStores(database, RotatingSealer())
    tenants = [await tenant(stores, f"o{number}", triggers=number % 3) for number in range(20)]
    # One address is disabled, one has the repository through another integration, and one has an unknown repository.
    await stores.directory.enable_integration(tenants[1].id, tenants[1].integration.id, enabled=False)
    other = an_integration(tenants[2].id, (7, "acme/other"))
    await stores.directory.add_integration(other, "another secret")
    addresses = [each.address for each in tenants]
    addresses += [
        evolve(tenants[2].address, repository_id=7),
        evolve(tenants[3].address, integration_id="int_unknown"),
        evolve(tenants[4].address, organization_id=tenants[5].id),
        evolve(tenants[6].address, provider="github"),
        evolve(tenants[7].address, repository_id=99),
    ]
    one_by_one = [await stores.deliveries.configuration(address, START) for address in addresses]
    reads = 0
    read = database.read

    async def counted(work: Any) -> Any:
        nonlocal reads
        reads += 1
        return await read(work)

    monkeypatch.setattr(database, "read", counted)
    configurations = HookConfigurations(database, RotatingSealer())
    found = await asyncio.gather(*(configurations.read(address, START) for address in addresses))

    assert found == one_by_one
    assert reads == 1
    assert [each is None for each in found[20:]] == [False, True, True, True, False]
    assert [each and each.repository for each in found[20:]] == [
        *(Belonging.ANOTHER_INTEGRATION, None, None, None),
        Belonging.UNKNOWN,
    ]
    assert found[1] is not None
    assert not found[1].enabled
    assert [each and len(each.triggers) for each in found[:3]] == [0, 1, 2]
    await stores.close()
    await database.dispose()


async def test_the_triggers_of_a_version_are_read_once_however_many_addresses_there_are(url: str) -> None:
    database = Database(url)
    stores = SqlStores(database, RotatingSealer())
    acme = await tenant(stores, repository_id=1)
    second = an_integration(acme.id, (2, "acme/second"))
    await stores.directory.add_integration(second, SECRET)
    configurations = HookConfigurations(database, RotatingSealer())
    first = await configurations.read(acme.address, START)
    executed = statements_of(database)

    existing(await configurations.read(evolve(acme.address, integration_id=second.id, repository_id=2), START))
    again = existing(await configurations.read(acme.address, START))

    assert first is not None
    assert not [each for each in executed if "FROM triggers" in each]
    assert all(one is same for one, same in zip(first.triggers, again.triggers, strict=True))
    added = a_trigger(acme.id, 2, name="new")
    await stores.triggers.add(added)
    # Another version: all entries are read again.
    newer = existing(await configurations.read(evolve(acme.address, integration_id=second.id, repository_id=2), START))
    assert newer.triggers == (added,)
    assert [each for each in executed if "FROM triggers" in each]
    await stores.close()
    await database.dispose()


def statements_of(database: Database) -> list[str]:
    """Return a list that grows with the statements of readers."""
    executed: list[str] = []
    engine = database._reader.sync_engine  # pyright: ignore[reportPrivateUsage]  # the statements for the database
    event.listen(engine, "before_cursor_execute", lambda *details: executed.append(details[2].replace("\n", " ")))
    return executed
