"""Several updates of one dependency, told as one."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from attrs import evolve

from contentsvc_core.content.changelog.selection import Change

_STEP: Final = re.compile(
    r"(?P<start>(?:bump|update|upgrade) (?P<name>\S+) from (?P<begin>\S+) to )(?P<end>\S+)(?P<rest>(?: in .+)?)",
    re.IGNORECASE,
)


def chained(changes: Iterable[Change]) -> list[Change]:
    """Join updates that continue each other: from 5 to 6, then from 6 to 8, reads as from 5 to 8.

    The joined entry stands where the first one stood and names every pull request and commit.
    """
    chains: list[list[tuple[Change, str]]] = []
    ends: dict[tuple[str, str, str, str], int] = {}
    for change in changes:
        step = _STEP.fullmatch(change.text) if change.dependency else None
        if step is None:
            chains.append([(change, "")])
            continue
        place = ends.pop((change.label, step["name"], step["rest"], step["begin"]), None)
        if place is None:
            place = len(chains)
            chains.append([])
        chains[place].append((change, step["end"]))
        ends[change.label, step["name"], step["rest"], step["end"]] = place
    return [_joined([change for change, _ in chain], chain[-1][1]) for chain in chains]


def _joined(chain: Sequence[Change], end: str) -> Change:
    first = chain[0]
    if len(chain) == 1:
        return first

    def until(text: str) -> str:
        return _STEP.sub(lambda step: f"{step['start']}{end}{step['rest']}", text, count=1)

    return evolve(
        first,
        text=until(first.text),
        continuation=until(first.continuation),
        numbers=dict.fromkeys(number for change in chain for number in change.numbers),
        commits=[commit for change in chain for commit in change.commits],
        authors=[author for change in chain for author in change.authors],
    )
