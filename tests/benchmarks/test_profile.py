"""The parts of sampled stacks."""

import pytest
from benchmarks.profile.__main__ import Profile, table
from benchmarks.profile.parts import OTHER, PARTS, part_of, shares

SERVED = "serve (contentsvc_http/server.py:63);Runner.run (asyncio/runners.py:118)"
CYCLE = f"{SERVED};run_asgi (uvicorn/protocols/http/httptools_impl.py:422);__call__ (contentsvc_http/logs.py:152)"


@pytest.mark.parametrize(
    ("stack", "part"),
    [
        (SERVED, "uvicorn, httptools and the event loop"),
        (CYCLE, "our middlewares"),
        (f"{CYCLE};__call__ (contentsvc_http/webhooks.py:78)", "receiver's HTTP"),
        (f"{CYCLE};verify (contentsvc_core/webhooks/signature.py:30);digest (hmac.py:200)", "verify the signature"),
        (f"{CYCLE};read_push (contentsvc_core/webhooks/providers/native.py:9)", "parse the body"),
        (f"{CYCLE};settlement (contentsvc_core/webhooks/settlement.py:9);__init__ (<attrs generated>:3)", "decide"),
        (f"{CYCLE};settle (contentsvc_adapters/sql/settling/queue.py:9)", "settlement queue"),
        ("_work (x.py:1);execute (sqlalchemy/engine/base.py:2)", "SQL: statements and commit"),
        ("main (elsewhere.py:1)", OTHER),
    ],
)
def test_a_stack_belongs_to_its_innermost_frame_that_is_known(stack: str, part: str) -> None:
    assert part_of(stack) == part


def test_threads_that_wait_are_not_counted() -> None:
    waiting = "bootstrap (threading.py:1);_worker (concurrent/futures/thread.py:81)"
    reading = "bootstrap (threading.py:1);_connection_worker_thread (aiosqlite/core.py:59)"

    assert shares([f"{SERVED} 30", f"{waiting} 900", f"{reading} 900", f"{CYCLE} 10", ""]) == {
        "uvicorn, httptools and the event loop": 0.75,
        "our middlewares": 0.25,
    }
    with pytest.raises(ValueError, match="no samples"):
        shares([f"{waiting} 5"])


def test_the_table_lays_the_shares_on_the_processor_time() -> None:
    floor = Profile(title="floor", cpu_us=50.0, others_us=0.0, shares={"verify the signature": 0.2, OTHER: 0.8})
    own_value = Profile(title="ours", cpu_us=100.0, others_us=40.2, shares={"decide": 0.5, "verify the signature": 0.5})

    lines = table([floor, own_value], connections=64).splitlines()

    assert lines[0].endswith("8 KB push, 64 connections | floor | ours |")
    assert "| verify the signature | 10.0 | 50.0 |" in lines
    assert "| decide |  | 50.0 |" in lines
    assert lines[-2:] == ["| **all** | **50** | **100** |", "| of which other threads than the event loop's | 0 | 40 |"]
    assert len(lines) == 2 + 3 + 2 < len(PARTS)
