"""SQLite: a batch of deliveries notes its records for search in one row, which the indexer replaces."""

import asyncio

import pytest
from contract_values import RotatingSealer, Tenant, later, push, tenant
from sqlalchemy import func, select

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.schema.searching import search_batches, search_documents, search_pending
from contentsvc_core.lists.terms import Term
from contentsvc_core.search.questions import ContextSearch


@pytest.fixture
def stores(database: Database) -> SqlStores:
    return SqlStores(database, RotatingSealer())


@pytest.fixture
async def acme(stores: SqlStores) -> Tenant:
    return await tenant(stores)


async def _numbers(stores: SqlStores) -> tuple[int, int, int]:
    """Count the batches, the noted documents, and the indexed documents."""
    tables = (search_batches, search_pending, search_documents)
    queries = [select(func.count()).select_from(table) for table in tables]
    batches, pending, documents = await stores.database.read(
        lambda connection: [connection.scalar(query) or 0 for query in queries]
    )
    return batches, pending, documents


async def _found(of: Tenant, word: str) -> list[str]:
    search = ContextSearch(terms=(Term(words=(word,)),))
    hits = await of.stores.search.records(of.id, search, limit=99, max_bytes=1_000_000)
    assert hits.behind == 0
    return [record.delivery_id for record in hits.found]


async def test_a_batch_is_one_row_until_it_is_looked_at(acme: Tenant, stores: SqlStores) -> None:
    zenith = await tenant(stores, "zenith", repository_id=9)
    settling = [await each.processed(f"D-{number}") for number in range(3) for each in (acme, zenith)]
    written: list[int] = []
    stores.queue.on_batch = written.append
    await asyncio.gather(*map(stores.deliveries.settle, settling))
    assert max(written) > 1
    assert await _numbers(stores) == (len(written), 0, 0)

    # A search indexes the records of its organization.
    assert sorted(await _found(acme, "lamp")) == ["D-0", "D-1", "D-2"]
    assert await _numbers(stores) == (0, 3, 3)

    assert await stores.search.catch_up(limit=99) == 3
    assert await _numbers(stores) == (0, 0, 6)


async def test_many_batches_are_all_looked_at_before_a_search_answers(acme: Tenant, stores: SqlStores) -> None:
    for number in range(40):
        await stores.deliveries.settle(await acme.processed(f"D-{number}", at=later(minutes=number)))
    assert await _numbers(stores) == (40, 0, 0)

    assert len(await _found(acme, "lamp")) == 40


async def test_looks_at_the_same_time_note_a_batch_once(acme: Tenant, stores: SqlStores) -> None:
    await stores.deliveries.settle(await acme.processed("D-1"))

    looked = await asyncio.gather(*(stores.search.catch_up(limit=99) for _ in range(4)))

    assert sum(looked) >= 1
    assert await _numbers(stores) == (0, 0, 1)


async def test_a_record_that_is_replaced_before_it_was_looked_at_has_its_new_words(
    acme: Tenant, stores: SqlStores
) -> None:
    await stores.deliveries.settle(await acme.processed("D-1", push("feat: old words")))
    await stores.deliveries.settle(await acme.processed("D-1", push("feat: new words"), at=later(hours=25)))

    assert await _found(acme, "old") == []
    assert await _found(acme, "new") == ["D-1"]


async def test_a_duplicate_and_a_refused_delivery_note_nothing(acme: Tenant, stores: SqlStores) -> None:
    await stores.deliveries.settle(await acme.processed("D-1"))
    await stores.search.catch_up(limit=99)

    await stores.deliveries.settle(await acme.processed("D-1", at=later(hours=1)))

    assert await _numbers(stores) == (0, 0, 1)
