"""PostgreSQL: many connections, all of which may write."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, Self, final

import asyncpg
from attrs import field, frozen
from sqlalchemy import (
    JSON,
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Select,
    Subquery,
    Table,
    TableValuedAlias,
    Text,
    cast,
    event,
    func,
    literal_column,
    select,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import Insert
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import DBAPIError, EmulatedDBAPIException

from contentsvc_adapters.sql.dialects.dialect import CREATEDB, OWN_TABLES, DatabaseFault, Query
from contentsvc_adapters.sql.dialects.postgresql_session import CONNECT_S, LIMITS, SESSION, SETTLING, Server, opened
from contentsvc_adapters.sql.dialects.statements import DriverConnection, Statements
from contentsvc_adapters.sql.dialects.transactions import Connections, Pooled, asynchronous_engine

#: "contents" in ASCII: the number of the advisory lock, the same for all nodes.
_LOCK_ID: Final = 0x636F6E74656E7473
#: "name" in ASCII: the first number of the advisory locks of names.
_NAMES: Final = 0x6E616D65
#: The options allowed in a database URL, and the driver's names for them.
_OPTIONS: Final = {"host": "host", "port": "port", "ssl": "ssl", "sslmode": "ssl"}
_KNOWN: Final = ", ".join(_OPTIONS)
_EXAMPLE: Final = "postgresql+asyncpg://USER:PASSWORD@HOST/DATABASE"

_CONFLICTS: Final = {
    "40001",  # serialization_failure
    "40P01",  # deadlock_detected
}
_LOST: Final = {
    "57P01",  # admin_shutdown
    "57P02",  # crash_shutdown
    "57P05",  # idle_session_timeout
    "25P03",  # idle_in_transaction_session_timeout
    "25P04",  # transaction_timeout
    # A migration has changed a prepared statement (feature_not_supported); a new connection prepares it again.
    "0A000",
}
_UNSTORABLE: Final = {
    "54000",  # program_limit_exceeded: larger than an index allows
}
_NO_POOLER: Final = "a connection pooler cannot be used: name the server itself in CONTENTSVC_DATABASE_URL"
_REACH: Final = "see that PostgreSQL runs there, or correct CONTENTSVC_DATABASE_URL"
#: What to do about errors that do not say it.
_ADVICE: Final = {
    # A pooler refuses the settings of a session (protocol_violation), or mixes the prepared statements of sessions.
    "08P01": _NO_POOLER,
    "26000": _NO_POOLER,
    "42P05": _NO_POOLER,
    # too_many_connections
    "53300": "raise max_connections of the server, or lower CONTENTSVC_DATABASE_POOL_SIZE",
}
#: The driver's own errors. SQLAlchemy does not wrap the errors of a connection that is lost before its first use.
_RAW: Final = asyncpg.PostgresError | asyncpg.InterfaceError | asyncpg.InternalClientError


class _Unreachable(Exception):
    """No connection could be opened. No transaction had begun, and an immediate retry would fail again."""


@final
@frozen(kw_only=True, eq=False)
class Postgresql:
    """PostgreSQL through asyncpg: one pool; READ COMMITTED for writing, a snapshot for reading."""

    arguments: Mapping[str, Any] = field(repr=False)
    #: Where to connect, in this order; one of them is the primary.
    servers: Sequence[Server]
    name: str
    pool_size: int

    is_sqlite: ClassVar[bool] = False
    #: Older nodes may be running, so the operator decides when to migrate.
    upgrades_itself: ClassVar[bool] = False
    #: In seconds. Longer than the limits of the session, whose errors say more, and shorter than a code host waits for
    #: an answer. This limit ends a transaction if the server has stopped responding and enforces no limits.
    patience_s: ClassVar[float | None] = 6.0
    #: The process prepares one batch while the server writes the other. More lanes would wait for the same disk.
    lanes: ClassVar[int] = 2

    @classmethod
    def of(cls, url: URL, *, pool_size: int) -> Self:
        """Create the dialect from a URL; no message of its ``ValueError`` repeats the URL."""
        if not url.database:
            message = f"the database's URL names no database: use {_EXAMPLE}"
            raise ValueError(message)
        arguments = url.translate_connect_args(username="user")
        for option, value in url.query.items():
            if option not in _OPTIONS or not isinstance(value, str):
                message = f"the database's URL has an option that is not known, or has it twice: it may be {_KNOWN}"
                raise ValueError(message)
            arguments[_OPTIONS[option]] = value
        host, port = arguments.pop("host", None), arguments.pop("port", None)
        hosts = str(host or "").split(",")
        ports = str(port or "").split(",")
        if len(ports) not in {1, len(hosts)} or not all(each.isdecimal() for each in ports if port):
            message = f"the database's URL needs one port, or one for each host, as a number: use {_EXAMPLE}"
            raise ValueError(message)
        pairs = zip(hosts, ports if len(ports) > 1 else ports * len(hosts), strict=True)
        return cls(
            arguments=arguments,
            servers=[Server(host=host or None, port=int(port) if port else None) for host, port in pairs],
            name=f"the database '{url.database}'"
            + (f" at {host}" if host else "")
            + (f" port {port}" if host and port else ""),
            pool_size=pool_size,
        )

    @property
    def readers(self) -> int:
        return self.pool_size

    def connections(self) -> Connections:
        writer = self._engine(self.pool_size, "READ COMMITTED", SESSION)
        reader = writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        # Settlements have their own connections, so reading cannot delay them. Each statement is a transaction.
        # One more is for polls: a heartbeat that waits for settlements would make this process seem dead.
        settler = Statements(partial(self._connect, SETTLING), most=self.lanes + 1, is_lost=_hide)
        return Connections(writing=Pooled(writer), reading=Pooled(reader), settling=settler)

    def _engine(self, size: int, isolation_level: str, session: Mapping[str, str]) -> Engine:
        engine = asynchronous_engine(
            URL.create("postgresql+asyncpg"),
            partial(self._connect, session),
            isolation_level=isolation_level,
            pool_size=size,
            pool_timeout=CONNECT_S,
            # No pre-ping: it costs three round trips before each transaction, and the connection may be lost
            # afterwards. A lost connection is dropped with all of its age, and the transaction runs again on a new one.
            pool_pre_ping=False,
        )
        event.listen(engine, "handle_error", _on_error)
        return engine

    async def _connect(self, session: Mapping[str, str]) -> DriverConnection:
        try:
            return await opened(self.servers, self.arguments, session)
        except OSError as exc:
            raise _Unreachable from exc

    def insert(self, table: Table) -> Insert:
        return postgresql_insert(table)

    def for_each(self, outer: FromClause, inner: Select[*tuple[Any, ...]], *, of: Table) -> Subquery:
        _ = of
        lateral = inner.lateral()
        return select(lateral).select_from(outer.join(lateral, true())).subquery()

    def size_of(self, column: Column[str]) -> ColumnElement[int]:
        return func.octet_length(column)

    def now_ms(self) -> ColumnElement[int]:
        return literal_column("(extract(epoch FROM clock_timestamp()) * 1000)::bigint", BigInteger)

    def contains(self, column: ColumnElement[Any], part: str, *, folded: bool = False) -> ColumnElement[bool]:
        # In the collation "C", lower() changes ASCII only. In others, the result depends on the database's locale.
        return func.strpos(func.lower(column.collate("C")) if folded else column, part) > 0

    def entries(self, texts: BindParameter[str]) -> TableValuedAlias:
        # The driver would encode a parameter of the type JSON once more.
        return func.json_each_text(cast(cast(texts, Text), JSON)).table_valued("key", "value")

    def locking(self, query: Query) -> Query:
        return query.with_for_update(skip_locked=True)

    def alone(self, connection: Connection) -> None:
        # pg_settings has no row for a setting that an older server lacks.
        connection.execute(
            text("SELECT set_config(name, '0', true) FROM pg_settings WHERE name = ANY (:limits)"),
            {"limits": [*LIMITS]},
        )
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK_ID})"))

    def lock(self, connection: Connection, name: str) -> None:
        """Acquire an advisory lock of the name's hash; a collision only makes two names wait for each other."""
        # Locks of two numbers have a key space of their own, apart from the lock for migrations.
        connection.execute(
            text("SELECT pg_advisory_xact_lock(:space, hashtext(:name))"), {"space": _NAMES, "name": name}
        )

    def fault(self, exc: Exception) -> DatabaseFault | None:
        if isinstance(exc, _Unreachable):
            return DatabaseFault.AWAY
        return _fault_of(_cause(exc)) if isinstance(exc, OSError | DBAPIError | _RAW) else None

    def explain(self, exc: Exception) -> str:
        cause = _cause(exc)
        if isinstance(cause, asyncpg.exceptions.DataError) and cause.__cause__ is not None:
            # The driver's message repeats the value.
            return f"the database cannot hold the value: {cause.__cause__}"
        text = cause.args[0] if isinstance(cause, asyncpg.PostgresError) and cause.args else None
        match self.fault(exc):
            case DatabaseFault.VALUE:
                return f"the database refuses the value: {text or type(cause).__name__}"
            case DatabaseFault.STATEMENT if isinstance(cause, asyncpg.InsufficientPrivilegeError):
                return f"the database role lacks a permission: {text}; {OWN_TABLES}"
            case DatabaseFault.STATEMENT:
                return f"the database does not understand what it is asked: {text}"
            case DatabaseFault.FULL:
                # The driver's message names a file, which differs for each table: a log has each reason once.
                return f"{self.name} cannot be used: the disk of its server is full"
            case _ if isinstance(cause, TimeoutError):
                return f"{self.name} does not answer in time"
            case _ if isinstance(cause, asyncpg.InvalidCatalogNameError):
                return f"{self.name} does not exist; create it as an administrator, with {CREATEDB}"
            case _:
                away = isinstance(exc, _Unreachable) and isinstance(cause, OSError)
                advice = _REACH if away else _ADVICE.get(_state(cause))
                return f"{self.name} cannot be used: {text or cause}" + (f"; {advice}" if advice else "")


def _fault_of(cause: BaseException) -> DatabaseFault:
    # Checked first: the driver's DataError is a subclass of InterfaceError.
    if isinstance(cause, asyncpg.exceptions.DataError):
        return DatabaseFault.VALUE
    if isinstance(cause, OSError | asyncpg.InterfaceError | asyncpg.InternalClientError):
        return DatabaseFault.LOST
    state = _state(cause)
    if state in _CONFLICTS:
        return DatabaseFault.CONFLICT
    # Class 08: connection exception; 21: cardinality violation; 22: data exception; 23: integrity constraint violation;
    # 42: access rule.
    if state in _LOST or state.startswith("08"):
        return DatabaseFault.LOST
    if state == asyncpg.DiskFullError.sqlstate:
        return DatabaseFault.FULL
    if state in _UNSTORABLE or state.startswith(("22", "23")):
        return DatabaseFault.VALUE
    is_statement = state.startswith(("21", "42")) and state not in _ADVICE
    return DatabaseFault.STATEMENT if is_statement else DatabaseFault.AWAY


def _state(cause: BaseException) -> str:
    return str(getattr(cause, "sqlstate", "") or "")


def _cause(exc: BaseException) -> BaseException:
    if isinstance(exc, DBAPIError) and exc.orig is not None:
        exc = exc.orig
    if isinstance(exc, _Unreachable | EmulatedDBAPIException) and exc.__cause__ is not None:
        return exc.__cause__
    return exc


def _on_error(context: ExceptionContext) -> None:
    # If is_disconnect is set, SQLAlchemy drops this connection and all older ones.
    if _hide(context.original_exception, context.sqlalchemy_exception):
        context.is_disconnect = True


def _hide(error: BaseException, wrapper: BaseException | None = None) -> bool:
    """Remove tenants' data from a driver's error; return whether its connection is lost.

    Each traceback would show the data: "invalid input for query argument $1: …", "Key (…)=(…) already exists".
    """
    cause = _cause(error)
    if isinstance(cause, asyncpg.exceptions.DataError):
        for exception in filter(None, (cause, error, wrapper)):
            exception.args = ("a value cannot be encoded",)
    elif isinstance(cause, asyncpg.PostgresError):
        setattr(cause, "detail", None)  # noqa: B010  # the driver's own attribute, which its types do not know
    return _fault_of(cause) is DatabaseFault.LOST
