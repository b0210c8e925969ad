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
        self._batcher: Batcher[str, tuple[str, _Value] | None] = Batcher(self._load)

    async def find(self, organization_id: str, key: str) -> _Value | None:
        owner, value = (await self._batcher(key) if is_own_id(key) else None) or ("", None)
        return value if owner == organization_id else None

    async def _load(self, keys: Sequence[str]) -> Sequence[tuple[str, _Value] | None]:
        parameters = {"keys": list(dict.fromkeys(keys))}

        def read(connection: Connection) -> Sequence[AnyRow]:
            return connection.execute(self._rows, parameters).all()

        rows = await self._database.read(read)
        by_key = {getattr(row, self._key): (row.organization_id, self._read(row)) for row in rows}
        return [by_key.get(key) for key in keys]
