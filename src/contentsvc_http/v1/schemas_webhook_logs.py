from typing import Self, final

from msgspec import Struct

from contentsvc_core.journal import LogBody, LogEntry, LogOutcome, log_body
from contentsvc_core.received import Match, Received, SignatureHeader
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.diagnoses import Explained
from contentsvc_core.usecases.replay_many import ReplayCount, ReplayedBatch
from contentsvc_core.webhooks.diagnosis import Diagnosis, Remedy, command_of


@final
class ReceivedShape(Struct, rename="camel", frozen=True):
    """The facts of a refused delivery: allow-listed headers and facts, never a secret or the body."""

    headers: dict[str, str]
    #: In bytes; null: the body was not received whole.
    size: int | None
    #: The address of the sender; null: unknown.
    source: str | None
    #: The state of the header that proves the sender.
    signature: SignatureHeader
    #: The length of that header's value, in characters.
    signature_length: int
    #: What the signature matches instead; null: nothing that was tried.
    match: Match | None
    #: Whether a previous secret was there to try.
    had_previous_secret: bool
    #: Whether the body was a form instead of JSON.
    is_form: bool

    @classmethod
    def of(cls, received: Received) -> Self:
        return cls(
            headers=dict(received.headers),
            size=received.size,
            source=received.source,
            signature=received.signature,
            signature_length=received.signature_length,
            match=received.match,
            had_previous_secret=received.had_previous_secret,
            is_form=received.is_form,
        )


@final
class DiagnosisShape(Struct, rename="camel", frozen=True):
    """The cause of an outcome, and its remedy."""

    #: The name of the cause, such as `wrongSecret`.
    cause: str
    sentence: str
    advice: str
    remedy: Remedy
    #: The command that mends the cause; null: no command does.
    command: str | None

    @classmethod
    def of(cls, diagnosis: Diagnosis, integration_id: str) -> Self:
        return cls(
            cause=diagnosis.cause.wire,
            sentence=diagnosis.sentence,
            advice=diagnosis.advice,
            remedy=diagnosis.remedy,
            command=command_of(diagnosis, integration_id),
        )


@final
class SimilarShape(Struct, rename="camel", frozen=True):
    """Other refusals like this one, of the same integration, from a day before on."""

    #: At most 100.
    number: int
    since: str


@final
class ExplainedShape(Struct, rename="camel", frozen=True):
    """The outcome of a log entry, explained."""

    #: The integration or webhook endpoint of the entry.
    integration_id: str
    #: Null: the entry is a call or a message of the service.
    outcome: LogOutcome | None
    reason: str | None
    #: Why no run of the delivery has written a post. Null: a run did, or none has given a reason.
    no_post: str | None
    received: ReceivedShape | None
    diagnosis: DiagnosisShape | None
    similar: SimilarShape | None

    @classmethod
    def of(cls, entry: LogEntry, explained: Explained) -> Self:
        similar = explained.similar
        return cls(
            integration_id=entry.integration_id,
            outcome=entry.outcome,
            reason=entry.reason,
            no_post=explained.no_post,
            received=None if entry.received is None else ReceivedShape.of(entry.received),
            diagnosis=None
            if explained.diagnosis is None
            else DiagnosisShape.of(explained.diagnosis, entry.integration_id),
            similar=None if similar is None else SimilarShape(number=similar.number, since=iso_ms(similar.since)),
        )


@final
class OneLogShape(Struct, rename="camel", frozen=True):
    """A log entry with its explanation."""

    log: LogBody
    explanation: ExplainedShape

    @classmethod
    def of(cls, entry: LogEntry, explained: Explained) -> Self:
        return cls(log=log_body(entry), explanation=ExplainedShape.of(entry, explained))


@final
class NotReplayedShape(Struct, rename="camel", frozen=True):
    """An entry that was not replayed."""

    log_id: str
    reason: str


@final
class ReplayedBatchShape(Struct, rename="camel", frozen=True):
    """The result of one batch of a bulk replay."""

    #: The replayed log entries.
    replayed: list[str]
    #: Log entries that an earlier attempt of this request has replayed.
    repeated: list[str]
    refused: list[NotReplayedShape]
    #: The number of started workflow runs.
    runs: int
    #: Send this as `cursor` to go on; null: the replay is complete.
    next: str | None

    @classmethod
    def of(cls, batch: ReplayedBatch) -> Self:
        return cls(
            replayed=list(batch.replayed),
            repeated=list(batch.repeated),
            refused=[NotReplayedShape(log_id=refused.log_id, reason=refused.reason) for refused in batch.refused],
            runs=batch.runs,
            next=batch.next,
        )


@final
class ReplayCountShape(Struct, rename="camel", frozen=True):
    """The number of log entries that a bulk replay with the same filter would replay."""

    replayable: int
    #: Refused deliveries: their bodies are not stored.
    not_kept: int
    #: Whether more than 1,000 entries match. Only the newest 1,000 are counted.
    more: bool

    @classmethod
    def of(cls, count: ReplayCount) -> Self:
        return cls(replayable=count.replayable, not_kept=count.not_kept, more=count.is_more)
