import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import fail, say
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_core.application import Application
from contentsvc_core.workflows.jobs import Job, job_events, job_status

if TYPE_CHECKING:
    from contentsvc_cli.remote import Api

_Job = TypeVar("_Job")
_LOOK_EVERY_S: Final = 0.2
#: Polling interval on a server, in seconds: a rate limit of 60 requests a minute stays unused by half.
_ASK_EVERY_S: Final = 2.0
#: What an error says of a job that has ended without a result.
_ENDINGS: Final = {"failed": "the job failed", "skipped": "nothing was written"}

WAIT: Final = click.option(
    "--wait", "wait_s", type=click.FloatRange(0), metavar="SECONDS", help="Wait for the job to end, at most this long."
)


async def followed(app: Application, job: Job, wait_s: float | None) -> Job:
    async def look() -> tuple[Job, str, Sequence[str]]:
        current = await app.stores.jobs.job(job.run.organization_id, job.id) or job
        return current, job_status(current), [event.message for event in job_events(current)]

    return job if wait_s is None else await _at_end(look, wait_s, _LOOK_EVERY_S)


def followed_on_server(api: "Api", path: str, body: dict[str, Any], wait_s: float | None) -> dict[str, Any]:
    job: dict[str, Any] = api.send("POST", path, body)["job"]

    async def look() -> tuple[dict[str, Any], str, Sequence[str]]:
        answer = api.get(f"{path}/{part(job['id'])}")
        return answer["job"], answer["job"]["status"], [event["message"] for event in answer.get("events", [])]

    return job if wait_s is None else asyncio.run(_at_end(look, wait_s, _ASK_EVERY_S))


async def _at_end(
    look: Callable[[], Awaitable[tuple[_Job, str, Sequence[str]]]], wait_s: float, every_s: float
) -> _Job:
    deadline = time.monotonic() + wait_s
    printed = 0
    with waiting("waiting for the job") as shown:
        while True:
            job, status, messages = await look()
            # The error of `check_completed` has the message of another ending.
            until = len(messages) - (status in _ENDINGS)
            for message in messages[printed:until]:
                say(message if message.endswith((".", "!", "?")) else f"{message}.", err=True)
            printed = max(printed, until)
            if status == "completed" or status in _ENDINGS or time.monotonic() >= deadline:
                return job
            shown.say(f"waiting for the job: it is {status}")
            await asyncio.sleep(every_s)


def check_completed(job: Mapping[str, Any], wait_s: float | None) -> None:
    status = job["status"]
    if wait_s is not None and status != "completed":
        if status in _ENDINGS:
            fail(f"{_ENDINGS[status]}: {job['error']}")
        fail(f"the job is {status} after {wait_s:g} s; is a server running?")
