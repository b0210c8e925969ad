"""What an answer means, and when a message is tried again.

The pauses are those of the Standard Webhooks specification's example, over a day and a few hours.
"""

import re
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from hashlib import blake2b
from typing import Final, final

from attrs import frozen

#: How long to wait after the first, the second, … attempt has failed; after the last one there is no more.
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
#: A receiver may ask for a longer pause than it would get, but for no more than this.
MAX_RETRY_AFTER: Final = timedelta(hours=10)
#: So much is added to a pause at most, as a part of it: what has failed together is not tried again together.
JITTER: Final = 0.2
#: The statuses whose ``Retry-After`` counts (RFC 9110, section 10.2.3; RFC 6585, section 4).
_ASKS_TO_WAIT: Final = frozenset({429, 503})
_GONE: Final = 410
_SUCCESS: Final = 2
_REDIRECTION: Final = 3
_SECONDS: Final = re.compile(r"[0-9]{1,9}")
#: ``IMF-fixdate``, the one form that is still to be sent (RFC 9110, section 5.6.7).
_DATE: Final = "%a, %d %b %Y %H:%M:%S GMT"


@final
@frozen(kw_only=True)
class Answer:
    """What a receiver has answered."""

    status: int
    #: The header, as it was sent; ``None``: there was none.
    retry_after: str | None = None
    #: The beginning of the body, as one short line; empty when there was nothing.
    excerpt: str = ""


@final
@frozen(kw_only=True)
class NotSent:
    """Why there was no answer, in one sentence for whoever owns the endpoint."""

    error: str


class Verdict(Enum):
    """What an attempt comes to."""

    DELIVERED = auto()
    #: It is tried again later, unless this was the last time.
    RETRY = auto()
    #: The endpoint wants nothing any more.
    GONE = auto()


def verdict(result: Answer | NotSent) -> Verdict:
    """Tell what an attempt comes to: 2xx is all that counts; redirects are not followed."""
    if isinstance(result, NotSent):
        return Verdict.RETRY
    if result.status // 100 == _SUCCESS:
        return Verdict.DELIVERED
    return Verdict.GONE if result.status == _GONE else Verdict.RETRY


def fault_text(result: Answer | NotSent) -> str:
    """Say what was wrong with an attempt."""
    if isinstance(result, NotSent):
        return result.error
    if result.status // 100 == _REDIRECTION:
        return f"the endpoint answered with status {result.status}: redirects are not followed"
    if result.status == _GONE:
        return "the endpoint answered with status 410: it is gone, and was switched off"
    return f"the endpoint answered with status {result.status}"


def next_attempt_at(message_id: str, attempts: int, result: Answer | NotSent, now: datetime) -> datetime | None:
    """Tell when a message is tried again whose ``attempts``-th attempt has just failed; ``None``: never."""
    if attempts >= MAX_ATTEMPTS:
        return None
    pause = DELAYS[attempts - 1] * (1 + JITTER * _chance(message_id, attempts))
    if isinstance(result, Answer) and result.status in _ASKS_TO_WAIT and result.retry_after is not None:
        pause = max(pause, min(_asked_for(result.retry_after, now), MAX_RETRY_AFTER))
    return now + pause


def _chance(message_id: str, attempts: int) -> float:
    """Give a number from 0 to 1 that is another one for each message and attempt, and the same each time."""
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
