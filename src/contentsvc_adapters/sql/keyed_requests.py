from datetime import datetime
from functools import partial
from typing import Any, final

import msgspec
from sqlalchemy import Connection, delete, select

from contentsvc_adapters.sql.row import AnyRow, json_of, read_row, row_of
from contentsvc_adapters.sql.schema.access import keyed_requests
from contentsvc_adapters.sql.store import SealedSqlStore, sweeping
from contentsvc_core.access.keyed_requests import KeptAnswer, KeyedRequest
from contentsvc_core.ports.keyed_requests import RequestTransition
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms


@final
class SqlKeyedRequests(SealedSqlStore):
    async def update(self, key_prefix: str, name: str, transition: RequestTransition) -> KeyedRequest | Refusal | None:
        return await self._database.write(partial(self._update, key_prefix, name, transition))

    def _update(
        self, key_prefix: str, name: str, transition: RequestTransition, connection: Connection
    ) -> KeyedRequest | Refusal | None:
        # Not a row lock: at first there is no row.
        self._database.dialect.lock(connection, f"idempotency key {key_prefix} {name}")
        own = (keyed_requests.c.key_prefix == key_prefix) & (keyed_requests.c.name == name)
        row = connection.execute(select(keyed_requests).where(own)).first()
        stored = None if row is None else self._read(row)
        result = transition(stored)
        if result is None:
            connection.execute(delete(keyed_requests).where(own))
        elif isinstance(result, KeyedRequest) and result != stored:
            values = self._row(result)
            change = self._database.dialect.insert(keyed_requests).values(**values)
            connection.execute(change.on_conflict_do_update(index_elements=["key_prefix", "name"], set_=values))
        return result

    async def sweep(self, *, before: datetime, limit: int) -> int:
        key = (keyed_requests.c.key_prefix, keyed_requests.c.name)
        old = keyed_requests.c.at < to_ms(before)
        oldest = select(*key).where(old).order_by(keyed_requests.c.at).limit(limit)
        # With the condition, PostgreSQL reads the index for the deletion as well.
        return await self._database.change(sweeping(self._database.dialect, keyed_requests, oldest).where(old))

    def _read(self, row: AnyRow) -> KeyedRequest:
        answer = None if row.sealed_answer is None else self._sealer.open(row.sealed_answer)
        kept = None if answer is None else msgspec.json.decode(answer, type=KeptAnswer)
        return read_row(KeyedRequest, row, seed=self._sealer.open(row.sealed_seed), answer=kept)

    def _row(self, request: KeyedRequest) -> dict[str, Any]:
        row = row_of(request)
        del row["seed"], row["answer"]
        answer = None if request.answer is None else self._sealer.seal(json_of(request.answer))
        return {**row, "sealed_seed": self._sealer.seal(request.seed), "sealed_answer": answer}
