"""`python -m campaigns.simulate --count 100000 --seed 1`."""

import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from time import monotonic
from typing import Final

import click
from campaigns.simulate.episode import Report, run_episode
from tests.progress import progress

#: The number of deliveries of an episode.
_EACH: Final = 200
_SHOWN: Final = 20
_FIGURES: Final = (
    *("requests", "without an answer", "faults", "kills", "nodes cut off", "changes of configuration"),
    *("runs", "taken over", "posts"),
)


@click.command()
@click.option("--count", default=100_000, show_default=True, type=click.IntRange(min=1), help="How many deliveries.")
@click.option("--seed", default=1, show_default=True, help="Decides everything.")
@click.option("--episode", type=int, help="Run this one alone: its number stands in front of a fault.")
def simulate(count: int, seed: int, episode: int | None) -> None:
    """Simulate nodes, a code host and faults in simulated time; end all faults, and check the stored data.

    Exit code 0: no data is lost, doubled or partial, and no work is left.
    """
    click.echo(f"simulate: count={count} seed={seed}")
    numbers = range(-(-count // _EACH)) if episode is None else range(episode, episode + 1)
    figures = Counter[str]()
    faults: list[str] = []
    began = monotonic()
    with (
        ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool,
        progress("deliveries", len(numbers) * _EACH) as advance,
    ):
        for number, report in zip(numbers, pool.map(partial(_run, seed), numbers, chunksize=4), strict=True):
            figures += report.figures
            for fault in report.faults:
                faults.append(f"episode {number}: {fault}")
                if len(faults) <= _SHOWN:
                    # Immediately: the faults of an interrupted campaign are visible.
                    click.echo(faults[-1], err=True)
            advance(_EACH)
    summary = ", ".join(f"{name} {figures[name]}" for name in _FIGURES)
    click.echo(
        f"simulate: {figures['deliveries']} deliveries in {figures['episodes']} episodes, "
        f"{monotonic() - began:.0f} s: {summary}; out of order {len(faults)}"
    )
    sys.exit(1 if faults else 0)


def _run(seed: int, number: int) -> Report:
    return run_episode(seed * 1_000_003 + number, deliveries=_EACH)


if __name__ == "__main__":
    simulate(prog_name="python -m campaigns.simulate")
