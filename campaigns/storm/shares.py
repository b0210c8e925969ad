"""Expensive requests of one key without a pause, and short lists of another organization meanwhile."""

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Final, final
from urllib.parse import quote

import httpx
from attrs import frozen
from campaigns.storm.probes import Probed, a_client, probing
from tests.server_process import Hook, Prepared, ServerProcess

from contentsvc_core.testing import push_body

#: The number of concurrent requests of one key.
LOOPS: Final = 8
#: Pushes with the most commits that a push may have.
PUSHES: Final = 30
COMMITS: Final = 2048
#: The time between two requests of the other organization, in seconds.
_EVERY_S: Final = 0.25


@final
@frozen(kw_only=True)
class Crowd:
    """The results of concurrent requests."""

    #: The answers to the key that sends without a pause, by status.
    answers: Counter[str]
    #: The answers to the other organization.
    probed: Probed


async def fill(server: ServerProcess, hook: Hook, *, pushes: int, commits: int) -> None:
    """Deliver pushes with many commits."""
    async with a_client() as client:
        for number in range(pushes):
            messages = [f"feat: lamp {number} gets part {part} of its light" for part in range(commits)]
            body = json.dumps(push_body(*messages, repository_id=hook.repository_id)).encode()
            headers = hook.headers(body, str(uuid.uuid4()))
            (await client.post(server.url + hook.path, content=body, headers=headers)).raise_for_status()


async def crowd(prepared: Prepared, server: ServerProcess, *, other_key: str, loops: int, for_s: float) -> Crowd:
    """Request the most expensive operations with one key, in several loops; another organization reads its log."""
    answers = Counter[str]()
    numbers = count()
    async with a_client() as client:
        own = {"Authorization": f"Bearer {prepared.key}"}
        context = (await client.get(f"{server.url}/v1/context?limit=1", headers=own)).json()["context"]
        paths = [
            "/v1/context?limit=100",
            f"/v1/context/{quote(context[0]['customId'])}",
            "/v1/webhook-logs?limit=30",
            "/v1/posts?limit=100",
        ]

        async def loop() -> None:
            while True:
                answer = await client.get(server.url + paths[next(numbers) % len(paths)], headers=own)
                answers[str(answer.status_code)] += 1

        async with probing(_listing(client, server.url, other_key), pid=server.process.pid, every_s=_EVERY_S) as probed:
            tasks = [asyncio.create_task(loop()) for _ in range(loops)]
            await asyncio.wait(tasks, timeout=for_s, return_when=asyncio.FIRST_EXCEPTION)
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
    probed.faults += [f"a loop: {each!r}" for each in ended if not isinstance(each, asyncio.CancelledError)]
    return Crowd(answers=answers, probed=probed)


def _listing(client: httpx.AsyncClient, url: str, key: str) -> Callable[[int], Awaitable[str | None]]:
    async def send(_number: int) -> str | None:
        answer = await client.get(f"{url}/v1/webhook-logs?limit=1", headers={"Authorization": f"Bearer {key}"})
        return None if answer.is_success else f"GET webhook-logs: {answer.status_code} {answer.text}"

    return send
