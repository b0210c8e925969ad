"""The proxy cuts at the requested place, and nowhere else."""

import itertools

import psycopg
import pytest
from campaigns.nodes.proxy import Conversation, Cut, Proxy, Trap
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from tests.postgres import PrivateServer
from tests.server_process import LOOPBACK

pytestmark = pytest.mark.slow("cuts connections of real servers")

_TRAPPED = "INSERT INTO kept"


async def test_the_proxy_cuts_before_or_after_the_commit_of_any_client() -> None:
    with PrivateServer(durable=False) as server:
        direct = server.url.replace("+asyncpg", "", 1)
        with psycopg.connect(direct, autocommit=True) as plain:
            plain.execute("CREATE TABLE kept (name text)")
            async with Proxy(server.port) as proxy:
                through = direct.replace(f"{LOOPBACK}:{server.port}", f"{LOOPBACK}:{proxy.port}")
                engine = create_async_engine(through.replace("postgresql", "postgresql+asyncpg", 1))
                for cut, alone in itertools.product(Cut, (False, True)):
                    named = f"{cut.value}{' alone' if alone else ''}"
                    trap = proxy.set(Trap(cut, _TRAPPED))
                    with pytest.raises((DBAPIError, OSError)):
                        await _with_asyncpg(engine, f"asyncpg {named}", alone=alone)
                    assert trap.sprung.is_set()
                    trap = proxy.set(Trap(cut, _TRAPPED))
                    with pytest.raises(psycopg.OperationalError):
                        await _with_psycopg(through, f"psycopg {named}", alone=alone)
                    assert trap.sprung.is_set()
                # Without a trap for the statement, the commit passes.
                await _with_asyncpg(engine, "no trap")
                proxy.set(Trap(Cut.BEFORE, "INSERT INTO other"))
                await _with_psycopg(through, "of others")
                await engine.dispose()
            kept = [row[0] for row in plain.execute("SELECT name FROM kept ORDER BY name")]
    assert kept == [
        "asyncpg after",
        "asyncpg after alone",
        "no trap",
        "of others",
        "psycopg after",
        "psycopg after alone",
    ]


async def _with_asyncpg(engine: AsyncEngine, name: str, *, alone: bool = False) -> None:
    """Insert a row; ``alone``: in a statement that is a transaction of its own."""
    if alone:
        engine = engine.execution_options(isolation_level="AUTOCOMMIT")
    async with engine.begin() as connection:
        await connection.execute(text("INSERT INTO kept VALUES (:name)"), {"name": name})


async def _with_psycopg(address: str, name: str, *, alone: bool = False) -> None:
    async with await psycopg.AsyncConnection.connect(address, autocommit=alone) as connection:
        await connection.execute("INSERT INTO kept VALUES (%s)", [name])


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4) + body


def test_a_conversation_is_the_same_however_it_is_cut_into_pieces() -> None:
    messages = (
        _message(b"", (80877103).to_bytes(4)),
        _message(b"", (196608).to_bytes(4) + b"user\0me\0\0"),
        _message(b"P", b"s\0INSERT INTO t VALUES ($1)\0\0\0"),
        _message(b"Q", b"BEGIN;\0"),
        _message(b"B", b"\0s\0\0\0"),
        _message(b"P", b"\0COMMIT\0\0\0"),
        _message(b"B", b"\0\0\0\0"),
    )
    whole = b"".join(messages)
    for step in (1, 2, 7, len(whole)):
        conversation = Conversation()
        passed: list[bytes] = []
        for at in range(0, len(whole), step):
            passed.extend(conversation.messages(whole[at : at + step]))
        assert tuple(passed) == messages
        assert conversation.commits
        assert conversation.statements == ["INSERT INTO t VALUES ($1)"]


def test_the_proxy_recognizes_commits_and_implicit_transactions() -> None:
    conversation = Conversation()
    list(conversation.messages(_message(b"", (196608).to_bytes(4))))
    told: list[tuple[bool, list[str]]] = []
    for statement in ("one", "two", "BEGIN", "three", "ROLLBACK", "BEGIN", "four", "five", "COMMIT", "six"):
        list(conversation.messages(_message(b"Q", statement.encode() + b"\0")))
        told.append((conversation.commits, list(conversation.statements)))

    assert told == [
        (True, ["one"]),
        (True, ["two"]),
        (False, []),
        (False, ["three"]),
        (False, []),
        (False, []),
        (False, ["four"]),
        (False, ["four", "five"]),
        (True, ["four", "five"]),
        (True, ["six"]),
    ]
