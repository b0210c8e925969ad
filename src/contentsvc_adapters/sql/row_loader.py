from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar, final

from sqlalchemy import Column, Connection, Select, bindparam

from contentsvc_adapters.sql.batcher import Batcher
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_core.identifiers import is_own_id

_Value = TypeVar("_Value")


@final
class RowLoader(Generic[_Value]):
    """Finds the values of rows by a unique key. Concurrent lookups share one statement, and each row is read once."""

    def __init__(
        self, database: Database, rows: Select[*tuple[Any, ...]], key: Column[str], read: Callable[[AnyRow], _Value]
    ) -> None:
        self._database = database
        self._rows: Final = rows.where(key.in_(bindparam("keys", expanding=True)))
        self._key: Final = key.name
        self._read: Final = read
        self._batcher: Batcher[tuple[str, str], _Value | None] = Batcher(self._load)

    async def find(self, organization_id: str, key: str) -> _Value | None:
        return await self._batcher((organization_id, key)) if is_own_id(key) else None

    async def _load(self, asked: Sequence[tuple[str, str]]) -> Sequence[_Value | None]:
        parameters = {"keys": list(dict.fromkeys(key for _, key in asked))}

        def read(connection: Connection) -> Sequence[AnyRow]:
            return connection.execute(self._rows, parameters).all()

        rows = {(row.organization_id, getattr(row, self._key)): row for row in await self._database.read(read)}
        # An unreadable row of another organization is as unknown as a readable one.
        values = {each: self._read(rows[each]) for each in rows.keys() & set(asked)}
        return [values.get(each) for each in asked]
