"""Batched lookups of single rows, which concurrent runs need."""

from collections.abc import Sequence
from typing import Any, Final, final

from sqlalchemy import Column, Connection, Select, bindparam

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.joint import Joint
from contentsvc_adapters.sql.row import AnyRow


@final
class RowLoader:
    """Finds rows by a unique key; concurrent lookups share one statement."""

    def __init__(self, database: Database, rows: Select[*tuple[Any, ...]], key: Column[str]) -> None:
        """Create the lookup; ``rows`` selects the rows with ``organization_id``, and ``key`` is their key."""
        self._database = database
        self._rows: Final = rows.where(key.in_(bindparam("keys", expanding=True)))
        self._key: Final = key.name
        self._asking: Joint[str, AnyRow | None] = Joint(self._ask)

    async def find(self, organization_id: str, key: str) -> AnyRow | None:
        """Return an organization's row, read after this call began.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        found = await self._asking(key)
        return found if found is not None and found.organization_id == organization_id else None

    async def _ask(self, keys: Sequence[str]) -> Sequence[AnyRow | None]:
        wanted = {"keys": list(dict.fromkeys(keys))}

        def read(connection: Connection) -> Sequence[AnyRow]:
            return connection.execute(self._rows, wanted).all()

        found = {getattr(row, self._key): row for row in await self._database.read(read)}
        return [found.get(key) for key in keys]
