"""The exact sliding log (specification 8.1): which request is admitted, as one pure transition."""

from bisect import bisect_right
from datetime import datetime
from operator import gt
from typing import Any, Final, NamedTuple, final

from attrs import field, frozen

from contentsvc_core.access.rates import Rate
from contentsvc_core.timestamps import to_ms

#: The reset time reported when the window cannot be read, in milliseconds.
_SOON_MS: Final = 1000
_SECOND_MS: Final = 1000


@final
@frozen(kw_only=True)
class Window:
    """The times at which a bucket's requests were admitted; refused requests are not included."""

    #: In milliseconds since the Unix epoch, oldest first; no more of them than the limit was, at any time.
    hits_ms: tuple[int, ...] = field(default=(), converter=tuple[int, ...])

    def __attrs_post_init__(self) -> None:
        if any(map(gt, self.hits_ms, self.hits_ms[1:])):
            message = "the hits of a window stand in their order, the oldest first"
            raise ValueError(message)

    def expires_at_ms(self, rate: Rate) -> int:
        return self.hits_ms[-1] + rate.window_ms if self.hits_ms else 0


@final
class Verdict(NamedTuple):
    """The decision on a request, and the limit's state. A named tuple: one is created for every request."""

    admitted: bool
    limit: int
    #: The number of requests that would still be admitted now, after this one.
    remaining: int
    #: When the oldest admitted request leaves the window, in milliseconds since the Unix epoch.
    reset_at_ms: int
    #: The reset in whole seconds from now, rounded up, at least 1: a client that waits so long is admitted.
    retry_after_s: int


def hit(window: Window, rate: Rate, now: datetime) -> tuple[Window, Verdict]:
    """Count a request, if fewer than the limit were admitted in the window before it.

    A refused request is not counted: the same window object is returned, so that nothing must be stored. But a time of
    admission after ``now``, from a clock that is or was ahead, counts as ``now``, and the corrected window is returned.
    So a clock that steps back frees no place, and locks no client out for longer than the window.
    """
    now_ms = to_ms(now)
    hits = window.hits_ms
    if hits:
        if hits[-1] > now_ms:
            hits = tuple(min(hit_ms, now_ms) for hit_ms in hits)
            window = _ordered(hits)
        start_ms = now_ms - rate.window_ms
        if hits[0] <= start_ms:
            hits = hits[bisect_right(hits, start_ms) :]
    limit = rate.limit
    remaining = limit - len(hits) - 1
    if admitted := remaining >= 0:
        hits = (*hits, now_ms)
        window = _ordered(hits)
        reset_at_ms = hits[0] + rate.window_ms
    else:
        # The request that must leave first: the oldest one, unless the limit was higher when they were admitted.
        remaining = 0
        reset_at_ms = hits[-limit] + rate.window_ms
    return window, Verdict(admitted, limit, remaining, reset_at_ms, -((now_ms - reset_at_ms) // _SECOND_MS))


def _ordered(hits_ms: tuple[int, ...]) -> Window:
    window = object.__new__(Window)
    object.__setattr__(window, "hits_ms", hits_ms)
    return window


def used(window: Window, rate: Rate, now: datetime) -> int:
    """Return how many requests count now; a time of admission after ``now`` counts as in :func:`hit`."""
    return len(window.hits_ms) - bisect_right(window.hits_ms, to_ms(now) - rate.window_ms)


def refused_until(rate: Rate, reset_at_ms: int, now: datetime) -> Verdict | None:
    """Refuse a request because of an earlier refusal, until ``reset_at_ms``; ``None``: the window must be read."""
    now_ms = to_ms(now)
    if not reset_at_ms - rate.window_ms <= now_ms < reset_at_ms:
        return None
    return _refused(rate, now_ms, reset_at_ms)


def unknown(rate: Rate, now: datetime) -> Verdict:
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
    """Return the rate limit headers of a response, in both families; resets are rounded up (specification 8.1)."""
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
    """Return the header of a 429 beside :func:`rate_headers`: ``Retry-After`` in seconds (RFC 9110, section 10.2.3)."""
    return {"Retry-After": str(verdict.retry_after_s)}


def refusal_body(verdict: Verdict) -> dict[str, Any]:
    """Return the body of a 429 (specification 7); the reset is in Unix milliseconds."""
    return {
        "error": "Rate limit exceeded",
        "limit": verdict.limit,
        "remaining": verdict.remaining,
        "reset": verdict.reset_at_ms,
    }


def _seconds_up(ms: int) -> int:
    return -(-ms // _SECOND_MS)
