from collections.abc import Collection, Mapping
from datetime import datetime
from functools import partial
from typing import final

import msgspec
from sqlalchemy import Connection, select

from contentsvc_adapters.sql.schema.access import rate_windows
from contentsvc_adapters.sql.store import SqlStore, sweeping
from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.window import Verdict, Window
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.ports.limits import Transition
from contentsvc_core.timestamps import to_ms


@final
class SqlRateLimitStore(SqlStore):
    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        return await self._database.write(partial(self._update, bucket, transition))

    def _update(self, bucket: Bucket, transition: Transition, connection: Connection) -> Verdict:
        name = bucket.name
        # Not a row lock: at first there is no row, and locking a row would be a write.
        self._database.dialect.lock(connection, name)
        stored = connection.scalar(select(rate_windows.c.hits).where(rate_windows.c.bucket == name))
        before = Window() if stored is None else _window(name, stored)
        after, verdict = transition(before)
        if after != before:
            row = {"hits": msgspec.json.encode(after.hits_ms).decode(), "expires_at": after.expires_at_ms(bucket.rate)}
            change = self._database.dialect.insert(rate_windows).values(bucket=name, **row)
            connection.execute(change.on_conflict_do_update(index_elements=["bucket"], set_=row))
        return verdict

    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        by_name = {bucket.name: bucket for bucket in buckets}
        query = select(rate_windows.c.bucket, rate_windows.c.hits).where(rate_windows.c.bucket.in_(by_name))
        rows = await self._database.rows(query)
        return {by_name[row.bucket]: _window(row.bucket, row.hits) for row in rows}

    async def sweep(self, *, before: datetime, limit: int) -> int:
        expired = rate_windows.c.expires_at <= to_ms(before)
        oldest = select(rate_windows.c.bucket).where(expired).order_by(rate_windows.c.expires_at).limit(limit)
        return await self._database.change(sweeping(self._database.dialect, rate_windows, oldest).where(expired))


def _window(bucket: str, stored: str) -> Window:
    try:
        return Window(hits_ms=msgspec.json.decode(stored, type=tuple[int, ...]))
    except (msgspec.MsgspecError, ValueError) as exc:
        message = f"the window of '{bucket}' cannot be read: {exc}"
        raise UnreadableRow(message) from exc
