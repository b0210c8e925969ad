"""``PostLibrary``, ``ContextLibrary``, ``Journal``: orders, pages, sweeps, and tenancy."""

import pytest
from attrs import evolve
from contract_values import IDS, Stores, Tenant, later, push, release, tenant
from tests.builders import an_entry

from contentsvc_core.errors import Unstorable
from contentsvc_core.journal import Direction, LogEntry, LogStatus
from contentsvc_core.testing import START
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Settled
from contentsvc_core.workflows.context import ContextRecord


def _entry(organization_id: str, hours: int = 0) -> LogEntry:
    at = later(hours=hours)
    return an_entry(at, id=IDS.new_id("log_"), organization_id=organization_id, error_message="Invalid signature")


async def _records(acme: Tenant, *hours: int) -> list[ContextRecord]:
    records: list[ContextRecord] = []
    for hour in hours:
        settling = await acme.processed(IDS.new_id("d-"), at=later(hours=hour))
        await acme.stores.deliveries.settle(settling)
        assert settling.context is not None
        records.append(settling.context)
    return records


async def test_records_are_listed_newest_first(acme: Tenant) -> None:
    one, two, three, four = await _records(acme, 2, 0, 1, 0)

    assert await acme.stores.contexts.records(acme.id) == [one, three, four, two]
    assert await acme.stores.contexts.records(acme.id, limit=3) == [one, three, four]


async def test_records_before_a_record_are_listed_newest_first(acme: Tenant) -> None:
    one, two, three, four, five = await _records(acme, 0, 1, 1, 1, 2)
    before = acme.stores.contexts.before

    assert await before(five, limit=9, max_bytes=10**9) == [four, three, two, one]
    assert await before(five, limit=2, max_bytes=10**9) == [four, three]
    # Of the same time, but in a fixed order.
    assert await before(three, limit=9, max_bytes=10**9) == [two, one]
    assert await before(one, limit=9, max_bytes=10**9) == []


async def test_a_repository_is_one_of_an_organization_and_a_provider(stores: Stores) -> None:
    acme = await tenant(stores)
    zenith = await tenant(stores, "zenith")
    github = evolve(acme, integration=evolve(acme.integration, id=IDS.new_id("int_"), provider="github"))
    buoy_repository = evolve(acme.repository, id=2, full_name="acme/buoy")
    buoy = evolve(acme, integration=evolve(acme.integration, id=IDS.new_id("int_"), repositories=(buoy_repository,)))
    for each in (github, buoy):
        assert await stores.directory.add_integration(each.integration, "secret")
    for each in (acme, zenith, github, buoy):
        await _records(each, 0)

    (last,) = await _records(acme, 1)

    (before,) = await stores.contexts.before(last, limit=9, max_bytes=10**9)
    assert (before.organization_id, before.provider, before.repository_id) == (acme.id, "codehost", 1)


async def test_one_record_is_found_by_its_custom_id(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    _, expected, _ = await _records(acme, 0, 0, 0)

    assert await acme.stores.contexts.record(acme.id, expected.custom_id) == expected
    assert await acme.stores.contexts.record(zenith.id, expected.custom_id) is None
    assert await acme.stores.contexts.record(acme.id, "codehost:1:unknown") is None
    assert await acme.stores.contexts.records(zenith.id) == []


async def test_entries_are_listed_newest_first(acme: Tenant) -> None:
    entries = [_entry(acme.id, hours) for hours in (2, 0, 1, 0)]
    for entry in entries:
        await acme.stores.journal.append(entry)
    one, two, three, four = entries

    assert await acme.stores.journal.entries(acme.id) == [one, three, four, two]
    assert await acme.stores.journal.entries(acme.id, limit=1) == [one]
    assert await acme.stores.journal.entries("org_unknown") == []


@pytest.mark.parametrize("detail", [None, {}, {"event": "push", "n": [1, None]}, push(), release()])
async def test_an_entry_reads_back_as_it_was(acme: Tenant, detail: object) -> None:
    entry = evolve(
        _entry(acme.id),
        detail=detail,
        reference_id=None,
        status_code=None,
        error_message=None,
        reason="because",
        direction=Direction.OUTGOING,
        status=LogStatus.PENDING,
    )
    await acme.stores.journal.append(entry)
    # Repeated after an unknown outcome.
    await acme.stores.journal.append(entry)

    assert await acme.stores.journal.entries(acme.id) == [entry]
    (read,) = await acme.stores.journal.entries(acme.id)
    assert read.payload == entry.payload


async def test_no_entry_is_written_for_an_unknown_organization(acme: Tenant) -> None:
    with pytest.raises(Unstorable):
        await acme.stores.journal.append(_entry("org_unknown"))


async def test_a_sweep_deletes_the_oldest_of_one_organization_in_bounds(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    entries = [_entry(acme.id, hours) for hours in (0, 1, 2, 3, 3)]
    foreign = _entry(zenith.id)
    for entry in (*entries, foreign):
        await acme.stores.journal.append(entry)
    sweep = acme.stores.journal.sweep

    # Entries of exactly this age stay.
    assert await sweep(acme.id, before=later(hours=0), limit=9) == 0
    assert await sweep(acme.id, before=later(hours=3), limit=2) == 2
    assert await acme.stores.journal.entries(acme.id) == [entries[4], entries[3], entries[2]]
    assert await sweep(acme.id, before=later(hours=3), limit=2) == 1
    assert await sweep(acme.id, before=later(hours=3), limit=2) == 0
    assert await acme.stores.journal.entries(acme.id) == [entries[4], entries[3]]
    assert await acme.stores.journal.entries(zenith.id) == [foreign]


async def test_a_sweep_of_the_log_leaves_contexts_and_runs(acme: Tenant) -> None:
    run = await acme.taken()
    records = await acme.stores.contexts.records(acme.id)

    assert await acme.stores.journal.sweep(acme.id, before=later(days=99), limit=99) == 1

    assert await acme.stores.contexts.records(acme.id) == records
    assert run in await acme.stores.ledger.runs(acme.id)


async def test_a_sweep_deletes_the_expired_claims(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    settle = acme.stores.deliveries.settle
    for number in range(3):
        await settle(await acme.processed(f"d-{number}", at=later(milliseconds=number)))
    await settle(await zenith.processed("d-0"))
    sweep = acme.stores.journal.sweep_claims

    assert await sweep(before=later(milliseconds=-1), limit=9) == 0
    assert await sweep(before=later(milliseconds=1), limit=2) == 2
    assert await sweep(before=later(milliseconds=1), limit=2) == 1
    assert await sweep(before=later(milliseconds=1), limit=2) == 0

    # The claim of the third delivery still holds, to the millisecond.
    almost = START + DEDUPE_WINDOW
    assert await settle(await acme.processed("d-2", at=almost)) is Settled.ALREADY_CLAIMED
    assert await settle(await acme.processed("d-1", at=START)) is Settled.AS_DECIDED
