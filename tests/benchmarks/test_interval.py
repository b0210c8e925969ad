"""The interval for known distributions."""

import random

import pytest
from benchmarks.interval import Interval, bootstrap
from benchmarks.row import at_least, at_most


def test_the_median_and_an_interval_around_it() -> None:
    found = bootstrap([3.0, 1.0, 2.0, 5.0, 4.0])

    assert found.median == 3.0
    assert 1.0 <= found.low < 3.0 < found.high <= 5.0
    assert bootstrap([3.0, 1.0, 2.0, 5.0, 4.0]) == found
    assert bootstrap([7.0] * 9) == Interval(median=7.0, low=7.0, high=7.0)
    assert bootstrap([1.0, 1.1, 1.2, 1.0, 1.1, 1.2, 1.0, 1.1, 900.0]).median == 1.1


@pytest.mark.slow("a short campaign over generated examples")
def test_the_interval_holds_the_true_median_at_its_stated_rate() -> None:
    source = random.Random(11)  # noqa: S311  # samples, not secrets
    truth = 10.0
    held = 0
    for _ in range(300):
        found = bootstrap([source.gauss(truth, 2.0) for _ in range(9)], resamples=400)
        held += found.low <= truth <= found.high

    # With nine samples the bootstrap's interval only approximates 95 %.
    assert 0.88 <= held / 300 <= 0.995


def test_more_samples_make_it_narrower() -> None:
    source = random.Random(12)  # noqa: S311  # as above
    few = bootstrap([source.gauss(0, 1) for _ in range(9)], resamples=500)
    many = bootstrap([source.gauss(0, 1) for _ in range(400)], resamples=500)

    assert many.high - many.low < (few.high - few.low) / 2


def test_the_worse_end_is_the_one_farther_from_the_goal() -> None:
    found = Interval(median=2.0, low=1.0, high=3.0)

    assert found.worse(at_least(5)) == 1.0
    assert found.worse(at_most(5)) == 3.0
    assert found.worse(None) == 2.0


def test_nothing_has_no_interval() -> None:
    with pytest.raises(ValueError, match="no samples"):
        bootstrap([])
