"""The stored results: one JSON file, in which each row has the figures of its last run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

from attrs import field, frozen

from benchmarks.interval import Interval, bootstrap
from benchmarks.row import Finding, Goal, Sense

_FORMAT: Final = 1


@final
@frozen(kw_only=True)
class Result:
    """A finding with its interval, and when and how it was measured."""

    finding: Finding
    #: ``None``: there are no samples.
    interval: Interval | None
    row: str
    #: ISO 8601, UTC.
    at: str
    rounds: int
    seed: int
    #: The measured revision of the project.
    revision: str = ""

    @property
    def quoted(self) -> float | None:
        """Return the figure that is compared to the goal."""
        return None if self.interval is None else self.interval.worse(self.finding.goal)

    @property
    def met(self) -> bool | None:
        """Check whether the goal is met; ``None``: there is no goal. An invalid result meets no goal."""
        goal = self.finding.goal
        if goal is None:
            return None
        quoted = self.quoted
        return self.finding.invalid is None and quoted is not None and goal.met(quoted)


@final
@frozen(kw_only=True)
class Results:
    """All stored results."""

    machine: Mapping[str, str] = field(factory=dict[str, str])
    results: Sequence[Result] = ()

    def with_row(self, row: str, results: Sequence[Result], order: Sequence[str]) -> "Results":
        """Return the results with a row's earlier results replaced, in the order of rows."""
        kept = [result for result in self.results if result.row != row and result.row in order]
        merged = sorted((*kept, *results), key=lambda result: order.index(result.row))
        return Results(machine=self.machine, results=merged)

    def of(self, key: str) -> Result | None:
        """Return the result of a finding's key."""
        return next((result for result in self.results if result.finding.key == key), None)


def judged(findings: Sequence[Finding], *, row: str, at: str, seed: int, revision: str) -> list[Result]:
    """Return findings with their intervals."""
    return [
        Result(
            finding=finding,
            interval=bootstrap(finding.samples) if finding.samples else None,
            row=row,
            at=at,
            rounds=len(finding.samples),
            seed=seed,
            revision=revision,
        )
        for finding in findings
    ]


def load(path: Path) -> Results:
    """Read the stored results; empty: there is no such file."""
    if not path.exists():
        return Results()
    document = json.loads(path.read_text("utf-8"))
    return Results(machine=document["machine"], results=[_result(fields) for fields in document["results"]])


def save(results: Results, path: Path) -> None:
    """Store the results; the file is replaced as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "format": _FORMAT,
        "machine": dict(results.machine),
        "results": [_document(result) for result in results.results],
    }
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    beside.replace(path)


def _document(result: Result) -> dict[str, Any]:
    finding, interval = result.finding, result.interval
    return {
        "key": finding.key,
        "row": result.row,
        "what": finding.what,
        "unit": finding.unit,
        "goal": None if finding.goal is None else {"sense": finding.goal.sense.value, "bound": finding.goal.bound},
        "samples": [_rounded(sample) for sample in finding.samples],
        # Computed from the samples at each load; stored for other readers of the file.
        "median": None if interval is None else _rounded(interval.median),
        "low": None if interval is None else _rounded(interval.low),
        "high": None if interval is None else _rounded(interval.high),
        "met": result.met,
        "invalid": finding.invalid,
        "at": result.at,
        "rounds": result.rounds,
        "seed": result.seed,
        "revision": result.revision,
        "details": finding.details,
    }


def _result(fields: dict[str, Any]) -> Result:
    goal = fields["goal"]
    finding = Finding(
        key=fields["key"],
        what=fields["what"],
        unit=fields["unit"],
        goal=None if goal is None else Goal(sense=Sense(goal["sense"]), bound=goal["bound"]),
        samples=fields["samples"],
        invalid=fields["invalid"],
        details=fields["details"],
    )
    return Result(
        finding=finding,
        interval=bootstrap(finding.samples) if finding.samples else None,
        row=fields["row"],
        at=fields["at"],
        rounds=fields["rounds"],
        seed=fields["seed"],
        revision=fields["revision"],
    )


def _rounded(value: float) -> float:
    """Round to five digits: further digits are noise."""
    return float(f"{value:.5g}")
