"""``KeyedRequests``: one update of a request at a time, also for a new key; seeds and answers are sealed."""

import asyncio
from datetime import datetime, timedelta

import pytest
from attrs import evolve
from contract_values import IDS, SHARED_CLOCK, RotatingSealer, Stores, later
from sqlalchemy import text

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_core.access.keyed_requests import BUSY, STILL_RUNNING, KeyedRequest, StoredAnswer, begun
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START

pytestmark = pytest.mark.usefixtures("shared_clock")

ANSWER = StoredAnswer(status=201, headers=(("etag", '"é"'),), body='{"post": "ü"}')


def _request(name: str = "k", at: datetime = START, key_prefix: str = "csk_1") -> KeyedRequest:
    return KeyedRequest(
        key_prefix=key_prefix, name=name, digest="d", seed=IDS.token(40), at=at, execution=IDS.new_id(""), busy_until=at
    )


async def put(stores: Stores, *requests: KeyedRequest) -> None:
    for request in requests:
        await stores.keyed_requests.update(request.key_prefix, request.name, lambda _, new=request: new, now=START)


async def stored(stores: Stores, request: KeyedRequest) -> KeyedRequest | None:
    found: list[KeyedRequest | None] = []

    def look(current: KeyedRequest | None) -> KeyedRequest | None:
        found.append(current)
        return current

    await stores.keyed_requests.update(request.key_prefix, request.name, look, now=START)
    return found[-1]


async def test_a_request_is_kept_as_the_transition_gave_it_each_key_for_itself(stores: Stores) -> None:
    one, other, foreign = _request(), _request("K"), _request(key_prefix="csk_2")
    assert await stored(stores, one) is None
    await put(stores, one, other, foreign)
    answered = evolve(one, answer=ANSWER, is_repeated=True, busy_until=later(seconds=1))
    await put(stores, answered)

    assert [await stored(stores, each) for each in (one, other, foreign)] == [answered, other, foreign]


async def test_a_refusal_changes_nothing_and_a_forgotten_request_is_gone(stores: Stores) -> None:
    request = _request()
    await put(stores, request)

    assert await stores.keyed_requests.update("csk_1", "k", lambda _: STILL_RUNNING, now=START) == STILL_RUNNING
    assert await stored(stores, request) == request

    for _ in range(2):
        assert await stores.keyed_requests.update("csk_1", "k", lambda _: None, now=START) is None
    assert await stored(stores, request) is None


async def _begin(stores: Stores, number: int) -> KeyedRequest | Refusal | None:
    new = evolve(_request(), execution=str(number))
    return await stores.keyed_requests.update(
        "csk_1", "k", lambda current: new if current is None else STILL_RUNNING, now=START
    )


async def test_of_parallel_requests_with_a_new_key_one_begins(stores: Stores) -> None:
    results = await asyncio.gather(*(_begin(stores, number) for number in range(16)))

    assert len([each for each in results if isinstance(each, KeyedRequest)]) == 1
    assert results.count(STILL_RUNNING) == 15


async def test_of_parallel_requests_to_two_processes_of_a_postgresql_one_begins(postgres_url: str) -> None:
    nodes = [SqlStores(Database(postgres_url), RotatingSealer()) for _ in range(2)]

    results = await asyncio.gather(*(_begin(nodes[number % 2], number) for number in range(20)))
    for node in nodes:
        await node.close()

    assert len([each for each in results if isinstance(each, KeyedRequest)]) == 1


async def test_a_request_is_busy_by_the_databases_clock_whatever_the_clocks_of_its_processes_show(
    databases: SqlStores,
) -> None:
    first = evolve(_request(at=later(minutes=9)), busy_until=later(minutes=9) + BUSY)
    begin = databases.keyed_requests.update
    await begin("csk_1", "k", lambda stored: begun(stored, first), now=first.at)

    for passed, ahead in ((BUSY - timedelta(milliseconds=1), 30), (BUSY, -30)):
        SHARED_CLOCK.at = START + passed
        again = evolve(_request(at=later(minutes=ahead)), busy_until=later(minutes=ahead) + BUSY)
        result = await begin("csk_1", "k", lambda stored, new=again: begun(stored, new), now=again.at)
        assert (result == STILL_RUNNING) is (passed < BUSY)


async def test_old_requests_are_swept_in_batches_and_others_stay(stores: Stores) -> None:
    requests = [_request(f"k-{hours}", later(hours=hours)) for hours in (3, 1, 0, 2)]
    await put(stores, *requests)

    assert [await stores.keyed_requests.sweep(before=later(hours=3), limit=2) for _ in range(3)] == [2, 1, 0]

    assert [await stored(stores, each) for each in requests] == [requests[0], None, None, None]


async def test_seeds_and_answers_are_not_stored_in_clear(database: Database) -> None:
    stores = SqlStores(database, RotatingSealer())
    request = evolve(_request(), answer=ANSWER)
    await put(stores, request)

    rows = await database.read(lambda connection: connection.execute(text("SELECT * FROM keyed_requests")).all())

    assert len(rows) == 1
    assert request.seed not in repr(rows)
    assert "post" not in repr(rows)
