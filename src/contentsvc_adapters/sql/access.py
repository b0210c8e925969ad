from collections.abc import Collection, Mapping
from datetime import datetime
from functools import partial
from typing import Any, final

import msgspec
from sqlalchemy import Connection, delete, select

from contentsvc_adapters.sql.row import AnyRow, json_of, read_row, row_of
from contentsvc_adapters.sql.schema.access import keyed_requests, rate_windows, sessions
from contentsvc_adapters.sql.store import SealedSqlStore, SqlStore, sweeping, writing
from contentsvc_core.access.keyed_requests import KeyedRequest, StoredAnswer
from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.sessions import Session
from contentsvc_core.access.window import Verdict, Window
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.ports.access import RequestTransition, Transition
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import from_ms, to_ms


@final
class SqlRateLimitStore(SqlStore):
    @writing
    def update(self, connection: Connection, bucket: Bucket, transition: Transition) -> Verdict:
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


@final
class SqlKeyedRequests(SealedSqlStore):
    @writing
    def update(
        self, connection: Connection, key_prefix: str, name: str, transition: RequestTransition, *, now: datetime
    ) -> KeyedRequest | Refusal | None:
        # Not a row lock: at first there is no row.
        self._database.dialect.lock(connection, f"idempotency key {key_prefix} {name}")
        own = (keyed_requests.c.key_prefix == key_prefix) & (keyed_requests.c.name == name)
        shared, now_ms = self._database.dialect.now_ms(), to_ms(now)
        row = connection.execute(select(keyed_requests, shared.label("shared")).where(own)).first()
        stored = None if row is None else self._read(row, now_ms)
        result = transition(stored)
        if result is None:
            connection.execute(delete(keyed_requests).where(own))
        elif isinstance(result, KeyedRequest) and result != stored:
            busy = {"busy_until": shared + (to_ms(result.busy_until) - now_ms)}
            values = {**self._row(result), **busy}
            change = self._database.dialect.insert(keyed_requests).values(**values)
            connection.execute(change.on_conflict_do_update(index_elements=["key_prefix", "name"], set_=values))
        return result

    async def sweep(self, *, before: datetime, limit: int) -> int:
        key = (keyed_requests.c.key_prefix, keyed_requests.c.name)
        old = keyed_requests.c.at < to_ms(before)
        oldest = select(*key).where(old).order_by(keyed_requests.c.at).limit(limit)
        # With the condition, PostgreSQL reads the index for the deletion as well.
        return await self._database.change(sweeping(self._database.dialect, keyed_requests, oldest).where(old))

    def _read(self, row: AnyRow, now_ms: int) -> KeyedRequest:
        answer = None if row.sealed_answer is None else self._sealer.open(row.sealed_answer)
        stored_answer = None if answer is None else msgspec.json.decode(answer, type=StoredAnswer)
        busy_until = from_ms(row.busy_until - row.shared + now_ms)
        seed = self._sealer.open(row.sealed_seed)
        return read_row(KeyedRequest, row, seed=seed, answer=stored_answer, busy_until=busy_until)

    def _row(self, request: KeyedRequest) -> dict[str, Any]:
        row = row_of(request)
        del row["seed"], row["answer"]
        answer = None if request.answer is None else self._sealer.seal(json_of(request.answer))
        return {**row, "sealed_seed": self._sealer.seal(request.seed), "sealed_answer": answer}


@final
class SqlSessions(SqlStore):
    async def add(self, session: Session) -> None:
        addition = self._database.dialect.insert(sessions).on_conflict_do_nothing(index_elements=["digest"])
        row = row_of(session)
        await self._database.write(lambda connection: connection.execute(addition, row))

    async def session(self, digest: str) -> Session | None:
        query = select(sessions).where(sessions.c.digest == digest)
        return await self._database.first(query, partial(read_row, Session))

    async def remove(self, digest: str) -> bool:
        return await self._database.change(delete(sessions).where(sessions.c.digest == digest)) > 0

    async def sweep(self, *, before: datetime, limit: int) -> int:
        expired = select(sessions.c.digest).where(sessions.c.expires_at <= to_ms(before))
        oldest = expired.order_by(sessions.c.expires_at).limit(limit)
        return await self._database.change(sweeping(self._database.dialect, sessions, oldest))
