"""What a database has to say for itself."""

from enum import Enum, auto
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from sqlalchemy import Column, ColumnElement, Connection, FromClause, Select, Subquery, Table

from contentsvc_adapters.sql.dialects.transactions import Connections

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresqlInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

Question = TypeVar("Question", bound=Select[*tuple[Any, ...]])


class DatabaseFault(Enum):
    """What an error of the database is about: what is to be done depends on nothing else."""

    #: The value; it would be refused again.
    VALUE = auto()
    #: The statement or the schema, such as a missing table: waiting does not mend it.
    STATEMENT = auto()
    #: Other transactions, which won: all of this one was undone, and it may begin again at once.
    CONFLICT = auto()
    #: The connection, which is gone: whether the transaction was committed is unknown.
    LOST = auto()
    #: The write lock, which another process has held for too long.
    LOCKED = auto()
    #: The database, which cannot be reached or cannot work: waiting may mend it.
    AWAY = auto()


class Dialect(Protocol):
    """A kind of database, and how one of it is reached."""

    #: Whoever opens the database may bring its schema up to date.
    upgrades_itself: ClassVar[bool]
    #: How long a transaction may take, waiting and all, in seconds; ``None``: the driver sees to that.
    patience_s: ClassVar[float | None]
    #: How many batches of settlements are written at a time.
    lanes: ClassVar[int]

    @property
    def readers(self) -> int:
        """Return how many transactions may read at once."""
        ...

    def connections(self) -> Connections:
        """Make what reads and writes; nothing is opened before it is used."""
        ...

    def insert(self, table: Table) -> "PostgresqlInsert | SqliteInsert":
        """Begin an ``INSERT`` that may say what to do on a conflict."""
        ...

    def for_each(self, outer: FromClause, inner: Select[*tuple[Any, ...]], *, of: Table) -> Subquery:
        """Give the rows of ``inner``, correlated to ``outer`` and with columns of ``of``, for each row of ``outer``."""
        ...

    def size_of(self, column: Column[str]) -> ColumnElement[int]:
        """Give about how many bytes a text has, without reading it where that can be."""
        ...

    def now_ms(self) -> ColumnElement[int]:
        """Return the time of the database's own clock, in milliseconds since 1970."""
        ...

    def holds(self, column: ColumnElement[Any], part: str, *, folded: bool = False) -> ColumnElement[bool]:
        """Give the condition that a text has a part; ``folded``: once ASCII's capitals in the text are small."""
        ...

    def locking(self, question: Question) -> Question:
        """Lock the rows that are found, until the transaction ends; pass those over that others have locked."""
        ...

    def alone(self, connection: Connection) -> None:
        """Wait until no other process is in this place, for as long as it takes; hold it until the transaction ends.

        Whatever follows in the transaction may take as long as it likes, too.
        """
        ...

    def hold(self, connection: Connection, name: str) -> None:
        """Wait until nobody else holds this name; hold it until the transaction ends. Nothing is written for it."""
        ...

    def fault(self, exc: Exception) -> DatabaseFault | None:
        """Tell what an error is about; ``None``: it is none of the database's."""
        ...

    def explain(self, exc: Exception) -> str:
        """Say in a sentence what is wrong: nothing secret, and none of the tenants' data."""
        ...
