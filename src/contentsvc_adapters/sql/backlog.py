"""How much work is left, for whoever watches the service: cheap, however many runs have ended."""

from datetime import datetime
from typing import Final, TypeVar, final

from attrs import frozen
from sqlalchemy import Column, Connection, Select, func, literal_column, not_, select
from sqlalchemy.pool import QueuePool

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import search_pending, workflow_runs
from contentsvc_adapters.sql.searching.looking import WAITS
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.runs import RunStatus

_T = TypeVar("_T")

#: No more runs of a status are looked at: a backlog of more needs a person, not a number.
LOOKED_AT: Final = 10_000


@final
@frozen(kw_only=True)
class Backlog:
    """The runs that have not ended. Of a status with more than ``LOOKED_AT``, that many are known."""

    #: Wait to be taken, due or not.
    pending: int
    #: Were taken.
    running: int
    #: How long the run that waits longest has been due, in seconds; 0: none is due.
    oldest_due_s: float


async def backlog(database: Database, now: datetime) -> Backlog:
    """Count what is left, as of one moment.

    Raises:
        StoreUnavailable: The database does not answer.
    """

    def read(connection: Connection) -> Backlog:
        row = connection.execute(statement()).one()
        due_for_ms = 0 if row.oldest is None else max(0, to_ms(now) - row.oldest)
        return Backlog(pending=row.pending, running=row.running, oldest_due_s=due_for_ms / 1000)

    return await database.read(read)


async def given_up(database: Database) -> int:
    """Return how many documents are not searched, because their processing never ended.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    asked = select(func.count()).select_from(search_pending).where(not_(WAITS))
    return await database.read(lambda connection: connection.scalar(asked) or 0)


def connections(database: Database) -> tuple[int, int]:
    """Tell how many connections to the database are in use, and how many there may be, in this process."""
    counted = [pool for pool in database.pools if isinstance(pool, QueuePool)]
    return sum(pool.checkedout() for pool in counted), sum(pool.size() for pool in counted)


def statement() -> Select[int, int | None, int]:
    """Give the question. It reads the indexes of what is pending and running, and not the table."""
    pending = _some(workflow_runs.c.due_at, RunStatus.PENDING).subquery("pending")
    running = _some(workflow_runs.c.id, RunStatus.RUNNING).subquery("running")
    return select(
        func.count().label("pending"),
        func.min(pending.c.due_at).label("oldest"),
        select(func.count()).select_from(running).scalar_subquery().label("running"),
    ).select_from(pending)


def _some(column: Column[_T], status: RunStatus) -> Select[_T]:
    # Spelled out: behind a parameter, the planner would not see that a partial index serves.
    stands = workflow_runs.c.status == literal_column(f"'{status.value}'")
    return select(column).where(stands).limit(LOOKED_AT)
