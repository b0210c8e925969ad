"""A plain model of the service: dictionaries, and the rules of the specification and of the ports' docstrings.

It shares the value classes with the core, but no rule: it was written from the text, not from the code. A delivery is
described by the script, so that nothing is verified or parsed here. All values in the dictionaries are frozen: a copy
of the model is a copy of its dictionaries.
"""

from datetime import datetime, timedelta
from typing import Any, Final, final

from attrs import Factory, define, evolve, fields_dict, frozen
from campaigns.model.material import Arrival, Fault, Flaw, minted
from campaigns.model.reading import push_of, release_of, why_unwanted

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.content.posts import Post
from contentsvc_core.events.normalized import Event
from contentsvc_core.journal import LogEntry, LogStatus
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.workflows.causes import Delivered
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.runs import WorkflowRun
from contentsvc_core.workflows.triggers import Trigger

#: Specification 8.2.
A_DAY: Final = timedelta(seconds=86_400)

_HEADERS: Final = {"codehost": "X-Host", "github": "X-GitHub"}
_FORM: Final = (
    "Content type 'application/x-www-form-urlencoded' is not supported: "
    "choose 'application/json' in the webhook's settings at the code host"
)

#: A status and a body, or the name of the exception that the driver turns into an answer.
Answer = tuple[int, dict[str, Any]] | str


@final
@frozen(kw_only=True)
class Logged:
    """A log entry and its payload, in the specified shape."""

    entry: LogEntry
    payload: dict[str, Any] | None


@final
@define(kw_only=True)
class Model:
    """The stored data."""

    #: By id, as most of the following ones.
    organizations: dict[str, Organization] = Factory(dict[str, Organization])
    integrations: dict[str, Integration] = Factory(dict[str, Integration])
    #: By integration.
    secrets: dict[str, str] = Factory(dict[str, str])
    triggers: dict[str, Trigger] = Factory(dict[str, Trigger])
    #: By prefix.
    keys: dict[str, ApiKey] = Factory(dict[str, ApiKey])
    #: The time of each claim, by organization, integration, repository and delivery id.
    claims: dict[tuple[str, str, int, str], datetime] = Factory(dict[tuple[str, str, int, str], datetime])
    #: By organization and custom id.
    contexts: dict[tuple[str, str], ContextRecord] = Factory(dict[tuple[str, str], ContextRecord])
    runs: dict[str, WorkflowRun] = Factory(dict[str, WorkflowRun])
    #: The results of a run's steps.
    steps: dict[tuple[str, str], str] = Factory(dict[tuple[str, str], str])
    #: By run.
    #: The heartbeat counters of registered executors.
    executors: dict[str, int] = Factory(dict[str, int])
    posts: dict[str, Post] = Factory(dict[str, Post])
    #: The post with a key, by organization and key.
    reported: dict[tuple[str, str], str] = Factory(dict[tuple[str, str], str])
    log: dict[str, Logged] = Factory(dict[str, Logged])

    def copy(self) -> "Model":
        """Return an independent copy."""
        return Model(**{name: dict(getattr(self, name)) for name in fields_dict(Model)})

    def receive(self, arrival: Arrival) -> Answer:
        """Receive a delivery (specification 4.1; decisions, receiver, steps 2 to 12)."""
        if arrival.fault is Fault.BROKEN:
            # An unreadable integration is unknown: no log entry (decisions, where we depart).
            return "ReceivingFailed"
        before = self.copy()
        if arrival.fault is Fault.SWITCHED_OFF:
            # The settlement is stale: the delivery is decided again.
            self._switch_off(arrival)
        answer, settles = self._received(arrival)
        if not settles:
            return answer
        if arrival.fault is Fault.CUT_BEFORE:
            for name in fields_dict(Model):
                setattr(self, name, getattr(before, name))
        if arrival.fault in {Fault.CUT_BEFORE, Fault.CUT_AFTER}:
            return self._unavailable(arrival)
        return answer

    def _received(self, arrival: Arrival) -> tuple[Answer, bool]:
        """Return the answer, and whether data was to be stored."""
        integration = self._addressed(arrival)
        # Step 2.
        if integration is None:
            return (404, {"error": "Integration not found"}), False
        return self._admitted(arrival, integration), True

    def _addressed(self, arrival: Arrival) -> Integration | None:
        hook = arrival.sending.hook
        integration = self.integrations.get(hook.integration_id)
        whose = integration and (integration.organization_id, integration.provider)
        return integration if whose == (hook.organization_id, hook.provider) else None

    def _switch_off(self, arrival: Arrival) -> None:
        if (integration := self._addressed(arrival)) is not None:
            self.integrations[integration.id] = evolve(integration, enabled=False)

    def _admitted(self, arrival: Arrival, integration: Integration) -> Answer:
        sending, hook = arrival.sending, arrival.sending.hook
        if (refused := self._turned_away(arrival, integration)) is not None:
            return refused
        # Step 7.
        claim = (hook.organization_id, hook.integration_id, hook.repository_id, sending.delivery_id)
        if claim in self.claims and arrival.at - self.claims[claim] < A_DAY:
            return self._duplicate(arrival)
        # Step 8.
        error = _FORM if sending.flaw is Flaw.FORM_ENCODED else sending.body.error
        if error is not None:
            return self._refused(arrival, 400, "Invalid webhook payload", error)
        answer = self._understood(arrival)
        if "processed" in answer[1].get("data", {}):
            self.claims[claim] = arrival.at
        return answer

    def _turned_away(self, arrival: Arrival, integration: Integration) -> Answer | None:
        """Return the refusal of checks before the duplicate check."""
        hook, flaw = arrival.sending.hook, arrival.sending.flaw
        # Step 4.
        if flaw in {Flaw.WRONG_SECRET, Flaw.UNSIGNED}:
            return self._refused(arrival, 401, "Invalid webhook signature", "Invalid webhook signature")
        # Step 5.
        if not integration.enabled:
            return self._refused(arrival, 403, "Integration is disabled", "Integration is disabled")
        owner = self._owner(hook.organization_id, hook.provider, hook.repository_id)
        if owner is None:
            return self._refused(arrival, 404, "Repository not found", "Repository not found")
        if owner != hook.integration_id:
            return self._mismatch(arrival)
        # Step 6.
        headers = _HEADERS[hook.provider]
        missing = {Flaw.NO_EVENT: "Event", Flaw.NO_DELIVERY: "Delivery"}.get(flaw)
        if missing is not None:
            return self._refused(arrival, 400, "Missing webhook header", f"Missing {headers}-{missing} header")
        if flaw is Flaw.BAD_DELIVERY:
            error = f"Invalid {headers}-Delivery header: 1 to 255 visible ASCII characters are expected"
            return self._refused(arrival, 400, "Missing webhook header", error)
        return None

    def _understood(self, arrival: Arrival) -> tuple[int, dict[str, Any]]:
        sending = arrival.sending
        kind, native = sending.body.kind, sending.body.native
        data: dict[str, Any] = {"event": kind, "delivery": sending.delivery_id}
        # Steps 9 and 10.
        if kind == "ping":
            self._write(arrival, "Webhook ping received", {"event": "ping"})
            return _received("Pong! Webhook configured successfully", data)
        if kind not in {"push", "release"} or isinstance(native, bytes):
            payload = {"event": kind, "ignored": True}
            self._write(arrival, f"Ignored {kind} event", payload, reason="the event type is not supported")
            return _received(f"Event type '{kind}' is not supported", {**data, "ignored": True})
        if native["repository"]["id"] != sending.hook.repository_id:
            return self._mismatch(arrival)
        event, body = push_of(native) if kind == "push" else release_of(native)
        # Step 11.
        reason = why_unwanted(native, kind)
        if reason is not None:
            payload = {"event": kind, "action": event.action, "filtered": True}
            self._write(arrival, f"Filtered {kind} event", payload, reason=reason)
            message = f"Event '{kind}' with action '{event.action}' was filtered out"
            return _received(message, {**data, "action": event.action, "filtered": True})
        # Step 12.
        repository = {"id": native["repository"]["id"], "fullName": native["repository"]["full_name"]}
        self._process(arrival, event, body, repository["fullName"])
        processed = {"type": kind, "action": event.action, "data": body}
        message = f"Processed {kind} event ({event.action})"
        return _received(message, {**data, "processed": processed, "repository": repository})

    def _process(self, arrival: Arrival, event: Event, body: dict[str, Any], repository: str) -> None:
        """Store a context record, runs and a log entry (specification 6.4)."""
        hook, at = arrival.sending.hook, arrival.at
        delivery_id = arrival.sending.delivery_id
        key = (hook.organization_id, f"{hook.provider}:{hook.repository_id}:{delivery_id}")
        current = self.contexts.get(key)
        self.contexts[key] = ContextRecord(
            id=minted("ctx_", arrival.step, arrival.lane, 1) if current is None else current.id,
            organization_id=hook.organization_id,
            provider=hook.provider,
            repository_id=hook.repository_id,
            repository=repository,
            delivery_id=delivery_id,
            event=event,
            created_at=at if current is None else current.created_at,
        )
        started = [
            trigger
            for trigger in sorted(self.triggers.values(), key=lambda trigger: (trigger.created_at, trigger.id))
            if trigger.organization_id == hook.organization_id
            and trigger.source_type == f"{hook.provider}_webhook"
            and trigger.enabled
            and hook.repository_id in trigger.repository_ids
            and (not trigger.event_types or event.type in trigger.event_types)
        ]
        for number, trigger in enumerate(started, start=1):
            run = WorkflowRun(
                id=minted("", arrival.step, arrival.lane, number),
                organization_id=hook.organization_id,
                cause=Delivered(
                    trigger_id=trigger.id,
                    provider=hook.provider,
                    event=event,
                    repository_id=hook.repository_id,
                    repository=repository,
                    delivery_id=delivery_id,
                ),
                created_at=at,
                due_at=at,
            )
            self.runs[run.id] = run
        payload = {"event": event.type, "action": event.action, "data": body}
        reason = f"{len(started)} workflow {'run' if len(started) == 1 else 'runs'} started"
        self._write(arrival, f"Processed {event.type} event", payload, detail=event, reason=reason)

    def _owner(self, organization_id: str, provider: str, repository_id: int) -> str | None:
        """Find the integration through which an organization has connected a repository."""
        for integration in self.integrations.values():
            if (integration.organization_id, integration.provider) == (organization_id, provider) and any(
                repository.id == repository_id for repository in integration.repositories
            ):
                return integration.id
        return None

    def _duplicate(self, arrival: Arrival) -> Answer:
        kind, delivery_id = arrival.sending.body.kind, arrival.sending.delivery_id
        payload = {"event": kind, "duplicate": True}
        reason = "already processed less than 24 hours ago"
        self._write(arrival, f"Duplicate {kind} delivery", payload, reason=reason)
        data = {"event": kind, "delivery": delivery_id, "duplicate": True}
        return _received("Webhook already processed (duplicate delivery)", data)

    def _mismatch(self, arrival: Arrival) -> tuple[int, dict[str, Any]]:
        error = "Repository does not belong to this integration"
        return self._refused(arrival, 403, "Repository mismatch", error)

    def _refused(self, arrival: Arrival, status: int, title: str, error: str) -> tuple[int, dict[str, Any]]:
        entry = self._entry(arrival, title, None, reason=error)
        failed = evolve(entry, status=LogStatus.FAILED, status_code=status, error_message=error)
        self.log[failed.id] = Logged(entry=failed, payload=None)
        return status, {"error": error}

    def _unavailable(self, arrival: Arrival) -> str:
        """Store the log entry of a 503, whose id follows that of the entry that was cut off."""
        text = "Service temporarily unavailable"
        entry = evolve(
            self._entry(arrival, text, None, reason=text),
            id=minted("log_", arrival.step, arrival.lane, 2),
            status=LogStatus.FAILED,
            status_code=503,
            error_message=text,
        )
        self.log[entry.id] = Logged(entry=entry, payload=None)
        return "StoreUnavailable"

    def _write(
        self,
        arrival: Arrival,
        title: str,
        payload: dict[str, Any],
        *,
        detail: Event | None = None,
        reason: str | None = None,
    ) -> None:
        entry = self._entry(arrival, title, payload if detail is None else detail, reason=reason)
        self.log[entry.id] = Logged(entry=entry, payload=payload)

    def _entry(
        self, arrival: Arrival, title: str, detail: Event | dict[str, Any] | None, *, reason: str | None
    ) -> LogEntry:
        hook = arrival.sending.hook
        unnamed = arrival.sending.flaw in {Flaw.NO_DELIVERY, Flaw.BAD_DELIVERY}
        return LogEntry(
            id=minted("log_", arrival.step, arrival.lane, 1),
            organization_id=hook.organization_id,
            integration_id=hook.integration_id,
            repository_id=hook.repository_id,
            reference_id=None if unnamed else arrival.sending.delivery_id,
            title=title,
            integration_type=hook.provider,
            status=LogStatus.SUCCESS,
            status_code=200,
            detail=detail,
            reason=reason,
            created_at=arrival.at,
        )


def _received(message: str, data: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    return 200, {"received": True, "message": message, "data": data}
