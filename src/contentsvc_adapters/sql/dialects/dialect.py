from enum import Enum, auto
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Subquery,
    Table,
    TableValuedAlias,
)

from contentsvc_adapters.sql.dialects.transactions import Connections

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresqlInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

#: What to do if the role of a server's database may not use or create its tables and schemas.
OWN_TABLES: Final = "let the role of CONTENTSVC_DATABASE_URL own the database, and all tables and schemas in it"
#: What to do about a file that is damaged, or that is no database.
RIGHT_FILE: Final = "name the right file in CONTENTSVC_DATABASE_URL, or restore the backup"
#: How to create a database of PostgreSQL. Without a template, the server's locale determines the encoding.
CREATEDB: Final = "'createdb --owner ROLE --encoding UTF8 --template template0 NAME'"

Query = TypeVar("Query", bound=Select[*tuple[Any, ...]])


class DatabaseFault(Enum):
    """The kind of a database error. It alone decides how the service reacts."""

    #: The value; the database would refuse it again.
    VALUE = auto()
    #: The statement or the schema, such as a missing table; waiting does not help.
    STATEMENT = auto()
    #: A conflict with other transactions. The transaction was rolled back, and may begin again at once.
    CONFLICT = auto()
    #: The connection is lost: whether the transaction was committed is unknown.
    LOST = auto()
    #: Another process has held the write lock for too long.
    LOCKED = auto()
    #: The database's disk is full. The transaction was rolled back; its values are not at fault.
    FULL = auto()
    #: The database cannot be reached or cannot work; waiting may help.
    AWAY = auto()


class Dialect(Protocol):
    """A kind of database, and the connections to one database of this kind."""

    is_sqlite: ClassVar[bool]
    #: Opening the database may migrate its schema.
    upgrades_itself: ClassVar[bool]
    #: The maximum duration of a transaction with all waiting, in seconds; ``None``: the driver limits it.
    patience_s: ClassVar[float | None]
    #: The number of batches of settlements that may be written at the same time.
    lanes: ClassVar[int]

    @property
    def readers(self) -> int: ...

    def connections(self) -> Connections: ...

    def insert(self, table: Table) -> "PostgresqlInsert | SqliteInsert": ...

    def for_each(self, outer: FromClause, inner: Select[*tuple[Any, ...]], *, of: Table) -> Subquery:
        """Return the rows of ``inner``, correlated to ``outer`` and with columns of ``of``, per row of ``outer``."""
        ...

    def size_of(self, column: Column[str]) -> ColumnElement[int]:
        """Return the approximate size of a text in bytes, without reading the text if possible."""
        ...

    def now_ms(self) -> ColumnElement[int]:
        """Return the time of the database's clock, in milliseconds since 1970."""
        ...

    def contains(self, column: ColumnElement[Any], part: str, *, folded: bool = False) -> ColumnElement[bool]:
        """Return the condition that a text has a part; ``folded``: with the ASCII capitals of the text lowered."""
        ...

    def entries(self, texts: BindParameter[str]) -> TableValuedAlias:
        """Return the rows ``key`` and ``value`` of a JSON object of texts: one parameter for any number of rows."""
        ...

    def locking(self, query: Query) -> Query:
        """Lock the rows that a query finds until the transaction ends; skip rows that are locked already."""
        ...

    def alone(self, connection: Connection) -> None:
        """Acquire the lock for migrations until the transaction ends; none of its statements has a time limit."""
        ...

    def lock(self, connection: Connection, name: str) -> None:
        """Acquire the lock of a name; hold it until the transaction ends. The lock writes nothing."""
        ...

    def fault(self, exc: Exception) -> DatabaseFault | None:
        """Return the kind of a database error; ``None``: the error does not come from the database."""
        ...

    def explain(self, exc: Exception) -> str:
        """Describe an error in a sentence, without secrets and without tenants' data."""
        ...
