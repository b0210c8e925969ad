from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.mailing import announce
from contentsvc_adapters.memory.state import (
    MemoryStore,
    Secret,
    State,
    of_organization,
    own,
    refuse_unstorable,
)
from contentsvc_adapters.sealing import opened
from contentsvc_core.errors import Unstorable
from contentsvc_core.journal import LogStatus
from contentsvc_core.organizations import within_shares
from contentsvc_core.outgoing.endpoints import MAX_ENDPOINTS, TOO_MANY_ENDPOINTS, WebhookEndpoint
from contentsvc_core.outgoing.events import EventType, Occurrence, run_failed
from contentsvc_core.outgoing.failing import IntegrationAlert
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.messages import (
    ENDPOINT_DELETED,
    Attempted,
    DueMessage,
    FreePlaces,
    LeasedMessage,
    Message,
    MessageStatus,
    begun,
    message_for,
)
from contentsvc_core.outgoing.recipients import Addressee
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun


def enqueue(state: State, occurrences: Iterable[Occurrence]) -> None:
    """Store the messages of events; call it in the same step as the change that causes the events."""
    occurrences = list(occurrences)
    announce(state, occurrences)
    for occurrence in occurrences:
        for endpoint in state.endpoints.values():
            if endpoint.organization_id == occurrence.organization_id and endpoint.wants(occurrence.type):
                message = message_for(endpoint.id, occurrence)
                state.messages.setdefault(message.id, message)


def enqueue_of_run(state: State, run: WorkflowRun) -> None:
    if run.status is RunStatus.FAILED:
        failed = run_failed(
            organization_id=run.organization_id,
            run_id=run.id,
            started_by=run.cause.started_by,
            takes=run.takes,
            reason=run.error,
            created_at=run.created_at,
            due_at=run.due_at,
        )
        enqueue(state, [failed])


@final
class MemoryWebhookEndpoints(MemoryStore):
    async def add(self, endpoint: WebhookEndpoint, secret: str) -> WebhookEndpoint | Refusal:
        refuse_unstorable(endpoint, secret)
        self._state.refuse_stranger(endpoint.organization_id)
        current = self._state.endpoints.get(endpoint.id)
        if current is not None:
            if current.organization_id != endpoint.organization_id:
                raise Unstorable.of_another(endpoint.id)
            return current
        if len(await self.endpoints(endpoint.organization_id)) >= MAX_ENDPOINTS:
            return TOO_MANY_ENDPOINTS
        self._state.endpoints[endpoint.id] = endpoint
        self._state.endpoint_secrets[endpoint.id] = [Secret(sealed=self._sealer.seal(secret))]
        return endpoint

    async def endpoint(self, organization_id: str, endpoint_id: str) -> WebhookEndpoint | None:
        return own(self._state.endpoints, organization_id, endpoint_id)

    async def endpoints(self, organization_id: str) -> Sequence[WebhookEndpoint]:
        return of_organization(self._state.endpoints.values(), organization_id, newest_first=False)

    async def change(
        self, organization_id: str, endpoint_id: str, change: Callable[[WebhookEndpoint], WebhookEndpoint]
    ) -> WebhookEndpoint | None:
        current = await self.endpoint(organization_id, endpoint_id)
        if current is None:
            return None
        changed = change(current)
        refuse_unstorable(changed)
        self._state.endpoints[endpoint_id] = changed
        return changed

    async def rotate(
        self, organization_id: str, endpoint_id: str, secret: str, *, overlap_until: datetime
    ) -> WebhookEndpoint | None:
        refuse_unstorable(secret)
        current = await self.endpoint(organization_id, endpoint_id)
        if current is None:
            return None
        newest = self._state.endpoint_secrets[endpoint_id][0]
        if self._sealer.open(newest.sealed) == secret:
            return current
        ending = evolve(newest, expires_at=overlap_until)
        self._state.endpoint_secrets[endpoint_id] = [Secret(sealed=self._sealer.seal(secret)), ending]
        rotated = evolve(current, previous_secret_until=overlap_until)
        self._state.endpoints[endpoint_id] = rotated
        return rotated

    async def remove(self, organization_id: str, endpoint_id: str) -> bool:
        if await self.endpoint(organization_id, endpoint_id) is None:
            return False
        del self._state.endpoints[endpoint_id]
        del self._state.endpoint_secrets[endpoint_id]
        for message in [each for each in self._state.messages.values() if each.endpoint_id == endpoint_id]:
            del self._state.messages[message.id]
            key = (organization_id, message.log_id or "")
            entry = self._state.log.get(key)
            if entry is not None and entry.status is LogStatus.PENDING:
                self._state.log[key] = evolve(entry, status=LogStatus.FAILED, error_message=ENDPOINT_DELETED)
        return True

    async def sweep_secrets(self, now: datetime) -> int:
        over = [
            endpoint
            for endpoint in self._state.endpoints.values()
            if endpoint.previous_secret_until is not None and endpoint.previous_secret_until <= now
        ]
        for endpoint in over:
            self._state.endpoints[endpoint.id] = evolve(endpoint, previous_secret_until=None)
            del self._state.endpoint_secrets[endpoint.id][1:]
        return len(over)


@final
class MemoryAlerts(MemoryStore):
    async def watched(self) -> Sequence[str]:
        organization_ids = {
            endpoint.organization_id
            for endpoint in self._state.endpoints.values()
            if endpoint.wants(EventType.INTEGRATION_FAILING) or endpoint.wants(EventType.INTEGRATION_RECOVERED)
        }
        return sorted(organization_ids)

    async def alerts(self, organization_id: str) -> Mapping[str, IntegrationAlert]:
        return {
            id_: alert
            for id_, alert in self._state.alerts.items()
            if own(self._state.integrations, organization_id, id_) is not None
        }

    async def begin(self, integration_id: str, event: Occurrence, *, at: datetime) -> bool:
        current = self._state.alerts.get(integration_id)
        if integration_id not in self._state.integrations or (current and current.recovered_at is None):
            return False
        self._state.alerts[integration_id] = IntegrationAlert(failing_since=at)
        enqueue(self._state, [event])
        return True

    async def end(self, integration_id: str, event: Occurrence, *, at: datetime) -> bool:
        current = self._state.alerts.get(integration_id)
        if integration_id not in self._state.integrations or current is None or current.recovered_at is not None:
            return False
        self._state.alerts[integration_id] = evolve(current, recovered_at=at)
        enqueue(self._state, [event])
        return True


@final
class MemoryOutbox(MemoryStore):
    async def add(self, message: Message) -> None:
        refuse_unstorable(message)
        self._state.refuse_stranger(message.organization_id)
        self._state.messages.setdefault(message.id, message)

    async def due(self, now: datetime, places: FreePlaces) -> Sequence[DueMessage]:
        counted: Counter[str] = Counter()
        turns: Counter[tuple[str, bool]] = Counter()
        ranked: list[tuple[bool, int, DueMessage]] = []
        for message in sorted(self._state.messages.values(), key=lambda each: (each.due_at, each.id)):
            endpoint = self._due_at(message, now)
            if endpoint is None or endpoint.id in places.without or counted[endpoint.id] >= places.per_endpoint:
                continue
            counted[endpoint.id] += 1
            owner, is_failing = message.organization_id, endpoint.failures > 0
            turns[owner, is_failing] += 1
            due = DueMessage(id=message.id, organization_id=owner, endpoint_id=endpoint.id, is_failing=is_failing)
            ranked.append((is_failing, turns[owner, is_failing], due))
        in_turns = (due for _, _, due in sorted(ranked, key=lambda each: each[:2]))
        shared = within_shares(in_turns, per_organization=places.per_organization, at_work=places.sending)
        well = [each for each in shared if not each.is_failing]
        ill = [each for each in shared if each.is_failing]
        return [*well, *ill[: places.failing]][: places.limit]

    async def take(
        self, ids: Sequence[str], *, now: datetime, lease: timedelta, mail_lease: timedelta | None = None
    ) -> Sequence[LeasedMessage]:
        taken: list[LeasedMessage] = []
        for message in [self._state.messages[each] for each in dict.fromkeys(ids) if each in self._state.messages]:
            endpoint = self._due_at(message, now)
            if endpoint is None:
                continue
            owned = evolve(
                message,
                takes=message.takes + 1,
                due_at=now + ((mail_lease or lease) if endpoint.format is EndpointFormat.EMAIL else lease),
                occurred_at=message.occurred_at or now,
            )
            self._state.messages[owned.id] = owned
            secrets = self._secrets(endpoint.id, now)
            failing = endpoint.failures > 0
            leased = LeasedMessage(
                message=begun(owned),
                url=endpoint.url,
                format=endpoint.format,
                description=endpoint.description,
                secrets=secrets,
                addressees=self._addressees(endpoint),
                is_failing=failing,
            )
            taken.append(leased)
        return taken

    async def record(self, attempted: Attempted) -> None:
        refuse_unstorable(attempted.log, attempted.disables)
        message = self._held(attempted.taken)
        if message is None:
            return
        log = attempted.log
        key = (log.organization_id, log.id)
        if message.log_id is None or key in self._state.log:
            self._state.log[key] = log
        self._state.messages[message.id] = evolve(
            message,
            status=attempted.status,
            attempts=attempted.taken.message.attempts,
            due_at=attempted.due_at,
            log_id=log.id,
            logged_at=log.created_at,
            delivered_to=attempted.delivered_to,
        )
        endpoint = self._state.endpoints.get(message.endpoint_id)
        if endpoint is not None:
            if attempted.succeeded is not None:
                endpoint = evolve(endpoint, failures=0 if attempted.succeeded else endpoint.failures + 1)
            switched = attempted.disables is not None and endpoint.enabled
            if switched:
                endpoint = evolve(endpoint, enabled=False, disabled_reason=attempted.disables)
            self._state.endpoints[endpoint.id] = endpoint
            if switched and attempted.event is not None:
                enqueue(self._state, [attempted.event])
        if attempted.busy_until is not None:
            self._delay(message.endpoint_id, attempted.at, attempted.busy_until)

    def _delay(self, endpoint_id: str, now: datetime, until: datetime) -> None:
        for message in [message for message in self._state.messages.values() if message.endpoint_id == endpoint_id]:
            if message.status is MessageStatus.PENDING and message.due_at <= now:
                self._state.messages[message.id] = evolve(message, due_at=until)

    async def requeue(self, taken: LeasedMessage, *, due_at: datetime) -> None:
        message = self._held(taken)
        if message is not None:
            self._state.messages[message.id] = evolve(message, due_at=due_at)

    async def message(self, organization_id: str, message_id: str) -> Message | None:
        return own(self._state.messages, organization_id, message_id)

    async def resend(self, organization_id: str, message_id: str, *, due_at: datetime) -> bool:
        message = await self.message(organization_id, message_id)
        if message is None:
            return False
        if message.status is not MessageStatus.PENDING:
            message = evolve(message, log_id=None, logged_at=None, delivered_to=())
        # A process that is sending the message loses its lease: the outcome of that attempt is not written.
        again = evolve(message, status=MessageStatus.PENDING, attempts=0, takes=message.takes + 1, due_at=due_at)
        self._state.messages[message_id] = again
        return True

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        messages = of_organization(self._state.messages.values(), organization_id, newest_first=False)
        swept = [message for message in messages if message.created_at < before][:limit]
        for message in swept:
            del self._state.messages[message.id]
        return len(swept)

    def _due_at(self, message: Message, now: datetime) -> WebhookEndpoint | None:
        if message.status is not MessageStatus.PENDING or message.due_at > now:
            return None
        endpoint = self._state.endpoints.get(message.endpoint_id)
        return endpoint if endpoint is not None and endpoint.enabled else None

    def _held(self, taken: LeasedMessage) -> Message | None:
        message = self._state.messages.get(taken.message.id)
        if message is None or message.status is not MessageStatus.PENDING:
            return None
        lease = (taken.message.takes, taken.message.due_at)
        return message if (message.takes, message.due_at) == lease else None

    def _addressees(self, endpoint: WebhookEndpoint) -> list[Addressee]:
        keys = [(endpoint.organization_id, address) for address in endpoint.addresses]
        tokens = self._state.recipient_tokens
        return [
            Addressee(
                recipient=self._state.recipients[key],
                token=next(iter(opened(self._sealer, [tokens[key]] if key in tokens else [])), None),
            )
            for key in keys
            if key in self._state.recipients
        ]

    def _secrets(self, endpoint_id: str, now: datetime) -> list[str]:
        secrets = self._state.endpoint_secrets[endpoint_id]
        return opened(self._sealer, [each.sealed for each in secrets if each.verifies(now)])
