"""Log entries: lines for lists, entries with their payloads, and the addition of a single entry."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    Text,
    Update,
    and_,
    column,
    func,
    literal_column,
    or_,
    select,
    table,
    update,
)

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.counts import Listing
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.schema.deliveries import events, log_entries
from contentsvc_adapters.sql.schema.lists import LOG_SPANS, log_counts
from contentsvc_adapters.sql.small import small_data
from contentsvc_core.identifiers import is_own_id, minted_ms
from contentsvc_core.journal import LogEntry

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresqlInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

_Insertion = TypeVar("_Insertion", bound="PostgresqlInsert | SqliteInsert")

LOG: Final = Listing(rows=log_entries, counts=log_counts, spans=LOG_SPANS)
#: The largest difference between the time in an entry's id and the entry's own time, in milliseconds.
_ABOUT_MS: Final = 10 * 60 * 1000

_LINES: Final[Select[*tuple[Any, ...]]] = select(
    *(column for column in log_entries.c if column.name != "payload"), events.c.type.label("event_type")
).outerjoin(events, events.c.id == log_entries.c.event_id)
PAYLOADS: Final[Select[*tuple[Any, ...]]] = select(
    log_entries.c.id, log_entries.c.payload, events.c.data.label("event_data")
).outerjoin(events, events.c.id == log_entries.c.event_id)
WHOLE: Final = _LINES.add_columns(log_entries.c.payload, events.c.data.label("event_data"))

#: The columns of posts and runs that a list of the log reads, so that its command creates neither table.
_posts: Final = table("posts", column("id", Text), column("title", Text))
_runs: Final = table(
    "workflow_runs",
    *(column(name, Text) for name in ("id", "organization_id", "event_id", "post_id", "error")),
    column("created_at", BigInteger),
)
#: The id and the title of the first post of a delivery's runs, else why a run wrote none. An entry has its runs' time,
#: so few rows are read.
_POST: Final = (
    select(func.coalesce(_posts.c.id, "") + rows.POST_SEPARATOR + func.coalesce(_posts.c.title, _runs.c.error))
    .select_from(_runs.outerjoin(_posts, _posts.c.id == _runs.c.post_id))
    .where(
        or_(_posts.c.id.is_not(None), and_(_runs.c.post_id.is_(None), _runs.c.error.is_not(None))),
        _runs.c.organization_id == log_entries.c.organization_id,
        _runs.c.created_at == log_entries.c.created_at,
        _runs.c.event_id == log_entries.c.event_id,
    )
    .order_by(_posts.c.id.is_(None), _runs.c.id)
    .limit(literal_column("1"))
    .correlate(log_entries)
    .scalar_subquery()
    .label("post")
)


def listed_entries(dialect: Dialect) -> Select[*tuple[Any, ...]]:
    return _LINES.add_columns(events.c.summary, small_data(dialect, events.c.summary.is_(None)), _POST)


def sized_entries(dialect: Dialect) -> Select[*tuple[Any, ...]]:
    size = func.coalesce(dialect.size_of(log_entries.c.payload), dialect.size_of(events.c.data), 0)
    return _LINES.add_columns(size.label("size"))


def find_entry(
    connection: Connection, entries: Select[*tuple[Any, ...]], organization_id: str, log_id: str
) -> rows.AnyRow | None:
    """Return an entry by its id, without an index on ids: every delivery would pay for it.

    The event of an entry has the same id and time. The id of an entry without an event contains about the entry's time.
    Only if both fail, all entries of the organization are searched.
    """
    if not is_own_id(log_id):
        return None
    own = entries.where(log_entries.c.organization_id == organization_id, log_entries.c.id == log_id)
    arrived = select(events.c.created_at).where(events.c.organization_id == organization_id, events.c.id == log_id)
    at = connection.scalar(arrived)
    if at is not None:
        return connection.execute(own.where(log_entries.c.created_at == at)).first()
    minted = minted_ms(log_id)
    if minted is not None:
        about = log_entries.c.created_at.between(minted - _ABOUT_MS, minted + _ABOUT_MS)
        if (row := connection.execute(own.where(about)).first()) is not None:
            return row
    return connection.execute(own).first()


def add_entry(connection: Connection, dialect: Dialect, entry: LogEntry) -> None:
    """Insert a log entry of an existing organization, and count it; an entry that is there already stays."""
    row = rows.log_row(entry)
    once = dialect.insert(log_entries).on_conflict_do_nothing(index_elements=list(log_entries.primary_key))
    if connection.execute(once, row).rowcount and dialect.is_sqlite:
        connection.execute(adding_counts(dialect.insert(log_counts)), added_counts([row]))


def finishing(entry: LogEntry) -> Update:
    """Create the statement that writes the end of a pending entry."""
    row = rows.log_row(entry)
    primary_key = ("organization_id", "created_at", "id")
    ending = ("status", "status_code", "error_message", "reason")
    own = update(log_entries).where(*(log_entries.c[name] == row[name] for name in primary_key))
    return own.values({name: row[name] for name in ending})


def added_counts(log: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of ``log_counts`` to be added for new rows of the log."""
    keys = Counter(
        (span, row["created_at"] // span * span, row["organization_id"], row["integration_id"], row["status"])
        for row in log
        for span in LOG.spans
    )
    names = ("span", "starts_at", "organization_id", "integration_id", "status")
    return [dict(zip(names, key, strict=True), shard=0, number=number) for key, number in keys.items()]


def adding_counts(insertion: _Insertion) -> _Insertion:
    """Return an insertion into ``log_counts`` that adds to existing rows; writers on SQLite count new entries by it."""
    return insertion.on_conflict_do_update(
        index_elements=list(log_counts.primary_key), set_={"number": log_counts.c.number + insertion.excluded.number}
    )
