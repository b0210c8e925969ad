"""What every statement about workflow runs is made of."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, FromClause, Select, Update, delete, insert, literal_column, select, update
from sqlalchemy.sql.elements import ColumnElement

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.dialects.dialect import Dialect
from contentsvc_adapters.sql.schema import events, run_drafts, run_steps, workflow_runs
from contentsvc_adapters.sql.small import small_data
from contentsvc_core.workflows.causes import Generation, SiteReading
from contentsvc_core.workflows.runs import RunStatus, Taken, WorkflowRun

_RUNS: Final[Select[*tuple[Any, ...]]] = select(
    workflow_runs,
    events.c.provider,
    events.c.repository_id,
    events.c.repository,
    events.c.delivery_id,
    events.c.type,
    events.c.summary,
).join(events, events.c.id == workflow_runs.c.event_id)


def listed_runs(dialect: Dialect) -> Select[*tuple[Any, ...]]:
    """Build the statement that reads runs for :func:`~contentsvc_adapters.sql.rows.listed_run`."""
    return _RUNS.add_columns(small_data(dialect, events.c.summary.is_(None)))


def whole_runs(dialect: Dialect) -> Select[*tuple[Any, ...]]:
    """Build the statement that reads runs for :class:`~contentsvc_adapters.sql.shared_events.SharedEvents`."""
    return _RUNS.add_columns(small_data(dialect))


def stands_at(status: RunStatus, runs: FromClause = workflow_runs) -> ColumnElement[bool]:
    """Give the condition that a run has a status, so that the partial index for it serves."""
    # Spelled out: behind a parameter, the planner would not see that.
    return runs.c.status == literal_column(f"'{status.value}'")


def held(run: WorkflowRun | Taken) -> ColumnElement[bool]:
    """Give the condition that a run is running in the name of who took it as ``run``."""
    return (
        (workflow_runs.c.id == run.id)
        & (workflow_runs.c.organization_id == run.organization_id)
        & (workflow_runs.c.takes == run.takes)
        & stands_at(RunStatus.RUNNING)
    )


def changing(run: WorkflowRun | Taken) -> Update:
    """Begin the change of a run by who took it."""
    return update(workflow_runs).where(held(run))


def forget(connection: Connection, ids: Sequence[str]) -> None:
    """Delete the step results of runs that have ended."""
    connection.execute(delete(run_steps).where(run_steps.c.run_id.in_(ids)))
    # Nodes of the previous version write drafts; without them, a run's row could not be deleted (foreign key).
    connection.execute(delete(run_drafts).where(run_drafts.c.run_id.in_(ids)))


def start(connection: Connection, dialect: Dialect, run: WorkflowRun) -> bool:
    """Store a run that no delivery has started, and what was asked for; False: it is there already."""
    asked = run.cause
    assert isinstance(asked, Generation | SiteReading)  # what deliveries start is settled with them
    asking = dialect.insert(events).on_conflict_do_nothing(index_elements=["id"]).returning(events.c.id)
    if connection.execute(asking, rows.asked_row(run, asked)).first() is None:
        return False
    connection.execute(insert(workflow_runs), rows.run_row(run, event_id=run.id))
    return True
