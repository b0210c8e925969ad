"""The proxy cuts where it is told to, and nowhere else."""

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from tests.nodes.proxy import Conversation, Cut, Proxy, Trap
from tests.postgres import PrivateServer
from tests.server_process import LOOPBACK

_TRAPPED = "INSERT INTO kept"


async def test_a_connection_is_cut_before_the_commit_or_after_it_whatever_the_client_is() -> None:
    with PrivateServer(durable=False) as server:
        direct = server.url.replace("+asyncpg", "", 1)
        with psycopg.connect(direct, autocommit=True) as plain:
            plain.execute("CREATE TABLE kept (name text)")
            async with Proxy(server.port) as proxy:
                through = direct.replace(f"{LOOPBACK}:{server.port}", f"{LOOPBACK}:{proxy.port}")
                engine = create_async_engine(through.replace("postgresql", "postgresql+asyncpg", 1))
                for cut in Cut:
                    trap = proxy.set(Trap(cut, _TRAPPED))
                    with pytest.raises((DBAPIError, OSError)):
                        await _with_asyncpg(engine, f"asyncpg {cut.value}")
                    assert trap.sprung.is_set()
                    trap = proxy.set(Trap(cut, _TRAPPED))
                    with pytest.raises(psycopg.OperationalError):
                        await _with_psycopg(through, f"psycopg {cut.value}")
                    assert trap.sprung.is_set()
                # No trap, or one for others: it passes.
                await _with_asyncpg(engine, "no trap")
                proxy.set(Trap(Cut.BEFORE, "INSERT INTO other"))
                await _with_psycopg(through, "of others")
                await engine.dispose()
            kept = [row[0] for row in plain.execute("SELECT name FROM kept ORDER BY name")]
    assert kept == ["asyncpg after", "no trap", "of others", "psycopg after"]


async def _with_asyncpg(engine: AsyncEngine, name: str) -> None:
    async with engine.begin() as connection:
        await connection.execute(text("INSERT INTO kept VALUES (:name)"), {"name": name})


async def _with_psycopg(address: str, name: str) -> None:
    async with await psycopg.AsyncConnection.connect(address) as connection:
        await connection.execute("INSERT INTO kept VALUES (%s)", [name])


def test_a_conversation_is_the_same_however_it_is_cut_into_pieces() -> None:
    def message(kind: bytes, body: bytes) -> bytes:
        return kind + (len(body) + 4).to_bytes(4) + body

    said = (
        message(b"", (80877103).to_bytes(4)),
        message(b"", (196608).to_bytes(4) + b"user\0me\0\0"),
        message(b"P", b"s\0INSERT INTO t VALUES ($1)\0\0\0"),
        message(b"Q", b"BEGIN;\0"),
        message(b"B", b"\0s\0\0\0"),
        message(b"P", b"\0COMMIT\0\0\0"),
        message(b"B", b"\0\0\0\0"),
    )
    whole = b"".join(said)
    for step in (1, 2, 7, len(whole)):
        conversation = Conversation()
        passed: list[bytes] = []
        for at in range(0, len(whole), step):
            passed.extend(conversation.messages(whole[at : at + step]))
        assert tuple(passed) == said
        assert conversation.commits
        assert conversation.statements == ["INSERT INTO t VALUES ($1)"]
