"""The dispatcher: sends the messages of the outbox. At least once: the id is the same for every attempt."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Final, assert_never, final

from attrs import evolve

from contentsvc_core.journal import LogEntry, LogStatus
from contentsvc_core.outgoing.messages import (
    NOTHING_SENT,
    Attempted,
    LeasedMessage,
    MessageStatus,
    begun_log,
    payload_bytes,
)
from contentsvc_core.outgoing.retries import (
    MAX_ATTEMPTS,
    Answer,
    AttemptResult,
    NotSent,
    fault_text,
    next_attempt_at,
    verdict,
)
from contentsvc_core.outgoing.signing import signed_headers
from contentsvc_core.ports import Clock, IdSource, Outbox, WebhookSender
from contentsvc_core.timestamps import iso_ms, whole_ms

#: How long a process owns a message: longer than an attempt can take, all waiting for the database included.
LEASE: Final = timedelta(seconds=60)
_NO_SECRET: Final = NotSent(error="nothing was sent: the endpoint's secret cannot be opened with the keys that are set")
_GONE: Final = "it answered 410 Gone"


@final
class Dispatcher:
    """Leases due messages and sends them; safe to call from any number of processes."""

    def __init__(self, outbox: Outbox, sender: WebhookSender, clock: Clock, ids: IdSource) -> None:
        self._outbox = outbox
        self._sender = sender
        self._clock = clock
        self._ids = ids

    async def take(
        self,
        *,
        limit: int,
        failing: int,
        per_endpoint: int,
        per_organization: int,
        without: Collection[str] = (),
        sending: Mapping[str, int] = NOTHING_SENT,
    ) -> Sequence[LeasedMessage]:
        """Lease due messages, within the given limits (:meth:`~contentsvc_core.ports.Outbox.due`).

        Raises:
            StoreUnavailable: Try again later; nothing was lost.
        """
        now = self._clock.now()
        due = await self._outbox.due(
            now,
            limit=limit,
            failing=failing,
            per_endpoint=per_endpoint,
            per_organization=per_organization,
            without=without,
            sending=sending,
        )
        # Reads first, without a write lock: with nothing due, no other writer has to wait.
        return await self._outbox.take([each.id for each in due], now=now, until=now + LEASE) if due else ()

    async def send(self, taken: LeasedMessage) -> AttemptResult:
        """Send a message, and store the outcome.

        Raises:
            StoreUnavailable: The outcome was not stored: the message is sent again when its lease has ended.
        """
        message = taken.message
        begun_at = self._clock.now()
        body = payload_bytes(message)
        result: Answer | NotSent = _NO_SECRET
        if taken.secrets:
            headers = signed_headers(taken.secrets, message_id=message.id, at=begun_at, body=body)
            result = await self._sender.send(taken.url, headers, body)
        attempted, said = self._attempted(taken, result, begun_log(taken, log_id=self._ids.mint("log_"), at=begun_at))
        await self._outbox.record(attempted)
        return said

    async def give_back(self, taken: LeasedMessage) -> None:
        """Set a message due for another process; whether it was sent here is unknown."""
        await self._outbox.give_back(taken, due_at=self._clock.now())

    def _attempted(
        self, taken: LeasedMessage, result: Answer | NotSent, log: LogEntry
    ) -> tuple[Attempted, AttemptResult]:
        now = self._clock.now()
        message = taken.message
        said = verdict(result)
        status_code = result.status if isinstance(result, Answer) else None
        count = f"attempt {message.attempts} of {MAX_ATTEMPTS}"
        log = evolve(log, status_code=status_code, reason=_reason(count, result))
        status, due_at, disables = MessageStatus.FAILED, now, None
        match said:
            case AttemptResult.DELIVERED:
                status = MessageStatus.DELIVERED
                log = evolve(log, status=LogStatus.SUCCESS)
            case AttemptResult.GONE:
                disables = _GONE
                log = evolve(log, status=LogStatus.FAILED, error_message=fault_text(result))
            case AttemptResult.RETRY:
                again = next_attempt_at(message.id, message.attempts, result, now)
                if again is None:
                    log = evolve(log, status=LogStatus.FAILED, error_message=fault_text(result))
                else:
                    status, due_at = MessageStatus.PENDING, whole_ms(again)
                    told = f"{log.reason}; tried again at {iso_ms(due_at)}"
                    log = evolve(log, error_message=fault_text(result), reason=told)
            case _:
                assert_never(said)
        attempted = Attempted(
            taken=taken,
            status=status,
            due_at=due_at,
            log=log,
            disables=disables,
            succeeded=said is AttemptResult.DELIVERED,
        )
        return attempted, said


def _reason(count: str, result: Answer | NotSent) -> str:
    excerpt = result.excerpt if isinstance(result, Answer) else ""
    return f"{count}; it said: {excerpt}" if excerpt and verdict(result) is not AttemptResult.DELIVERED else count
