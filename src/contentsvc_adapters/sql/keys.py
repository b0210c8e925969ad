"""The API keys."""

from collections.abc import Sequence
from datetime import datetime
from typing import final

from sqlalchemy import Connection, func, select, update

from contentsvc_adapters.sql import directory_rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import api_keys
from contentsvc_core.access.keys import ApiKey
from contentsvc_core.errors import Unstorable
from contentsvc_core.timestamps import to_ms


@final
class SqlApiKeys:
    """The API keys."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self._database = database

    async def add(self, key: ApiKey) -> None:
        """Add a key."""
        addition = self._database.dialect.insert(api_keys).on_conflict_do_nothing(index_elements=["prefix"])
        digest = select(api_keys.c.digest).where(api_keys.c.prefix == key.prefix)

        def add(connection: Connection) -> None:
            connection.execute(addition, directory_rows.key_row(key))
            # The same key once more, after an unknown outcome, is welcome.
            if connection.scalar(digest) != key.digest:
                message = f"'{key.prefix}' is the prefix of another key"
                raise Unstorable(message)

        await self._database.write(add)

    async def key(self, prefix: str) -> ApiKey | None:
        """Read a key."""
        query = select(api_keys).where(api_keys.c.prefix == prefix)
        found = await self._database.read(lambda connection: connection.execute(query).first())
        return None if found is None else directory_rows.key_of(found)

    async def keys(self, organization_id: str | None = None) -> Sequence[ApiKey]:
        """Read the keys of one organization, or of all."""
        query = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.prefix)
        if organization_id is not None:
            query = query.where(api_keys.c.organization_id == organization_id)
        found = await self._database.read(lambda connection: connection.execute(query).all())
        return [directory_rows.key_of(row) for row in found]

    async def revoke(self, prefix: str, at: datetime) -> bool:
        """Revoke a key, once."""
        revoking = (
            update(api_keys)
            .where(api_keys.c.prefix == prefix)
            .values(revoked_at=func.coalesce(api_keys.c.revoked_at, to_ms(at)))
        )
        return await self._database.write(lambda connection: connection.execute(revoking).rowcount > 0)

    async def touch(self, prefix: str, at: datetime) -> None:
        """Note when a key was used."""
        touching = update(api_keys).where(api_keys.c.prefix == prefix).values(last_used_at=to_ms(at))
        await self._database.write(lambda connection: connection.execute(touching))
