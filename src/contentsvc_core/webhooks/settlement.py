"""All effects of a delivery as one value, which a store writes completely or not at all."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import lru_cache
from hashlib import blake2b
from typing import Final, assert_never, final

from msgspec.structs import replace

from contentsvc_core.events.normalized import Event, Push
from contentsvc_core.journal import LogEntry, LogStatus
from contentsvc_core.values import Value
from contentsvc_core.webhooks.delivery import HookConfiguration
from contentsvc_core.webhooks.outcomes import Duplicate, Filtered, Ignored, Outcome, Pong, Processed, Rejected
from contentsvc_core.workflows.causes import Delivered
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.filters import Batch
from contentsvc_core.workflows.globs import Effort
from contentsvc_core.workflows.packages import PACKAGE_DELAY
from contentsvc_core.workflows.runs import WorkflowRun
from contentsvc_core.workflows.triggers import Trigger

#: The time for which a delivery id stays claimed; exactly after it the id is free again (specification 8.2).
DEDUPE_WINDOW: Final = timedelta(seconds=86_400)


class Claim(Enum):
    """The use of the claim of a delivery id by a settlement."""

    #: Takes the claim: the delivery is processed. If the claim is held, the delivery is a duplicate.
    TAKE = auto()
    #: Not taken, but a held claim makes a duplicate: so step 2 comes before step 3 without a separate query.
    CHECK = auto()
    #: Ignores the claim: the delivery is refused before the duplicate check.
    NONE = auto()


class Settled(Enum):
    """The store's answer to a settlement."""

    AS_DECIDED = auto()
    #: The claim is held; only the duplicate's log entry was written, and is durable.
    ALREADY_CLAIMED = auto()
    #: The configuration has changed since the decision; nothing was written.
    STALE = auto()


@final
class ClaimKey(Value, frozen=True, kw_only=True):
    """The key of a claim. It includes the hook address: the code host's id identifies the event, not the delivery."""

    organization_id: str
    integration_id: str
    repository_id: int
    delivery_id: str

    @property
    def digest(self) -> bytes:
        """Return the stored key, 16 bytes (BLAKE2b, RFC 7693)."""
        place = _place(self.organization_id, self.integration_id, self.repository_id)
        delivery = self.delivery_id
        return blake2b(f"{place}{len(delivery)}:{delivery}".encode(), digest_size=16).digest()


@lru_cache(maxsize=10_000)
def _place(organization: str, integration: str, repository_id: int) -> str:
    repository = str(repository_id)
    # With lengths, so that no two keys share an encoding.
    return f"{len(organization)}:{organization}{len(integration)}:{integration}{len(repository)}:{repository}"


@final
class Settlement(Value, frozen=True, kw_only=True):
    """All effects of one delivery. Its ids are fixed, so a repeated settlement is harmless."""

    organization_id: str
    version: int
    claim: Claim
    #: ``None`` with ``Claim.NONE`` only.
    key: ClaimKey | None
    at: datetime
    context: ContextRecord | None = None
    runs: tuple[WorkflowRun, ...] = ()
    log: LogEntry
    #: The event header, for the duplicate's log entry.
    kind: str | None
    #: The event as :func:`~contentsvc_core.events.wire.event_to_json` encodes it; ``None``: the store encodes it.
    event_json: str | None = None

    @property
    def duplicate_log(self) -> LogEntry:
        """Return the log entry of a duplicate, for a claim that is held: same id, another title."""
        return replace(
            self.log,
            title=f"Duplicate {self.kind} delivery",
            status=LogStatus.SUCCESS,
            status_code=Duplicate.status,
            error_message=None,
            detail={"event": self.kind, "duplicate": True},
            reason="the delivery was processed less than 24 hours ago",
            received=None,
        )


def claim_is_held(claimed_at: datetime, at: datetime) -> bool:
    """Check whether a claim taken at ``claimed_at`` still holds at ``at``."""
    return at - claimed_at < DEDUPE_WINDOW


def settlement(
    outcome: Outcome,
    hook: HookConfiguration,
    *,
    at: datetime,
    new_id: Callable[[str], str],
    note: str | None = None,
    replayed: bool = False,
    event_json: str | None = None,
) -> Settlement | None:
    """Return the settlement of ``outcome`` at a hook address; ``None``: nothing is stored.

    ``at`` is the time of claims and records. ``note`` is added to the log entry's reason. If ``replayed``, runs may
    report an event again. ``event_json`` is the outcome's event as a store writes it, if it is encoded already.
    """
    claim, status, detail, error, runs = Claim.CHECK, LogStatus.SUCCESS, None, None, ()
    match outcome:
        case Processed(event=event):
            claim, kind, detail = Claim.TAKE, event.type, event
            started, more = _started(event, hook, replayed=replayed)
            runs = _runs(outcome, hook, started, at=at, new_id=new_id, replayed=replayed)
            title = f"Processed {kind} event"
            reason = f"{len(runs)} workflow {'run' if len(runs) == 1 else 'runs'} started{more}"
        case Filtered(event=event):
            kind, title, reason = event.type, f"Filtered {event.type} event", outcome.reason
            detail = {"event": event.type, "action": event.action, "filtered": True}
        case Ignored(kind=kind):
            title, reason = f"Ignored {kind} event", "the event type is not supported"
            detail = {"event": kind, "ignored": True}
        case Pong():
            kind, title, reason = "ping", "Webhook ping received", None
            detail = {"event": "ping"}
        case Rejected(fault=fault):
            if fault.log_title is None:
                return None
            kind, title, status = outcome.kind, fault.log_title, LogStatus.FAILED
            reason = error = outcome.error
            claim = Claim.CHECK if outcome.unless_duplicate else Claim.NONE
        case Duplicate():
            # The result of a settlement, never of a decision: its log entry is already written.
            return None
        case _:
            assert_never(outcome)
    address = hook.address
    delivery_id = outcome.delivery_id
    log = LogEntry(
        id=new_id("log_"),
        organization_id=address.organization_id,
        integration_id=address.integration_id,
        repository_id=address.repository_id,
        reference_id=delivery_id,
        title=title,
        integration_type=address.provider,
        status=status,
        status_code=outcome.status,
        error_message=error,
        detail=detail,
        reason=f"{reason}; {note}" if reason and note else reason or note or None,
        created_at=at,
    )
    return Settlement(
        organization_id=address.organization_id,
        version=hook.version,
        claim=claim,
        key=None if claim is Claim.NONE or delivery_id is None else _key(hook, delivery_id),
        at=at,
        context=_context(outcome, hook, at=at, new_id=new_id) if isinstance(outcome, Processed) else None,
        runs=runs,
        log=log,
        kind=kind,
        event_json=event_json,
    )


def _key(hook: HookConfiguration, delivery_id: str) -> ClaimKey:
    address = hook.address
    return ClaimKey(
        organization_id=address.organization_id,
        integration_id=address.integration_id,
        repository_id=address.repository_id,
        delivery_id=delivery_id,
    )


def _context(
    outcome: Processed, hook: HookConfiguration, *, at: datetime, new_id: Callable[[str], str]
) -> ContextRecord:
    return ContextRecord(
        id=new_id("ctx_"),
        organization_id=hook.address.organization_id,
        provider=hook.address.provider,
        repository_id=outcome.repository_id,
        repository=outcome.repository,
        delivery_id=outcome.delivery_id,
        event=outcome.event,
        created_at=at,
    )


def _started(event: Event, hook: HookConfiguration, *, replayed: bool) -> tuple[Sequence[Trigger], str]:
    triggers = hook.started_by(event.type)
    if hook.is_plain and not (isinstance(event, Push) and event.off_default):
        return triggers, ""
    # One effort for all triggers: each may have 20 patterns, and a push may have 256 KiB of paths.
    effort = Effort()
    left_out = {trigger.id: left for trigger in triggers if (left := trigger.why_left_out(event, effort)) is not None}
    matched = [trigger for trigger in triggers if trigger.id not in left_out]
    # A user requests a replay, and does not wait for the end of a window.
    started = [trigger for trigger in matched if replayed or trigger.options.batch is Batch.NONE]
    notes: list[str] = []
    if len(started) < len(matched):
        number = len(matched) - len(started)
        notes.append(f"collected by {number} {'trigger' if number == 1 else 'triggers'} for a later post")
    if left_out and not matched:
        kinds = ", ".join(dict.fromkeys(left.filter for left in left_out.values()))
        notes.append(f"filtered: no trigger matched: {kinds}")
    return started, "".join(f"; {note}" for note in notes)


def _runs(
    outcome: Processed,
    hook: HookConfiguration,
    started: Sequence[Trigger],
    *,
    at: datetime,
    new_id: Callable[[str], str],
    replayed: bool,
) -> tuple[WorkflowRun, ...]:
    address = hook.address
    runs: list[WorkflowRun] = []
    for trigger in started:
        cause = Delivered(
            trigger_id=trigger.id,
            provider=address.provider,
            event=outcome.event,
            repository_id=outcome.repository_id,
            repository=outcome.repository,
            delivery_id=outcome.delivery_id,
            replayed=replayed,
        )
        runs.append(
            WorkflowRun(
                id=new_id(""),
                organization_id=address.organization_id,
                cause=cause,
                created_at=at,
                due_at=at + PACKAGE_DELAY if cause.shares_a_post else at,
            )
        )
    return tuple(runs)
