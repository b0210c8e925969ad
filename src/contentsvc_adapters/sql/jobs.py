from collections.abc import Sequence
from typing import Any, final

import msgspec
from sqlalchemy import Connection, select

from contentsvc_adapters.sql import workflow_rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.row import AnyRow, json_of, read_row, row_of
from contentsvc_adapters.sql.runs import listed_runs, start
from contentsvc_adapters.sql.schema.work import job_events, jobs, workflow_runs
from contentsvc_adapters.sql.store import SqlStore, writing
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.jobs import Job, JobEvent


@final
class SqlJobs(SqlStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        insertion = database.dialect.insert
        self._add = insertion(jobs).on_conflict_do_nothing(index_elements=["id"]).returning(jobs.c.id)
        self._note = insertion(job_events).on_conflict_do_nothing(index_elements=["id"])

    @writing
    def start(self, connection: Connection, job: Job) -> None:
        row = {
            "id": job.id,
            "organization_id": job.run.organization_id,
            "run_id": job.run.id,
            "created_at": to_ms(job.run.created_at),
        }
        if start(connection, self._database.dialect, job.run):
            connection.execute(self._add, row)
            self._noted(connection, job.events)

    async def job(self, organization_id: str, job_id: str) -> Job | None:
        if not is_own_id(job_id):
            return None
        run_of = (
            listed_runs(self._database.dialect)
            .add_columns(jobs.c.id.label("job_id"))
            .join(jobs, jobs.c.run_id == workflow_runs.c.id)
            .where(jobs.c.organization_id == organization_id, jobs.c.id == job_id)
        )
        events_of = select(job_events).where(job_events.c.job_id == job_id).order_by(job_events.c.number)

        def read(connection: Connection) -> Job | None:
            run_row = connection.execute(run_of).first()
            if run_row is None:
                return None
            event_rows = connection.execute(events_of)
            return Job(
                id=run_row.job_id,
                run=workflow_rows.workflow_run(run_row, None),
                events=[_event(row) for row in event_rows],
            )

        return await self._database.read(read)

    async def note(self, events: Sequence[JobEvent]) -> None:
        if events:
            await self._database.write(lambda connection: self._noted(connection, events))

    def _noted(self, connection: Connection, events: Sequence[JobEvent]) -> None:
        if events:
            # One statement, which can be cancelled (see completion.py).
            connection.execute(self._note.values([_row(event) for event in events]))


def _row(event: JobEvent) -> dict[str, Any]:
    return row_of(event, metadata=None if event.metadata is None else json_of(dict(event.metadata)))


def _event(row: AnyRow) -> JobEvent:
    metadata = None if row.metadata is None else msgspec.json.decode(row.metadata)
    return read_row(JobEvent, row, metadata=metadata)
