"""`python -m tests.mutation --seed 1`."""

import random
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from time import monotonic
from typing import Final

import click
from tests.mutation import afresh, trials
from tests.mutation.areas import AREAS, AT_IMPORT, TESTS, area_of, explained
from tests.mutation.mutants import ROOT, Mutant, modules, mutants_of
from tests.mutation.trials import Campaign, End, Trial
from tests.progress import progress

#: The goal in percent of all mutants without the explained ones.
GOAL: Final = 90.0
_WHOLE: Final = 100.0
_SHOWN: Final = 20
#: The result of each mutant, if known.
_TRIALS: Final = ROOT / "build" / "mutants.txt"
_ALIVE: Final = frozenset({End.SURVIVED, End.UNREACHED})


@click.command()
@click.option("--count", default=0, show_default=True, type=click.IntRange(min=0), help="How many mutants; 0: all.")
@click.option("--seed", default=1, show_default=True, help="Decides which, if not all.")
@click.option("--only", multiple=True, help="Only those whose name begins so: access.window, access.window:hit.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="How many at once.")
@click.argument("tests", nargs=-1)
def mutate(count: int, seed: int, only: tuple[str, ...], jobs: int, tests: tuple[str, ...]) -> None:
    """Run the tests with small faults in the core, one at a time: a test must fail for each.

    TESTS are files and folders of tests; by default the core's and the use cases'. Exit code 0: 90 % of the faults are
    noticed, and every one in the signature, the claim and the limiter.
    """
    click.echo(f"mutate: count={count or 'all'} seed={seed}{''.join(f' only={each}' for each in only)}")
    known = explained()
    every = [mutant for module in modules() for mutant in mutants_of(module) if _is_tried(mutant)]
    chosen = [mutant for mutant in every if not only or mutant.name.startswith(only)]
    if 0 < count < len(chosen):
        # Still in the order of the code.
        indexes = sorted(random.Random(seed).sample(range(len(chosen)), count))  # noqa: S311  # reproducible from the seed
        chosen = [chosen[index] for index in indexes]
    began = monotonic()
    found = _tried(chosen, tests or TESTS, jobs)
    complaints = [
        *(f"explained, and killed: {each.mutant.name}" for each in found if _is_wrong(each, known)),
        *(f"explained, and not made: {name}" for name in sorted(set(known) - {each.name for each in every})),
    ]
    survivors = [each for each in found if each.end in _ALIVE and each.mutant.name not in known]
    _tell(survivors, complaints)
    scores = {
        area.name: _score([each for each in found if each.mutant.module in area.modules], known) for area in AREAS
    }
    whole = _score(found, known)
    ends = Counter(each.end for each in found)
    click.echo(
        f"mutate: {len(found)} mutants in {monotonic() - began:.0f} s: killed {ends[End.KILLED]}, "
        f"timed out {ends[End.TIMED_OUT]}, survived {len(survivors)} (not reached {_unreached(survivors)}), "
        f"explained {_alive(found) - len(survivors)}; score {_percent(whole)}; "
        + ", ".join(f"{name} {_percent(score)}" for name, score in scores.items())
    )
    good = (whole is None or whole >= GOAL) and all(score in {None, _WHOLE} for score in scores.values())
    sys.exit(0 if good and not complaints else 1)


def _is_tried(mutant: Mutant) -> bool:
    # Faults of the import are only tried in the areas: elsewhere, imports define words and patterns.
    return mutant.function is not None or area_of(mutant.module) is not None


def _is_imported(mutant: Mutant) -> bool:
    return mutant.function is None or mutant.module in AT_IMPORT


def _tried(mutants: Sequence[Mutant], tests: Sequence[str], jobs: int) -> list[Trial]:
    found: list[Trial] = []
    _TRIALS.parent.mkdir(exist_ok=True)
    with _TRIALS.open("w", encoding="utf-8", buffering=1) as kept, progress("mutants", len(mutants)) as advance:

        def on_trial(trial: Trial) -> None:
            found.append(trial)
            kept.write(f"{_line(trial)}\n")
            advance()

        imported = [mutant for mutant in mutants if _is_imported(mutant)]
        if imported:
            afresh.import_others()
        for mutant in imported:
            area = area_of(mutant.module)
            own = AT_IMPORT[mutant.module] if area is None else area.tests
            on_trial(Trial(mutant=mutant, end=afresh.tried_afresh(mutant, own)))
        if called := [mutant for mutant in mutants if not _is_imported(mutant)]:
            campaign = Campaign(called, on_trial, jobs=jobs)
            trials.collect(tests, campaign)
            # pytest reports exceptions of plug-ins, but does not raise them.
            if len(campaign.trials) < len(called):
                raise click.ClickException(campaign.trouble or "not every mutant was tried")
    return found


def _tell(survivors: Sequence[Trial], complaints: Sequence[str]) -> None:
    lines = [_line(each) for each in survivors]
    for line in [*complaints, *lines[:_SHOWN]]:
        click.echo(line, err=True)
    if len(lines) > _SHOWN:
        click.echo(f"and {len(lines) - _SHOWN} more: {_TRIALS.relative_to(ROOT)}", err=True)


def _line(trial: Trial) -> str:
    return f"{trial.end.value}: {trial.mutant.name} (line {trial.mutant.lines.start})"


def _is_wrong(trial: Trial, known: Collection[str]) -> bool:
    return trial.end not in _ALIVE and trial.mutant.name in known


def _alive(found: Sequence[Trial]) -> int:
    return sum(each.end in _ALIVE for each in found)


def _unreached(found: Sequence[Trial]) -> int:
    return sum(each.end is End.UNREACHED for each in found)


def _score(found: Sequence[Trial], known: Collection[str]) -> float | None:
    counted = [each for each in found if each.mutant.name not in known]
    return _WHOLE * (len(counted) - _alive(counted)) / len(counted) if counted else None


def _percent(score: float | None) -> str:
    # Never rounded up: 100.0 % means all of them.
    return "–" if score is None else f"{int(score * 10) / 10:.1f} %"


if __name__ == "__main__":
    mutate(prog_name="python -m tests.mutation")
