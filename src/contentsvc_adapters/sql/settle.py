"""The write path of a delivery: one settlement, one transaction."""

from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final, final

from sqlalchemy import Connection, and_, bindparam, insert, select

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import claims, context_records, events, log_entries, organizations, workflow_runs
from contentsvc_core.errors import StoreUnavailable, Unstorable
from contentsvc_core.journal import LogEntry
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.webhooks.events import Event, Push, Release
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Claim, Settled, Settlement, claim_is_held
from contentsvc_core.workflows.causes import Delivered

#: The second look finds what overtook the first, unless it was deleted meanwhile.
_LOOKS: Final = 4
_WINDOW_MS: Final = DEDUPE_WINDOW // timedelta(milliseconds=1)
#: Everything that the answer depends on, in one question: each statement is a turn to another thread and back.
#: A claim's key is never NULL, so that no claim is found where none is asked for.
_STANDING: Final = (
    select(organizations.c.version, claims.c.claimed_at, log_entries.c.title)
    .select_from(organizations)
    .outerjoin(claims, claims.c.key == bindparam("claim_key", type_=claims.c.key.type))
    .outerjoin(
        log_entries,
        and_(
            log_entries.c.organization_id == organizations.c.id,
            log_entries.c.created_at == bindparam("logged_at", type_=log_entries.c.created_at.type),
            log_entries.c.id == bindparam("log_id", type_=log_entries.c.id.type),
        ),
    )
    .where(organizations.c.id == bindparam("organization", type_=organizations.c.id.type))
)


class _Overtaken(Exception):
    """Undoes a transaction: another one has committed what this one was about to write, and must be looked at."""


@final
class SettlementWriter:
    """Writes settlements, each in a transaction of its own.

    Where several transactions write at once, the unique keys decide, and each is asked for in one statement with what
    follows from the answer: a question before would be a race. Whoever finds a key being taken waits for its taker's
    end. A transaction waits for a claim before it holds anything that others wait for, and configuration is only
    read: no circle can close.
    """

    def __init__(self, database: Database) -> None:
        """Take the database; the statements are built once."""
        self._database = database
        insertion = database.dialect.insert
        claim = insertion(claims)
        self._take = claim.on_conflict_do_update(
            index_elements=["key"],
            set_={"claimed_at": claim.excluded.claimed_at, "log_id": claim.excluded.log_id},
            # The negation of `claim_is_held`, to the millisecond.
            where=claims.c.claimed_at <= claim.excluded.claimed_at - _WINDOW_MS,
        ).returning(claims.c.log_id)
        self._add_event = insertion(events).on_conflict_do_nothing(index_elements=["id"]).returning(events.c.id)
        self._add_log = (
            insertion(log_entries)
            .on_conflict_do_nothing(index_elements=["organization_id", "created_at", "id"])
            .returning(log_entries.c.id)
        )
        context = insertion(context_records)
        self._upsert_context = context.on_conflict_do_update(
            index_elements=["organization_id", "custom_id"], set_={"event_id": context.excluded.event_id}
        )

    async def settle(self, settlement: Settlement) -> Settled:
        """Write a settlement and answer once it is durable."""
        for _ in range(_LOOKS):
            with suppress(_Overtaken):
                return await self._database.write(partial(self._settle, settlement))
            # Who overtook it has committed: the next look finds that.
        message = "a settlement was overtaken again and again"
        raise StoreUnavailable(message)

    def _settle(self, settlement: Settlement, connection: Connection) -> Settled:
        log = settlement.log
        looked_at = None if settlement.claim is Claim.NONE else settlement.key
        standing = connection.execute(
            _STANDING,
            {
                "claim_key": None if looked_at is None else looked_at.digest,
                "logged_at": to_ms(log.created_at),
                "log_id": log.id,
                "organization": settlement.organization_id,
            },
        ).first()
        if standing is None:
            return Settled.STALE
        if standing.title is not None:
            # Sent again after an unknown outcome. Whatever has changed meanwhile, which of its two log entries was
            # written tells what the first answer was.
            return Settled.AS_DECIDED if standing.title == log.title else Settled.ALREADY_CLAIMED
        if standing.version != settlement.version:
            return Settled.STALE
        if standing.claimed_at is not None and claim_is_held(from_ms(standing.claimed_at), settlement.at):
            self._log(settlement.duplicate_log, connection)
            return Settled.ALREADY_CLAIMED
        self._write(settlement, connection)
        return Settled.AS_DECIDED

    def _write(self, settlement: Settlement, connection: Connection) -> None:
        log = settlement.log
        if settlement.claim is Claim.TAKE and settlement.key is not None:
            claim = {"key": settlement.key.digest, "claimed_at": to_ms(settlement.at), "log_id": log.id}
            if connection.execute(self._take, claim).first() is None:
                raise _Overtaken
        event = _event(settlement)
        is_new = event is None or connection.execute(self._add_event, event).first() is not None
        # Before what has keys of its own: the same settlement, sent twice at once, meets itself here or at the claim.
        self._log(log, connection)
        if not is_new:
            message = f"'{log.id}' is the id of another event"
            raise Unstorable(message)
        if settlement.context is not None:
            connection.execute(self._upsert_context, rows.context_row(settlement.context, event_id=log.id))
        if settlement.runs:
            connection.execute(insert(workflow_runs), [rows.run_row(run, event_id=log.id) for run in settlement.runs])

    def _log(self, entry: LogEntry, connection: Connection) -> None:
        if connection.execute(self._add_log, rows.log_row(entry)).first() is None:
            raise _Overtaken


def _event(settlement: Settlement) -> dict[str, Any] | None:
    """Give the one row that context record, runs and log entry refer to."""
    log = settlement.log
    causes = [run.cause for run in settlement.runs if isinstance(run.cause, Delivered)]
    carriers = causes if settlement.context is None else [settlement.context, *causes]
    told: list[Event] = [carrier.event for carrier in carriers]
    if isinstance(log.detail, Push | Release):
        told.append(log.detail)
    if not told:
        return None
    if any(event is not told[0] and event != told[0] for event in told):
        message = "the parts of one settlement tell of different events"
        raise Unstorable(message)
    return rows.event_row(log, told[0], of=carriers[0] if carriers else None)
