"""Replays: processes the stored event of a delivery again (decisions, ``POST /v1/webhook-logs/{id}/replay``)."""

from collections.abc import Callable
from typing import Final, final

from attrs import evolve, frozen

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.journal import UNKNOWN_LOG, LogEntry
from contentsvc_core.outgoing.messages import is_message_log
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
from contentsvc_core.webhooks.delivery import Address, Belonging, HookConfiguration
from contentsvc_core.webhooks.outcomes import Processed
from contentsvc_core.webhooks.settlement import Settled, settlement
from contentsvc_core.workflows.context import ContextRecord, custom_id

#: The most decisions of one replay under concurrent changes of the configuration.
_TURNS: Final = 4


NOT_PROCESSED: Final = Refusal(
    RefusalKind.CONFLICT, "Only a processed delivery can be replayed: this entry has no event"
)
INTEGRATION_GONE: Final = Refusal(RefusalKind.CONFLICT, "The integration of this delivery was removed")
INTEGRATION_DISABLED: Final = Refusal(RefusalKind.DISABLED, "Integration is disabled")
REPOSITORY_GONE: Final = Refusal(
    RefusalKind.CONFLICT, "The repository of this delivery is not connected through its integration any more"
)
ENDPOINT_GONE: Final = Refusal(RefusalKind.CONFLICT, "The webhook endpoint of this message was deleted")
MESSAGE_ENDPOINT_DISABLED: Final = Refusal(RefusalKind.CONFLICT, "The webhook endpoint of this message is disabled")


@final
@frozen(kw_only=True)
class Replayed:
    """A stored replay, with the number of its runs."""

    #: A new UUID for a delivery; a message that is sent again keeps its id.
    delivery_id: str
    runs: int


def _nothing_to_nudge() -> None:
    pass


@final
class Replayer:
    """Replays deliveries, as new deliveries with the current configuration; sends messages again."""

    def __init__(  # noqa: PLR0917  # its ports
        self,
        store: DeliveryStore,
        journal: Journal,
        library: ContextLibrary,
        endpoints: WebhookEndpoints,
        outbox: Outbox,
        clock: Clock,
        ids: IdSource,
        *,
        nudge: Callable[[], None] = _nothing_to_nudge,
    ) -> None:
        """Create the replayer; ``nudge`` is called after workflow runs were stored."""
        self._store = store
        self._journal = journal
        self._library = library
        self._endpoints = endpoints
        self._outbox = outbox
        self._clock = clock
        self._ids = ids
        self._nudge = nudge

    async def replay(self, organization_id: str, log_id: str) -> Replayed | Refusal:
        """Process the event of a log entry again: context record, runs and log entry are stored in one transaction.

        The event passed the filters when it arrived, and is not filtered again. Its runs may report the same changes
        again. For the entry of a message, the message is sent again, with its id, to the endpoint's current address.

        Raises:
            StoreUnavailable: The store is unavailable, or the configuration changes constantly.
        """
        entry = await self._journal.entry(organization_id, log_id) if is_own_id(log_id) else None
        if entry is None:
            return UNKNOWN_LOG
        if is_message_log(entry):
            return await self._resend(entry)
        if not isinstance(entry.detail, Push | Release) or entry.reference_id is None:
            return NOT_PROCESSED
        key = custom_id(entry.integration_type, entry.repository_id, entry.reference_id)
        record = await self._library.record(organization_id, key)
        if record is None:
            # A processed delivery writes record and entry in one transaction, and records are kept.
            return NOT_PROCESSED
        for _ in range(_TURNS):
            replayed = await self._settle(entry, entry.detail, record)
            if replayed is not None:
                return replayed
        message = "the configuration changes faster than a replay can be decided"
        raise StoreUnavailable(message)

    async def _resend(self, entry: LogEntry) -> Replayed | Refusal:
        owner, message_id = entry.organization_id, entry.reference_id
        endpoint = await self._endpoints.endpoint(owner, entry.integration_id)
        if endpoint is None:
            return ENDPOINT_GONE
        if not endpoint.enabled:
            return MESSAGE_ENDPOINT_DISABLED
        now = self._clock.now()
        # Messages are kept as long as their entries: a missing message was deleted with its endpoint.
        if message_id is None or not await self._outbox.resend(owner, message_id, due_at=now):
            return ENDPOINT_GONE
        return Replayed(delivery_id=message_id, runs=0)

    async def _settle(self, entry: LogEntry, event: Push | Release, record: ContextRecord) -> Replayed | Refusal | None:
        now = self._clock.now()
        hook = await self._store.configuration(_address(entry), now)
        if hook is None:
            return INTEGRATION_GONE
        if (fault := _fault(hook)) is not None:
            return fault
        outcome = Processed(
            event=event,
            delivery_id=self._ids.mint(""),
            repository_id=entry.repository_id,
            repository=record.repository,
        )
        settling = settlement(outcome, hook, at=now, mint=self._ids.mint, note=f"replay of {entry.id}", replayed=True)
        assert settling is not None  # for the type checker: a processed outcome always has a settlement
        assert settling.context is not None
        # Keep the time of arrival: content about a stretch of time, or since the previous release, must find the event
        # there.
        settling = evolve(settling, context=evolve(settling.context, created_at=record.created_at))
        if await self._store.settle(settling) is not Settled.AS_DECIDED:
            # The configuration has changed. (A random collision of the new id is handled alike.)
            return None
        if settling.runs:
            self._nudge()
        return Replayed(delivery_id=outcome.delivery_id, runs=len(settling.runs))


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
    return None if hook.repository is Belonging.OURS else REPOSITORY_GONE
