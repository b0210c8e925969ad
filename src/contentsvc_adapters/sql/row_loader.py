from collections.abc import Sequence
from typing import Any, Final, final

from sqlalchemy import Column, Connection, Select, bindparam

from contentsvc_adapters.sql.batcher import Batcher
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_core.identifiers import is_own_id


@final
class RowLoader:
    """Finds rows by a unique key; concurrent lookups share one statement."""

    def __init__(self, database: Database, rows: Select[*tuple[Any, ...]], key: Column[str]) -> None:
        self._database = database
        self._rows: Final = rows.where(key.in_(bindparam("keys", expanding=True)))
        self._key: Final = key.name
        self._batcher: Batcher[str, AnyRow | None] = Batcher(self._load)

    async def find(self, organization_id: str, key: str) -> AnyRow | None:
        row = await self._batcher(key) if is_own_id(key) else None
        return row if row is not None and row.organization_id == organization_id else None

    async def _load(self, keys: Sequence[str]) -> Sequence[AnyRow | None]:
        parameters = {"keys": list(dict.fromkeys(keys))}

        def read(connection: Connection) -> Sequence[AnyRow]:
            return connection.execute(self._rows, parameters).all()

        by_key = {getattr(row, self._key): row for row in await self._database.read(read)}
        return [by_key.get(key) for key in keys]
