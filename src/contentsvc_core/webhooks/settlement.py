"""All effects of a delivery as one value, which a store writes completely or not at all."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Final, assert_never, final

from contentsvc_core.events.normalized import Event, Push
from contentsvc_core.journal import LogEntry, LogStatus
from contentsvc_core.received import Received
from contentsvc_core.timestamps import refuse_local
from contentsvc_core.values import Value
from contentsvc_core.webhooks.delivery import HookConfiguration
from contentsvc_core.webhooks.outcomes import Duplicate, Filtered, Ignored, Outcome, Pong, Processed, Rejected
from contentsvc_core.workflows.causes import Delivered
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.filters import Batch
from contentsvc_core.workflows.globs import MatchingBudget
from contentsvc_core.workflows.packages import PACKAGE_DELAY
from contentsvc_core.workflows.runs import WorkflowRun
from contentsvc_core.workflows.triggers import Trigger

#: The time for which a delivery id stays claimed; exactly after it the id is free again (specification 8.2).
DEDUPE_WINDOW: Final = timedelta(seconds=86_400)
#: The beginnings of the reason why triggers that are meant for an event start no run at once.
COLLECTED: Final = "collected by"
LEFT_OUT: Final = "filtered: no trigger matched"


class Claim(Enum):
    """The use of the claim of a delivery id by a settlement."""

    #: Takes the claim: the delivery is processed. If the claim is held, the delivery is a duplicate.
    TAKE = auto()
    #: Checks the claim without taking it: if the claim is held, the delivery is a duplicate.
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
class Settlement(Value, frozen=True, kw_only=True):
    """All effects of one delivery. Its ids are fixed, so a repeated settlement is harmless."""

    #: The configuration that decided the outcome. Only its address and its version are stored.
    hook: HookConfiguration
    outcome: Outcome
    claim: Claim
    #: The key of the claim; ``None`` if the delivery has no id, or with ``Claim.NONE``.
    key: bytes | None
    at: datetime
    #: The id of the log entry, and of the event if there is one.
    id: str
    #: The id of the context record; ``None``: the delivery has no context record.
    context_id: str | None = None
    #: The creation time of the context record; ``None``: that of the settlement.
    context_at: datetime | None = None
    #: The triggers that start a run, each after the id of its run.
    started: tuple[tuple[str, Trigger], ...] = ()
    #: Text that follows the reason in the log entry.
    note: str = ""
    received: Received | None = None
    #: Whether the runs may report an event again.
    replayed: bool = False
    #: The event as :func:`~contentsvc_core.events.wire.event_to_json` encodes it; ``None``: the store encodes it.
    event_json: str | None = None

    @property
    def organization_id(self) -> str:
        return self.hook.address.organization_id

    @property
    def version(self) -> int:
        return self.hook.version

    @property
    def log(self) -> LogEntry:
        outcome, kind, error = self.outcome, self.outcome.kind, None
        match outcome:
            case Processed(event=detail):
                number = len(self.started)
                title = f"Processed {kind} event"
                reason = f"{number} workflow {'run' if number == 1 else 'runs'} started"
            case Filtered(event=event):
                title, reason = f"Filtered {kind} event", outcome.reason
                detail = {"event": kind, "action": event.action, "filtered": True}
            case Ignored():
                title, reason = f"Ignored {kind} event", "the event type is not supported"
                detail = {"event": kind, "ignored": True}
            case Pong():
                title, reason, detail = "Webhook ping received", "", {"event": kind}
            case Duplicate():
                title, reason = f"Duplicate {kind} delivery", "already processed less than 24 hours ago"
                detail = {"event": kind, "duplicate": True}
            case Rejected():
                title, reason, detail = outcome.fault.log_title or "", outcome.error, None
                error = outcome.error
            case _:
                assert_never(outcome)
        address = self.hook.address
        return LogEntry(
            id=self.id,
            organization_id=address.organization_id,
            integration_id=address.integration_id,
            repository_id=address.repository_id,
            reference_id=outcome.delivery_id,
            title=title,
            integration_type=address.provider,
            status=LogStatus.SUCCESS if error is None else LogStatus.FAILED,
            status_code=outcome.status,
            error_message=error,
            detail=detail,
            reason="; ".join(filter(None, (reason, self.note))) or None,
            received=self.received,
            created_at=self.at,
        )

    @property
    def duplicate(self) -> "Settlement":
        """Return the settlement for a claim that is held: only a log entry, with the same id."""
        outcome = self.outcome
        return Settlement(
            hook=self.hook,
            outcome=Duplicate(kind=outcome.kind or "", delivery_id=outcome.delivery_id or ""),
            claim=Claim.NONE,
            key=None,
            at=self.at,
            id=self.id,
        )

    @property
    def duplicate_log(self) -> LogEntry:
        return self.duplicate.log

    @property
    def context(self) -> ContextRecord | None:
        outcome = self.outcome
        if not isinstance(outcome, Processed):
            return None
        assert self.context_id is not None
        return ContextRecord(
            id=self.context_id,
            organization_id=self.organization_id,
            provider=self.hook.address.provider,
            repository_id=outcome.repository_id,
            repository=outcome.repository,
            delivery_id=outcome.delivery_id,
            event=outcome.event,
            created_at=self.context_at or self.at,
        )

    @property
    def runs(self) -> tuple[WorkflowRun, ...]:
        return tuple(self._run(id_, trigger) for id_, trigger in self.started)

    def _run(self, id_: str, trigger: Trigger) -> WorkflowRun:
        outcome = self.outcome
        assert isinstance(outcome, Processed)
        cause = Delivered(
            trigger_id=trigger.id,
            provider=self.hook.address.provider,
            event=outcome.event,
            repository_id=outcome.repository_id,
            repository=outcome.repository,
            delivery_id=outcome.delivery_id,
            replayed=self.replayed,
        )
        return WorkflowRun(
            id=id_,
            organization_id=self.organization_id,
            cause=cause,
            created_at=self.at,
            due_at=self.at + PACKAGE_DELAY if cause.shares_a_post else self.at,
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
    note: str = "",
    replayed: bool = False,
    event_json: str | None = None,
) -> Settlement | None:
    """Return the settlement of ``outcome`` at a hook address; ``None``: nothing is stored.

    ``at`` is the time of claims and records. ``note`` is added to the log entry's reason. If ``replayed``, runs may
    report an event again. ``event_json`` is the outcome's event as a store writes it, if it is encoded already.

    Raises:
        ValueError: ``at`` has no time zone.
    """
    refuse_local(at)
    match outcome:
        case Processed():
            triggers, more = _started(outcome.event, hook, replayed=replayed)
            return Settlement(
                hook=hook,
                outcome=outcome,
                claim=Claim.TAKE,
                key=hook.claim_key(outcome.delivery_id),
                at=at,
                id=new_id("log_"),
                context_id=new_id("ctx_"),
                started=tuple([(new_id(""), trigger) for trigger in triggers]),
                note=f"{more}; {note}" if more and note else more or note,
                replayed=replayed,
                event_json=event_json,
            )
        case Rejected() if outcome.fault.log_title is None:
            return None
        case Duplicate():
            # The result of a settlement, never of a decision: its log entry is already written.
            return None
        case _:
            is_unchecked = isinstance(outcome, Rejected) and not outcome.unless_duplicate
            delivery_id = None if is_unchecked else outcome.delivery_id
            return Settlement(
                hook=hook,
                outcome=outcome,
                claim=Claim.NONE if is_unchecked else Claim.CHECK,
                key=None if delivery_id is None else hook.claim_key(delivery_id),
                at=at,
                id=new_id("log_"),
                note=note,
            )


def _started(event: Event, hook: HookConfiguration, *, replayed: bool) -> tuple[Sequence[Trigger], str]:
    triggers = hook.started_by(event.type)
    if hook.is_plain and not (isinstance(event, Push) and event.off_default):
        return triggers, ""
    # One budget for all triggers: each may have 20 patterns, and a push may have 256 KiB of paths.
    budget = MatchingBudget()
    left_out = {trigger.id: left for trigger in triggers if (left := trigger.why_left_out(event, budget)) is not None}
    matched = [trigger for trigger in triggers if trigger.id not in left_out]
    # A user requests a replay, and does not wait for the end of a window.
    started = [trigger for trigger in matched if replayed or trigger.options.batch is Batch.NONE]
    if number := len(matched) - len(started):
        return started, f"{COLLECTED} {number} {'trigger' if number == 1 else 'triggers'} for a later post"
    if left_out and not matched:
        kinds = ", ".join(dict.fromkeys(left.filter for left in left_out.values()))
        return started, f"{LEFT_OUT}: {kinds}"
    return started, ""
