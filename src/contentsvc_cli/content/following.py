"""Waiting for a job."""

import asyncio
import time
from typing import Final

import click

from contentsvc_cli.terminal.output import say
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_core.application import Application
from contentsvc_core.workflows.jobs import Job, job_events, job_status

_LOOK_EVERY_S: Final = 0.2
_ENDED: Final = frozenset({"completed", "failed", "skipped"})

#: ``--wait SECONDS`` of commands that start a job.
WAIT: Final = click.option(
    "--wait", "wait_s", type=click.FloatRange(0), metavar="SECONDS", help="Wait for the job to end, at most this long."
)


async def followed(app: Application, job: Job, wait_s: float | None) -> Job:
    """Wait until a job has ended, and print its events to standard error."""
    if wait_s is None:
        return job
    deadline = time.monotonic() + wait_s
    told = 0
    with waiting("waiting for the job") as shown:
        while True:
            found = await app.stores.jobs.job(job.run.organization_id, job.id)
            job = found or job
            events = job_events(job)
            for event in events[told:]:
                say(f"{event.type.value}: {event.message}", err=True)
            told = len(events)
            status = job_status(job)
            if status in _ENDED or time.monotonic() >= deadline:
                return job
            shown.say(f"waiting for the job: it is {status}")
            await asyncio.sleep(_LOOK_EVERY_S)


def check_completed(job: Job, wait_s: float | None) -> None:
    """Raise an error for a job that is not completed.

    Raises:
        ClickException: The job is not completed.
    """
    status = job_status(job)
    if wait_s is not None and status != "completed":
        reason = job.run.error if status in _ENDED else "it takes longer than that; is a server running?"
        message = f"the job is {status}: {reason}"
        raise click.ClickException(message)
