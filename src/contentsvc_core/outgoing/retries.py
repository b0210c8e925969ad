"""Retry policy. The backoffs are the example of the Standard Webhooks specification, 27.6 hours in total."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from hashlib import blake2b
from typing import Final, final

from attrs import frozen

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.outgoing.formats import EndpointFormat

DELAYS: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=10),
)
MAX_ATTEMPTS: Final = len(DELAYS) + 1
#: The longest backoff that a receiver's ``Retry-After`` is honoured for.
MAX_RETRY_AFTER: Final = timedelta(hours=10)
#: The largest random part added to a backoff, as a fraction: messages that failed together are spread out.
JITTER: Final = 0.2
#: The pause between two tries to store an outcome in an outage of the store, in seconds: a lease lasts a minute.
OUTAGE_PAUSE_S: Final = 1.0
#: The statuses whose ``Retry-After`` counts (RFC 9110, section 10.2.3; RFC 6585, section 4).
_ASKS_TO_WAIT: Final = frozenset({429, 503})
_GONE: Final = 410
_NOT_FOUND: Final = 404
_SUCCESS: Final = 2
_REDIRECTION: Final = 3
#: Discord sends fractions of a second, against the RFC.
_SECONDS: Final = re.compile(r"([0-9]{1,9})(\.[0-9]+)?")
#: ``IMF-fixdate``, the form that senders must use (RFC 9110, section 5.6.7).
_DATE: Final = "%a, %d %b %Y %H:%M:%S GMT"


@final
@frozen(kw_only=True)
class Answer:
    """The answer of an endpoint to a message."""

    status: int
    retry_after: str | None = None
    excerpt: str = ""


@final
@frozen(kw_only=True)
class NotSent:
    """An attempt without an answer; ``error`` is one sentence for the owner of the endpoint."""

    error: str
    #: A mail server has refused the mail permanently: another attempt is useless.
    is_final: bool = False
    #: Whether the outcome counts against the endpoint.
    counts: bool = True


class AttemptResult(Enum):
    """The result of an attempt to send a message."""

    DELIVERED = auto()
    RETRY = auto()
    #: The endpoint asks to be disabled (410), or its chat has deleted it (404).
    GONE = auto()
    #: A mail server has refused the mail: it is not sent again.
    REFUSED = auto()


async def until_stored(store: Callable[[], Awaitable[None]], pause: Callable[[], Awaitable[object]] | None) -> None:
    """Store the outcome of an attempt, again after each ``pause`` while the store is unavailable.

    If the outcome is lost, the message is sent again, and no chat and no mail program hides the repetition. Without
    ``pause``, the first fault is raised.
    """
    while True:
        try:
            return await store()
        except StoreUnavailable:
            if pause is None:
                raise
        await pause()


def verdict(result: Answer | NotSent, format_: EndpointFormat = EndpointFormat.STANDARD) -> AttemptResult:
    """Classify the result of an attempt: only 2xx is a success; redirects are not followed."""
    if isinstance(result, NotSent):
        return AttemptResult.REFUSED if result.is_final else AttemptResult.RETRY
    if result.status // 100 == _SUCCESS:
        return AttemptResult.DELIVERED
    is_gone = result.status == _GONE or (format_.is_chat and result.status == _NOT_FOUND)
    return AttemptResult.GONE if is_gone else AttemptResult.RETRY


def fault_text(result: Answer | NotSent, format_: EndpointFormat = EndpointFormat.STANDARD) -> str:
    if isinstance(result, NotSent):
        return result.error
    if result.status // 100 == _REDIRECTION:
        return f"the endpoint answered with status {result.status}: redirects are not followed"
    if verdict(result, format_) is AttemptResult.GONE:
        return f"the endpoint answered with status {result.status}: it is gone, and was switched off"
    return f"the endpoint answered with status {result.status}"


def next_attempt_at(message_id: str, attempts: int, result: Answer | NotSent, now: datetime) -> datetime | None:
    if attempts >= MAX_ATTEMPTS:
        return None
    backoff = DELAYS[attempts - 1] * (1 + JITTER * _chance(message_id, attempts))
    return max(now + backoff, busy_until(result, now) or now)


def busy_until(result: Answer | NotSent, now: datetime) -> datetime | None:
    """Return the time before which the endpoint accepts no message, by ``Retry-After``; ``None``: it has named none."""
    if not isinstance(result, Answer) or result.status not in _ASKS_TO_WAIT or result.retry_after is None:
        return None
    return now + min(_asked_for(result.retry_after, now), MAX_RETRY_AFTER)


def _chance(message_id: str, attempts: int) -> float:
    digest = blake2b(f"{message_id}/{attempts}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) / 0xFFFFFFFF


def _asked_for(retry_after: str, now: datetime) -> timedelta:
    text = retry_after.strip()
    if (seconds := _SECONDS.fullmatch(text)) is not None:
        return timedelta(seconds=int(seconds[1]) + (seconds[2] is not None))
    try:
        return datetime.strptime(text, _DATE).replace(tzinfo=UTC) - now
    except ValueError:
        return timedelta()
