"""The exact sliding log (specification 8.1): which request is admitted, as one pure transition."""

from datetime import datetime
from itertools import pairwise
from typing import Any, Final, final

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
        if any(earlier > later for earlier, later in pairwise(self.hits_ms)):
            message = "the hits of a window stand in their order, the oldest first"
            raise ValueError(message)

    @property
    def expires_at_ms(self) -> int:
        """Give when the last one leaves: from then on the window says nothing (0 for an empty one)."""
        return self.hits_ms[-1] + WINDOW_MS if self.hits_ms else 0


@final
@frozen(kw_only=True)
class Verdict:
    """Whether a request is admitted, and what its sender is told."""

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
    if window.hits_ms and window.hits_ms[-1] > now_ms:
        window = Window(hits_ms=[min(hit_ms, now_ms) for hit_ms in window.hits_ms])
    counted = [hit_ms for hit_ms in window.hits_ms if hit_ms > now_ms - WINDOW_MS]
    if len(counted) < rate.limit:
        counted.append(now_ms)
        remaining = rate.limit - len(counted)
        return Window(hits_ms=counted), _verdict(rate, now_ms, counted[0] + WINDOW_MS, remaining=remaining)
    # The one whose leaving makes room: the oldest, unless the limit was higher when these were admitted.
    return window, _verdict(rate, now_ms, counted[-rate.limit] + WINDOW_MS)


def refused_until(rate: Rate, reset_at_ms: int, now: datetime) -> Verdict | None:
    """Refuse a request from what an earlier refusal said; ``None``: that says nothing about now.

    What holds a bucket closed can only become more until ``reset_at_ms``, whoever else asks. Only now that the clock
    is behind the request that has to leave, or the time has come, must the window itself be asked.
    """
    now_ms = to_ms(now)
    if not reset_at_ms - WINDOW_MS <= now_ms < reset_at_ms:
        return None
    return _verdict(rate, now_ms, reset_at_ms)


def unknown(rate: Rate, now: datetime) -> Verdict:
    """Give what is said while nobody can look into the window: nothing remains, ask again in a second."""
    now_ms = to_ms(now)
    return _verdict(rate, now_ms, now_ms + _SOON_MS)


def _verdict(rate: Rate, now_ms: int, reset_at_ms: int, *, remaining: int | None = None) -> Verdict:
    return Verdict(
        admitted=remaining is not None,
        limit=rate.limit,
        remaining=remaining or 0,
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
