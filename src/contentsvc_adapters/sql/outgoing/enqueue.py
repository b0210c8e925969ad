from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, Update, bindparam, select

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.mailing import announce
from contentsvc_adapters.sql.outgoing import message_rows
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_adapters.sql.schema.outgoing import webhook_endpoints, webhook_messages
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_core.outgoing.endpoints import is_subscribed
from contentsvc_core.outgoing.events import EventType, Occurrence, run_failed
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.messages import message_for
from contentsvc_core.timestamps import from_ms
from contentsvc_core.workflows.runs import RunStatus

#: The maximum number of rows in one statement: databases limit parameters to about 32,000.
_AT_ONCE: Final = 500
_FORMATS: Final = {each.value: each for each in EndpointFormat}
_ENDPOINTS: Final[Select[*tuple[Any, ...]]] = select(
    webhook_endpoints.c.id,
    webhook_endpoints.c.organization_id,
    webhook_endpoints.c.event_types,
    webhook_endpoints.c.format,
).where(
    webhook_endpoints.c.organization_id.in_(bindparam("organizations", expanding=True)), webhook_endpoints.c.enabled
)


def enqueue(connection: Connection, dialect: Dialect, occurrences: Iterable[Occurrence]) -> None:
    """Write a message for each endpoint that subscribes to an event. Without endpoints, this costs one index lookup."""
    occurred = list(occurrences)
    if not occurred:
        return
    announce(connection, dialect, occurred)
    owners = sorted({occurrence.organization_id for occurrence in occurred})
    values = [
        message_rows.message_row(message_for(row.id, occurrence))
        for row in connection.execute(_ENDPOINTS, {"organizations": owners})
        for occurrence in occurred
        if occurrence.organization_id == row.organization_id and wants(row, occurrence.type)
    ]
    if values:
        # All transactions insert in the same order, so that they cannot deadlock.
        values.sort(key=lambda row: row["id"])
        adding = dialect.insert(webhook_messages).on_conflict_do_nothing(index_elements=["id"])
        for begin in range(0, len(values), _AT_ONCE):
            # One multi-row statement, which can be cancelled (see completion.py).
            connection.execute(adding.values(values[begin : begin + _AT_ONCE]))


def fail_runs(connection: Connection, dialect: Dialect, failing: Update, reason: str | None) -> Sequence[str]:
    """Fail runs by an update, and write messages about them; return the ids of the runs."""
    columns = ("id", "organization_id", "trigger_id", "takes", "created_at", "due_at")
    ended = failing.values(status=RunStatus.FAILED.value, error=reason)
    failed = connection.execute(ended.returning(*(workflow_runs.c[name] for name in columns))).all()
    enqueue(
        connection,
        dialect,
        [
            run_failed(
                organization_id=row.organization_id,
                run_id=row.id,
                started_by=row.trigger_id,
                takes=row.takes,
                reason=reason,
                created_at=from_ms(row.created_at),
                due_at=from_ms(row.due_at),
            )
            for row in failed
        ],
    )
    return [row.id for row in failed]


def wants(row: AnyRow, kind: EventType) -> bool:
    # Compares the stored text: a list of unknown types only is parsed as empty, but does not mean all types.
    chosen = None if row.event_types == "[]" else message_rows.event_types_of(row.event_types)
    return is_subscribed(_FORMATS.get(row.format), chosen, kind)
