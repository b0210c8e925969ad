"""`python -m campaigns.storm --count 1000 --seed 1`."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import click
from campaigns.storm.races import COPIES, STORES, race
from campaigns.storm.shares import COMMITS, LOOPS, PUSHES, crowd, fill
from campaigns.storm.slow import summary
from campaigns.storm.weather import LARGE, flood, sit
from campaigns.storm.wire import Weathered, bursts, forms, heads, idlers, trailers
from tests import postgres
from tests.progress import progress
from tests.server_process import Prepared, ServerProcess, prepare, serving

_BODIES: Final = 40
_SOCKETS: Final = 500
_MINUTE_S: Final = 60.0
#: Limits of memory in megabytes, and of time in seconds.
_MEMORY_MB: Final = 512.0
_READ_P99_S: Final = 0.5
_DELIVER_P99_S: Final = 1.0
_HELD_S: Final = 31.0
_KEYS: Final = 12
#: The most growth of the server while 100 MiB of trailers arrive, and the most that may remain afterwards, in MB.
_GROWTH_MB: Final = 20.0
_HEALTH_P99_S: Final = 0.5
_PARTS: Final = ("races", "bodies", "sockets", "room", "trailers", "bursts", "heads", "forms", "shares")
_CROWD_S: Final = 30.0
#: The longest that a short list of another organization may take, in seconds.
_OTHERS_S: Final = 1.0
_OTHER_REPOSITORY: Final = 4343


@click.command()
@click.option("--count", default=1000, show_default=True, type=click.IntRange(min=1), help="How many races a store.")
@click.option("--seed", default=1, show_default=True, help="Decides what is sent, and in which order.")
@click.option("--only", type=click.Choice(_PARTS), help="This storm alone.")
def storm(count: int, seed: int, only: str | None) -> None:
    """Send hostile load: racing copies, endless bodies and forms, trailers, bursts, held connections, greedy clients.

    Exit code 0: each delivery is processed once, and other clients are served meanwhile.
    """
    click.echo(f"storm: count={count} seed={seed}")
    faults: list[str] = []
    run = postgres.begin_run()
    folder = Path(tempfile.mkdtemp(prefix="contentsvc-storm-"))
    try:
        if only in {None, "races"}:
            faults += _race(count, seed)
        prepared = prepare(folder) if only != "races" else None
        if prepared is not None and only in {None, "bodies"}:
            faults += _flood(prepared, seed)
        if prepared is not None and only in {None, "sockets"}:
            faults += _sit(prepared, seed)
        for name, what, weather in _WEATHERS:
            if prepared is not None and only in {None, name}:
                faults += _weather(prepared, what, weather)
        if prepared is not None and only in {None, "shares"}:
            faults += _crowd(prepared)
    finally:
        postgres.end_run(run)
    for fault in faults:
        click.echo(fault, err=True)
    click.echo(f"storm: faults {len(faults)}" + (f", see {folder}" if faults else ""))
    if not faults:
        shutil.rmtree(folder)
    sys.exit(1 if faults else 0)


def _race(count: int, seed: int) -> list[str]:
    faults: list[str] = []
    for name, opening in STORES.items():
        with progress(f"races, {name}", count) as advance:
            found = asyncio.run(race(opening, rounds=count, seed=seed, on_round=advance))
        click.echo(f"races: {count} rounds of {COPIES} copies on {name}: not one processed {len(found)}")
        faults += [f"{name}: {fault}" for fault in found]
    return faults


def _flood(prepared: Prepared, seed: int) -> list[str]:
    keys = [_key(prepared) for _ in range(_KEYS)]
    with serving(prepared.installation) as server:
        seen = asyncio.run(flood(prepared, server, bodies=_BODIES, size=LARGE, keys=keys, at_least_s=20.0, seed=seed))
    probed = seen.probed
    answers = ", ".join(f"{answer} {number}" for answer, number in sorted(seen.answers.items()))
    click.echo(
        f"bodies: {_BODIES} of 25 MiB at once without a signature, {seen.answers.total()} in all ({answers}): memory "
        f"{probed.memory_mb:.0f} MB, GET /v1/posts p99 {probed.p99_s * 1000:.0f} ms of {len(probed.took_s)}"
    )
    return [
        *probed.faults,
        *_over("memory", probed.memory_mb, _MEMORY_MB, "MB"),
        *_over("GET /v1/posts p99", probed.p99_s, _READ_P99_S, "s"),
    ]


def _sit(prepared: Prepared, seed: int) -> list[str]:
    with serving(prepared.installation) as server:
        held, probed = asyncio.run(sit(prepared, server, sockets=_SOCKETS, for_s=_MINUTE_S, seed=seed))
    click.echo(
        f"sockets: {_SOCKETS} at once for {_MINUTE_S:.0f} s: {summary(held)}; good deliveries p99 "
        f"{probed.p99_s * 1000:.0f} ms of {len(probed.took_s)}, memory {probed.memory_mb:.0f} MB"
    )
    longest = max((each.closed_after_s or _MINUTE_S for each in held), default=0.0)
    return [
        *probed.faults,
        *_over("good deliveries p99", probed.p99_s, _DELIVER_P99_S, "s"),
        *_over("a slow connection was held for", longest, _HELD_S, "s"),
    ]


_Weather = Callable[[Prepared, ServerProcess], Coroutine[Any, Any, Weathered]]
_WEATHERS: Final[tuple[tuple[str, str, _Weather], ...]] = (
    (
        "room",
        "room: 2 idle senders of 25 MiB, good deliveries of 157 KiB",
        lambda prepared, server: idlers(prepared, server, connections=2, for_s=30.0),
    ),
    ("trailers", "trailers: 100 MiB", lambda prepared, server: trailers(prepared, server, mib=100)),
    (
        "bursts",
        "bursts: 50 connections with 256 KiB of requests each",
        lambda prepared, server: bursts(prepared, server, connections=50),
    ),
    ("heads", "heads: 1,200 of 62 KB", lambda prepared, server: heads(prepared, server, requests=1200)),
    ("forms", "forms: 60 of 4 MiB to the sign-in", lambda prepared, server: forms(prepared, server, connections=60)),
)


def _weather(prepared: Prepared, what: str, weather: _Weather) -> list[str]:
    with serving(prepared.installation) as server:
        seen = asyncio.run(weather(prepared, server))
    answers = ", ".join(f"{answer} {number}" for answer, number in sorted(seen.answers.items()))
    faults = [
        *seen.probed.faults,
        *_over(f"{what}: growth", seen.grown_mb, _GROWTH_MB, "MB"),
        *_over(f"{what}: kept", seen.kept_mb, _GROWTH_MB, "MB"),
        *_over(f"{what}: p99", seen.probed.p99_s, _HEALTH_P99_S, "s"),
    ]
    click.echo(
        f"{what} ({answers}): memory {seen.before_mb:.0f}, at most {seen.most_mb:.0f}, "
        f"afterwards {seen.after_mb:.0f} MB; others p99 {seen.probed.p99_s * 1000:.0f} ms "
        f"of {len(seen.probed.took_s)}, refused {len(seen.probed.faults)}; goals {'missed' if faults else 'met'}"
    )
    return faults


def _crowd(prepared: Prepared) -> list[str]:
    installation = prepared.installation
    installation.command("organization", "create", "Other", "--slug", "other")
    other = installation.connect("other", "other/lighthouse", _OTHER_REPOSITORY)
    key = str(installation.command("key", "issue", "--organization", "other", "--scope", "read")["key"])
    with serving(installation) as server:
        asyncio.run(fill(server, prepared.hook, pushes=PUSHES, commits=COMMITS))
        asyncio.run(fill(server, other, pushes=1, commits=1))
        installation.until_runs_ended()
        seen = asyncio.run(crowd(prepared, server, other_key=key, loops=LOOPS, for_s=_CROWD_S))
    probed, longest = seen.probed, max(seen.probed.took_s, default=0.0)
    answers = ", ".join(f"{answer} {number}" for answer, number in sorted(seen.answers.items()))
    click.echo(
        f"shares: {LOOPS} loops of one read key for {_CROWD_S:.0f} s ({answers}): GET /v1/webhook-logs?limit=1 of "
        f"another organization p99 {probed.p99_s * 1000:.0f} ms, at most {longest * 1000:.0f} ms "
        f"of {len(probed.took_s)}, memory {probed.memory_mb:.0f} MB"
    )
    return [*probed.faults, *_over("another organization's short list", longest, _OTHERS_S, "s")]


def _over(what: str, seen: float, most: float, unit: str) -> list[str]:
    return [] if seen <= most else [f"{what}: {seen:.2f} {unit}, more than {most:g}"]


def _key(prepared: Prepared) -> str:
    return str(prepared.installation.command("key", "issue", "--organization", "acme", "--scope", "read")["key"])


if __name__ == "__main__":
    storm(prog_name="python -m campaigns.storm")
