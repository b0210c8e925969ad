# Nothing that a client sends is in these statements: names of tables, columns and triggers.
# ruff: noqa: S608
"""The parts of a new database that :data:`metadata` cannot describe: the words of search, and the triggers.

Triggers count the rows of lists, note documents for search, and count the revisions of public changelogs. On SQLite,
the writers of deliveries count and note theirs.
A migration that changes a part changes it here, too: a test compares new databases with upgraded ones.
"""

from collections.abc import Sequence
from typing import Final

from attrs import frozen
from sqlalchemy import Connection, Table

from contentsvc_adapters.sql.schema.content import posts
from contentsvc_adapters.sql.schema.deliveries import context_records, log_entries
from contentsvc_adapters.sql.schema.lists import LOG_SPANS, POST_SPANS, log_counts, post_counts

#: PostgreSQL: concurrent connections seldom share a shard, and so seldom wait for each other.
_SHARD: Final = "pg_backend_pid() & 15"
_KEYS: Final = "organization_id, kind, document_id"
#: A random number, which no earlier change of the document had: a concurrent indexer notices the change.
_SQLITE_VERSION: Final = "random()"
_POSTGRESQL_VERSION: Final = "(random() * 9007199254740991)::bigint"
#: For each event on posts: the row that names the organization, and the condition that the post may have been public.
_WATCHED: Final = {
    "INSERT": ("NEW", "NEW.published_at IS NOT NULL"),
    "UPDATE": ("NEW", "NEW.published_at IS NOT NULL OR OLD.published_at IS NOT NULL"),
    "DELETE": ("OLD", "OLD.published_at IS NOT NULL"),
}
#: Without path and facets: they change with one of these columns, or the code that fills them counts the change.
_CHANGED: Final = (
    "UPDATE OF title, content, markdown, content_type, source_metadata, status, updated_at, published_at, "
    "release_tag, occurred_at, contained_in"
)


@frozen
class _Counted:
    rows: Table
    counts: Table
    spans: Sequence[int]

    @property
    def filters(self) -> Sequence[str]:
        """The names of the filters of the list."""
        common = {"organization_id", "span", "starts_at", "shard"}
        return [column.name for column in self.counts.primary_key if column.name not in common]

    @property
    def key(self) -> str:
        return ", ".join(["organization_id", "span", "starts_at", *self.filters, "shard"])

    @property
    def watched(self) -> str:
        return ", ".join(["organization_id", "created_at", *self.filters])

    def values(self, row: str) -> str:
        columns = ((f"{row}.{name}", self.rows.c[name].nullable) for name in self.filters)
        return ", ".join(f"coalesce({column}, '')" if nullable else column for column, nullable in columns)

    def added(self, row: str, number: int) -> str:
        starts = f"{row}.created_at - {row}.created_at %"
        rows = ", ".join(
            f"({row}.organization_id, {span}, {starts} {span}, {self.values(row)}, 0, {number})" for span in self.spans
        )
        return (
            f"INSERT INTO {self.counts} ({self.key}, number) VALUES {rows} "
            f"ON CONFLICT ({self.key}) DO UPDATE SET number = number + excluded.number;"
        )

    def summed(self, source: str) -> str:
        lengths = " UNION ALL ".join(f"SELECT {span} AS span" for span in self.spans)
        places = ", ".join(str(number) for number in range(1, 4 + len(self.filters)))
        # In the order of keys, so that concurrent writers cannot deadlock.
        return (
            f"INSERT INTO {self.counts} ({self.key}, number) "
            f"SELECT row.organization_id, spans.span, row.created_at - row.created_at % spans.span, "
            f"{self.values('row')}, {_SHARD}, sum(row.sign) "
            f"FROM ({source}) AS row CROSS JOIN ({lengths}) AS spans "
            f"GROUP BY {places} HAVING sum(row.sign) <> 0 ORDER BY {places} "
            f"ON CONFLICT ({self.key}) DO UPDATE SET number = {self.counts}.number + excluded.number"
        )


_COUNTED: Final = (_Counted(log_entries, log_counts, LOG_SPANS), _Counted(posts, post_counts, POST_SPANS))


@frozen(kw_only=True)
class _Searched:
    rows: Table
    kind: str
    #: The id column of a row, and its searched columns.
    id: str
    watched: str
    is_removed: bool

    def changes(self) -> Sequence[tuple[str, str, str]]:
        changes = [("added", "INSERT", "NEW"), ("changed", f"UPDATE OF {self.watched}", "NEW")]
        return [*changes, ("removed", "DELETE", "OLD")] if self.is_removed else changes

    def listed(self, source: str, version: str) -> str:
        return (
            f"INSERT INTO search_pending ({_KEYS}, version) "
            f"SELECT organization_id, '{self.kind}', {self.id}, {version} FROM {source} "
            # Without WHERE, SQLite parses ON CONFLICT as the ON of a join.
            f"WHERE true ORDER BY organization_id, {self.id} "
            f"ON CONFLICT ({_KEYS}) DO UPDATE SET version = excluded.version"
        )


_SEARCHED: Final = (
    _Searched(rows=context_records, kind="context", id="custom_id", watched="event_id", is_removed=False),
    _Searched(rows=posts, kind="post", id="id", watched="title, markdown", is_removed=True),
)


def create_triggers(connection: Connection) -> None:
    """Create the words of search, and the triggers, after the tables."""
    statements = _on_sqlite() if connection.dialect.name == "sqlite" else _on_postgresql()
    for statement in statements:
        connection.exec_driver_sql(statement)


def _on_sqlite() -> list[str]:
    # The words are separated by spaces. The tokenizer splits at ASCII punctuation only, and words contain none.
    statements = [
        "CREATE VIRTUAL TABLE search_words USING fts5(words, tokenize = 'ascii', detail = 'none', columnsize = 0)"
    ]
    for counted in _COUNTED:
        added = [] if counted.rows is log_entries else [("added", "INSERT", counted.added("NEW", 1))]
        for name, when, does in (
            *added,
            ("removed", "DELETE", counted.added("OLD", -1)),
            ("changed", f"UPDATE OF {counted.watched}", f"{counted.added('OLD', -1)} {counted.added('NEW', 1)}"),
        ):
            trigger = f"CREATE TRIGGER count_{counted.rows}_{name} AFTER {when} ON {counted.rows}"
            statements.append(f"{trigger} BEGIN {does} END")
    for searched in _SEARCHED:
        for name, when, row in searched.changes():
            if searched.rows is not context_records or name != "added":
                source = f"(SELECT {row}.organization_id AS organization_id, {row}.{searched.id} AS {searched.id})"
                statements.append(
                    f"CREATE TRIGGER search_{searched.rows}_{name} AFTER {when} ON {searched.rows} "
                    f"BEGIN {searched.listed(source, _SQLITE_VERSION)}; END"
                )
    counters = (
        f"{_counter(event, condition)} BEGIN {_counting(row)}; END" for event, (row, condition) in _WATCHED.items()
    )
    return [*statements, *counters]


def _on_postgresql() -> list[str]:
    statements = [
        "CREATE TABLE search_words (id bigint PRIMARY KEY, words tsvector NOT NULL)",
        "CREATE INDEX ix_search_words_words ON search_words USING gin (words)",
        *(statement for counted in _COUNTED for statement in _count_on_postgresql(counted)),
        *(statement for searched in _SEARCHED for statement in _list_on_postgresql(searched)),
    ]
    for event, (row, condition) in _WATCHED.items():
        statements += [
            _function(
                f"count_public_{event.lower()}",
                # All transactions lock in the same order, so that they cannot deadlock.
                f"PERFORM id FROM public_changelogs WHERE owner_id = {row}.organization_id ORDER BY id "
                f"FOR NO KEY UPDATE; {_counting(row)}; RETURN NULL;",
            ),
            f"{_counter(event, condition)} EXECUTE FUNCTION count_public_{event.lower()}()",
        ]
    return statements


def _count_on_postgresql(counted: _Counted) -> list[str]:
    changed = "SELECT OLD.*, -1 AS sign UNION ALL SELECT NEW.*, 1 AS sign"
    in_bulk = f"SELECT {counted.watched}, CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END AS sign FROM changed"
    body = f"IF TG_OP = 'UPDATE' THEN {counted.summed(changed)}; ELSE {counted.summed(in_bulk)}; END IF; RETURN NULL;"
    return [
        _function(f"count_{counted.rows}", body),
        *(
            f"CREATE TRIGGER count_{counted.rows}_{name} AFTER {when} ON {counted.rows} "
            f"{changes} EXECUTE FUNCTION count_{counted.rows}()"
            for name, when, changes in (
                ("added", "INSERT", "REFERENCING NEW TABLE AS changed FOR EACH STATEMENT"),
                ("removed", "DELETE", "REFERENCING OLD TABLE AS changed FOR EACH STATEMENT"),
                ("changed", f"UPDATE OF {counted.watched}", "FOR EACH ROW"),
            )
        ),
    ]


def _list_on_postgresql(searched: _Searched) -> list[str]:
    table = searched.rows
    row = f"(SELECT NEW.organization_id AS organization_id, NEW.{searched.id} AS {searched.id}) AS changed"
    statements = [
        _function(function, f"{searched.listed(source, _POSTGRESQL_VERSION)}; RETURN NULL;")
        for function, source in ((f"search_{table}", "changed"), (f"search_{table}_row", row))
    ]
    for name, when, changed in searched.changes():
        # PostgreSQL provides no transition table to a trigger with a list of columns.
        function, rows = (
            (f"search_{table}_row", "FOR EACH ROW")
            if when.startswith("UPDATE")
            else (f"search_{table}", f"REFERENCING {changed} TABLE AS changed FOR EACH STATEMENT")
        )
        statements.append(
            f"CREATE TRIGGER search_{table}_{name} AFTER {when} ON {table} {rows} EXECUTE FUNCTION {function}()"
        )
    return statements


def _function(name: str, body: str) -> str:
    return f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"


def _counter(event: str, condition: str) -> str:
    when = _CHANGED if event == "UPDATE" else event
    return f"CREATE TRIGGER count_public_{event.lower()} AFTER {when} ON posts FOR EACH ROW WHEN ({condition})"


def _counting(row: str) -> str:
    return f"UPDATE public_changelogs SET revision = revision + 1 WHERE owner_id = {row}.organization_id"
