"""PostgreSQL: many connections, all of which may write."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Final, Self, final

import asyncpg
from attrs import field, frozen
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Select,
    Subquery,
    Table,
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

from contentsvc_adapters.sql.dialects.dialect import DatabaseFault, Question
from contentsvc_adapters.sql.dialects.postgresql_session import CONNECT_S, LIMITS, SESSION, SETTLING, opened
from contentsvc_adapters.sql.dialects.statements import DriverConnection, Statements
from contentsvc_adapters.sql.dialects.transactions import Connections, Pooled, asynchronous_engine

#: "contents" in ASCII: an advisory lock is a number that all who use the database have to agree on.
_PLACE: Final = 0x636F6E74656E7473
#: "name" in ASCII, for locks of names.
_NAMES: Final = 0x6E616D65
#: What may stand behind the database's name in a URL, and what the driver calls it.
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
    # A migration has changed what this connection has prepared (feature_not_supported); a new one prepares it anew.
    "0A000",
}
_UNSTORABLE: Final = {
    "54000",  # program_limit_exceeded: larger than an index takes
}
#: The driver's own errors: SQLAlchemy wraps none of a connection that is lost before it was ever used.
_RAW: Final = asyncpg.PostgresError | asyncpg.InterfaceError | asyncpg.InternalClientError


class _Unreachable(Exception):
    """No connection could be opened. Nothing was begun, and beginning again at once would find the same."""


@final
@frozen(kw_only=True)
class Postgresql:
    """PostgreSQL through asyncpg: one pool, READ COMMITTED for what writes, a snapshot for what reads."""

    #: What the driver is given; a password among it.
    arguments: Mapping[str, Any] = field(repr=False)
    #: How it is named in sentences.
    name: str
    #: How many connections a process has at most.
    pool_size: int

    #: Older nodes may be at work: when they are to meet a newer schema is for the operator to say.
    upgrades_itself: ClassVar[bool] = False
    #: More than any of the limits above, which tell more, and less than a code host waits for its answer. It is what
    #: ends a transaction on a server that has stopped answering, and so enforces no limit any more.
    patience_s: ClassVar[float | None] = 6.0
    #: One is prepared by this process while the server works on the other; with more, both wait for the same disk.
    lanes: ClassVar[int] = 2

    @classmethod
    def of(cls, url: URL, *, pool_size: int) -> Self:
        """Take the database that a URL names.

        Raises:
            ValueError: It names none, or asks for what cannot be given. No message repeats the URL.
        """
        if not url.database:
            message = f"the database's URL names no database: use {_EXAMPLE}"
            raise ValueError(message)
        arguments = url.translate_connect_args(username="user")
        for option, value in url.query.items():
            if option not in _OPTIONS or not isinstance(value, str):
                message = f"the database's URL has an option that is not known, or has it twice: it may be {_KNOWN}"
                raise ValueError(message)
            arguments[_OPTIONS[option]] = value
        host, port = arguments.get("host"), arguments.get("port")
        if port is not None:
            if not str(port).isdecimal():
                message = f"the database's URL has a port that is no number: use {_EXAMPLE}"
                raise ValueError(message)
            arguments["port"] = int(port)
        at = f" at {host}" if host else ""
        return cls(arguments=arguments, name=f"the database '{url.database}'{at}", pool_size=pool_size)

    @property
    def readers(self) -> int:
        """Return how many transactions may read at once, if none writes."""
        return self.pool_size

    def connections(self) -> Connections:
        """Make the engines; whoever reads uses the writers' connections."""
        writer = self._engine(self.pool_size, "READ COMMITTED", SESSION)
        reader = writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        # On connections of their own: no list that somebody reads keeps them waiting. Each statement is a transaction.
        settler = Statements(partial(self._connect, SETTLING), most=self.lanes, is_lost=_hide)
        return Connections(writing=Pooled(writer), reading=Pooled(reader), settling=settler)

    def _engine(self, size: int, isolation_level: str, session: Mapping[str, str]) -> Engine:
        engine = asynchronous_engine(
            URL.create("postgresql+asyncpg"),
            partial(self._connect, session),
            isolation_level=isolation_level,
            pool_size=size,
            pool_timeout=CONNECT_S,
            # No pre-ping: it is three turns to the server before each transaction, and tells nothing of the moment
            # after. What is found dead is dropped with all of its age, and the transaction runs again on a new one.
            pool_pre_ping=False,
        )
        event.listen(engine, "handle_error", _on_error)
        return engine

    async def _connect(self, session: Mapping[str, str]) -> DriverConnection:
        try:
            return await opened(self.arguments, session)
        except OSError as exc:
            raise _Unreachable from exc

    def insert(self, table: Table) -> Insert:
        """Begin an ``INSERT`` that may say what to do on a conflict."""
        return postgresql_insert(table)

    def for_each(self, outer: FromClause, inner: Select[*tuple[Any, ...]], *, of: Table) -> Subquery:
        """Give the rows of ``inner`` for each row of ``outer``."""
        _ = of
        each = inner.lateral()
        return select(each).select_from(outer.join(each, true())).subquery()

    def size_of(self, column: Column[str]) -> ColumnElement[int]:
        """Give the size of a text."""
        return func.octet_length(column)

    def now_ms(self) -> ColumnElement[int]:
        """Return the time of this moment, not of the transaction's beginning."""
        return literal_column("(extract(epoch FROM clock_timestamp()) * 1000)::bigint", BigInteger)

    def holds(self, column: ColumnElement[Any], part: str, *, folded: bool = False) -> ColumnElement[bool]:
        """Look for a part of a text."""
        # In the collation "C", lower() knows ASCII alone; in any other one it depends on where the database was made.
        return func.strpos(func.lower(column.collate("C")) if folded else column, part) > 0

    def locking(self, question: Question) -> Question:
        """Lock the rows that are found; pass those over that others have locked."""
        return question.with_for_update(skip_locked=True)

    def alone(self, connection: Connection) -> None:
        """Take the advisory lock; it is freed with the transaction, however that ends."""
        # A setting that an older server does not know has no row there.
        connection.execute(
            text("SELECT set_config(name, '0', true) FROM pg_settings WHERE name = ANY (:limits)"),
            {"limits": [*LIMITS]},
        )
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_PLACE})"))

    def hold(self, connection: Connection, name: str) -> None:
        """Take an advisory lock of the name's hash; two names of one hash wait for each other, and no harm is done."""
        # Two numbers: a space of its own, in which the place above is not.
        connection.execute(
            text("SELECT pg_advisory_xact_lock(:space, hashtext(:name))"), {"space": _NAMES, "name": name}
        )

    def fault(self, exc: Exception) -> DatabaseFault | None:
        """Tell what an error is about, by the server's code for it (SQLSTATE)."""
        if isinstance(exc, _Unreachable):
            return DatabaseFault.AWAY
        return _fault_of(_cause(exc)) if isinstance(exc, OSError | DBAPIError | _RAW) else None

    def explain(self, exc: Exception) -> str:
        """Say in a sentence what is wrong with the database, or with a value."""
        cause = _cause(exc)
        if isinstance(cause, asyncpg.exceptions.DataError) and cause.__cause__ is not None:
            # The driver's own words repeat the value.
            return f"the database cannot hold the value: {cause.__cause__}"
        said = cause.args[0] if isinstance(cause, asyncpg.PostgresError) and cause.args else None
        match self.fault(exc):
            case DatabaseFault.VALUE:
                return f"the database refuses the value: {said or type(cause).__name__}"
            case DatabaseFault.STATEMENT:
                return f"the database does not understand what it is asked: {said}"
            case _ if isinstance(cause, TimeoutError):
                return f"{self.name} does not answer in time"
            case _:
                return f"{self.name} cannot be used: {said or cause}"


def _fault_of(cause: BaseException) -> DatabaseFault:
    # First: to the driver, a value that it cannot encode is a kind of wrong use.
    if isinstance(cause, asyncpg.exceptions.DataError):
        return DatabaseFault.VALUE
    # Of the socket, and so is a timeout: the driver does not wrap them.
    if isinstance(cause, OSError | asyncpg.InterfaceError | asyncpg.InternalClientError):
        return DatabaseFault.LOST
    state = str(getattr(cause, "sqlstate", "") or "")
    if state in _CONFLICTS:
        return DatabaseFault.CONFLICT
    # Class 08: connection exception; 21: cardinality violation; 22: data exception; 23: integrity constraint violation;
    # 42: access rule.
    if state in _LOST or state.startswith("08"):
        return DatabaseFault.LOST
    if state in _UNSTORABLE or state.startswith(("22", "23")):
        return DatabaseFault.VALUE
    return DatabaseFault.STATEMENT if state.startswith(("21", "42")) else DatabaseFault.AWAY


def _cause(exc: BaseException) -> BaseException:
    """Give the driver's own error."""
    if isinstance(exc, DBAPIError) and exc.orig is not None:
        exc = exc.orig
    if isinstance(exc, _Unreachable | EmulatedDBAPIException) and exc.__cause__ is not None:
        return exc.__cause__
    return exc


def _on_error(context: ExceptionContext) -> None:
    # SQLAlchemy knows of a lost connection only when it is told: then it drops this one and all that are older.
    if _hide(context.original_exception, context.sqlalchemy_exception):
        context.is_disconnect = True


def _hide(error: BaseException, told: BaseException | None = None) -> bool:
    """Take tenants' data out of a driver's error, and tell whether its connection is lost.

    It would stand in every traceback: "invalid input for query argument $1: …", "Key (…)=(…) already exists".
    """
    cause = _cause(error)
    if isinstance(cause, asyncpg.exceptions.DataError):
        for each in filter(None, (cause, error, told)):
            each.args = ("a value cannot be encoded",)
    elif isinstance(cause, asyncpg.PostgresError):
        setattr(cause, "detail", None)  # noqa: B010  # the driver's own attribute, which its types do not know
    return _fault_of(cause) is DatabaseFault.LOST
