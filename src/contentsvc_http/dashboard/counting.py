from collections.abc import Collection, Mapping, Sequence

from contentsvc_core.access.rates import RATES, WINDOW_MS, Bucket, Rate, rate_of
from contentsvc_core.access.window import Verdict, refusal_headers
from contentsvc_http.dashboard.refusals import Unsaved
from contentsvc_http.dashboard.session import DashboardSession
from contentsvc_http.errors import Refused

WINDOW_S = WINDOW_MS // 1000
_TOO_MANY = 429


async def count(session: DashboardSession, method: str, template: str) -> None:
    """Count an operation of ``/v1``; raise :class:`Unsaved` if there were too many."""
    rate = rate_of(method, template)
    assert rate is not None
    verdict = await session.app.limiter.hit_by(session.signed_in.key, rate)
    if not verdict.admitted:
        raise Unsaved(error=_words(verdict), status=_TOO_MANY)


async def admit(session: DashboardSession, rate: Rate) -> None:
    verdict = await session.app.limiter.hit_by(session.signed_in.key, rate)
    if not verdict.admitted:
        raise Refused(_TOO_MANY, {"error": _words(verdict)}, refusal_headers(verdict))


async def used(session: DashboardSession, prefixes: Collection[str]) -> Mapping[str, Sequence[tuple[Rate, int]]]:
    buckets = {(prefix, rate): Bucket.of_key(rate, prefix) for prefix in prefixes for rate in RATES}
    counts = await session.app.limiter.used(buckets.values())
    return {prefix: [(rate, counts[buckets[prefix, rate]]) for rate in RATES] for prefix in prefixes}


def _words(verdict: Verdict) -> str:
    return (
        f"Too often: this can be done {verdict.limit} times in {WINDOW_S} seconds. "
        f"Send it again in {verdict.retry_after_s} s."
    )
