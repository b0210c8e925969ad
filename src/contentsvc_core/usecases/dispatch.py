"""The dispatcher: sends the messages of the outbox. At least once: the id is the same for every attempt."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Final, assert_never, final

from attrs import evolve, field, frozen

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.journal import LogEntry, LogStatus
from contentsvc_core.outgoing.chats import chat_bytes
from contentsvc_core.outgoing.events import Occurrence, endpoint_disabled
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.letters import Letter, MailResult, SentLetter, notice_letter, recipient_confirmation
from contentsvc_core.outgoing.messages import (
    Attempted,
    FreePlaces,
    LeasedMessage,
    MessageStatus,
    begun_log,
    payload_bytes,
)
from contentsvc_core.outgoing.notices import notice_of
from contentsvc_core.outgoing.recipients import CONFIRMATION_TYPE, Addressee, confirmed, to_confirm
from contentsvc_core.outgoing.retries import (
    MAX_ATTEMPTS,
    Answer,
    AttemptResult,
    NotSent,
    busy_until,
    fault_text,
    next_attempt_at,
    until_stored,
    verdict,
)
from contentsvc_core.outgoing.signing import signed_headers
from contentsvc_core.outgoing.targets import shown_target
from contentsvc_core.ports import Clock, IdSource, MailSender, Outbox, Recipients, WebhookSender
from contentsvc_core.timestamps import iso_ms, whole_ms
from contentsvc_core.usecases.authenticate import mint

#: How long a process owns a message: longer than an attempt can take, all waiting for the database included.
LEASE: Final = timedelta(seconds=60)
#: The same for a message by mail: a slow mail server may take two minutes for all addresses of an endpoint.
MAIL_LEASE: Final = timedelta(minutes=5)
_NO_SECRET: Final = NotSent(error="nothing was sent: the endpoint's secret cannot be opened with the keys that are set")
#: An unexpected exception counts as an attempt, so that a message which always fails ends.
_FAULT: Final = NotSent(error="the message could not be sent: the server's log has the fault", counts=False)
_NO_MAIL: Final = NotSent(error="nothing was sent: CONTENTSVC_SMTP_URL is not set")
_NONE_CONFIRMED: Final = NotSent(
    error="nothing was sent: no address of the endpoint is confirmed", is_final=True, counts=False
)
_NOT_ASKED: Final = NotSent(
    error="nothing was sent: the address has answered, or a newer mail asks it", is_final=True, counts=False
)
#: The code by which an SMTP server accepts a mail (RFC 5321, section 4.2.3).
_MAIL_ACCEPTED: Final = 250


@final
@frozen(eq=False, repr=False)
class Dispatcher:
    """Leases due messages and sends them; safe to call from any number of processes.

    During an outage of the store, the outcome of an attempt is stored again after each ``pause``.
    """

    _outbox: Outbox
    _recipients: Recipients
    _sender: WebhookSender
    _clock: Clock
    _ids: IdSource
    _base_url: str = field(default="", kw_only=True, alias="base_url")
    _mails: MailSender | None = field(default=None, kw_only=True, alias="mails")
    _pause: Callable[[], Awaitable[object]] | None = field(default=None, kw_only=True, alias="pause")

    async def take(self, places: FreePlaces) -> Sequence[LeasedMessage]:
        now = self._clock.now()
        due = await self._outbox.due(now, places)
        if not due:
            # Reads first, without a write lock: with nothing due, no other writer has to wait.
            return ()
        ids = [each.id for each in due]
        return await self._outbox.take(ids, now=now, lease=LEASE, mail_lease=MAIL_LEASE)

    async def send(self, taken: LeasedMessage) -> AttemptResult:
        """Send a message, and store the outcome. Without an outcome, it is sent again when its lease has ended.

        An unexpected fault of sending is raised after its outcome is stored: the message is retried like a refused one.
        """
        begun_at = self._clock.now()
        fault: Exception | None = None
        try:
            result, delivered_to = await self._sent(taken, begun_at)
        except StoreUnavailable:
            raise
        except Exception as exc:  # noqa: BLE001  # raised below
            fault, result, delivered_to = exc, _FAULT, taken.message.delivered_to
        log = begun_log(taken, log_id=self._ids.new_id("log_"), at=begun_at)
        attempted, outcome = self._attempted(taken, result, log)
        attempted = evolve(attempted, delivered_to=delivered_to)
        await until_stored(partial(self._outbox.record, attempted), self._pause)
        if fault is not None:
            raise fault
        return outcome

    async def _sent(self, taken: LeasedMessage, at: datetime) -> tuple[Answer | NotSent, Sequence[str]]:
        if taken.format is EndpointFormat.EMAIL:
            return await self._mailed(taken)
        message = taken.message
        if taken.format is EndpointFormat.STANDARD:
            if not taken.secrets:
                return _NO_SECRET, ()
            body = payload_bytes(message)
            headers = signed_headers(taken.secrets, message_id=message.id, at=at, body=body)
            return await self._sender.send(taken.url, headers, body), ()
        notice = notice_of(message, self._base_url)
        return await self._sender.send(taken.url, {}, chat_bytes(taken.format, notice)), ()

    async def _mailed(self, taken: LeasedMessage) -> tuple[Answer | NotSent, Sequence[str]]:
        message = taken.message
        delivered_to = message.delivered_to
        if self._mails is None:
            return _NO_MAIL, delivered_to
        letters = await self._letters(taken)
        if not letters:
            if delivered_to:
                return Answer(status=_MAIL_ACCEPTED), delivered_to
            return _NOT_ASKED if message.type == CONFIRMATION_TYPE else _NONE_CONFIRMED, ()
        outcomes = await self._mails.send(letters)
        sent = [each.to for each, posted in zip(letters, outcomes, strict=True) if posted.posting is MailResult.SENT]
        result = _mail_result(outcomes, is_delivered=bool(sent or delivered_to))
        return result, (*delivered_to, *sent)

    async def _letters(self, taken: LeasedMessage) -> list[Letter]:
        message = taken.message
        if message.type == CONFIRMATION_TYPE:
            return [
                recipient_confirmation(message, each, each.token or "", self._base_url)
                for each in to_confirm(taken.addressees, message.data.get("address"), message.occurred_at)
            ]
        notice = notice_of(message, self._base_url)
        letters: list[Letter] = []
        for each in confirmed(taken.addressees, without=message.delivered_to):
            token = await self._token_of(each)
            if token is not None:
                letters.append(notice_letter(message, notice, each, token, self._base_url))
        return letters

    async def _token_of(self, addressee: Addressee) -> str | None:
        if addressee.token is not None:
            return addressee.token
        token, digest = mint(self._ids)
        return await self._recipients.give_token(addressee.recipient, digest=digest, token=token)

    async def requeue(self, taken: LeasedMessage) -> None:
        """Set a message due for another process; whether it was sent here is unknown."""
        await self._outbox.requeue(taken, due_at=self._clock.now())

    def _attempted(
        self, taken: LeasedMessage, result: Answer | NotSent, log: LogEntry
    ) -> tuple[Attempted, AttemptResult]:
        now = self._clock.now()
        message = taken.message
        outcome = verdict(result, taken.format)
        status_code = result.status if isinstance(result, Answer) else None
        count = f"attempt {message.attempts} of {MAX_ATTEMPTS}"
        log = evolve(log, status_code=status_code, reason=_reason(count, result))
        status, due_at, disables = MessageStatus.FAILED, now, None
        match outcome:
            case AttemptResult.DELIVERED:
                status = MessageStatus.DELIVERED
                log = evolve(log, status=LogStatus.SUCCESS)
            case AttemptResult.GONE | AttemptResult.REFUSED | AttemptResult.RETRY:
                log = evolve(log, status=LogStatus.FAILED, error_message=fault_text(result, taken.format))
            case _:
                assert_never(outcome)
        if outcome is AttemptResult.GONE:
            disables = f"it answered {status_code} {HTTPStatus(status_code or HTTPStatus.GONE).phrase}"
        elif outcome is AttemptResult.REFUSED and taken.is_failing and _counts(taken, result):
            disables = "the mail server has refused two mails in a row"
        elif outcome is AttemptResult.RETRY and (again := next_attempt_at(message.id, message.attempts, result, now)):
            status, due_at = MessageStatus.PENDING, whole_ms(again)
            # Only failed entries have an error message (specification 2.3).
            reason = f"{log.error_message}; {log.reason}; tried again at {iso_ms(due_at)}"
            log = evolve(log, status=LogStatus.PENDING, error_message=None, reason=reason)
        busy = busy_until(result, now)
        attempted = Attempted(
            at=now,
            taken=taken,
            status=status,
            due_at=due_at,
            log=log,
            disables=disables,
            event=None if disables is None else _disabled(taken, disables, whole_ms(now)),
            succeeded=outcome is AttemptResult.DELIVERED if _counts(taken, result) else None,
            busy_until=None if busy is None else whole_ms(busy),
        )
        return attempted, outcome


def _mail_result(outcomes: Sequence[SentLetter], *, is_delivered: bool) -> Answer | NotSent:
    """Return the result of a message by the outcomes of its letters.

    It is tried again for addresses that may still get it. It is delivered if one address has it, also if the server
    refuses others.
    """
    again = next((each for each in outcomes if each.posting in {MailResult.RETRY, MailResult.NOT_TRIED}), None)
    if again is not None:
        return NotSent(error=again.error or "")
    if is_delivered:
        return Answer(status=_MAIL_ACCEPTED)
    return NotSent(error=outcomes[0].error or "", is_final=True)


def _counts(taken: LeasedMessage, result: Answer | NotSent) -> bool:
    """Check whether a result shows that the endpoint works, or does not; confirmations concern single addresses."""
    return taken.message.type != CONFIRMATION_TYPE and (isinstance(result, Answer) or result.counts)


def _disabled(taken: LeasedMessage, reason: str, at: datetime) -> Occurrence:
    message = taken.message
    return endpoint_disabled(
        organization_id=message.organization_id,
        endpoint_id=message.endpoint_id,
        description=taken.description,
        target=shown_target(taken.url),
        reason=reason,
        at=at,
    )


def _reason(count: str, result: Answer | NotSent) -> str:
    excerpt = result.excerpt if isinstance(result, Answer) else ""
    return f"{count}; it said: {excerpt}" if excerpt and verdict(result) is not AttemptResult.DELIVERED else count
