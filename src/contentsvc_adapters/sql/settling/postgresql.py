"""PostgreSQL: a batch of settlements is one statement, which is a transaction of its own."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from operator import itemgetter
from typing import Any, Final, TypeAlias, final

import msgspec
from attrs import evolve

from contentsvc_adapters.sql.database import Database, Fetch
from contentsvc_adapters.sql.dialects import DatabaseFault, Record
from contentsvc_adapters.sql.settling import settlement_rows
from contentsvc_adapters.sql.settling.batch_writer import BatchItem
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Claim, Settled

#: The maximum number of statements for a batch. The first may lose a claim to another process, the second finds the
#: claim held, and the third writes the duplicate's log entry, unless another process has written that entry meanwhile.
_LOOKS: Final = 5
_WINDOW_MS: Final = DEDUPE_WINDOW // timedelta(milliseconds=1)

_Types: TypeAlias = Mapping[str, str]
_Values: TypeAlias = tuple[Any, ...]

#: Columns of ``log_entries`` with equal values for deliveries of one hook with one outcome.
_LOG: Final[_Types] = {
    "integration_id": "text",
    "repository_id": "bigint",
    "title": "text",
    "integration_type": "text",
    "direction": "text",
    "status": "text",
    "status_code": "bigint",
    "error_message": "text",
    "payload": "text",
    "reason": "text",
    "received": "text",
}
#: Columns of ``events`` with equal values for these deliveries. All are NULL if there is no event.
_ORIGIN: Final[_Types] = {"provider": "text", "origin_id": "bigint", "repository": "text", "type": "text"}
#: The values that deliveries of one hook with one outcome share. They are sent once.
_SHARED: Final[_Types] = {
    "organization_id": "text",
    "version": "bigint",
    "takes": "boolean",
    **_LOG,
    **_ORIGIN,
}
#: The values of each single delivery. ``place`` is the index of its shared values, from 0.
_ITEM: Final[_Types] = {
    "place": "bigint",
    "looked_at": "bytea",
    "asked_at": "bigint",
    "created_at": "bigint",
    "id": "text",
    "delivery_id": "text",
    "context_id": "text",
    "context_at": "bigint",
}
#: The texts of events. They are long, so no other table of the statement carries them.
_TEXTS: Final[_Types] = {"data": "text", "summary": "text"}
_RUN: Final[_Types] = {
    "id": "text",
    "trigger_id": "text",
    "replayed": "boolean",
    "created_at": "bigint",
    "due_at": "bigint",
}
#: ``number`` is the number of the delivery, from 1.
_STARTED: Final[_Types] = {"number": "bigint", **_RUN}


def _statement() -> str:
    """Return the statement that writes a batch and returns the items that it did not write as decided.

    The statement sees the database as of its start. Later writes of other transactions show at the unique keys, where
    it waits for those transactions to end: then a claim is not taken, or the whole statement fails.

    Several of these statements run at once. To avoid deadlocks, all write in the same order: all claims by key, then
    all events, and so on. Each stage counts the rows of the stage before, only to wait for it.

    An item that was written before is found by its claim or its log entry. The log entry is looked up if the claim is
    not sufficient, and for every item once a key was already taken (the last parameter).

    Claims and organizations are looked up one by one, which leaves the planner no join: it would read the whole table
    for each batch, for as long as its plan is from a time when the table was small.

    Several hooks of one repository may deliver the same event at once. They share one context record, with the id and
    the time of the first one and the event of the last one: a statement cannot write a row twice.
    """
    parameters = count(2)

    def given(types: _Types) -> str:
        return f"unnest({', '.join(f'${next(parameters)}::{each}[]' for each in types.values())})"

    shared = ", ".join(f"{name} {each}" for name, each in _SHARED.items())
    log = ", ".join(_LOG)
    # No part comes from a client: only names of this module and numbers of parameters.
    return f"""
        WITH shared AS MATERIALIZED (
            SELECT shared.*, shared.version IS NOT DISTINCT FROM (
                SELECT version FROM organizations WHERE organizations.id = shared.organization_id
            ) AS is_current
            FROM json_to_recordset($1::json) AS shared (place bigint, {shared})
        ), asked AS (
            SELECT item.*, {", ".join(f"shared.{name}" for name in _SHARED)}, shared.is_current,
                claims.log_id AS owner,
                claims.claimed_at > item.asked_at - {_WINDOW_MS} AS is_held
            FROM {given(_ITEM)} WITH ORDINALITY AS item ({", ".join(_ITEM)}, number)
            JOIN shared USING (place)
            LEFT JOIN LATERAL (
                SELECT log_id, claimed_at FROM claims WHERE claims.key = item.looked_at LIMIT 1
            ) AS claims ON true
        ), standing AS MATERIALIZED (
            SELECT asked.*, CASE
                WHEN takes AND owner = id THEN title
                WHEN is_held OR NOT takes OR NOT is_current OR @any THEN (
                    SELECT log_entries.title FROM log_entries
                    WHERE log_entries.organization_id = asked.organization_id
                    AND log_entries.created_at = asked.created_at AND log_entries.id = asked.id
                ) END AS known
            FROM asked
        ), free AS (
            SELECT * FROM standing WHERE known IS NULL AND is_current AND is_held IS NOT TRUE
        ), taken AS (
            INSERT INTO claims (key, claimed_at, log_id)
            SELECT looked_at, asked_at, id FROM free WHERE takes ORDER BY looked_at
            ON CONFLICT (key) DO UPDATE SET claimed_at = excluded.claimed_at, log_id = excluded.log_id
                WHERE claims.claimed_at <= excluded.claimed_at - {_WINDOW_MS}
            RETURNING key
        ), won AS MATERIALIZED (
            SELECT free.* FROM free LEFT JOIN taken ON taken.key = free.looked_at
            WHERE (SELECT count(*) FROM taken) >= 0 AND (taken.key IS NOT NULL OR NOT free.takes)
        ), events_added AS (
            INSERT INTO events
                (id, organization_id, created_at, provider, repository_id, repository, delivery_id, type, data, summary)
            SELECT id, organization_id, created_at, provider, origin_id, repository, delivery_id, type, data, summary
            FROM won JOIN {given(_TEXTS)} WITH ORDINALITY AS texts ({", ".join(_TEXTS)}, number) USING (number)
            WHERE provider IS NOT NULL
            RETURNING 1
        ), contexts_kept AS (
            INSERT INTO context_records
                (organization_id, custom_id, id, provider, repository_id, event_id, created_at)
            SELECT DISTINCT ON (organization_id, custom_id)
                organization_id, custom_id, first_value(context_id) OVER hooks, provider, origin_id, id,
                first_value(context_at) OVER hooks
            FROM won, concat(provider, ':', origin_id, ':', delivery_id) AS custom_id
            WHERE context_id IS NOT NULL AND (SELECT count(*) FROM events_added) >= 0
            WINDOW hooks AS (PARTITION BY organization_id, custom_id ORDER BY number)
            ORDER BY organization_id, custom_id, number DESC
            ON CONFLICT (organization_id, custom_id) DO UPDATE SET event_id = excluded.event_id
            RETURNING 1
        ), runs_started AS (
            INSERT INTO workflow_runs (organization_id, event_id, status, attempts, kills, takes, {", ".join(_RUN)})
            SELECT won.organization_id, won.id, 'pending', 0, 0, 0, {", ".join(f"run.{name}" for name in _RUN)}
            FROM {given(_STARTED)} AS run ({", ".join(_STARTED)}) JOIN won USING (number)
            WHERE (SELECT count(*) FROM contexts_kept) >= 0
            RETURNING 1
        ), log_added AS (
            INSERT INTO log_entries (organization_id, created_at, id, reference_id, event_id, {log})
            SELECT organization_id, created_at, id, delivery_id, CASE WHEN provider IS NOT NULL THEN id END, {log}
            FROM won
            WHERE (SELECT count(*) FROM runs_started) >= 0 ORDER BY organization_id, created_at, id
        )
        SELECT number, standing.known, standing.is_current, standing.is_held
        FROM standing LEFT JOIN won USING (number) WHERE won.number IS NULL
    """.replace("@any", f"${next(parameters)}::boolean")  # noqa: S608  # names of our own columns


STATEMENT: Final = _statement()

_log_values: Final = itemgetter(*_LOG)
_origin_values: Final = itemgetter("provider", "repository_id", "repository", "type")
_NO_EVENT: Final[settlement_rows.Row] = dict.fromkeys(("provider", "repository_id", "repository", "type"))


@final
class PostgresqlBatchWriter:
    """Writes batches. Lanes can run at the same time, in one process and in several, whatever they write."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, batch: Sequence[BatchItem]) -> Sequence[Settled]:
        return await self._database.execute(partial(self.settled, batch))

    async def settled(self, batch: Sequence[BatchItem], fetch: Fetch) -> Sequence[Settled]:
        answers: dict[int, Settled] = {}
        left = dict(enumerate(batch))
        refused = False
        for _ in range(_LOOKS):
            try:
                rows = {
                    row["number"]: row for row in await fetch(STATEMENT, _arguments(left.values(), any_known=refused))
                }
            except Exception as exc:
                if refused or len(left) > 1 or self._database.dialect.fault(exc) is not DatabaseFault.VALUE:
                    raise
                # A key is taken already, perhaps by the same settlement, delivered twice at once. The next statement
                # finds that.
                refused = True
                continue
            again: dict[int, BatchItem] = {}
            for ordinal, (number, item) in enumerate(left.items(), start=1):
                found = rows.get(ordinal)
                answer = _answer(item, found)
                if answer is not None:
                    answers[number] = answer
                else:
                    again[number] = evolve(item, is_duplicate=True) if found is not None and found["is_held"] else item
            if not again:
                return [answers[number] for number in range(len(batch))]
            left = again
        message = "a settlement was overtaken again and again"
        raise StoreUnavailable(message)


def _answer(item: BatchItem, row: Record | None) -> Settled | None:
    if row is None:
        return Settled.ALREADY_CLAIMED if item.is_duplicate else Settled.AS_DECIDED
    if row["known"] is not None:
        # Sent again after an unknown outcome. The stored log entry shows the first answer, whatever has changed since.
        return Settled.AS_DECIDED if row["known"] == item.settlement.log.title else Settled.ALREADY_CLAIMED
    return None if row["is_current"] else Settled.STALE


def _arguments(items: Iterable[BatchItem], *, any_known: bool) -> Sequence[object]:
    alike = settlement_rows.AlikeRows()
    indexes: dict[_Values, int] = {}
    index_of_group: list[int] = []
    given, texts, started = list[_Values](), list[_Values](), list[_Values]()
    for number, item in enumerate(items, start=1):
        settlement = item.settlement.duplicate if item.is_duplicate else item.settlement
        group, first = alike.first(settlement)
        looked_at = settlement.key
        if group == len(index_of_group):
            takes = looked_at is not None and settlement.claim is Claim.TAKE
            values = (*_log_values(first.log), *_origin_values(first.event or _NO_EVENT))
            shared = (settlement.organization_id, settlement.version, takes, *values)
            index_of_group.append(indexes.setdefault(shared, len(indexes)))
        id_, at, delivery_id, context_id, context_at, data, summary = settlement_rows.own_values(settlement)
        given.append((index_of_group[group], looked_at, at, at, id_, delivery_id, context_id, context_at))
        texts.append((data, summary))
        for (run_id, trigger), run in zip(settlement.started, first.runs, strict=True):
            due_at = at + run["due_at"] - run["created_at"]
            started.append((number, run_id, trigger.id, run["replayed"], at, due_at))
    shared_rows = [{"place": index, **dict(zip(_SHARED, values, strict=True))} for values, index in indexes.items()]
    runs = zip(*started, strict=True) if started else [()] * len(_STARTED)
    return (
        msgspec.json.encode(shared_rows).decode(),
        *zip(*given, strict=True),
        *zip(*texts, strict=True),
        *runs,
        any_known,
    )
