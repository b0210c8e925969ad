"""What a connection to PostgreSQL insists on, whatever the server, the database or the role are set to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol, cast

import asyncpg

from contentsvc_adapters.sql.dialects.statements import DriverConnection

#: How long it may take to open a connection, and to wait for one that is free, in seconds.
CONNECT_S: Final = 3.0
#: The server ends what takes longer, in milliseconds.
_LIMITS: Final = {
    "statement_timeout": "4000",
    "lock_timeout": "3000",
    # A process that stopped in the middle, as a laptop's lid does it, holds no lock for longer.
    "idle_in_transaction_session_timeout": "10000",
}
#: The same for a process that stopped just after it had a statement prepared in a transaction: to the server it is not
#: idle then, and no other limit counts. Only from this version on there is one that does.
_TRANSACTION: Final = "SET transaction_timeout = 10000"
_KNOWS_TRANSACTION_TIMEOUT: Final = (17,)
#: The names of all limits; an older server does not know each.
LIMITS: Final = (*_LIMITS, "transaction_timeout")
#: For transactions.
SESSION: Final = {
    **_LIMITS,
    "application_name": "contentsvc",
    # An answer is given when it is durable.
    "synchronous_commit": "on",
    # Statements are short and many: none is worth compiling.
    "jit": "off",
}
#: For a lane, whose statements are transactions of their own.
SETTLING: Final = {
    **SESSION,
    # No statement of a lane begins a transaction that says so.
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    # Planned once, for arrays of any length; and were the tables empty then, they are not for long.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
}


class _Opened(DriverConnection, Protocol):
    """What is needed of a connection that was just opened, beside."""

    def get_server_version(self) -> tuple[int, ...]: ...

    async def execute(self, query: str) -> str: ...


#: The driver has no complete types.
_CONNECT: Final = cast("Callable[..., Awaitable[_Opened]]", asyncpg.connect)  # pyright: ignore[reportUnknownMemberType]


async def opened(arguments: Mapping[str, Any], session: Mapping[str, str]) -> DriverConnection:
    """Open a connection.

    Args:
        arguments: What the driver is given; a password among it.
        session: What the connection insists on.

    Raises:
        OSError: Nobody is there, or nobody answers in time.
        asyncpg.PostgresError: The server does not let us in.
    """
    connection = await _CONNECT(**arguments, timeout=CONNECT_S, server_settings=dict(session))
    if connection.get_server_version() >= _KNOWS_TRANSACTION_TIMEOUT:
        try:
            async with asyncio.timeout(CONNECT_S):
                await connection.execute(_TRANSACTION)
        except BaseException:
            connection.terminate()
            raise
    return connection
