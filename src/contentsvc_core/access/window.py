"""The exact sliding log (specification 8.1): which request is admitted, as one pure transition."""

from bisect import bisect_right
from datetime import datetime
from operator import gt
from typing import Any, Final, NamedTuple, final

from attrs import field, frozen

from contentsvc_core.access.rates import Rate
from contentsvc_core.timestamps import to_ms

#: How long an admitted request counts, in milliseconds: one exactly so much later does not meet it any more.
WINDOW_MS: Final = 60_000
#: What is said of the reset when nobody can tell, in milliseconds.
_SOON_MS: Final = 1000
_SECOND_MS: Final = 1000


@final
@frozen(kw_only=True)
class Window:
    """When the requests of a bucket were admitted. A refused request is not in it."""

    #: In milliseconds since the Unix epoch, oldest first; no more of them than the limit was, at any time.
    hits_ms: tuple[int, ...] = field(default=(), converter=tuple)

    def __attrs_post_init__(self) -> None:
        if any(map(gt, self.hits_ms, self.hits_ms[1:])):
            message = "the hits of a window stand in their order, the oldest first"
            raise ValueError(message)

    @property
    def expires_at_ms(self) -> int:
        """Give when the last one leaves: from then on the window says nothing (0 for an empty one)."""
        return self.hits_ms[-1] + WINDOW_MS if self.hits_ms else 0


@final
class Verdict(NamedTuple):
    """Whether a request is admitted, and what its sender is told.

    A tuple, unlike other values: one is made for every request, and takes a third of the time so.
    """

    admitted: bool
    #: The largest number of requests in a window.
    limit: int
    #: How many more would be admitted now, this one counted.
    remaining: int
    #: When the oldest admitted request leaves the window, in milliseconds since the Unix epoch.
    reset_at_ms: int
    #: The same in whole seconds from now, rounded up, at least 1: whoever waits for so long has waited long enough.
    retry_after_s: int


def hit(window: Window, rate: Rate, now: datetime) -> tuple[Window, Verdict]:
    """Count a request, if fewer than the limit were admitted in the last 60 seconds.

    A refused request is not counted, and leaves the very window that was given, so that nothing has to be stored. There
    is one exception. Nothing was admitted later than now: what seems to have been was counted by a clock that has been
    put back since (or by another node's, which is ahead), and counts as of now; that window is given whatever the
    verdict. So a clock that steps back frees nothing, and keeps nobody out for more than 60 seconds.
    """
    now_ms = to_ms(now)
    hits = window.hits_ms
    if hits:
        if hits[-1] > now_ms:
            hits = tuple(min(hit_ms, now_ms) for hit_ms in hits)
            window = _ordered(hits)
        left_ms = now_ms - WINDOW_MS
        if hits[0] <= left_ms:
            hits = hits[bisect_right(hits, left_ms) :]
    limit = rate.limit
    remaining = limit - len(hits) - 1
    if admitted := remaining >= 0:
        hits = (*hits, now_ms)
        window = _ordered(hits)
        reset_at_ms = hits[0] + WINDOW_MS
    else:
        # The one whose leaving makes room: the oldest, unless the limit was higher when these were admitted.
        remaining = 0
        reset_at_ms = hits[-limit] + WINDOW_MS
    # Every hit that counts leaves after now: the seconds until then, rounded up, are at least 1.
    return window, Verdict(admitted, limit, remaining, reset_at_ms, -((now_ms - reset_at_ms) // _SECOND_MS))


def _ordered(hits_ms: tuple[int, ...]) -> Window:
    """Give a window of hits that are in their order already: to look at all of them would be most of a transition."""
    window = object.__new__(Window)
    object.__setattr__(window, "hits_ms", hits_ms)
    return window


def used(window: Window, now: datetime) -> int:
    """Tell how many requests count now, for whoever looks and asks for nothing.

    What was counted by a clock that was ahead of now counts as of now, as in :func:`hit`.
    """
    return len(window.hits_ms) - bisect_right(window.hits_ms, to_ms(now) - WINDOW_MS)


def refused_until(rate: Rate, reset_at_ms: int, now: datetime) -> Verdict | None:
    """Refuse a request from what an earlier refusal said; ``None``: that says nothing about now.

    What holds a bucket closed can only become more until ``reset_at_ms``, whoever else asks. Only now that the clock
    is behind the request that has to leave, or the time has come, must the window itself be asked.
    """
    now_ms = to_ms(now)
    if not reset_at_ms - WINDOW_MS <= now_ms < reset_at_ms:
        return None
    return _refused(rate, now_ms, reset_at_ms)


def unknown(rate: Rate, now: datetime) -> Verdict:
    """Give what is said while nobody can look into the window: nothing remains, ask again in a second."""
    now_ms = to_ms(now)
    return _refused(rate, now_ms, now_ms + _SOON_MS)


def _refused(rate: Rate, now_ms: int, reset_at_ms: int) -> Verdict:
    return Verdict(
        admitted=False,
        limit=rate.limit,
        remaining=0,
        reset_at_ms=reset_at_ms,
        retry_after_s=max(1, _seconds_up(reset_at_ms - now_ms)),
    )


def rate_headers(verdict: Verdict) -> dict[str, str]:
    """Give the headers that every answer of a limited operation has, in both families (specification 8.1).

    The reset is in seconds from now in the one family, and in Unix seconds in the other; both are rounded up.
    """
    limit, remaining = str(verdict.limit), str(verdict.remaining)
    return {
        "RateLimit-Limit": limit,
        "X-RateLimit-Limit": limit,
        "RateLimit-Remaining": remaining,
        "X-RateLimit-Remaining": remaining,
        "RateLimit-Reset": str(verdict.retry_after_s),
        "X-RateLimit-Reset": str(_seconds_up(verdict.reset_at_ms)),
    }


def refusal_headers(verdict: Verdict) -> dict[str, str]:
    """Give what a 429 has beside them."""
    return {"Retry-After": str(verdict.retry_after_s)}


def refusal_body(verdict: Verdict) -> dict[str, Any]:
    """Give the body of a 429 (specification 7); the reset is in Unix milliseconds."""
    return {
        "error": "Rate limit exceeded",
        "limit": verdict.limit,
        "remaining": verdict.remaining,
        "reset": verdict.reset_at_ms,
    }


def _seconds_up(ms: int) -> int:
    return -(-ms // _SECOND_MS)
