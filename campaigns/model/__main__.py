"""`python -m campaigns.model --count 200 --seed 1`."""

import sys
import traceback
from time import monotonic
from typing import Final

import click
from campaigns.model.bench import FAMILIES, Bench
from campaigns.model.machine import machine_on
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from tests import postgres
from tests.progress import progress

_SHOWN: Final = ("processed", "duplicate", "filtered", "ignored", "pinged", "refused", "failed", "runs taken", "races")


@click.command()
@click.option("--count", default=200, show_default=True, type=click.IntRange(min=1), help="How many scripts.")
@click.option("--seed", "number", default=1, show_default=True, help="Decides what they are.")
@click.option("--steps", default=30, show_default=True, type=click.IntRange(min=1), help="The rules of each.")
def model(count: int, number: int, steps: int) -> None:
    """Carry out random scripts on every store at once, and compare each answer with a plain model's.

    Exit code 0 when there is no disagreement; else the shortest script that shows one is printed.
    """
    click.echo(f"model: count={count} seed={number}")
    scripts = settings(
        max_examples=count,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    began = monotonic()
    run = postgres.begin_run()
    try:
        with progress("scripts", count) as advance, Bench(on_script=advance) as bench:
            agreed = _agree(bench, scripts, number)
    finally:
        postgres.end_run(run)
    figures = bench.figures
    summary = ", ".join(f"{name} {figures[name]}" for name in _SHOWN)
    click.echo(
        f"model: {figures['scripts']} scripts of {figures['steps']} steps on {', '.join(FAMILIES)} in "
        f"{monotonic() - began:.0f} s: {summary}; disagreements {0 if agreed else 1}"
    )
    sys.exit(0 if agreed else 1)


def _agree(bench: Bench, scripts: settings, number: int) -> bool:
    try:
        run_state_machine_as_test(seed(number)(machine_on(bench)), settings=scripts)
    except Exception:  # noqa: BLE001  # the fault is reported with its script
        traceback.print_exc()
        return False
    return True


model(prog_name="python -m campaigns.model")
