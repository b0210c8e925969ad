"""``Journal``: pages of the log, and one entry found."""

from datetime import timedelta
from itertools import product

import pytest
from attrs import evolve
from contract_values import ALL_BYTES, CHECKING, IDS, Tenant, later, push, tenant
from tests.builders import an_entry

from contentsvc_core.journal import LogEntry, LogQuery, LogStatus
from contentsvc_core.lists.pagination import PageRequest, Pagination, invalid_page
from contentsvc_core.refusals import Refusal


def _entry(organization_id: str, number: int) -> LogEntry:
    return an_entry(
        # Several entries of the same time.
        later(hours=number // 3),
        id=IDS.new_id("log_"),
        organization_id=organization_id,
        integration_id=f"int_{number % 2}",
        status=list(LogStatus)[number % 3],
        detail=push() if number % 2 else {"event": "ping"},
    )


@pytest.fixture
async def log(acme: Tenant) -> list[LogEntry]:
    """Entries of every kind, newest first; and another organization's."""
    zenith = await tenant(acme.stores, "zenith")
    entries = [_entry(acme.id, number) for number in range(12)]
    for entry in (*entries, _entry(zenith.id, 0), _entry(zenith.id, 1)):
        await acme.stores.journal.append(entry)
    return sorted(entries, key=lambda entry: (entry.created_at, entry.id), reverse=True)


async def test_pages_partition_the_log(acme: Tenant, log: list[LogEntry]) -> None:
    queries = product(
        ((), ("int_1",), ("int_0", "int_1"), ("int_unknown",)),
        ((), (LogStatus.FAILED,), (LogStatus.SUCCESS, LogStatus.PENDING)),
    )
    for integrations, statuses in queries:
        query = LogQuery(integration_ids=integrations, statuses=statuses)
        expected = [
            entry
            for entry in log
            if (not integrations or entry.integration_id in integrations) and (not statuses or entry.status in statuses)
        ]
        last = max(1, -(-len(expected) // 5))

        read: list[LogEntry] = []
        for number in range(1, last + 1):
            page = await acme.stores.journal.page(
                acme.id, query, PageRequest(limit=5, page=number), max_bytes=ALL_BYTES
            )
            assert not isinstance(page, Refusal)
            assert page[1] == Pagination(limit=5, current_page=number, total_pages=last, total_items=len(expected))
            read.extend(page[0])

        assert read == expected
        beyond = await acme.stores.journal.page(
            acme.id, query, PageRequest(limit=5, page=last + 1), max_bytes=ALL_BYTES
        )
        assert beyond == invalid_page(last + 1, last)


async def test_pages_of_a_list_with_an_end_do_not_move_while_entries_arrive(acme: Tenant, log: list[LogEntry]) -> None:
    until = log[0].created_at + timedelta(milliseconds=1)
    read: list[LogEntry] = []
    for number in (1, 2, 3):
        page = await acme.stores.journal.page(
            acme.id, LogQuery(until=until), PageRequest(limit=5, page=number), max_bytes=ALL_BYTES
        )
        assert not isinstance(page, Refusal)
        read += page[0]
        await acme.stores.journal.append(evolve(_entry(acme.id, number), created_at=until))

    assert read == log


async def test_an_entry_is_found_where_it_belongs(acme: Tenant, log: list[LogEntry]) -> None:
    zenith = await tenant(acme.stores, "elsewhere")
    processed = await acme.processed("d-1", at=later(hours=1))
    filtered = await acme.decided(CHECKING[0])
    for settling in (processed, filtered):
        await acme.stores.deliveries.settle(settling)
    entry = acme.stores.journal.entry

    for each in (processed.log, filtered.log, log[0], log[-1]):
        assert await entry(acme.id, each.id) == each
        assert await entry(zenith.id, each.id) is None
    assert await entry(acme.id, "log_unknown") is None
    # Its event stays, but is no log entry.
    assert await acme.stores.journal.sweep(acme.id, before=later(days=9), limit=99) == len(log) + 2
    assert await entry(acme.id, processed.log.id) is None
    assert await entry(acme.id, filtered.log.id) is None
