"""``python -m benchmarks``: run the rows, show the figures, and write the performance page."""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from attrs import evolve
from rich.console import Console

from benchmarks import machine
from benchmarks.bench import Bench
from benchmarks.chart import chart
from benchmarks.cores import choose
from benchmarks.loaders import wrk
from benchmarks.peer_files import peer_versions
from benchmarks.plan import FULL, SHORT
from benchmarks.postgres import Postgres
from benchmarks.progress import Progress
from benchmarks.registry import ROWS, chosen
from benchmarks.report import markdown, put_into, terminal_table
from benchmarks.results import Results, judged, load, save
from benchmarks.row import Finding, Row

_ROOT: Final = Path(__file__).parents[1]
_DOCS: Final = _ROOT / "docs"
#: Figures of the short form are not published: they stay in the build folder.
_BUILD: Final = _ROOT / "build"
_MISUSED: Final = 2
#: The width of the table without a terminal, in characters.
_PAPER: Final = 160


def main(arguments: Sequence[str]) -> int:
    """Run the chosen rows; return the exit status: 1 when a row could not be measured, or is invalid."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    plan = SHORT if options.short else FULL
    if options.rounds is not None:
        plan = evolve(plan, rounds=options.rounds)
    if options.rows == "list":
        for row in ROWS:
            console.print(f"{row.name:12} {row.estimate(plan):6.0f} s  {row.title}", highlight=False)
        return 0
    try:
        rows = chosen(options.rows)
    except ValueError as exc:
        console.print(str(exc))
        return _MISUSED
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    loader = "wrk" if wrk.install() else "our own: Debian's package 'wrk' is not installed, and could not be"
    cores = choose(os.sched_getaffinity(0))
    expected = sum(row.estimate(plan) for row in rows)
    console.print(
        f"{len(rows)} rows, about {expected / 60:.1f} minutes; seed {seed}; {cores.told}; loader: {loader}",
        highlight=False,
    )
    folder = (_BUILD if options.short else _DOCS) / "performance"
    file = folder / "latest.json"
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="contentsvc-bench-") as place, Postgres() as postgres:
        # PostgreSQL's server runs as another user, beside processes of this one.
        Path(place).chmod(0o755)
        with Progress(console, total_s=expected) as progress:
            bench = Bench(plan=plan, seed=seed, folder=Path(place), postgres=postgres, cores=cores, note=progress.note)
            where = machine.describe(
                postgresql=postgres.version, cores=cores.told, loader=loader, peers=peer_versions()
            )
            for row in rows:
                progress.begin(row.name, row.estimate(plan))
                at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                findings = _measured(row, bench)
                result = judged(findings, row=row.name, at=at, seed=seed, revision=machine.revision())
                # Saved after each row, so that a later fault loses nothing.
                save(evolve(load(file), machine=where).with_row(row.name, result, [row.name for row in ROWS]), file)
    results = load(file)
    shown = evolve(results, results=[result for result in results.results if result.row in {row.name for row in rows}])
    out = Console(width=None if sys.stdout.isatty() else _PAPER)
    form = "SHORT FORM: fewer and shorter rounds, no figures to be quoted" if plan.short else "Full form"
    for table in terminal_table(shown, title=form):
        out.print(table)
    _write_down(results, folder, page=None if plan.short else _DOCS / "performance.md")
    console.print(f"{(time.monotonic() - began) / 60:.1f} minutes; {file.relative_to(_ROOT)}", highlight=False)
    return 1 if any(result.finding.invalid for result in shown.results) else 0


def _stopped(_number: int, _frame: object) -> None:
    """End as with Ctrl-C, so that started processes are stopped."""
    raise KeyboardInterrupt


def _measured(row: Row, bench: Bench) -> Sequence[Finding]:
    """Run a row; an exception becomes the row's finding, and the other rows still run."""
    try:
        return row.measure(bench)
    except Exception as exc:  # noqa: BLE001  # the fault is shown in the row
        what = f"{row.title}: could not be measured"
        return [Finding(key=f"{row.name}/broken", what=what, samples=(), invalid=f"{type(exc).__name__}: {exc}")]


def _write_down(results: Results, folder: Path, *, page: Path | None) -> None:
    (folder / "chart.svg").write_text(chart(results), "utf-8")
    if page is not None:
        page.write_text(put_into(page.read_text("utf-8"), markdown(results)), "utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rows", default="", help="names of rows, by commas; 'list' lists them; all by default")
    parser.add_argument("--short", action="store_true", help="fewer and shorter rounds; nothing in docs/ is changed")
    parser.add_argument("--rounds", type=int, help="more rounds narrow the intervals; 9 by default, 2 if short")
    parser.add_argument("--seed", type=int, help="of orders and ids; a random one by default, which is printed")
    return parser


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stopped)
    sys.exit(main(sys.argv[1:]))
