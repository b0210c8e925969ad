"""Retry policy: how an answer is classified, and when a message is sent again.

The pauses are the example of the Standard Webhooks specification, 27.6 hours in total.
"""

import re
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from hashlib import blake2b
from typing import Final, final

from attrs import frozen

#: The pauses after the first, the second, … failed attempt. There is no attempt after the last pause's.
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
#: The longest pause that a receiver's ``Retry-After`` is honoured for.
MAX_RETRY_AFTER: Final = timedelta(hours=10)
#: The largest random part added to a pause, as a fraction: messages that failed together are spread out.
JITTER: Final = 0.2
#: The statuses whose ``Retry-After`` counts (RFC 9110, section 10.2.3; RFC 6585, section 4).
_ASKS_TO_WAIT: Final = frozenset({429, 503})
_GONE: Final = 410
_SUCCESS: Final = 2
_REDIRECTION: Final = 3
_SECONDS: Final = re.compile(r"[0-9]{1,9}")
#: ``IMF-fixdate``, the form that senders must use (RFC 9110, section 5.6.7).
_DATE: Final = "%a, %d %b %Y %H:%M:%S GMT"


@final
@frozen(kw_only=True)
class Answer:
    """The answer of a receiver."""

    status: int
    #: The header's value; ``None``: the answer has none.
    retry_after: str | None = None
    #: The beginning of the body, as one short line; may be empty.
    excerpt: str = ""


@final
@frozen(kw_only=True)
class NotSent:
    """Why there was no answer: one sentence for the owner of the endpoint."""

    error: str


class AttemptResult(Enum):
    """The classification of an attempt's result."""

    DELIVERED = auto()
    #: Send again later, unless no attempt is left.
    RETRY = auto()
    #: The endpoint asks to be disabled (410).
    GONE = auto()


def verdict(result: Answer | NotSent) -> AttemptResult:
    """Classify the result of an attempt: only 2xx is a success; redirects are not followed."""
    if isinstance(result, NotSent):
        return AttemptResult.RETRY
    if result.status // 100 == _SUCCESS:
        return AttemptResult.DELIVERED
    return AttemptResult.GONE if result.status == _GONE else AttemptResult.RETRY


def fault_text(result: Answer | NotSent) -> str:
    """Return the error message of a failed attempt."""
    if isinstance(result, NotSent):
        return result.error
    if result.status // 100 == _REDIRECTION:
        return f"the endpoint answered with status {result.status}: redirects are not followed"
    if result.status == _GONE:
        return "the endpoint answered with status 410: it is gone, and was switched off"
    return f"the endpoint answered with status {result.status}"


def next_attempt_at(message_id: str, attempts: int, result: Answer | NotSent, now: datetime) -> datetime | None:
    """Return the time of the next attempt after the ``attempts``-th one has failed; ``None``: no attempt is left."""
    if attempts >= MAX_ATTEMPTS:
        return None
    pause = DELAYS[attempts - 1] * (1 + JITTER * _chance(message_id, attempts))
    if isinstance(result, Answer) and result.status in _ASKS_TO_WAIT and result.retry_after is not None:
        pause = max(pause, min(_asked_for(result.retry_after, now), MAX_RETRY_AFTER))
    return now + pause


def _chance(message_id: str, attempts: int) -> float:
    digest = blake2b(f"{message_id}/{attempts}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) / 0xFFFFFFFF


def _asked_for(retry_after: str, now: datetime) -> timedelta:
    text = retry_after.strip()
    if _SECONDS.fullmatch(text):
        return timedelta(seconds=int(text))
    try:
        return datetime.strptime(text, _DATE).replace(tzinfo=UTC) - now
    except ValueError:
        return timedelta()
