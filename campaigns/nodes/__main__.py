"""`python -m campaigns.nodes --count 30 --seed 1`."""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
from campaigns.nodes.cuts import run_cuts
from campaigns.nodes.kills import run_kills
from campaigns.nodes.load import PER_S
from campaigns.nodes.outage import run_outage
from campaigns.nodes.reckoning import Report
from campaigns.nodes.upgrade import run_upgrade
from tests import postgres
from tests.progress import progress

_SHOWN: Final = 20
_PARTS: Final = ("kills", "outage", "cuts", "upgrade")


@click.command()
@click.option("--count", default=30, show_default=True, type=click.IntRange(min=1), help="How many kills.")
@click.option("--seed", default=1, show_default=True, help="Decides what is sent, and who is killed when.")
@click.option("--away", default=10.0, show_default=True, help="How long the database is away, in seconds.")
@click.option("--cuts", default=50, show_default=True, help="How many cuts before a COMMIT, and how many after it.")
@click.option("--per-second", default=PER_S, show_default=True, help="How many new deliveries a second.")
@click.option("--only", default=_PARTS, multiple=True, type=click.Choice(_PARTS), help="Leave the others out.")
@click.option("--keep", is_flag=True, help="Keep the folder although all is well.")
def nodes(
    count: int, seed: int, away: float, cuts: int, per_second: float, only: tuple[str, ...], *, keep: bool
) -> None:
    """Kill nodes, stop their database, cut their connections, migrate it meanwhile; check the stored data.

    Exit code 0: no data is lost, doubled, partial, invented or unexpected.
    """
    click.echo(f"nodes: count={count} seed={seed} away={away:g} cuts={cuts} per_second={per_second:g}")
    folder = Path(tempfile.mkdtemp(prefix="contentsvc-nodes-"))

    def kills(place: Path, advance: Callable[[], None]) -> Report:
        with postgres.database(migrated=False) as url:
            return run_kills(place, url, count=count, seed=seed, per_s=per_second, on_kill=advance)

    def outage(place: Path, advance: Callable[[], None]) -> Report:
        return run_outage(place, seed=seed, away_s=away, per_s=per_second, on_stage=advance)

    def cutting(place: Path, advance: Callable[[], None]) -> Report:
        return run_cuts(place, rounds=cuts, seed=seed, on_cut=advance)

    def upgrade(place: Path, advance: Callable[[], None]) -> Report:
        with postgres.database(migrated=False) as url:
            return run_upgrade(place, url, seed=seed, per_s=per_second, on_stage=advance)

    parts = (("kills", kills, count), ("outage", outage, 2), ("cuts", cutting, 2 * cuts), ("upgrade", upgrade, 2))
    reports: list[Report] = []
    run = postgres.begin_run()
    try:
        for name, part, total in parts:
            if name in only:
                place = folder / name
                place.mkdir()
                with progress(name, total) as advance:
                    reports.append(part(place, advance))
    finally:
        postgres.end_run(run)
    faults = [f"{report.name}: {fault}" for report in reports for fault in report.verdict.faults]
    for fault in faults[:_SHOWN]:
        click.echo(fault, err=True)
    if faults or keep:
        click.echo(f"The ledgers and the nodes' logs are in {folder}", err=True)
    else:
        shutil.rmtree(folder)
    for report in reports:
        click.echo(report.line)
    sys.exit(1 if faults else 0)


nodes(prog_name="python -m campaigns.nodes")
