from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    Connection,
    FromClause,
    Select,
    Update,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.sql.elements import ColumnElement

from contentsvc_adapters.sql import workflow_rows
from contentsvc_adapters.sql.dialects.dialect import Dialect
from contentsvc_adapters.sql.schema.deliveries import events
from contentsvc_adapters.sql.schema.work import run_steps, workflow_runs
from contentsvc_adapters.sql.small import small_data
from contentsvc_adapters.sql.store import has_value
from contentsvc_core.workflows.causes import Generation, SiteReading
from contentsvc_core.workflows.run_payloads import REQUESTED_KINDS
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
_FORGET: Final = delete(run_steps).where(run_steps.c.run_id.in_(bindparam("ids", expanding=True)))
_IS_REQUEST: Final = events.c.type.in_(sorted(REQUESTED_KINDS))


def listed_runs(dialect: Dialect) -> Select[*tuple[Any, ...]]:
    return _RUNS.add_columns(small_data(dialect, events.c.summary.is_(None), always=_IS_REQUEST))


def full_runs(dialect: Dialect) -> Select[*tuple[Any, ...]]:
    return _RUNS.add_columns(small_data(dialect, always=_IS_REQUEST))


def has_status(status: RunStatus, runs: FromClause = workflow_runs) -> ColumnElement[bool]:
    return has_value(runs.c.status, status)


def owned_by_taker(run: WorkflowRun | Taken) -> ColumnElement[bool]:
    return (
        (workflow_runs.c.id == run.id)
        & (workflow_runs.c.organization_id == run.organization_id)
        & (workflow_runs.c.takes == run.takes)
        & has_status(RunStatus.RUNNING)
    )


def changing(run: WorkflowRun | Taken) -> Update:
    return update(workflow_runs).where(owned_by_taker(run))


def forget(connection: Connection, ids: Sequence[str]) -> None:
    """Delete the step results of runs that have ended."""
    connection.execute(_FORGET, {"ids": ids})


def start(connection: Connection, dialect: Dialect, run: WorkflowRun) -> bool:
    """Store a requested run and its request; ``False``: the run exists already."""
    request = run.cause
    assert isinstance(request, Generation | SiteReading)  # what deliveries start is settled with them
    asking = dialect.insert(events).on_conflict_do_nothing(index_elements=["id"]).returning(events.c.id)
    if connection.execute(asking, workflow_rows.request_row(run, request)).first() is None:
        return False
    connection.execute(insert(workflow_runs), workflow_rows.run_row(run, event_id=run.id))
    return True
