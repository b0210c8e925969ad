from typing import Self, final

from msgspec import Struct, convert

from contentsvc_core.journal import LogBody, LogEntry, LogOutcome, log_body
from contentsvc_core.received import Match, Received, SignatureHeader
from contentsvc_core.schemas import body_of
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.diagnoses import Explained
from contentsvc_core.usecases.replay_many import ReplayCount, ReplayedBatch
from contentsvc_core.webhooks.diagnosis import Diagnosis, Remedy, command_of


@final
class ReceivedBody(Struct, rename="camel", frozen=True):
    """The facts of a refused delivery: allow-listed headers and facts, never a secret or the body."""

    headers: dict[str, str]
    size: int | None
    source: str | None
    signature: SignatureHeader
    signature_length: int
    match: Match | None
    had_previous_secret: bool
    is_form: bool

    @classmethod
    def of(cls, received: Received) -> Self:
        return body_of(cls, received, headers=dict(received.headers))


@final
class DiagnosisBody(Struct, rename="camel", frozen=True):
    """The cause of an outcome, and its remedy."""

    cause: str
    sentence: str
    advice: str
    remedy: Remedy
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
class SimilarBody(Struct, rename="camel", frozen=True):
    """Other refusals like this one, of the same integration, from a day before on."""

    number: int
    since: str


@final
class ExplainedBody(Struct, rename="camel", frozen=True):
    """The outcome of a log entry, explained."""

    integration_id: str
    outcome: LogOutcome | None
    reason: str | None
    no_post: str | None
    received: ReceivedBody | None
    diagnosis: DiagnosisBody | None
    similar: SimilarBody | None

    @classmethod
    def of(cls, entry: LogEntry, explained: Explained) -> Self:
        similar = explained.similar
        return cls(
            integration_id=entry.integration_id,
            outcome=entry.outcome,
            reason=entry.reason,
            no_post=explained.no_post,
            received=None if entry.received is None else ReceivedBody.of(entry.received),
            diagnosis=None
            if explained.diagnosis is None
            else DiagnosisBody.of(explained.diagnosis, entry.integration_id),
            similar=None if similar is None else SimilarBody(number=similar.number, since=iso_ms(similar.since)),
        )


@final
class OneLogBody(Struct, rename="camel", frozen=True):
    """A log entry with its explanation."""

    log: LogBody
    explanation: ExplainedBody

    @classmethod
    def of(cls, entry: LogEntry, explained: Explained) -> Self:
        return cls(log=log_body(entry), explanation=ExplainedBody.of(entry, explained))


@final
class NotReplayedBody(Struct, rename="camel", frozen=True):
    """An entry that was not replayed."""

    log_id: str
    reason: str


@final
class ReplayedBatchBody(Struct, rename="camel", frozen=True):
    """The result of one batch of a bulk replay."""

    replayed: list[str]
    repeated: list[str]
    refused: list[NotReplayedBody]
    runs: int
    next: str | None

    @classmethod
    def of(cls, batch: ReplayedBatch) -> Self:
        return convert(batch, cls, from_attributes=True)


@final
class ReplayCountBody(Struct, rename="camel", frozen=True):
    """The number of log entries that a bulk replay with the same filter would replay."""

    replayable: int
    not_kept: int
    more: bool

    @classmethod
    def of(cls, count: ReplayCount) -> Self:
        return cls(replayable=count.replayable, not_kept=count.not_kept, more=count.is_more)
