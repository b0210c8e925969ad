"""The amount of unfinished work, for monitoring. The queries are cheap, however many runs have ended."""

from datetime import datetime
from typing import Final, TypeVar, final

from attrs import frozen
from sqlalchemy import Column, Connection, Select, func, not_, select

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema.mailing import mails
from contentsvc_adapters.sql.schema.outgoing import webhook_endpoints, webhook_messages
from contentsvc_adapters.sql.schema.searching import search_pending
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_adapters.sql.searching.indexing import WAITS
from contentsvc_adapters.sql.store import has_value
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.runs import RunStatus

_T = TypeVar("_T")

#: The maximum number of runs that are counted per status: an exact number above this has no use.
LOOKED_AT: Final = 10_000


@final
@frozen(kw_only=True)
class Backlog:
    """The unfinished runs. Each count is at most ``LOOKED_AT``."""

    pending: int
    running: int
    #: The time for which the longest waiting run has been due, in seconds; 0: no run is due.
    oldest_due_s: float


async def backlog(database: Database, now: datetime) -> Backlog:
    def read(connection: Connection) -> Backlog:
        row = connection.execute(statement()).one()
        due_for_ms = 0 if row.oldest is None else max(0, to_ms(now) - row.oldest)
        return Backlog(pending=row.pending, running=row.running, oldest_due_s=due_for_ms / 1000)

    return await database.read(read)


@final
@frozen(kw_only=True)
class MailBacklog:
    """Numbers of waiting mails to subscribers, and of mails that ended since a time."""

    waiting: int
    #: The age of the oldest waiting mail, in seconds; 0: none waits.
    oldest_s: float
    sent: int
    failed: int
    #: The error of a waiting mail, else of the mail that failed last, without its address; ``None``: no error.
    error: str | None


async def mail_backlog(database: Database, now: datetime, *, since: datetime) -> MailBacklog:
    ended = (
        select(mails.c.status, func.count().label("number"))
        .where(mails.c.due_at >= to_ms(since))
        .group_by(mails.c.status)
    )
    own = has_value(mails.c.status, MessageStatus.PENDING)
    pending = select(func.count(), func.min(mails.c.created_at)).where(own)
    # A mail that waits after an attempt is due in the future, and a mail that ended was due at its end.
    errors = select(mails.c.error).where(mails.c.error.is_not(None), mails.c.due_at >= to_ms(since))

    def read(connection: Connection) -> MailBacklog:
        numbers = {row.status: row.number for row in connection.execute(ended)}
        waiting, oldest = connection.execute(pending).one()
        return MailBacklog(
            waiting=waiting,
            oldest_s=0 if oldest is None else max(0, to_ms(now) - oldest) / 1000,
            sent=numbers.get(MessageStatus.DELIVERED.value, 0),
            failed=numbers.get(MessageStatus.FAILED.value, 0),
            error=connection.scalar(errors.order_by(mails.c.due_at.desc()).limit(1)),
        )

    return await database.read(read)


@final
@frozen(kw_only=True)
class MessageBacklog:
    """The messages that wait for enabled webhook endpoints."""

    waiting: int
    #: The age of the oldest waiting message, in seconds; 0: none waits.
    oldest_s: float
    #: The endpoint of the oldest message, and how many of its attempts in a row have failed.
    endpoint_id: str = ""
    failures: int = 0


async def message_backlog(database: Database, now: datetime) -> MessageBacklog | None:
    """Return the waiting messages; ``None``: no endpoint is enabled."""
    oldest = func.min(webhook_messages.c.created_at).label("since")
    number = func.count(webhook_messages.c.id).label("number")
    pending = has_value(webhook_messages.c.status, MessageStatus.PENDING)
    of_endpoint = webhook_messages.c.endpoint_id == webhook_endpoints.c.id
    waiting = (
        select(webhook_endpoints.c.id, webhook_endpoints.c.failures, number, oldest)
        .select_from(webhook_endpoints.outerjoin(webhook_messages, of_endpoint & pending))
        .where(webhook_endpoints.c.enabled)
        .group_by(webhook_endpoints.c.id, webhook_endpoints.c.failures)
    )
    rows = await database.rows(waiting)
    if not rows:
        return None
    behind = [(row.since, row.id, row.failures) for row in rows if row.since is not None]
    if not behind:
        return MessageBacklog(waiting=0, oldest_s=0)
    since, endpoint_id, failures = min(behind)
    return MessageBacklog(
        waiting=sum(row.number for row in rows),
        oldest_s=max(0, to_ms(now) - since) / 1000,
        endpoint_id=endpoint_id,
        failures=failures,
    )


async def abandoned_documents(database: Database) -> int:
    """Return the number of documents that are not searchable, because their indexing never finished."""
    query = select(func.count()).select_from(search_pending).where(not_(WAITS))
    return await database.read(lambda connection: connection.scalar(query) or 0)


def statement() -> Select[int, int | None, int]:
    """Create the query. It reads only the partial indexes of pending and running runs, not the table."""
    pending = _some(workflow_runs.c.due_at, RunStatus.PENDING).subquery("pending")
    running = _some(workflow_runs.c.id, RunStatus.RUNNING).subquery("running")
    return select(
        func.count().label("pending"),
        func.min(pending.c.due_at).label("oldest"),
        select(func.count()).select_from(running).scalar_subquery().label("running"),
    ).select_from(pending)


def _some(column: Column[_T], status: RunStatus) -> Select[_T]:
    return select(column).where(has_value(workflow_runs.c.status, status)).limit(LOOKED_AT)
