from collections.abc import Callable
from hashlib import blake2b
from typing import Final, final

from attrs import field, frozen
from msgspec.structs import replace

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.journal import UNKNOWN_LOG, LogEntry, LogLine, LogOutcome
from contentsvc_core.outgoing.messages import is_message_log
from contentsvc_core.outgoing.recipients import CONFIRMATION_TYPE
from contentsvc_core.ports import (
    Clock,
    ContextLibrary,
    DeliveryStore,
    IdSource,
    Journal,
    Outbox,
    WebhookEndpoints,
)
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.values import nothing
from contentsvc_core.webhooks.delivery import Address, Belonging, HookConfiguration
from contentsvc_core.webhooks.outcomes import Processed
from contentsvc_core.webhooks.settlement import Settled, settlement
from contentsvc_core.workflows.context import ContextRecord, custom_id

#: The most decisions of one replay under concurrent changes of the configuration.
_TURNS: Final = 4


NOT_PROCESSED: Final = Refusal(
    RefusalKind.CONFLICT, "Only a processed delivery can be replayed: this entry has no event"
)
BODY_NOT_STORED: Final = Refusal(
    RefusalKind.CONFLICT,
    "The body of a refused delivery is not stored. Have the code host deliver it again: "
    "reconcile the integration, or press Redeliver at the code host",
)
INTEGRATION_GONE: Final = Refusal(RefusalKind.CONFLICT, "The integration of this delivery was removed")
INTEGRATION_DISABLED: Final = Refusal(RefusalKind.DISABLED, "Integration is disabled")
REPOSITORY_GONE: Final = Refusal(
    RefusalKind.CONFLICT, "The repository of this delivery is not connected through its integration any more"
)
ENDPOINT_GONE: Final = Refusal(RefusalKind.CONFLICT, "The webhook endpoint of this message was deleted")
MESSAGE_ENDPOINT_DISABLED: Final = Refusal(RefusalKind.CONFLICT, "The webhook endpoint of this message is disabled")
NO_CONFIRMATION: Final = Refusal(
    RefusalKind.CONFLICT, "A confirmation mail is not replayed: send the confirmation again at the endpoint"
)
_NOTE: Final = "replay of "
_UUID_BYTES: Final = 16


@final
@frozen(kw_only=True)
class Replayed:
    #: A new UUID for a delivery; a message that is sent again keeps its id.
    delivery_id: str
    runs: int
    #: Whether an earlier attempt of the same request has replayed the entry.
    is_repeated: bool = False


@final
@frozen(eq=False, repr=False)
class Replayer:
    """Replays deliveries, as new deliveries with the current configuration; sends messages again."""

    _store: DeliveryStore
    _journal: Journal
    _library: ContextLibrary
    _endpoints: WebhookEndpoints
    _outbox: Outbox
    _clock: Clock
    _ids: IdSource
    _notify: Callable[[], None] = field(default=nothing, kw_only=True, alias="notify")

    async def replay(self, organization_id: str, log_id: str, *, request: str | None = None) -> Replayed | Refusal:
        """Process the event of a log entry again: context record, runs and log entry are stored in one transaction.

        The event is not filtered again. A message is sent again with its id. For one ``request``, a delivery is
        replayed once; with a ``request``, a message only by its newest entry.
        """
        entry = await self._journal.entry(organization_id, log_id)
        if entry is None:
            return UNKNOWN_LOG
        if is_message_log(entry):
            return await self._resend(entry, request)
        if entry.outcome is LogOutcome.REFUSED:
            return BODY_NOT_STORED
        if not isinstance(entry.detail, Push | Release) or entry.reference_id is None:
            return NOT_PROCESSED
        return await self._replay(entry, entry.detail, None if request is None else _delivery_id(request, entry.id))

    async def _replay(self, entry: LogEntry, event: Push | Release, delivery_id: str | None) -> Replayed | Refusal:
        repeated = None if delivery_id is None else Replayed(delivery_id=delivery_id, runs=0, is_repeated=True)
        if repeated is not None and await self._repository(entry, repeated.delivery_id) is not None:
            return repeated
        record = await self._library.record(entry.organization_id, _key(entry, entry.reference_id or ""))
        if record is None:
            return NOT_PROCESSED
        for _ in range(_TURNS):
            replayed = await self._settle(entry, event, record, delivery_id)
            if replayed is not None:
                return replayed
            if repeated is not None and await self._repository(entry, repeated.delivery_id) is not None:
                return repeated
        message = "the configuration changes faster than a replay can be decided"
        raise StoreUnavailable(message)

    async def _resend(self, entry: LogEntry, request: str | None) -> Replayed | Refusal:
        owner, message_id = entry.organization_id, entry.reference_id
        endpoint = await self._endpoints.endpoint(owner, entry.integration_id)
        if endpoint is None:
            return ENDPOINT_GONE
        if not endpoint.enabled:
            return MESSAGE_ENDPOINT_DISABLED
        message = None if message_id is None else await self._outbox.message(owner, message_id)
        if message is not None and message.type == CONFIRMATION_TYPE:
            return NO_CONFIRMATION
        if request is not None and message is not None and message.log_id != entry.id:
            # The message was sent again after this entry, which keeps its status.
            return Replayed(delivery_id=message.id, runs=0, is_repeated=True)
        now = self._clock.now()
        # Messages are kept as long as their entries: a missing message was deleted with its endpoint.
        if message_id is None or not await self._outbox.resend(owner, message_id, due_at=now):
            return ENDPOINT_GONE
        return Replayed(delivery_id=message_id, runs=0)

    async def _repository(self, entry: LogEntry, delivery_id: str) -> str | None:
        return await self._library.repository(entry.organization_id, _key(entry, delivery_id))

    async def _settle(
        self, entry: LogEntry, event: Push | Release, record: ContextRecord, delivery_id: str | None
    ) -> Replayed | Refusal | None:
        now = self._clock.now()
        hook = await self._store.configuration(_address(entry), now)
        if hook is None:
            return INTEGRATION_GONE
        if (fault := _fault(hook)) is not None:
            return fault
        outcome = Processed(
            event=event,
            delivery_id=delivery_id or self._ids.new_id(""),
            repository_id=entry.repository_id,
            repository=record.repository,
        )
        settling = settlement(outcome, hook, at=now, new_id=self._ids.new_id, note=f"{_NOTE}{entry.id}", replayed=True)
        assert settling is not None
        # Content about a stretch of time, or since the previous release, must find the event at its time of arrival.
        settling = replace(settling, context_at=record.created_at)
        if await self._store.settle(settling) is not Settled.AS_DECIDED:
            # The configuration has changed. (A random collision of the new id is handled alike.)
            return None
        if settling.started:
            self._notify()
        return Replayed(delivery_id=outcome.delivery_id, runs=len(settling.started))


def is_replay(entry: LogLine) -> bool:
    return entry.outcome is LogOutcome.PROCESSED and _NOTE in (entry.reason or "")


def _delivery_id(request: str, log_id: str) -> str:
    digest = blake2b(f"{log_id} {request}".encode(), digest_size=_UUID_BYTES).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def _key(entry: LogEntry, delivery_id: str) -> str:
    return custom_id(entry.integration_type, entry.repository_id, delivery_id)


def _address(entry: LogEntry) -> Address:
    return Address(
        provider=entry.integration_type,
        organization_id=entry.organization_id,
        integration_id=entry.integration_id,
        repository_id=entry.repository_id,
    )


def _fault(hook: HookConfiguration) -> Refusal | None:
    if not hook.enabled:
        return INTEGRATION_DISABLED
    return None if hook.repository is Belonging.THIS_INTEGRATION else REPOSITORY_GONE
