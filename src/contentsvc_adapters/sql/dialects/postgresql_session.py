"""Settings of each PostgreSQL session, which override those of server, database and role."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol, cast, final

import asyncpg
from attrs import frozen

from contentsvc_adapters.sql.dialects.statements import DriverConnection

#: The time limit for opening a connection, and for waiting for a free one, in seconds.
CONNECT_S: Final = 3.0
#: Limits that the server enforces, in milliseconds.
_LIMITS: Final = {
    "statement_timeout": "4000",
    "lock_timeout": "3000",
    # A process that is suspended during a transaction, such as on a closed laptop, holds locks no longer than this.
    "idle_in_transaction_session_timeout": "10000",
}
#: The same limit for a process that is suspended just after it prepared a statement in a transaction. The server does
#: not count that transaction as idle, and only PostgreSQL 17 or newer has a limit for it.
_TRANSACTION: Final = "SET transaction_timeout = 10000"
_KNOWS_TRANSACTION_TIMEOUT: Final = (17,)
LIMITS: Final = (*_LIMITS, "transaction_timeout")
SESSION: Final = {
    **_LIMITS,
    "application_name": "contentsvc",
    # The receiver answers only after the data is durable.
    "synchronous_commit": "on",
    # Statements are short and frequent: compiling them does not pay.
    "jit": "off",
    # A transaction that only reads says so itself.
    "default_transaction_read_only": "off",
}
SETTLING: Final = {
    **SESSION,
    # A lane's statements begin no explicit transaction that could set this.
    "default_transaction_isolation": "read committed",
    # Each statement is planned once, for arrays of any length. Tables that are empty at that time soon grow.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
}

_STANDBY: Final = "the server is a standby, which accepts no writes: name the primary in CONTENTSVC_DATABASE_URL"
#: The driver's words for a connection that ends before the server has answered, and better ones.
_LOST: Final = "unexpected connection_lost() call"
_CLOSED: Final = "the server, or a proxy before it, closes the connection"


class _Opened(DriverConnection, Protocol):
    def get_server_version(self) -> tuple[int, ...]: ...

    def get_settings(self) -> object: ...

    def is_closed(self) -> bool: ...

    async def execute(self, query: str) -> str: ...


_CONNECT: Final = cast("Callable[..., Awaitable[_Opened]]", asyncpg.connect)  # pyright: ignore[reportUnknownMemberType]


@final
@frozen
class Server:
    host: str | None
    port: int | None


async def opened(
    servers: Sequence[Server], arguments: Mapping[str, Any], session: Mapping[str, str]
) -> DriverConnection:
    """Open a connection to the first server that is a primary; ``OSError``: no server is one."""
    failures: list[str] = []
    for server in servers:
        try:
            # All servers share the time: a host that is away may leave packets without an answer.
            return await _opened(server, arguments, session, timeout_s=CONNECT_S / len(servers))
        except (OSError, asyncpg.CannotConnectNowError) as exc:
            if len(servers) == 1:
                raise
            failures.append(f"{server.host}: {str(exc) or 'no answer in time'}")
    raise ConnectionError("; ".join(failures))


async def _opened(
    server: Server, arguments: Mapping[str, Any], session: Mapping[str, str], *, timeout_s: float
) -> DriverConnection:
    try:
        connection = await _CONNECT(
            **arguments, host=server.host, port=server.port, timeout=timeout_s, server_settings=dict(session)
        )
    except ConnectionError as exc:
        if _LOST in str(exc):
            raise ConnectionError(_CLOSED) from exc
        raise
    # PostgreSQL 14 and newer report it to each client. A connection that is lost already has no settings.
    if not connection.is_closed() and getattr(connection.get_settings(), "in_hot_standby", "off") == "on":
        connection.terminate()
        raise ConnectionError(_STANDBY)
    if connection.get_server_version() >= _KNOWS_TRANSACTION_TIMEOUT:
        try:
            async with asyncio.timeout(timeout_s):
                await connection.execute(_TRANSACTION)
        except BaseException:
            connection.terminate()
            raise
    return connection
