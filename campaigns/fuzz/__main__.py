"""`python -m campaigns.fuzz --count 1000000 --seed 1`."""

import os
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from time import monotonic
from typing import Final

import click
from campaigns.fuzz.operations import EXAMPLES, fuzz_operations, operations
from campaigns.fuzz.receiving import Found, fuzz_receiving
from tests.progress import progress

#: The deliveries that a process creates at a time.
_EACH: Final = 5_000
_SHOWN: Final = 10


@click.command()
@click.option("--count", default=1_000_000, show_default=True, type=click.IntRange(min=1), help="How many bodies.")
@click.option("--requests", default=10_000, show_default=True, help="About how many requests to /v1; 0: none.")
@click.option("--seed", default=1, show_default=True, help="Decides what they are.")
def fuzz(count: int, requests: int, seed: int) -> None:
    """Send malformed bodies and headers to the receiver, and call all operations with allowed and forbidden requests.

    Each must be decided without an exception. Exit code 0: all were.
    """
    click.echo(f"fuzz: count={count} requests={requests} seed={seed}")
    faults = [*_bodies(count, seed), *(_operations(requests, seed) if requests else ())]
    sys.exit(1 if faults else 0)


def _bodies(count: int, seed: int) -> list[str]:
    return _told(
        [partial(fuzz_receiving, seed * 1_000_003 + number, _EACH) for number in range(-(-count // _EACH))],
        "bodies",
        "bodies",
        _EACH,
    )


def _operations(requests: int, seed: int) -> list[str]:
    # About twice the requested number: existing resources are called again.
    turns = -(-requests // (operations() * 2 * EXAMPLES))
    return _told(
        [partial(fuzz_operations, seed * 1_000_003 + number) for number in range(turns)],
        "rounds of all operations",
        "requests",
        1,
    )


def _told(turns: list[Callable[[], Found]], what: str, unit: str, each: int) -> list[str]:
    outcomes = Counter[str]()
    faults: list[str] = []
    began = monotonic()
    # Spawned and not forked: a process that has read the document has threads, whose locks would stay closed.
    processes = ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn"))
    with processes as pool, progress(what, len(turns) * each) as advance:
        for turn in [pool.submit(turn) for turn in turns]:
            found = turn.result()
            outcomes += found.outcomes
            for fault in found.faults:
                faults.append(fault)
                if len(faults) <= _SHOWN:
                    # Immediately: the faults of an interrupted campaign are visible.
                    click.echo(fault, err=True)
            advance(each)
    summary = ", ".join(f"{name} {number}" for name, number in outcomes.most_common())
    click.echo(f"fuzz: {outcomes.total()} {unit} in {monotonic() - began:.0f} s: {summary}; faults {len(faults)}")
    return faults


if __name__ == "__main__":
    fuzz(prog_name="python -m campaigns.fuzz")
