"""Bulk replays: replays the log entries of a filter in batches, each entry once for a request."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Final, final

from attrs import evolve, field, frozen
from msgspec import Meta

from contentsvc_core.commands import Command, read_command
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.journal import Direction, ListedEntry, LogOutcome, LogStatus
from contentsvc_core.lists.cursors import Cursor, read_cursor, written_cursor
from contentsvc_core.lists.parameters import all_read, choices, read_time
from contentsvc_core.outgoing.messages import is_message_log
from contentsvc_core.ports import Clock, ReadModel, Share
from contentsvc_core.read_model import LogSearch
from contentsvc_core.refusals import REQUEST_ID_FORM, Refusal, invalid
from contentsvc_core.usecases.edit import unshared
from contentsvc_core.usecases.replay import BODY_NOT_STORED, Replayed, Replayer, is_replay

#: The most entries of a batch: each takes a transaction, and a client gets its answer within seconds.
BATCH: Final = 25
#: The most entries that a preview of a bulk replay counts.
COUNTED: Final = 1000
_TEXT_LENGTH: Final = 200


class ReplayDeliveries(Command, frozen=True):
    """The filter of a bulk replay."""

    request_id: Annotated[
        str,
        Meta(
            title="Request id",
            description="An id of your choice, 1 to 64 visible characters. A repeated request with the same id replays "
            "no delivery twice.",
            pattern=REQUEST_ID_FORM,
        ),
    ]
    integration_id: Annotated[
        str | None, Meta(title="Integration", description="Only entries of this integration or webhook endpoint.")
    ] = None
    outcomes: Annotated[
        tuple[LogOutcome, ...],
        Meta(title="Outcomes", description="Only deliveries with these outcomes. Without outcomes: all entries."),
    ] = ()
    statuses: Annotated[
        tuple[LogStatus, ...], Meta(title="Statuses", description="Only entries with these statuses.")
    ] = ()
    event: Annotated[
        str, Meta(title="Event", description="Only entries of this event type, e.g. `push`.", max_length=_TEXT_LENGTH)
    ] = ""
    text: Annotated[
        str,
        Meta(
            title="Text",
            description="Only entries with this text in title, delivery id, error or reason.",
            max_length=_TEXT_LENGTH,
        ),
    ] = ""
    since: Annotated[
        Annotated[datetime, Meta(tz=True)] | None,
        Meta(title="Since", description="Only entries of this time or later, with an offset."),
    ] = None
    until: Annotated[
        Annotated[datetime, Meta(tz=True)] | None,
        Meta(title="Until", description="Only entries before this time, with an offset."),
    ] = None
    cursor: Annotated[
        str | None,
        Meta(title="Cursor", description="The `next` of the answer before: continues the request."),
    ] = None


def read_replay_filter(parameters: Mapping[str, str]) -> ReplayDeliveries | Refusal:
    """Read the filter of a bulk replay from query parameters; ``outcomes`` and ``statuses`` are comma lists."""
    texts = {
        "request_id": "count",
        "integration_id": parameters.get("integrationId") or None,
        "event": parameters.get("event", ""),
        "text": parameters.get("text", ""),
    }
    return all_read(
        partial(read_command, ReplayDeliveries, texts),
        since=read_time("since", parameters.get("since", "")),
        until=read_time("until", parameters.get("until", "")),
        outcomes=choices("outcomes", parameters.get("outcomes", ""), LogOutcome),
        statuses=choices("statuses", parameters.get("statuses", ""), LogStatus),
    )


@final
@frozen(kw_only=True)
class NotReplayed:
    """An entry that was not replayed, and the reason."""

    log_id: str
    reason: str


@final
@frozen(kw_only=True)
class ReplayedBatch:
    """The ids of the entries of a batch, by result."""

    replayed: tuple[str, ...] = field(converter=tuple[str, ...], default=())
    repeated: tuple[str, ...] = field(converter=tuple[str, ...], default=())
    refused: tuple[NotReplayed, ...] = field(converter=tuple[NotReplayed, ...], default=())
    runs: int = 0
    #: The cursor of the next batch; ``None``: every entry was read.
    next: str | None = None


@final
@frozen(kw_only=True)
class ReplayCount:
    """The number of entries that a bulk replay would replay."""

    replayable: int
    #: Refused deliveries, whose bodies are not stored.
    not_kept: int
    #: Whether more than :data:`COUNTED` entries match.
    is_more: bool


@final
@frozen(eq=False, repr=False)
class BulkReplayer:
    """``share`` bounds the reads of the log: a filter by text may read a whole log."""

    _replayer: Replayer
    _read_model: ReadModel
    _clock: Clock
    _share: Share = field(default=unshared, kw_only=True, alias="share")

    async def count(self, organization_id: str, command: ReplayDeliveries) -> ReplayCount | Refusal:
        search = _search(command)
        if isinstance(search, Refusal):
            return search
        entries = await self._share(
            organization_id, partial(self._read_model.log, organization_id, search, limit=COUNTED + 1)
        )
        counted = entries[:COUNTED]
        return ReplayCount(
            replayable=sum(map(_is_replayable, counted)),
            not_kept=sum(map(_is_refused, counted)),
            is_more=len(entries) > COUNTED,
        )

    async def replay(self, organization_id: str, command: ReplayDeliveries) -> ReplayedBatch | Refusal:
        """Replay one batch of the entries that match, newest first; the result names the cursor of the next batch.

        The first batch fixes the end of the stretch of time: entries that arrive later, and replays themselves, are not
        replayed. Repeat the request after a fault: no entry is replayed twice.
        """
        search = _search(command)
        if isinstance(search, Refusal):
            return search
        before = None if command.cursor is None else read_cursor(command.cursor)
        if command.cursor is not None and before is None:
            return invalid("cursor", "must be the `next` of an answer")
        if before is None:
            before = Cursor(at=self._clock.now(), id="~")
        entries = await self._share(
            organization_id, partial(self._read_model.log, organization_id, search, limit=BATCH + 1, before=before)
        )
        batch = entries[:BATCH]
        done = await self._replay_each(organization_id, command.request_id, batch)
        return evolve(done, next=written_cursor(Cursor.of(batch[-1])) if len(entries) > BATCH else None)

    async def _replay_each(self, organization_id: str, request: str, batch: Sequence[ListedEntry]) -> ReplayedBatch:
        replayed, repeated = list[str](), list[str]()
        refused: list[NotReplayed] = []
        runs = 0
        for entry in reversed(batch):
            if _is_refused(entry):
                refused.append(NotReplayed(log_id=entry.id, reason=BODY_NOT_STORED.message()))
            elif _is_replayable(entry):
                answer = await self._replayer.replay(organization_id, entry.id, request=request)
                match answer:
                    case Refusal():
                        refused.append(NotReplayed(log_id=entry.id, reason=answer.message()))
                    case Replayed(is_repeated=True):
                        repeated.append(entry.id)
                    case Replayed():
                        replayed.append(entry.id)
                        runs += answer.runs
        return ReplayedBatch(replayed=replayed, repeated=repeated, refused=refused, runs=runs)


def _search(command: ReplayDeliveries) -> LogSearch | Refusal:
    id_ = command.integration_id
    if id_ is not None and not is_own_id(id_):
        return invalid("integration_id", "is unknown")
    return LogSearch(
        integration_ids=() if id_ is None else (id_,),
        outcomes=command.outcomes,
        statuses=command.statuses,
        event=command.event,
        text=command.text,
        since=command.since,
        until=command.until,
    )


def _is_refused(entry: ListedEntry) -> bool:
    return entry.outcome is LogOutcome.REFUSED


def _is_replayable(entry: ListedEntry) -> bool:
    if entry.direction is Direction.OUTGOING:
        return entry.status is LogStatus.FAILED and is_message_log(entry)
    return entry.event is not None and not is_replay(entry)
