from datetime import datetime
from typing import final

from sqlalchemy import delete, select

from contentsvc_adapters.sql.row import read_row, row_of
from contentsvc_adapters.sql.schema.access import sessions
from contentsvc_adapters.sql.store import SqlStore, sweeping
from contentsvc_core.access.sessions import Session
from contentsvc_core.timestamps import to_ms


@final
class SqlSessions(SqlStore):
    async def add(self, session: Session) -> None:
        addition = self._database.dialect.insert(sessions).on_conflict_do_nothing(index_elements=["digest"])
        row = row_of(session)
        await self._database.write(lambda connection: connection.execute(addition, row))

    async def session(self, digest: str) -> Session | None:
        query = select(sessions).where(sessions.c.digest == digest)
        row = await self._database.first(query)
        return None if row is None else read_row(Session, row)

    async def remove(self, digest: str) -> bool:
        removing = delete(sessions).where(sessions.c.digest == digest)
        return await self._database.change(removing) == 1

    async def sweep(self, *, before: datetime, limit: int) -> int:
        expired = select(sessions.c.digest).where(sessions.c.expires_at <= to_ms(before))
        oldest = expired.order_by(sessions.c.expires_at).limit(limit)
        return await self._database.change(sweeping(self._database.dialect, sessions, oldest))
