"""A document that is unreadable, or ends the indexing process, is abandoned after three attempts."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest
from contract_values import Tenant, a_post, later, push, tenant
from sqlalchemy import text
from structlog.testing import capture_logs
from tests.contracts.conftest import Opening

from contentsvc_adapters.sql import SqlStores
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_adapters.sql.searching import indexing
from contentsvc_adapters.sql.searching.indexing import TRIES, AbandonedDocument
from contentsvc_adapters.sql.searching.search import SqlSearch
from contentsvc_core.errors import StoreUnavailable, UnreadableRow
from contentsvc_core.lists.terms import Term
from contentsvc_core.search.documents import record_words
from contentsvc_core.search.questions import ContextSearch
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_http.wiring.loops import log_abandoned

_LAMP = ContextSearch(terms=(Term(words=("lamp",)),))


class _Ended(Exception):
    pass


def _ends(*_: object) -> Any:
    raise _Ended


@pytest.fixture(params=["sqlite", "postgresql"])
async def sql(request: pytest.FixtureRequest, opened: Opening) -> AsyncGenerator[SqlStores]:
    async with opened(request.param) as created:
        assert isinstance(created, SqlStores)
        yield created


@pytest.fixture
async def acme(sql: SqlStores) -> Tenant:
    """An organization with three records, of which the second one is unreadable."""
    of = await tenant(sql)
    for number in range(3):
        settlement = await of.processed(f"D-{number}", push("feat: light the lamp"), at=later(hours=number))
        await sql.deliveries.settle(settlement)
    await _execute(sql, "UPDATE events SET data = 'x' || data WHERE delivery_id = 'D-1'")
    return of


async def _execute(sql: SqlStores, statement: str) -> None:
    await sql.database.write(lambda connection: connection.execute(text(statement)))


async def _expire(sql: SqlStores) -> None:
    """Backdate the beginning of all attempts."""
    await _execute(sql, "UPDATE search_pending SET begun_at = 0 WHERE begun_at > 0")


async def _pending(sql: SqlStores) -> list[tuple[Any, ...]]:
    question = text("SELECT document_id, begun FROM search_pending ORDER BY document_id")
    return await sql.database.read(lambda connection: [tuple(row) for row in connection.execute(question)])


async def _found(of: Tenant, sql: SqlStores) -> tuple[list[str], int]:
    hits = await sql.search.records(of.id, _LAMP, limit=9, max_bytes=1_000_000)
    return [record.delivery_id for record in hits.found], hits.behind


async def test_a_document_that_was_begun_three_times_without_an_end_is_given_up(acme: Tenant, sql: SqlStores) -> None:
    given_up: list[AbandonedDocument] = []
    faults: list[Exception] = []
    sql.search.indexer.on_abandoned, sql.search.indexer.on_fault = given_up.append, faults.append
    key = f"codehost:{acme.repository.id}:D-1"

    for number in range(TRIES):
        await sql.search.catch_up(limit=99)
        assert given_up == []
        assert [type(fault) for fault in faults] == [UnreadableRow] * (number + 1)
        # From the first attempt on, the other records are found.
        assert await _pending(sql) == [(key, number + 1)]
        await _expire(sql)
    await sql.search.catch_up(limit=99)

    assert given_up == [AbandonedDocument(organization_id=acme.id, kind="context", document_id=key)]
    assert await _pending(sql) == [(key, TRIES + 1)]
    # The other records are found, and the search is complete.
    assert await _found(acme, sql) == (["D-2", "D-0"], 0)
    await _expire(sql)
    assert await sql.search.catch_up(limit=99) == 0
    assert len(given_up) == 1


@pytest.mark.parametrize("sql", ["postgresql"], indirect=True)
async def test_an_attempt_with_a_full_disk_does_not_count(acme: Tenant, sql: SqlStores) -> None:
    await _execute(sql, "UPDATE events SET data = substr(data, 2) WHERE delivery_id = 'D-1'")
    await _execute(
        sql,
        "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END'",
    )
    await _execute(sql, "CREATE TRIGGER fill BEFORE INSERT ON search_documents FOR EACH ROW EXECUTE FUNCTION fill()")

    for _ in range(TRIES + 1):
        with pytest.raises(StoreUnavailable):
            await sql.search.catch_up(limit=99)

    assert [begun for _, begun in await _pending(sql)] == [0, 0, 0]
    await _execute(sql, "DROP TRIGGER fill ON search_documents")
    assert await _found(acme, sql) == (["D-2", "D-1", "D-0"], 0)


def test_the_log_names_the_document() -> None:
    with capture_logs() as lines:
        log_abandoned(AbandonedDocument(organization_id="org_1", kind="post", document_id="post_1"))

    named = {"organization_id": "org_1", "kind": "post", "document_id": "post_1"}
    assert lines == [{"event": "search document given up", "log_level": "error", "tries": 3, **named}]


async def test_documents_that_only_new_nodes_know_are_left_to_them(acme: Tenant, sql: SqlStores) -> None:
    run = await acme.taken()
    await sql.ledger.complete(run, a_post(acme.id, run.created_at, id="post_1"), once=None)
    await _execute(sql, "UPDATE events SET data = substr(data, 2) WHERE delivery_id = 'D-1'")
    await sql.search.catch_up(limit=99)
    await _execute(sql, "UPDATE posts SET content_type = 'a_new_type', title = 'new'")
    await _execute(
        sql,
        "INSERT INTO search_pending (organization_id, kind, document_id, version)"
        " SELECT id, 'a_new_kind', 'doc_1', 1 FROM organizations",
    )

    for _ in range(TRIES + 1):
        assert await sql.search.catch_up(limit=99) == 0
        await _expire(sql)

    assert await _pending(sql) == [("doc_1", 0), ("post_1", 0)]


async def test_a_document_that_was_given_up_is_tried_again_when_it_changes(acme: Tenant, sql: SqlStores) -> None:
    for _ in range(TRIES):
        await sql.search.catch_up(limit=99)
        await _expire(sql)
    await sql.search.catch_up(limit=99)

    await _execute(sql, "UPDATE events SET data = substr(data, 2) WHERE delivery_id = 'D-1'")
    await _execute(sql, "UPDATE context_records SET event_id = event_id WHERE custom_id LIKE '%D-1'")

    assert await _found(acme, sql) == (["D-2", "D-1", "D-0"], 0)
    assert await _pending(sql) == []


async def test_documents_that_another_process_has_begun_are_left_to_it_until_their_lease_ends(
    acme: Tenant, sql: SqlStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(indexing, "_tasks", _ends)
        with pytest.raises(_Ended):
            await sql.search.catch_up(limit=99)

    for _ in range(TRIES):
        assert await sql.search.catch_up(limit=99) == 0
    assert [begun for _, begun in await _pending(sql)] == [1, 1, 1]
    # A search does not wait for the other process, and an unreadable document does not fail it.
    for _ in range(TRIES):
        assert await _found(acme, sql) == (["D-2", "D-0"], 1)
    assert [begun for _, begun in await _pending(sql)] == [1]


async def test_two_processes_at_once_index_each_document_once(
    acme: Tenant, sql: SqlStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed: list[str] = []

    def words(record: ContextRecord) -> tuple[str, ...]:
        indexed.append(record.delivery_id or "")
        return record_words(record)

    monkeypatch.setattr(indexing, "record_words", words)
    await _execute(sql, "UPDATE events SET data = substr(data, 2) WHERE delivery_id = 'D-1'")

    await asyncio.gather(*(SqlSearch(sql.database).catch_up(limit=99) for _ in range(3)))

    assert sorted(indexed) == ["D-0", "D-1", "D-2"]
    assert (await _found(acme, sql), await _pending(sql)) == ((["D-2", "D-1", "D-0"], 0), [])


async def test_after_an_end_of_the_process_each_item_is_retried_alone(
    acme: Tenant, sql: SqlStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert acme.id
    tasks = indexing._tasks  # pyright: ignore[reportPrivateUsage]  # where a document would end the process

    def ends(pending: Sequence[AnyRow], *read: Sequence[AnyRow]) -> Any:
        return (_ends if any(row.document_id.endswith("D-1") for row in pending) else tasks)(pending, *read)

    monkeypatch.setattr(indexing, "_tasks", ends)
    with pytest.raises(_Ended):
        await sql.search.catch_up(limit=99)
    assert len(await _pending(sql)) == 3
    await _expire(sql)

    with pytest.raises(_Ended):
        await sql.search.catch_up(limit=99)

    # The keys before it are done, and the keys after it wait.
    assert [(key[-3:], begun) for key, begun in await _pending(sql)] == [("D-1", 2), ("D-2", 1)]
