"""Leases and backoffs of messages and mails, by the clock that all processes share."""

from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, case

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.timestamps import to_ms


def is_free(table: FromClause, dialect: Dialect, now: ColumnElement[int] | int) -> ColumnElement[bool]:
    """Return the condition that a row is due at ``now``, and that its lease or backoff has ended.

    ``due_at`` is by the clock of a process; leases and backoffs end by the clock that all processes share.
    """
    until = table.c.leased_until
    return (table.c.due_at <= now) & (until.is_(None) | (until <= dialect.now_ms()))


def held(dialect: Dialect, for_ms: ColumnElement[int] | int, *, now_ms: int) -> dict[str, ColumnElement[int]]:
    """Return the values of a row that is held for a lease or a backoff; ``now_ms`` is the time of this process.

    Nodes of the previous version only read ``due_at``. The slower clock counts: of two clocks that differ, the faster
    one would hold back a row whose time has come.
    """
    shared = dialect.now_ms()
    return {"due_at": case((shared < now_ms, shared), else_=now_ms) + for_ms, "leased_until": shared + for_ms}


def released(due_at: datetime) -> dict[str, int | None]:
    """Return the values of a row that no process holds: it has ended, or is sent anew."""
    return {"due_at": to_ms(due_at), "leased_until": None}


def outcome_values(
    dialect: Dialect, status: MessageStatus, *, at: datetime, due_at: datetime
) -> dict[str, ColumnElement[int] | int | str | None]:
    """Return the values of a row after an attempt that ended at ``at``."""
    if status is not MessageStatus.PENDING:
        return {"status": status.value, **released(due_at)}
    return {"status": status.value, **held(dialect, max(0, to_ms(due_at) - to_ms(at)), now_ms=to_ms(at))}
