"""The rows of settlements, and the properties that a lane needs before it writes them."""

from collections.abc import Hashable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias, assert_never, final

from contentsvc_adapters.sql import rows, workflow_rows
from contentsvc_adapters.sql.row import json_of
from contentsvc_core.events.normalized import Commit, Push, Release
from contentsvc_core.events.summaries import summary_to_json
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.timestamps import to_ms
from contentsvc_core.webhooks.outcomes import Processed
from contentsvc_core.webhooks.settlement import Claim, Settlement
from contentsvc_core.workflows.context import custom_id

Row: TypeAlias = dict[str, Any]

#: The approximate size in characters of a settlement's rows without the sender's texts, and of each commit and run.
_ROWS: Final = 1024
_COMMIT: Final = 128
_RUN: Final = 256


class Rows(NamedTuple):
    """The rows of one settlement; the log entry and the runs refer to the event, if there is one."""

    log: Row
    event: Row | None
    context: Row | None
    runs: list[Row]


def rows_of(settlement: Settlement) -> Rows:
    log, context, outcome = settlement.log, settlement.context, settlement.outcome
    event = None
    if isinstance(outcome, Processed):
        event = rows.event_row(log, outcome.event, of=context, data=settlement.event_json)
    return Rows(
        log=rows.log_row(log),
        event=event,
        context=None if context is None else workflow_rows.context_row(context, event_id=settlement.id),
        runs=[workflow_rows.run_row(run, event_id=settlement.id) for run in settlement.runs],
    )


class OwnValues(NamedTuple):
    """The values in which the rows of two alike deliveries differ."""

    id: str
    created_at: int
    delivery_id: str | None
    context_id: str | None
    context_at: int | None
    data: str | None
    summary: str | None


def own_values(settlement: Settlement) -> OwnValues:
    outcome, at = settlement.outcome, to_ms(settlement.at)
    data = summary = context_at = None
    if isinstance(outcome, Processed):
        event = outcome.event
        data = event_to_json(event) if settlement.event_json is None else settlement.event_json
        summary = summary_to_json(event)
        context_at = at if settlement.context_at is None else to_ms(settlement.context_at)
    return OwnValues(settlement.id, at, outcome.delivery_id, settlement.context_id, context_at, data, summary)


@final
class AlikeRows:
    """Creates the rows of a batch. Most pushes to one hook address are alike: only their own values differ."""

    def __init__(self) -> None:
        self._groups: dict[Hashable, tuple[int, Rows]] = {}
        self._size = 0

    def first(self, settlement: Settlement) -> tuple[int, Rows]:
        """Return the number of the group of alike settlements, from 0, and the rows of its first settlement."""
        key = _likeness(settlement)
        group = None if key is None else self._groups.get(key)
        if group is None:
            group = self._size, rows_of(settlement)
            self._size += 1
            if key is not None:
                self._groups[key] = group
        return group

    def of(self, settlement: Settlement) -> Rows:
        """Return the rows of a settlement."""
        _, first = self.first(settlement)
        log, event, context, runs = first
        id_ = settlement.id
        if event is None or context is None or event["id"] == id_:
            return first
        own = own_values(settlement)
        at, delivery_id = own.created_at, own.delivery_id or ""
        return Rows(
            log={**log, "id": id_, "created_at": at, "reference_id": delivery_id, "event_id": id_},
            event={
                **event,
                "id": id_,
                "created_at": at,
                "delivery_id": delivery_id,
                "data": own.data,
                "summary": own.summary,
            },
            context={
                **context,
                "id": own.context_id,
                "custom_id": custom_id(context["provider"], context["repository_id"], delivery_id),
                "event_id": id_,
                "created_at": own.context_at,
            },
            runs=[
                {**run, "id": run_id, "trigger_id": trigger.id, "event_id": id_, "created_at": at, "due_at": at}
                for run, (run_id, trigger) in zip(runs, settlement.started, strict=True)
            ],
        )


def _likeness(settlement: Settlement) -> Hashable:
    """Return what all values of a push's rows depend on, beside its own ones; ``None``: the settlement is alone."""
    outcome = settlement.outcome
    # The runs of a release may be due later, and refusals are rare.
    if not isinstance(outcome, Processed) or not isinstance(outcome.event, Push) or settlement.received is not None:
        return None
    # A batch refers to its configurations, so no other batch has their identities.
    hook, takes, started = id(settlement.hook), settlement.claim is Claim.TAKE, len(settlement.started)
    return (hook, outcome.repository_id, outcome.repository, takes, started, settlement.replayed, settlement.note)


def noted(contexts: Iterable[Row]) -> str:
    """Return the note for the search indexer: the custom ids of context records, by organization, as JSON."""
    documents: dict[str, list[str]] = {}
    for row in contexts:
        documents.setdefault(row["organization_id"], []).append(row["custom_id"])
    return json_of(documents)


def size_of(settlement: Settlement) -> int:
    """Return the approximate number of characters that a waiting settlement holds, without encoding it."""
    outcome, size = settlement.outcome, _ROWS + len(settlement.note)
    if not isinstance(outcome, Processed):
        # Texts of refusals are cut.
        return size
    size += _RUN * len(settlement.started)
    if settlement.event_json is not None:
        return size + len(settlement.event_json)
    match outcome.event:
        case Push() as push:
            size += len(push.ref) + sum(map(_commit_size, push.commits))
        case Release() as release:
            size += len(release.body or "") + len(release.name or "") + len(release.tag_name) + len(release.url)
        case _:
            assert_never(outcome.event)
    return size


def _commit_size(commit: Commit) -> int:
    author = commit.author
    texts = len(commit.message) + len(commit.url) + len(commit.id) + len(commit.timestamp)
    paths = sum(map(len, commit.added)) + sum(map(len, commit.modified)) + sum(map(len, commit.removed))
    return _COMMIT + texts + paths + len(author.name) + len(author.email) + len(author.username or "")
