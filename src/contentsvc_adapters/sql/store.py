"""The common base of the stores of a database."""

from collections.abc import Awaitable, Callable
from enum import Enum
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from sqlalchemy import (
    CTE,
    Column,
    ColumnElement,
    Connection,
    Delete,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    delete,
    false,
    func,
    literal_column,
    select,
    tuple_,
    update,
)

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_core.identifiers import is_own_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CoroutineType

    from contentsvc_core.ports import SecretSealer


class SqlStore:
    """A store of one database. It keeps no rows between two calls."""

    def __init__(self, database: Database) -> None:
        self._database = database


class SealedSqlStore(SqlStore):
    """A store that seals the secrets of its rows."""

    def __init__(self, database: Database, sealer: "SecretSealer") -> None:
        super().__init__(database)
        self._sealer = sealer


_Store = TypeVar("_Store", bound=SqlStore)
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class _InTransaction(Protocol):
    def __call__(
        self, work: Callable[Concatenate[_Store, Connection, _Parameters], _Result], /
    ) -> "Callable[Concatenate[_Store, _Parameters], CoroutineType[Any, Any, _Result]]": ...


def _in_transaction(kind: str) -> _InTransaction:
    def decorate(work: Any) -> Any:  # noqa: ANN401  # typed by the protocol
        @wraps(work)
        async def method(self: Any, *args: object, **named: object) -> object:  # noqa: ANN401  # as above
            run: Callable[[Callable[[Connection], object]], Awaitable[object]] = getattr(self._database, kind)
            return await run(lambda connection: work(self, connection, *args, **named))

        return method

    return decorate


#: Make methods of a store of functions that run in a transaction, as :class:`Database` does in its methods.
reading: Final = _in_transaction("read")
writing: Final = _in_transaction("write")
writing_once: Final = _in_transaction("write_once")


def is_own(table: Table, organization_id: str, id_: str) -> ColumnElement[bool]:
    """Return the condition of one row of an organization; no row has an id that is not of our form."""
    if not is_own_id(id_):
        return false()
    return (table.c.organization_id == organization_id) & (table.c.id == id_)


def of_organization(table: Table, organization_id: str) -> Select[*tuple[Any, ...]]:
    """Return the query for all rows of an organization, oldest first."""
    return select(table).where(table.c.organization_id == organization_id).order_by(table.c.created_at, table.c.id)


def has_value(column: ColumnElement[Any], member: Enum) -> ColumnElement[bool]:
    """Return the condition that a column has a value, as a literal: no planner matches partial indexes otherwise."""
    return column == literal_column(f"'{member.value}'")


def distinct_values(column: Column[str], condition: ColumnElement[bool]) -> CTE:
    """Jump from one value of an index's first column to the next: the cost grows with the values, not with the rows."""
    found = select(func.min(column).label(column.name)).where(condition).cte("waiting", recursive=True)
    last = found.c[column.name]
    following = select(func.min(column)).where(condition, column > last)
    return found.union_all(select(following.correlate(found).scalar_subquery()).where(last.is_not(None)))


@lru_cache(maxsize=4)  # a process has one database
def setting_each(dialect: Dialect, column: Column[Any]) -> Update:
    """Create the statement that sets a column of the rows with ``ids`` to the values in ``by_id``, a JSON object.

    One statement for all rows: PostgreSQL's driver sends several as a batch that cannot be cancelled.
    """
    table, entries = column.table, dialect.entries(bindparam("by_id", type_=Text))
    chosen = table.c.id.in_(bindparam("ids", expanding=True))
    return update(table).where(chosen, table.c.id == entries.c.key).values({column: entries.c.value})


def sweeping(dialect: Dialect, table: Table, oldest: Select[*tuple[Any, ...]]) -> Delete:
    """Create the statement that deletes the rows whose keys ``oldest`` finds.

    The rows are locked, and rows that another transaction is changing are skipped, so that sweeps cannot deadlock.
    A common table expression is evaluated once, so its limit holds; a planner may evaluate a subquery again.
    """
    names: Sequence[str] = oldest.selected_columns.keys()
    key = [table.c[name] for name in names]
    chosen = select(dialect.locking(oldest).cte("oldest", nesting=True))
    return delete(table).where(tuple_(*key).in_(chosen) if len(key) > 1 else key[0].in_(chosen))
