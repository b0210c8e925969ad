"""The effort of a run."""

from typing import Final, final

from attrs import frozen


@final
@frozen(kw_only=True)
class Plan:
    """The effort of a run: rounds and their lengths."""

    short: bool
    #: The number of rounds, and the time of each side in a round, in seconds.
    rounds: int
    seconds: float
    #: The warm-up of a side before its first round, in seconds.
    warm_up: float


FULL: Final = Plan(short=False, rounds=9, seconds=5.0, warm_up=1.5)
#: wrk knows whole seconds.
SHORT: Final = Plan(short=True, rounds=2, seconds=1.0, warm_up=0.4)
