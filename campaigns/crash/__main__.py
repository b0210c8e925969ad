"""`python -m campaigns.crash --count 50 --seed 1`."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

import click
from campaigns.crash.campaign import run_campaign
from campaigns.crash.store_level import run_store_campaign
from tests.progress import progress

_SHOWN: Final = 20


@click.command()
@click.option("--count", default=50, show_default=True, type=click.IntRange(min=1), help="How often it is killed.")
@click.option("--seed", default=1, show_default=True, help="Decides what is sent and when is killed.")
@click.option(
    "--rows",
    default=0,
    type=click.IntRange(min=0),
    help="How many log entries of another organization are there before.",
)
@click.option("--keep", is_flag=True, help="Keep the folder although all is well.")
@click.option(
    "--store", is_flag=True, help="Kill a process that has a store alone, and no server: many times a second."
)
def crash(count: int, seed: int, rows: int, *, keep: bool, store: bool) -> None:
    """Kill the server with -9 while deliveries stream in, again and again, and check the stored data.

    Exit code 0: no data is lost, doubled, partial, invented or unexpected.
    """
    click.echo(f"crash: count={count} seed={seed}")
    folder = Path(tempfile.mkdtemp(prefix="contentsvc-crash-"))
    if rows:
        click.echo(f"writing {rows:,} log entries first", err=True)
    with progress("kill -9", count) as advance:
        if store:
            stored = run_store_campaign(folder, count=count, seed=seed, on_cycle=advance)
            faults, line = stored.faults, stored.line
        else:
            served = run_campaign(folder, count=count, seed=seed, rows=rows, on_cycle=advance)
            faults, line = served.verdict.faults, served.line
    for fault in faults[:_SHOWN]:
        click.echo(fault, err=True)
    if faults or keep:
        click.echo(f"The database, the ledger and the server's log are in {folder}", err=True)
    else:
        shutil.rmtree(folder)
    click.echo(line)
    sys.exit(1 if faults else 0)


crash(prog_name="python -m campaigns.crash")
