from collections.abc import Sequence
from datetime import datetime
from typing import Any, final

import msgspec
from sqlalchemy import Connection, func, insert, select, update

from contentsvc_adapters.sql.row import AnyRow, json_of, read_row, row_of
from contentsvc_adapters.sql.schema.access import api_keys
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_adapters.sql.store import SqlStore, writing
from contentsvc_core.access.keys import MAX_KEYS, ApiKey, Scope, refuse_key
from contentsvc_core.errors import Unstorable
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms


@final
class SqlApiKeys(SqlStore):
    @writing
    def add(self, connection: Connection, key: ApiKey, *, at_most: int = MAX_KEYS) -> Refusal | None:
        digest = select(api_keys.c.digest).where(api_keys.c.prefix == key.prefix)
        is_active = api_keys.c.revoked_at.is_(None) & (
            api_keys.c.expires_at.is_(None) | (api_keys.c.expires_at > to_ms(key.created_at))
        )
        active = select(api_keys.c.prefix).where(api_keys.c.organization_id == key.organization_id, is_active)
        _lock(connection, key.organization_id)
        stored = connection.scalar(digest)
        if stored is not None:
            # The same key again, after an unknown outcome, changes nothing.
            if stored != key.digest:
                message = f"'{key.prefix}' is the prefix of another key"
                raise Unstorable(message)
            return None
        refused = refuse_key(key, set(connection.scalars(active)), at_most=at_most)
        if refused is None:
            connection.execute(insert(api_keys), _key_row(key))
        return refused

    async def key(self, prefix: str) -> ApiKey | None:
        query = select(api_keys).where(api_keys.c.prefix == prefix)
        return await self._database.first(query, _key_of) if is_own_id(prefix) else None

    async def keys(self, organization_id: str | None = None) -> Sequence[ApiKey]:
        query = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.prefix)
        if organization_id is not None:
            query = query.where(api_keys.c.organization_id == organization_id)
        return await self._database.values(query, _key_of)

    @writing
    def revoke(self, connection: Connection, prefix: str, at: datetime) -> bool:
        owner = select(api_keys.c.organization_id).where(api_keys.c.prefix == prefix)
        ending = select(api_keys.c.prefix).where(api_keys.c.prefix == prefix).cte("ending", recursive=True)
        ending = ending.union(select(api_keys.c.prefix).join(ending, api_keys.c.issued_by == ending.c.prefix))
        revoking = (
            update(api_keys)
            .where(api_keys.c.prefix.in_(select(ending.c.prefix)))
            .values(revoked_at=func.coalesce(api_keys.c.revoked_at, to_ms(at)))
        )
        organization_id = connection.scalar(owner)
        if organization_id is None:
            return False
        _lock(connection, organization_id)
        connection.execute(revoking)
        return True

    async def touch(self, prefix: str, at: datetime) -> None:
        touching = update(api_keys).where(api_keys.c.prefix == prefix).values(last_used_at=to_ms(at))
        await self._database.change(touching)


def _lock(connection: Connection, organization_id: str) -> None:
    own = select(organizations.c.id).where(organizations.c.id == organization_id)
    connection.execute(own.with_for_update(key_share=True))


def _key_row(key: ApiKey) -> dict[str, Any]:
    scopes = json_of([scope.value for scope in key.scopes if scope is not Scope.ADMIN])
    return row_of(key, scopes=scopes, may_issue=Scope.ADMIN in key.scopes)


def _key_of(row: AnyRow) -> ApiKey:
    scopes = (*map(Scope, msgspec.json.decode(row.scopes)), *([Scope.ADMIN] if row.may_issue else []))
    return read_row(ApiKey, row, scopes=scopes)
