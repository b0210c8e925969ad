"""Requests with an idempotency key: a repeated request gets the answer of the first one, and has no further effect."""

from datetime import datetime, timedelta
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.values import Value

#: The time for which a keyed request is stored, from its first request on.
RETENTION: Final = timedelta(hours=24)
#: The time after which a request without an answer is executed again: the process that executed it may be gone.
#: Calls to the code host take up to 30 seconds.
BUSY: Final = timedelta(minutes=1)
#: The maximum length of a key, in characters.
NAME_LIMIT: Final = 255
#: The length of a seed in characters: about 238 bits.
SEED_LENGTH: Final = 40

OTHER_REQUEST: Final = Refusal(
    RefusalKind.REUSED,
    "This idempotency key was used with another request: send the same request again, or use a new key",
)
STILL_RUNNING: Final = Refusal(
    RefusalKind.CONFLICT,
    "A request with this idempotency key is still running: send it again a little later",
    retry_after_s=1,
)


@final
class StoredAnswer(Value, frozen=True, kw_only=True):
    status: int
    headers: tuple[tuple[str, str], ...]
    body: str

    def __repr__(self) -> str:
        """Return the status only: the answer may have a new secret."""
        return f"StoredAnswer(status={self.status})"


@final
@frozen(kw_only=True)
class KeyedRequest:
    """A request with an idempotency key, and its answer."""

    #: The prefix of the API key: each API key has its own idempotency keys.
    key_prefix: str
    #: The idempotency key.
    name: str
    #: Of the operation and its body.
    digest: str
    #: Each execution draws the same ids and tokens from it. Secrets follow from it.
    seed: str = field(repr=False)
    #: The time of the first request. Each execution takes it as the current time.
    at: datetime
    #: The id of the execution that may answer.
    execution: str
    is_repeated: bool = False
    busy_until: datetime
    answer: StoredAnswer | None = field(default=None, repr=False)


def begun(stored: KeyedRequest | None, new: KeyedRequest) -> KeyedRequest | Refusal:
    """Return the request that ``new`` begins or repeats. Execute it now if it has the execution of ``new``."""
    if stored is None or stored.at + RETENTION <= new.at:
        return new
    if stored.digest != new.digest:
        return OTHER_REQUEST
    if stored.answer is not None or stored.execution == new.execution:
        return stored
    if new.at < stored.busy_until:
        return STILL_RUNNING
    return evolve(stored, execution=new.execution, is_repeated=True, busy_until=new.busy_until)


def ended(
    stored: KeyedRequest | None, execution: str, answer: StoredAnswer | None, *, refused: bool
) -> KeyedRequest | None:
    """Return the request after an execution; ``None``: nothing has happened, so that the key is free again.

    Without an answer, the request is executed again when it is repeated.
    """
    if stored is None or stored.execution != execution or stored.answer is not None:
        return stored
    if refused and not stored.is_repeated:
        return None
    # A refused repetition forgets nothing: an execution before it may have had its effect.
    return evolve(stored, busy_until=stored.at, answer=None if refused else answer)
