"""Releases of packages on one commit: each run waits :data:`PACKAGE_DELAY`, and one of them reports all."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, final

from attrs import frozen

from contentsvc_core.workflows.runs import UNENDED, RunStatus

#: The waiting time for the next release: tools publish twenty packages within half a minute.
PACKAGE_DELAY: Final = timedelta(seconds=60)
#: The time between two releases of one commit. Less than the delay: a delivery may take ten seconds to be stored.
PACKAGE_GAP: Final = timedelta(seconds=50)
#: The maximum duration and number of releases of one post: an endless sender must not hold back a post.
PACKAGE_SPAN: Final = timedelta(minutes=10)
MOST_PACKAGES: Final = 250

_OUT: Final = frozenset({RunStatus.CANCELLED, RunStatus.FAILED})


@final
@frozen(kw_only=True)
class ReleaseRun:
    id: str
    status: RunStatus
    tag: str
    delivery_id: str
    #: The key of the release; at most one post carries it.
    key: str


@final
@frozen(kw_only=True)
class Arrival:
    """A push to the repository, or the release of a package."""

    at: datetime
    run: ReleaseRun | None = None
    #: The hash of the tagged commit; ``""``: not known.
    commit: str = ""


def reporting_run(arrivals: Sequence[Arrival], run_id: str) -> ReleaseRun | None:
    """Return the run that also reports the release of run ``run_id``; ``None``: the run reports it itself."""
    runs = companions(arrivals, run_id)
    index = _index_of(arrivals, run_id)
    if len(runs) >= MOST_PACKAGES or (runs and arrivals[index].at - _first(arrivals, runs) >= PACKAGE_SPAN):
        return None
    last: ReleaseRun | None = None
    after = _next(arrivals, index)
    while after is not None:
        run = arrivals[after].run
        if run is None or run.status is RunStatus.COMPLETED:
            break
        last = run if run.status in UNENDED else last
        after = _next(arrivals, after)
    return last


def companions(arrivals: Sequence[Arrival], run_id: str) -> tuple[ReleaseRun, ...]:
    """Return the runs, oldest first, whose releases a run reports beside its own."""
    members = {_index_of(arrivals, run_id)}
    runs: list[ReleaseRun] = []
    for index in range(min(members) - 1, -1, -1):
        run = arrivals[index].run
        if run is None or run.status in _OUT or run.status is RunStatus.COMPLETED:
            continue
        if _next(arrivals, index) in members:
            members.add(index)
            runs.append(run)
    return tuple(reversed(runs))


def _next(arrivals: Sequence[Arrival], index: int) -> int | None:
    arrival = arrivals[index]
    pushed = False
    for later in range(index + 1, len(arrivals)):
        other = arrivals[later]
        if other.at - arrival.at > PACKAGE_GAP:
            return None
        if other.run is None:
            pushed = True
        elif other.run.status not in _OUT and _same_commit(arrival, other, pushed=pushed):
            return later
    return None


def _same_commit(one: Arrival, other: Arrival, *, pushed: bool) -> bool:
    return one.commit == other.commit if one.commit and other.commit else not pushed


def _index_of(arrivals: Sequence[Arrival], run_id: str) -> int:
    return next(index for index, each in enumerate(arrivals) if each.run is not None and each.run.id == run_id)


def _first(arrivals: Sequence[Arrival], runs: Sequence[ReleaseRun]) -> datetime:
    return arrivals[_index_of(arrivals, runs[0].id)].at
