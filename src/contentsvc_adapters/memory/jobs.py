from collections.abc import Sequence
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import MemoryStore, refuse_unstorable
from contentsvc_core.workflows.jobs import Job, JobEvent


@final
class MemoryJobs(MemoryStore):
    async def start(self, job: Job) -> None:
        refuse_unstorable(job)
        self._state.refuse_stranger(job.run.organization_id)
        if job.id not in self._state.jobs:
            self._state.jobs[job.id] = job
            self._state.put_run(job.run)

    async def job(self, organization_id: str, job_id: str) -> Job | None:
        job = self._state.jobs.get(job_id)
        if job is None or job.run.organization_id != organization_id:
            return None
        return evolve(job, run=self._state.runs[job.run.id])

    async def note(self, events: Sequence[JobEvent]) -> None:
        refuse_unstorable(*events)
        for event in events:
            job = self._state.jobs[event.job_id]
            if all(event.id != each.id for each in job.events):
                self._state.jobs[job.id] = evolve(job, events=(*job.events, event))
