"""Revision 0021: deliveries have no foreign keys. Counts and search stay exact, also beside older nodes."""

import asyncio
import sys
from pathlib import Path
from typing import Final

import pytest
from contract_values import ALL_BYTES, RotatingSealer, later, push, tenant
from older_schema import database_at
from sqlalchemy import Connection, Engine, event, inspect, text
from sqlalchemy.exc import OperationalError

from contentsvc_adapters.sql import SqlStores, revision, serving_alone, upgrade
from contentsvc_core.errors import SchemaMismatch
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.journal import LogQuery
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.lists.terms import Term
from contentsvc_core.search.questions import ContextSearch
from contentsvc_core.timestamps import to_ms

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")

_TABLES: Final = ("events", "context_records", "log_entries", "workflow_runs")
# Statements of the previous version.
_EVENT: Final = (
    "INSERT INTO events (id, organization_id, provider, repository_id, repository, delivery_id, type, data, created_at)"
    " VALUES (:id, :owner, 'codehost', 1, 'acme/lighthouse', :id, 'push', :data, :at)"
)
_CONTEXT: Final = (
    "INSERT INTO context_records (organization_id, custom_id, id, provider, repository_id, event_id, created_at)"
    " VALUES (:owner, 'codehost:1:' || :id, 'ctx_' || :id, 'codehost', 1, :id, :at)"
    " ON CONFLICT (organization_id, custom_id) DO UPDATE SET event_id = excluded.event_id"
)
_ENTRY: Final = (
    "INSERT INTO log_entries (organization_id, created_at, id, integration_id, repository_id, title, integration_type,"
    " direction, status, status_code, event_id) VALUES (:owner, :at, :id, 'int_1', 1, 'Processed push event',"
    " 'codehost', 'incoming', 'success', 200, :id)"
)

_WAITING: Final = (
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'workflow_runs'::regclass"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


def _delivered(connection: Connection, owner: str, id_: str) -> None:
    values = {"owner": owner, "id": id_, "at": to_ms(later()), "data": event_to_json(push("feat: light the lamp"))}
    for statement in (_EVENT, _CONTEXT, _ENTRY):
        connection.execute(text(statement), values)


def _foreign_keys(connection: Connection) -> int:
    return sum(len(inspect(connection).get_foreign_keys(table)) for table in _TABLES)


async def _agrees(stores: SqlStores, owner: str, number: int) -> None:
    page = await stores.journal.page(owner, LogQuery(), PageRequest(limit=1), max_bytes=ALL_BYTES)
    assert isinstance(page, tuple)
    assert page[1].total_items == number
    search = ContextSearch(terms=(Term(words=("lamp",)),))
    hits = await stores.search.records(owner, search, limit=99, max_bytes=ALL_BYTES)
    assert (len(hits.found), hits.behind) == (number, 0)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_counts_and_search_are_exact_before_and_after(kind: str, tmp_path: Path) -> None:
    async with database_at("0020", kind, tmp_path) as older:
        stores = SqlStores(older, RotatingSealer())
        acme = await tenant(stores)
        await older.write(lambda connection: _delivered(connection, acme.id, "before"))
        assert await upgrade(older)
        assert await older.read(_foreign_keys) == 0

        settling = [await acme.processed(f"D-{number}", push("feat: turn the lamp")) for number in range(3)]
        await asyncio.gather(*map(stores.deliveries.settle, settling))
        await _agrees(stores, acme.id, 4)

        if kind == "postgresql":
            await older.write(lambda connection: _delivered(connection, acme.id, "beside"))
            await _agrees(stores, acme.id, 5)
        await stores.close()


async def test_a_sqlite_that_keeps_its_definitions_keeps_the_keys_and_works(tmp_path: Path) -> None:
    def refused(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("UPDATE sqlite_master"):
            message = "table sqlite_master may not be modified"
            raise OperationalError(statement, None, Exception(message))

    async with database_at("0020", "sqlite", tmp_path) as older:
        event.listen(Engine, "before_cursor_execute", refused)
        try:
            assert await upgrade(older)
        finally:
            event.remove(Engine, "before_cursor_execute", refused)
        assert await older.read(_foreign_keys) == 7

        stores = SqlStores(older, RotatingSealer())
        acme = await tenant(stores)
        await stores.deliveries.settle(await acme.processed("D-1", push("feat: turn the lamp")))
        await _agrees(stores, acme.id, 1)
        await stores.close()


async def test_a_node_that_locks_the_tables_in_another_order_is_not_cut_off(tmp_path: Path) -> None:
    holds, waits = asyncio.Event(), asyncio.Event()
    begun = 0

    def node(connection: Connection) -> None:
        nonlocal begun
        begun += 1
        connection.execute(text("LOCK TABLE workflow_runs IN ROW EXCLUSIVE MODE"))
        asyncio.get_running_loop().call_soon(holds.set)
        while not connection.scalar(text(_WAITING)):
            connection.execute(text("SELECT pg_sleep(0.01)"))
        # The migration holds this lock, and waits for the other one.
        connection.execute(text("LOCK TABLE organizations IN ROW SHARE MODE"))
        asyncio.get_running_loop().call_soon(waits.set)

    async with database_at("0020", "postgresql", tmp_path) as older:
        beside = asyncio.create_task(older.write(node))
        await holds.wait()
        assert await upgrade(older)
        await beside

    assert waits.is_set()
    assert begun == 1


async def test_a_file_that_an_older_server_uses_is_not_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    script = f"""
import sys
from pathlib import Path
from contentsvc_adapters.sql import serving_alone
with serving_alone(Path("{path}")):
    print("serves", flush=True)
    sys.stdin.read()
"""
    async with database_at("0020", "sqlite", tmp_path) as older:
        server = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert server.stdout is not None
        assert await server.stdout.readline() == b"serves\n"
        try:
            with pytest.raises(SchemaMismatch, match=f"a server of an earlier version uses {path}: stop it"):
                await upgrade(older)
        finally:
            server.kill()
            await server.communicate()
        assert await revision(older) == "0020"

        # The server itself upgrades the file.
        with serving_alone(path):
            assert await upgrade(older)
