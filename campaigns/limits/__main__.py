"""`python -m campaigns.limits`: the window's edges against a real server and the real time."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import Final

import click
import httpx
from attrs import frozen
from campaigns.limits.installed import LIMIT, Limited, clients, install
from tests.progress import Advance, progress
from tests.server_process import serving

#: The groups of requests: time after the first one in seconds, number, and the number that must pass.
_SCENE: Final = ((0.0, 1, 1), (59.9, LIMIT - 1, LIMIT - 1), (60.1, LIMIT, 1))
_TURN_S: Final = 0.1


@frozen(kw_only=True)
class _Seen:
    """The result of a group of requests."""

    sent_s: float
    answered_s: float
    passed: int
    refused: tuple[httpx.Response, ...]


@click.command()
@click.option("--keep", is_flag=True, help="Keep the folder although all is well.")
def limits(*, keep: bool) -> None:
    """Request posts at 0, 59.9 and 60.1 seconds, then wait for the last refusal's Retry-After, and request one more.

    Takes a little over two minutes. Exit code 0: exactly the expected requests were admitted.
    """
    folder = Path(tempfile.mkdtemp(prefix="contentsvc-limits-"))
    with progress("seconds", 120) as advance:
        limited = asyncio.run(install(folder, f"sqlite+aiosqlite:///{folder / 'contentsvc.db'}"))
        with serving(limited.installation) as server:
            summary, faults = asyncio.run(_play(limited, server.url, _clock(advance)))
    for fault in faults:
        click.echo(fault)
    click.echo(f"limits: {summary}; {'as it must be' if not faults else f'faults {len(faults)}, see {folder}'}")
    if not faults and not keep:
        shutil.rmtree(folder)
    sys.exit(1 if faults else 0)


def _clock(advance: Advance) -> Callable[[float], Awaitable[None]]:
    """Return a function that waits until a time, and shows the progress."""

    async def until(moment: float) -> None:
        before = monotonic()
        while (left := moment - monotonic()) > 0:
            await asyncio.sleep(min(left, _TURN_S))
            now = monotonic()
            advance(now - before)
            before = now

    return until


async def _play(limited: Limited, url: str, until: Callable[[float], Awaitable[None]]) -> tuple[str, list[str]]:
    faults: list[str] = []
    steps: list[str] = []
    async with clients() as client:
        # The first request of a process is slow. It has another bucket, so it counts for no group.
        await client.post(f"{url}/v1/posts/generate")
        began = monotonic()
        last: tuple[httpx.Response, ...] = ()
        for at_s, times, must_pass in _SCENE:
            await until(began + at_s)
            seen = await _ask(limited, client, url, times, began)
            steps.append(f"at {seen.sent_s:.2f} s {seen.passed} of {times} passed")
            if seen.passed != must_pass:
                faults.append(f"at {at_s} s {must_pass} of {times} must pass (answered at {seen.answered_s:.2f} s)")
            last = seen.refused
        if last:
            wait_s = max(int(answer.headers["Retry-After"]) for answer in last)
            await until(monotonic() + wait_s)
            seen = await _ask(limited, client, url, 1, began)
            steps.append(f"{seen.passed} of 1 after the {wait_s} s that Retry-After asked for")
            if seen.passed != 1:
                faults.append("a request after Retry-After must pass")
    return ", ".join(steps), faults


async def _ask(limited: Limited, client: httpx.AsyncClient, url: str, times: int, began: float) -> _Seen:
    sent_s = monotonic() - began
    answers = await asyncio.gather(*(limited.ask(client, url) for _ in range(times)))
    refused = tuple(answer for answer in answers if "Retry-After" in answer.headers)
    return _Seen(sent_s=sent_s, answered_s=monotonic() - began, passed=len(answers) - len(refused), refused=refused)


limits(prog_name="python -m campaigns.limits")
