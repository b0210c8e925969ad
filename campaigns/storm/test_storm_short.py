"""Concurrent copies, and large unsigned bodies. ``make storm`` is the long form, with held connections."""

import asyncio
from pathlib import Path

import httpx
import pytest
from campaigns.storm.races import STORES, race
from campaigns.storm.weather import LARGE, flood
from campaigns.storm.wire import bursts, heads, idlers, trailers
from tests.server_process import prepare, serving

from contentsvc_adapters.sql.settling import sqlite as sqlite_lane
from contentsvc_core.errors import StoreUnavailable

pytestmark = pytest.mark.slow("a short campaign")


@pytest.mark.parametrize("name", STORES)
def test_of_many_copies_one_is_processed(name: str) -> None:
    assert asyncio.run(race(STORES[name], rounds=2)) == []


def test_a_transaction_that_begins_without_the_write_lock_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_lane, "_BEGIN", "BEGIN DEFERRED")

    with pytest.raises(StoreUnavailable, match="locked"):
        asyncio.run(race(STORES["SQLite"], rounds=50))


def test_large_bodies_without_a_signature_are_refused_in_bounded_memory_and_others_are_served(tmp_path: Path) -> None:
    prepared = prepare(tmp_path)
    with serving(prepared.installation) as server:
        seen = asyncio.run(flood(prepared, server, bodies=4, size=LARGE, keys=[prepared.key], at_least_s=0.0))
        assert httpx.get(f"{server.url}/health/live", trust_env=False, timeout=30).is_success

    # Rejected requests got an answer, unless their connection ended before.
    assert seen.answers["401"] >= 1
    assert seen.answers.keys() <= {"401", "503", "closed", "ConnectionResetError", "BrokenPipeError"}
    assert seen.answers.total() == 4
    assert seen.probed.memory_mb < 512
    assert seen.probed.took_s
    # The only allowed refusal is the key's own limit.
    assert [fault for fault in seen.probed.faults if " 429 " not in fault] == []


def test_hostile_bytes_beside_requests_cost_no_memory_and_block_no_client(tmp_path: Path) -> None:
    prepared = prepare(tmp_path)
    with serving(prepared.installation) as server:
        seen = {
            "trailers": asyncio.run(trailers(prepared, server, mib=9)),
            "bursts": asyncio.run(bursts(prepared, server, connections=4)),
            "heads": asyncio.run(heads(prepared, server, requests=50)),
            "idlers": asyncio.run(idlers(prepared, server, connections=2, for_s=1.0)),
        }

    assert [fault for each in seen.values() for fault in each.probed.faults] == []
    assert {name: each.answers.keys() for name, each in seen.items() if name in {"bursts", "heads"}} == {
        "bursts": {"404"},
        "heads": {"404"},
    }
    # Earlier versions needed 28 MiB for a MiB of trailers, and two idle senders blocked all large deliveries.
    assert seen["trailers"].answers.total() > 1
    assert max(each.grown_mb for each in seen.values()) < 20
    assert seen["idlers"].probed.took_s
