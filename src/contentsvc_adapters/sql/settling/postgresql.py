"""PostgreSQL: a batch of settlements is one statement, which is a transaction of its own."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from operator import itemgetter
from typing import Any, Final, TypeAlias, final

from attrs import evolve

from contentsvc_adapters.sql.database import Database, Fetch
from contentsvc_adapters.sql.dialects import Fault, Record
from contentsvc_adapters.sql.settling import parts
from contentsvc_adapters.sql.settling.lane import Item
from contentsvc_core.errors import StoreUnavailable, Unstorable
from contentsvc_core.timestamps import to_ms
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Claim, Settled
from contentsvc_core.workflows.runs import RunStatus

#: How often what is left of a batch is looked at. The first look may lose a claim to another process, the second finds
#: it held, and the third writes the duplicate's log entry, unless another process has written that meanwhile.
_LOOKS: Final = 5
_WINDOW_MS: Final = DEDUPE_WINDOW // timedelta(milliseconds=1)

#: Columns of arrays, and what those hold.
_Types: TypeAlias = Mapping[str, str]

_LOG: Final[_Types] = {
    "created_at": "bigint",
    "id": "text",
    "integration_id": "text",
    "repository_id": "bigint",
    "reference_id": "text",
    "title": "text",
    "integration_type": "text",
    "direction": "text",
    "status": "text",
    "status_code": "bigint",
    "error_message": "text",
    "event_id": "text",
    "payload": "text",
    "reason": "text",
}
#: What the statement is told of each settlement: whose all of it is, the claim, and the log entry.
_ITEM: Final[_Types] = {
    "organization_id": "text",
    "version": "bigint",
    "looked_at": "bytea",
    "takes": "boolean",
    "asked_at": "bigint",
    **_LOG,
}
_EVENT: Final[_Types] = {
    "provider": "text",
    "repository_id": "bigint",
    "repository": "text",
    "delivery_id": "text",
    "type": "text",
    "data": "text",
    "summary": "text",
}
_CONTEXT: Final[_Types] = {"id": "text", "custom_id": "text", "created_at": "bigint"}
#: Of an event, and of the context record that it comes with, if any. They are of one provider and repository, and have
#: the log entry's id and time. (``number`` is the settlement's, from 1.)
_TOLD: Final[_Types] = {"number": "bigint", **_EVENT, **{f"context_{name}": each for name, each in _CONTEXT.items()}}
_RUN: Final[_Types] = {
    "id": "text",
    "trigger_id": "text",
    "replayed": "boolean",
    "created_at": "bigint",
    "due_at": "bigint",
}
_STARTED: Final[_Types] = {"number": "bigint", **_RUN}


def _statement() -> str:
    """Give the statement that writes a batch; it tells of those alone that it did not write as they were decided.

    It sees the database as it was when it began. What another transaction has written since shows at the unique keys,
    which wait for that transaction's end: then a claim is not taken, or all of it fails.

    Several of these run at once. What they might wait for each other at is written in the same order everywhere, stage
    by stage: all claims, by key; then all events; then all context records, by key; and so on. The counting of a
    stage's rows, which means nothing, has the next stage wait until it has ended.

    Several hooks of one repository may be told the same at once: of their context records, which are one, the last is
    kept. A statement cannot write a row twice.
    """
    parameters = count(1)

    def given(types: _Types) -> str:
        return f"unnest({', '.join(f'${next(parameters)}::{each}[]' for each in types.values())})"

    # Nothing in it comes from a client: names of this module's, and numbers of parameters.
    return f"""
        WITH standing AS MATERIALIZED (
            SELECT item.*,
                organizations.version IS NOT DISTINCT FROM item.version AS is_current,
                log_entries.title AS known,
                claims.claimed_at > item.asked_at - {_WINDOW_MS} AS is_held
            FROM {given(_ITEM)} WITH ORDINALITY AS item ({", ".join(_ITEM)}, number)
            LEFT JOIN organizations ON organizations.id = item.organization_id
            LEFT JOIN log_entries ON log_entries.organization_id = item.organization_id
                AND log_entries.created_at = item.created_at AND log_entries.id = item.id
            LEFT JOIN claims ON claims.key = item.looked_at
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
        ), told AS MATERIALIZED (
            SELECT told.*, won.organization_id, won.id, won.created_at
            FROM {given(_TOLD)} AS told ({", ".join(_TOLD)}) JOIN won USING (number)
        ), events_added AS (
            INSERT INTO events (id, organization_id, created_at, {", ".join(_EVENT)})
            SELECT id, organization_id, created_at, {", ".join(_EVENT)} FROM told
            RETURNING 1
        ), contexts_kept AS (
            INSERT INTO context_records (organization_id, provider, repository_id, event_id, {", ".join(_CONTEXT)})
            SELECT DISTINCT ON (organization_id, context_custom_id)
                organization_id, provider, repository_id, id, {", ".join(f"context_{name}" for name in _CONTEXT)}
            FROM told WHERE context_id IS NOT NULL AND (SELECT count(*) FROM events_added) >= 0
            ORDER BY organization_id, context_custom_id, number DESC
            ON CONFLICT (organization_id, custom_id) DO UPDATE SET event_id = excluded.event_id
            RETURNING 1
        ), runs_started AS (
            INSERT INTO workflow_runs (organization_id, event_id, status, attempts, kills, takes, {", ".join(_RUN)})
            SELECT won.organization_id, won.id, 'pending', 0, 0, 0, {", ".join(f"run.{name}" for name in _RUN)}
            FROM {given(_STARTED)} AS run ({", ".join(_STARTED)}) JOIN won USING (number)
            WHERE (SELECT count(*) FROM contexts_kept) >= 0
            RETURNING 1
        ), log_added AS (
            INSERT INTO log_entries (organization_id, {", ".join(_LOG)})
            SELECT organization_id, {", ".join(_LOG)} FROM won
            WHERE (SELECT count(*) FROM runs_started) >= 0 ORDER BY organization_id, created_at, id
        )
        SELECT number, standing.known, standing.is_current, standing.is_held
        FROM standing LEFT JOIN won USING (number) WHERE won.number IS NULL
    """  # noqa: S608


STATEMENT: Final = _statement()

#: A row's values, in the order of the statement's columns.
_Values: TypeAlias = tuple[Any, ...]
_log_values: Final = itemgetter(*_LOG)
_event_values: Final = itemgetter(*_EVENT)
_context_values: Final = itemgetter(*_CONTEXT)
_run_values: Final = itemgetter(*_RUN)
_NO_CONTEXT: Final[parts.Row] = dict.fromkeys(_CONTEXT)


@final
class PostgresqlLane:
    """Writes batches. Lanes of one process and of others are in nobody's way, whatever they write."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self._database = database

    async def write(self, batch: Sequence[Item]) -> Sequence[Settled]:
        """Write a batch, and answer once it is durable."""
        return await self._database.execute(partial(self.settled, batch))

    async def settled(self, batch: Sequence[Item], fetch: Fetch) -> Sequence[Settled]:
        """Write a batch: in one statement, and one more for those that it does not write as decided."""
        answers: dict[int, Settled] = {}
        left = dict(enumerate(batch))
        refused = False
        for _ in range(_LOOKS):
            try:
                found = {row["number"]: row for row in await fetch(STATEMENT, _arguments(left.values()))}
            except Exception as exc:
                if refused or len(left) > 1 or self._database.dialect.fault(exc) is not Fault.VALUE:
                    raise
                # A key that is taken, perhaps: by the same settlement, sent twice at once. The next look finds that.
                refused = True
                continue
            again: dict[int, Item] = {}
            for place, (number, item) in enumerate(left.items(), start=1):
                told = found.get(place)
                answer = _answer(item, told)
                if answer is not None:
                    answers[number] = answer
                else:
                    again[number] = evolve(item, is_duplicate=True) if told is not None and told["is_held"] else item
            if not again:
                return [answers[number] for number in range(len(batch))]
            left = again
        message = "a settlement was overtaken again and again"
        raise StoreUnavailable(message)


def _answer(item: Item, told: Record | None) -> Settled | None:
    """Tell what became of an item, by what was told of it; ``None``: it has to be looked at again."""
    # Only of what was not written as it was decided.
    if told is None:
        return Settled.ALREADY_CLAIMED if item.is_duplicate else Settled.AS_DECIDED
    if told["known"] is not None:
        # Sent again after an unknown outcome. Whatever has changed meanwhile, which of its two log entries was written
        # tells what the first answer was.
        return Settled.AS_DECIDED if told["known"] == item.settlement.log.title else Settled.ALREADY_CLAIMED
    return None if told["is_current"] else Settled.STALE


def _arguments(items: Iterable[Item]) -> Sequence[_Values]:
    """Give the arguments of the statement that writes items, numbered from 1."""
    given, told, started = list[_Values](), list[_Values](), list[_Values]()
    for number, item in enumerate(items, start=1):
        settlement = item.settlement
        standing = (settlement.organization_id, settlement.version)
        if item.is_duplicate:
            given.append((*standing, None, False, None, *_log_values(parts.duplicate_row(settlement))))
            continue
        looked_at = parts.looked_at(settlement)
        takes = looked_at is not None and settlement.claim is Claim.TAKE
        given.append((*standing, looked_at, takes, to_ms(settlement.at), *_log_values(parts.log_row(settlement))))
        if (event := parts.event_row(settlement)) is not None:
            context = parts.context_row(settlement) or _NO_CONTEXT
            told.append((number, *_event_values(event), *_context_values(context)))
        for run, row in zip(settlement.runs, parts.run_rows(settlement), strict=True):
            if run.takes or run.attempts or run.kills or run.status is not RunStatus.PENDING:
                message = "a delivery starts runs, and has none that were taken already"
                raise Unstorable(message)
            started.append((number, *_run_values(row)))
    return (*_arrays(given, _ITEM), *_arrays(told, _TOLD), *_arrays(started, _STARTED))


def _arrays(table: Sequence[_Values], types: _Types) -> Iterable[_Values]:
    """Turn rows into columns."""
    return zip(*table, strict=True) if table else [()] * len(types)
