"""Query plans of the sent statements: no statement reads all of a table that grows.

The statements are recorded at the engines during the calls. Nothing is timed.
"""

import re
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any, Final

import psycopg
import pytest
from attrs import evolve, frozen
from contract_values import ALL_BYTES, IDS, RotatingSealer, Tenant, a_post, later, push, release, take, tenant
from sqlalchemy import insert, text
from sqlite_files import file_of
from tests.endpoints import PLACES
from tests.statements import statements

from contentsvc_adapters.sql import Database, SqlStores, rows, workflow_rows
from contentsvc_adapters.sql.dialects import Record, Statements
from contentsvc_adapters.sql.dialects.postgresql_session import SETTLING
from contentsvc_adapters.sql.entries import added_counts, adding_counts
from contentsvc_adapters.sql.post_rows import post_row
from contentsvc_adapters.sql.schema.access import keyed_requests, rate_windows, sessions
from contentsvc_adapters.sql.schema.content import posts, released_pushes
from contentsvc_adapters.sql.schema.deliveries import claims, context_records, events, log_entries
from contentsvc_adapters.sql.schema.lists import log_counts
from contentsvc_adapters.sql.schema.searching import search_batches
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_adapters.sql.settling import settlement_rows
from contentsvc_core.access.rates import RATES, Bucket
from contentsvc_core.access.sessions import Session
from contentsvc_core.access.window import hit
from contentsvc_core.content.posts import PostStatus
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.facets import Label
from contentsvc_core.content.public.images import Image, ImageKind, ImageMark
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.queries import PostOrder, PostQuery
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.journal import LogQuery, LogStatus
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.lists.terms import read_terms
from contentsvc_core.read_model import LogSearch
from contentsvc_core.refusals import Refusal
from contentsvc_core.search.questions import ContextSearch, PostSearch
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.runs import Completion, RunStatus

_NUMBER: Final = 1500
_TOGETHER: Final = 250
_GROWING: Final = (
    "claims|context_records|events|keyed_requests|log_counts|log_entries|post_counts|posts|rate_windows|run_steps"
    "|released_pushes|search_documents|sessions|told_once|workflow_runs"
)
#: Scans of all rows, or of a whole index, in plans of SQLite and of PostgreSQL.
_SCAN: Final = re.compile(
    rf"\b(?:SCAN|Seq Scan on) (?:{_GROWING})\b|Seq Scan on search_words\b"
    # The partial indexes of pending and of running runs stay small.
    rf"|Index (?:Only )?Scan (?:Backward )?using (?!ix_workflow_runs_(?:pending|running)\b)\w+ on "
    rf"(?:{_GROWING})\b.*(?!\n *Index Cond)(?:\n|$)"
)
#: A plan of a lane that reads all rows of a growing table, or a whole index.
_WHOLE: Final = re.compile(
    r"\bScan (?:using (?!ix_workflow_runs_(?:pending|running)\b)\w+ )?on "
    rf"(?:{_GROWING}|organizations|webhook_messages)\b.*\n(?! *Index Cond)"
)
_QUESTION: Final = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b")


@frozen
class Shelf:
    """A database with rows of each kind, and its tenant."""

    database: Database
    stores: SqlStores
    acme: Tenant
    #: The id of a log entry with an event.
    processed: str


async def _filled(database: Database) -> Shelf:
    stores = SqlStores(database, RotatingSealer())
    acme, zenith = await tenant(stores), await tenant(stores, "zenith")
    (settling, foreign) = [await each.processed("d", push("feat: lamp")) for each in (acme, zenith)]
    tables: dict[Any, list[dict[str, Any]]] = {}
    for number in range(_NUMBER):
        each = settling if number % 3 else foreign
        assert each.context is not None
        assert each.key is not None
        at = later(minutes=20 * number)
        log = evolve(each.log, id=IDS.new_id("log_"), created_at=at)
        context = evolve(each.context, id=IDS.new_id("ctx_"), delivery_id=f"d-{number}", created_at=at)
        status = RunStatus.PENDING if number % 30 == 0 else RunStatus.COMPLETED
        run = evolve(each.runs[0], id=IDS.new_id("run_"), status=status, created_at=at)
        post = a_post(log.organization_id, at, status=list(PostStatus)[number % 2])
        created = {
            events: rows.event_row(log, push("feat: lamp"), of=context),
            log_entries: rows.log_row(log),
            claims: {"key": number.to_bytes(16), "claimed_at": to_ms(at), "log_id": log.id},
            context_records: workflow_rows.context_row(context, event_id=log.id),
            workflow_runs: workflow_rows.run_row(run, event_id=log.id),
            posts: post_row(post, run_id=run.id, once=None, push=context.custom_id) | {"run_id": None},
            released_pushes: {
                "organization_id": log.organization_id,
                "push_id": context.custom_id,
                "post_id": f"post_r{number // 9}",
            },
            rate_windows: {"bucket": f"b-{number}", "hits": "[]", "expires_at": to_ms(at)},
            keyed_requests: {
                "key_prefix": "csk_1",
                "name": f"k-{number}",
                "digest": "d",
                "sealed_seed": "s",
                "at": to_ms(at),
                "execution": "e",
                "is_repeated": False,
                "busy_until": 0,
            },
            sessions: {"digest": f"s-{number}", "key_prefix": "c", "created_at": 0, "expires_at": to_ms(at)},
        }
        for table, row in created.items():
            tables.setdefault(table, []).append(row)

    # In parts: on a slow machine, the whole takes longer than the limit of a transaction.
    for table, created in tables.items():
        for first in range(0, _NUMBER, _TOGETHER):
            some = created[first : first + _TOGETHER]
            await database.write(lambda connection, table=table, some=some: connection.execute(insert(table), some))
    if database.dialect.is_sqlite:
        # On that database, no trigger counts inserted rows and notes them for search.
        noted = settlement_rows.noted(tables[context_records])
        await database.write(lambda connection: connection.execute(insert(search_batches), {"documents": noted}))
        counts = added_counts(tables[log_entries])
        counting = adding_counts(database.dialect.insert(log_counts))
        await database.write(lambda connection: connection.execute(counting, counts))
    while await stores.search.catch_up(limit=_NUMBER):
        pass
    await database.write(lambda connection: connection.execute(text("ANALYZE")))
    return Shelf(database, stores, acme, tables[log_entries][1]["id"])


async def _sent(shelf: Shelf, call: Callable[[Shelf], Awaitable[object]]) -> list[tuple[str, Any]]:
    with statements() as executed:
        await call(shelf)
    return [each for each in executed if _QUESTION.match(each[0])]


async def _plans(shelf: Shelf, explain: Callable[[str, Any], str]) -> list[str]:
    """Return the plans that scan a growing table, each with its call and its statement."""
    found: list[str] = []
    for name, call in _CALLS.items():
        executed = await _sent(shelf, call)
        assert executed, f"{name}: no statement was sent"
        for statement, parameters in executed:
            plan = explain(statement, parameters[0] if isinstance(parameters, list) else parameters)
            if _SCAN.search(plan):
                found.append(f"{name}\n{statement}\n{plan}")
    return found


async def _settling(shelf: Shelf) -> None:
    await shelf.stores.deliveries.settle(await shelf.acme.processed(IDS.new_id("d-"), release(), at=later(days=99)))


async def _finishing(shelf: Shelf) -> None:
    journal = shelf.stores.journal
    entry = evolve(
        (await shelf.acme.processed("d-9")).log, id=IDS.new_id("log_"), detail=None, created_at=later(days=98)
    )
    await journal.append(entry)
    await journal.finish(evolve(entry, status=LogStatus.FAILED))


async def _timed(shelf: Shelf) -> None:
    at = later(days=97)
    log_id = f"log_{to_ms(at):012x}"[:12] + f"-{to_ms(at) & 0xFFFF:04x}-7000-8000-000000000000"
    entry = evolve((await shelf.acme.processed("d-8")).log, id=log_id, detail=None, created_at=at)
    await shelf.stores.journal.append(entry)
    with statements() as executed:
        assert await shelf.stores.journal.entry(shelf.acme.id, log_id) == entry
    # Found by its id, without another query.
    assert sum("FROM log_entries" in statement for statement, _ in executed) == 1


async def _before(shelf: Shelf) -> None:
    (record,) = await shelf.stores.contexts.records(shelf.acme.id, limit=1)
    await shelf.stores.contexts.before(record, limit=50, max_bytes=10**9)


async def _running(shelf: Shelf) -> None:
    due = await shelf.stores.ledger.pending(later(days=99), limit=4, per_organization=2)
    (run, *_) = await take(shelf.stores, [each.id for each in due])
    await shelf.stores.ledger.complete(run, a_post(shelf.acme.id), once="once")


async def _editing(shelf: Shelf) -> None:
    (post,) = await shelf.stores.posts.posts(shelf.acme.id, limit=1)
    published = evolve(post, status=PostStatus.PUBLISHED, updated_at=post.updated_at + timedelta(seconds=1))
    await shelf.stores.posts.change(published, unchanged_since=post.updated_at)
    await shelf.stores.posts.remove(shelf.acme.id, post.id)


async def _releasing(shelf: Shelf) -> None:
    run = await shelf.acme.taken(release())
    final = a_post(shelf.acme.id, status=PostStatus.PUBLISHED, release_tag="v1")
    pushes = [f"codehost:1:d-{number}" for number in range(1, 9)]
    ledger = shelf.stores.ledger
    assert await ledger.of_releases(run, since=later(hours=-1), until=later(hours=1), limit=9)
    assert not await ledger.reported(shelf.acme.id, ["v1", "v2"])
    assert await ledger.complete(run, final, once="v1", also=["v2"], pushes=pushes) is Completion.COMPLETED
    shown = PublicChangelog.first(shelf.acme.organization, later())
    assert await shelf.stores.changelogs.contained(shown, final.id, limit=9)
    draft = evolve(final, status=PostStatus.DRAFT, updated_at=final.updated_at + timedelta(seconds=1))
    assert await shelf.stores.posts.change(draft, unchanged_since=final.updated_at)
    assert await shelf.stores.posts.remove(shelf.acme.id, final.id)


async def _visiting(shelf: Shelf) -> None:
    kept, digest = shelf.stores.sessions, IDS.token(9)
    await kept.add(Session(digest=digest, key_prefix="csk_1", created_at=later(), expires_at=later(hours=1)))
    assert await kept.session(digest) is not None
    await kept.remove(digest)
    await kept.sweep(before=later(hours=2), limit=9)


async def _related(shelf: Shelf) -> None:
    run_lists = shelf.stores.run_lists
    (run,) = await run_lists.runs(shelf.acme.id, limit=1)
    log_id = await run_lists.log_of(shelf.acme.id, run)
    assert log_id is not None
    assert run in await run_lists.runs_of(shelf.acme.id, log_id)
    assert await run_lists.run(shelf.acme.id, run.id) == run
    (post,) = await shelf.stores.posts.posts(shelf.acme.id, limit=1)
    await run_lists.post_titles(shelf.acme.id, {post.id, "post_unknown"})


async def _found(shelf: Shelf) -> None:
    search, before = shelf.stores.search, Cursor(at=later(days=9), id="ctx_1")
    terms = read_terms("feat lam* -door")
    assert not isinstance(terms, Refusal)
    for query in (ContextSearch(terms=terms), ContextSearch()):
        hits = await search.records(shelf.acme.id, query, limit=9, max_bytes=10**9, before=before)
        assert len(hits.found) == 9
    await search.posts(shelf.acme.id, PostSearch(terms=terms, statuses=[PostStatus.DRAFT]), limit=9)


async def _looking(shelf: Shelf) -> None:
    await _editing(shelf)
    await shelf.stores.deliveries.settle(
        await shelf.acme.processed(IDS.new_id("d-"), push("feat: x"), at=later(days=96))
    )
    assert await shelf.stores.search.catch_up(limit=99)


async def _showing(shelf: Shelf) -> None:
    changelogs, shown = shelf.stores.changelogs, PublicChangelog.first(shelf.acme.organization, later())
    assert await changelogs.save(shown) is None
    assert await changelogs.of(shelf.acme.id) == await changelogs.named(shown.slug) == shown
    newest = await changelogs.posts(shown, limit=20)
    assert len(newest) == 20
    cursor = newest[-1].cursor
    (month, *_) = await changelogs.months(shown)
    assert await changelogs.posts(shown, limit=20, month=month, before=cursor)
    await changelogs.posts(shown, limit=20, released=True, before=cursor)
    assert await changelogs.post(shown, newest[0].id) == newest[0]
    assert await changelogs.contained(shown, newest[0].id, limit=9) == []
    assert await changelogs.last_change(shown) == newest[0].updated_at
    await changelogs.beside(shown, newest[3])


async def _finding(shelf: Shelf) -> None:
    changelogs = shelf.stores.changelogs
    shown = PublicChangelog.first(shelf.acme.organization, later())
    assert await changelogs.save(shown) is None
    some = evolve(shown, id="chl_some", slug="some", repositories=("acme/lens", "acme/door"), scopes=("beam", "api"))
    assert await changelogs.save(some) is None
    # The rows were written without paths; a change sets one.
    (post, *_) = await changelogs.posts(shown, limit=1)
    changed = evolve(post, title="A lamp", updated_at=post.updated_at + timedelta(seconds=1))
    assert await shelf.stores.posts.change(changed, unchanged_since=post.updated_at)
    (newest, *_) = await changelogs.posts(shown, limit=2)
    assert newest.path is not None
    assert await changelogs.at_path(shown, newest.path) == newest
    cursor = newest.cursor
    await changelogs.posts(shown, limit=20, label=Label.FIXED, before=cursor)
    await changelogs.posts(some, limit=20, label=Label.FIXED, month=Month.of(newest.occurred_at))
    await changelogs.posts(some, limit=20, released=True)
    await changelogs.beside(some, newest)
    await changelogs.contained(some, newest.id, limit=9)
    mark = ImageMark(kind=ImageKind.LOGO, media_type="image/png", width=1, height=1, digest="0")
    await changelogs.put_image(some, ImageKind.LOGO, Image(mark=mark, content=b"x"), later())
    assert await changelogs.image(evolve(some, images=(mark,)), ImageKind.LOGO)
    assert len(await changelogs.all_of(shelf.acme.id)) == 2
    await changelogs.remove(some)


def _searching(shelf: Shelf) -> LogSearch:
    return LogSearch(
        integration_ids=[shelf.acme.integration.id],
        statuses=[LogStatus.SUCCESS],
        event="push",
        text="PROCESSED",
        since=later(days=1),
        until=later(days=8),
    )


_DEEP: Final = PageRequest(limit=10, page=60)
_CALLS: Final[dict[str, Callable[[Shelf], Awaitable[object]]]] = {
    "endpoint": lambda shelf: shelf.stores.deliveries.configuration(shelf.acme.address, later()),
    "settle": _settling,
    "first page of the log": lambda shelf: shelf.stores.journal.page(
        shelf.acme.id, LogQuery(), PageRequest(), max_bytes=ALL_BYTES
    ),
    "entries of the log": lambda shelf: shelf.stores.journal.entries(shelf.acme.id, limit=5),
    "deep page of the log": lambda shelf: shelf.stores.journal.page(
        shelf.acme.id, LogQuery(), _DEEP, max_bytes=ALL_BYTES
    ),
    "page of the log by filters": lambda shelf: shelf.stores.journal.page(
        shelf.acme.id,
        LogQuery(integration_ids=(shelf.acme.integration.id,), statuses=(LogStatus.SUCCESS,)),
        _DEEP,
        max_bytes=ALL_BYTES,
    ),
    # Both ends are inside an hour.
    "page of the log by times": lambda shelf: shelf.stores.journal.page(
        shelf.acme.id,
        LogQuery(statuses=(LogStatus.SUCCESS,), since=later(days=2, minutes=7), until=later(days=18, minutes=7)),
        _DEEP,
        max_bytes=ALL_BYTES,
    ),
    "first page of the log by times": lambda shelf: shelf.stores.journal.page(
        shelf.acme.id, LogQuery(since=later(days=2)), PageRequest(), max_bytes=ALL_BYTES
    ),
    "log entry by the id of an event": lambda shelf: shelf.stores.journal.entry(shelf.acme.id, shelf.processed),
    "log entry by an id with a time": _timed,
    "answered": lambda shelf: shelf.stores.journal.answered(
        shelf.acme.id, shelf.acme.integration.id, ["d-1"], since=later(days=18)
    ),
    "append and finish": _finishing,
    "sweep of the log": lambda shelf: shelf.stores.journal.sweep(shelf.acme.id, before=later(days=1), limit=9),
    "last sweep of the log": lambda shelf: shelf.stores.journal.sweep(shelf.acme.id, before=later(days=-9), limit=9),
    "sweep of claims": lambda shelf: shelf.stores.journal.sweep_claims(before=later(days=1), limit=9),
    "sweep of windows": lambda shelf: shelf.stores.rate_limits.sweep(before=later(days=1), limit=9),
    "sweep of keyed requests": lambda shelf: shelf.stores.keyed_requests.sweep(before=later(days=1), limit=9),
    "keyed request": lambda shelf: shelf.stores.keyed_requests.update("csk_1", "other", lambda _: None, now=later()),
    "limit": lambda shelf: shelf.stores.rate_limits.update(
        Bucket.of_key(RATES[0], "csk_1"), lambda window: hit(window, RATES[0], later())
    ),
    "limits": lambda shelf: shelf.stores.rate_limits.windows([Bucket.of_key(rate, "csk_1") for rate in RATES]),
    "list of runs": lambda shelf: shelf.stores.ledger.runs(shelf.acme.id, limit=5),
    "list of posts": lambda shelf: shelf.stores.posts.posts(shelf.acme.id, limit=5),
    "first page of posts": lambda shelf: shelf.stores.posts.page(shelf.acme.id, PostQuery(), PageRequest()),
    "deep page of posts by filters": lambda shelf: shelf.stores.posts.page(
        shelf.acme.id, PostQuery(ascending=True, statuses=(PostStatus.DRAFT,)), PageRequest(limit=10, page=30)
    ),
    "deep page of posts by when they happened": lambda shelf: shelf.stores.posts.page(
        shelf.acme.id,
        PostQuery(order_by=PostOrder.OCCURRED_AT, statuses=(PostStatus.DRAFT,)),
        PageRequest(limit=10, page=30),
    ),
    "a release with its pushes": _releasing,
    "context before": _before,
    "context within": lambda shelf: shelf.stores.contexts.within(
        shelf.acme.id,
        provider="codehost",
        repository_id=shelf.acme.repository.id,
        window=LookbackWindow(since=later(days=7), until=later(days=8)),
        limit=50,
        max_bytes=10**9,
    ),
    "runs": _running,
    "change and remove a post": _editing,
    "sessions": _visiting,
    "public changelog": _showing,
    "public changelog by label, repository and path": _finding,
    "newest part of the log": lambda shelf: shelf.stores.read_model.log(shelf.acme.id, LogSearch(), limit=50),
    "older part of the log": lambda shelf: shelf.stores.read_model.log(
        shelf.acme.id, LogSearch(), limit=50, before=Cursor(at=later(days=9), id="log_1")
    ),
    "what came to the log since": lambda shelf: shelf.stores.read_model.log(
        shelf.acme.id, LogSearch(), limit=50, after=Cursor(at=later(days=20), id="log_1")
    ),
    "part of the log by all that can be asked for": lambda shelf: shelf.stores.read_model.log(
        shelf.acme.id, _searching(shelf), limit=50, before=Cursor(at=later(days=9), id="log_1")
    ),
    "newest entries": lambda shelf: shelf.stores.read_model.newest_entries(shelf.acme.id),
    "counts of the log": lambda shelf: shelf.stores.read_model.log_counts(
        shelf.acme.id, since=later(days=18), span=timedelta(hours=1)
    ),
    # With so few rows, reading all of them is faster for 50 results.
    "newest runs": lambda shelf: shelf.stores.run_lists.runs(shelf.acme.id, limit=9),
    "older runs by status": lambda shelf: shelf.stores.run_lists.runs(
        shelf.acme.id,
        statuses=[RunStatus.FAILED, RunStatus.PENDING],
        limit=9,
        before=Cursor(at=later(days=9), id="run_1"),
    ),
    "a run, its entry, and all that came with that": _related,
    "search": _found,
    "looking at what was written": _looking,
    "counts of runs": lambda shelf: shelf.stores.run_lists.run_counts(shelf.acme.id, since=later(days=18)),
}

#: Lists that an index has in their order: no list is sorted, at any length.
_IN_ORDER: Final = ("entries of the log", "list of posts", "list of runs", "context before", "sweep of claims")


@pytest.mark.slow("fills tables and reads the planner's choices")
async def test_sqlite_walks_through_no_table_that_grows(database: Database) -> None:
    shelf = await _filled(database)
    with closing(sqlite3.connect(file_of(database))) as file:

        def explain(statement: str, parameters: Any) -> str:
            return "\n".join(row[-1] for row in file.execute(f"EXPLAIN QUERY PLAN {statement}", parameters))

        # The pattern finds a real scan.
        assert _SCAN.search(explain("SELECT * FROM log_entries WHERE id = ?", ("log_1",)))
        assert await _plans(shelf, explain) == []
        for name in _IN_ORDER:
            # The keys of records are sorted, which one command lists.
            for statement, parameters in (await _sent(shelf, _CALLS[name]))[name == "context before" :]:
                assert "TEMP B-TREE FOR ORDER BY" not in explain(statement, parameters), name
    await shelf.stores.close()


@pytest.mark.slow("fills tables and reads the planner's choices")
async def test_postgresql_walks_through_no_table_that_grows(postgresql: Database, postgres_url: str) -> None:
    shelf = await _filled(postgresql)
    # The planner reads a small table as a whole in spite of an index; a large one must have an index.
    url = f"{postgres_url}{'&' if '?' in postgres_url else '?'}options=-cenable_seqscan%3Doff"

    # Never prepared: the driver would query the parameter types of a frequent statement.
    with psycopg.connect(url.replace("+asyncpg", "", 1), autocommit=True, prepare_threshold=None) as connection:

        def explain(statement: str, _parameters: Any) -> str:
            # The generic plan, which the server uses after several executions.
            return "\n".join(row[0] for row in connection.execute(f"EXPLAIN (GENERIC_PLAN) {statement}".encode()))

        assert _SCAN.search(explain("SELECT * FROM log_entries WHERE title = $1", None))
        assert _SCAN.search(explain("SELECT * FROM log_entries ORDER BY organization_id", None))
        assert await _plans(shelf, explain) == []
    await shelf.stores.close()


async def _in_lanes(stores: SqlStores, acme: Tenant) -> None:
    await stores.deliveries.settle(await acme.processed(IDS.new_id("d-"), push("feat: x")))
    await stores.executors.recover("killed", lost=await stores.executors.heartbeat("here"))
    await stores.executors.running("here")
    await stores.ledger.pending(later(), limit=4, per_organization=2)
    await stores.outbox.due(later(), PLACES)


@pytest.mark.slow("reads the planner's choices")
async def test_postgresql_lanes_walk_through_no_table_that_was_small(
    postgresql: Database, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lane keeps its plan. A plan for small tables must still be good when the tables have grown."""
    stores = SqlStores(postgresql, RotatingSealer())
    executed: list[str] = []
    fetch = Statements.fetch

    async def recorded(self: Statements, statement: str, arguments: Sequence[object]) -> Sequence[Record]:
        executed.append(statement)
        return await fetch(self, statement, arguments)

    monkeypatch.setattr(Statements, "fetch", recorded)
    await _in_lanes(stores, await tenant(stores))
    assert {name for name in ("claims", "workflow_runs", "webhook_messages") for each in executed if name in each} == {
        "claims",
        "workflow_runs",
        "webhook_messages",
    }
    with psycopg.connect(postgres_url.replace("+asyncpg", "", 1), autocommit=True, prepare_threshold=None) as lane:
        for name, value in SETTLING.items():
            lane.execute(f"SET {name} = '{value}'".encode())
        lane.execute("ANALYZE")
        plans = [
            "\n".join(row[0] for row in lane.execute(f"EXPLAIN (GENERIC_PLAN) {each}".encode())) for each in executed
        ]
        joined = b"SELECT * FROM organizations JOIN unnest($1::text[]) AS id USING (id)"
        whole = "\n".join(row[0] for row in lane.execute(b"EXPLAIN (GENERIC_PLAN) " + joined))
    await stores.close()

    # The pattern finds a join that reads the whole index.
    assert _WHOLE.search(whole)
    assert [plan for plan in plans if _WHOLE.search(plan)] == []
