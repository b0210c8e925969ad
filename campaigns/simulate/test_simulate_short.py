"""Simulated nodes and faults: all data is consistent after the faults. The long form is ``make simulate``.

How to read a failure: a fault names the delivery (organization, integration, repository, id) or the run, and the stored
data. The seed decides everything: ``run_episode`` with the seed of the failing test repeats it step by step, under a
debugger too, since no real time passes.
"""

import asyncio
from collections import Counter

import pytest
from campaigns.simulate.broken import BUGS
from campaigns.simulate.episode import Build, run_episode
from campaigns.simulate.faults import Fault
from campaigns.simulate.loop import Stuck, VirtualLoop

pytestmark = pytest.mark.slow("a short campaign")

#: Deliveries, for some seconds: the rarest fault so far occurred once in 20,000 deliveries.
_EPISODES = 40
_DELIVERIES = 100
_FEW = 40
#: The number of episodes within which a planted fault must be found.
_UNTIL_CAUGHT = 30


def test_random_faults_leave_a_consistent_state() -> None:
    figures = Counter[str]()
    for seed in range(_EPISODES):
        report = run_episode(seed, deliveries=_DELIVERIES)
        assert report.faults == [], seed
        figures += report.figures

    # Each kind of fault occurred.
    assert figures["deliveries"] >= _EPISODES * _DELIVERIES
    assert all(figures[f"faults: {fault.value}"] >= _EPISODES for fault in Fault)
    assert (
        min(
            figures[name]
            for name in ("kills", "stops", "nodes cut off", "changes of configuration", "taken over", "posts")
        )
        > 0
    )
    assert figures["requests"] > figures["deliveries"]


def test_the_seed_decides_everything() -> None:
    first, again, other = (run_episode(seed, deliveries=_FEW) for seed in (7, 7, 8))

    assert (again.digest, again.figures) == (first.digest, first.figures)
    assert other.digest != first.digest


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS)
def test_a_broken_store_is_caught(bug: Build) -> None:
    assert any(run_episode(seed, deliveries=_FEW, build=bug).faults for seed in range(_UNTIL_CAUGHT))


def test_sleeping_takes_no_time_and_an_endless_wait_is_an_error() -> None:
    async def a_day() -> float:
        await asyncio.sleep(86_400)
        return asyncio.get_running_loop().time()

    async def for_ever() -> None:
        await asyncio.get_running_loop().create_future()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(a_day()) == pytest.approx(86_400)
    loop = VirtualLoop()
    with pytest.raises(Stuck):
        loop.run_until_complete(for_ever())
    loop.close()
