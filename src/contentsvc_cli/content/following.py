import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import say
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_core.application import Application
from contentsvc_core.workflows.jobs import Job, job_events, job_status

if TYPE_CHECKING:
    from contentsvc_cli.remote import Api

_LOOK_EVERY_S: Final = 0.2
#: Polling interval on a server, in seconds: a rate limit of 60 requests a minute stays unused by half.
_ASK_EVERY_S: Final = 2.0
_ENDED: Final = frozenset({"completed", "failed", "skipped"})

WAIT: Final = click.option(
    "--wait", "wait_s", type=click.FloatRange(0), metavar="SECONDS", help="Wait for the job to end, at most this long."
)


async def followed(app: Application, job: Job, wait_s: float | None) -> Job:
    if wait_s is None:
        return job
    deadline = time.monotonic() + wait_s
    printed = 0
    with waiting("waiting for the job") as shown:
        while True:
            current = await app.stores.jobs.job(job.run.organization_id, job.id)
            job = current or job
            events = job_events(job)
            for event in events[printed:]:
                say(f"{event.type.value}: {event.message}", err=True)
            printed = len(events)
            status = job_status(job)
            if status in _ENDED or time.monotonic() >= deadline:
                return job
            shown.say(f"waiting for the job: it is {status}")
            await asyncio.sleep(_LOOK_EVERY_S)


def followed_on_server(api: "Api", path: str, body: dict[str, Any], wait_s: float | None) -> dict[str, Any]:
    job: dict[str, Any] = api.send("POST", path, body)["job"]
    if wait_s is None:
        return job
    deadline = time.monotonic() + wait_s
    printed = 0
    with waiting("waiting for the job") as shown:
        while True:
            answer = api.get(f"{path}/{part(job['id'])}")
            job = answer["job"]
            events = answer.get("events", [])
            for event in events[printed:]:
                say(f"{event['type']}: {event['message']}", err=True)
            printed = len(events)
            if job["status"] in _ENDED or time.monotonic() >= deadline:
                return job
            shown.say(f"waiting for the job: it is {job['status']}")
            time.sleep(_ASK_EVERY_S)


def check_completed(job: Mapping[str, Any], wait_s: float | None) -> None:
    status = job["status"]
    if wait_s is not None and status != "completed":
        reason = job["error"] if status in _ENDED else "it takes longer than that; is a server running?"
        message = f"the job is {status}: {reason}"
        raise click.ClickException(message)
