# Nothing that a client sends is in these statements: names of tables, columns and triggers.
# ruff: noqa: S608
"""The triggers of revision 0020: counts, documents that wait for search, revisions of public changelogs.

PostgreSQL has some more: they set columns that nodes of versions before 0020 do not know.
"""

from collections.abc import Sequence
from typing import Final

from alembic import op
from attrs import frozen

revision: Final = "0020"
down_revision: Final = "0020b"

_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
#: 30 days: posts are kept for years.
_LONG_MS: Final = 30 * _DAY_MS
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
#: Equal to the derivation in the core: ids of organizations are ``org_`` and a UUID.
_FIRST: Final = (
    "'chl_' || CASE WHEN substr(NEW.organization_id, 1, 4) = 'org_' THEN substr(NEW.organization_id, 5) "
    "ELSE NEW.organization_id END"
)


@frozen(kw_only=True)
class _List:
    table: str
    counts: str
    spans: Sequence[int]
    #: The filters of the list: the column of the counts, and the expression of its value.
    filters: dict[str, str]

    @property
    def key(self) -> str:
        return ", ".join(["organization_id", "span", "starts_at", *self.filters, "shard"])

    @property
    def watched(self) -> str:
        return ", ".join(["organization_id", "created_at", *self.filters])

    def values(self, row: str) -> str:
        return ", ".join(expression.format(row) for expression in self.filters.values())

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


_LISTS: Final = (
    _List(
        table="log_entries",
        counts="log_counts",
        spans=(_DAY_MS, _HOUR_MS),
        filters={"integration_id": "{}.integration_id", "status": "{}.status"},
    ),
    _List(
        table="posts",
        counts="post_counts",
        spans=(_LONG_MS, _DAY_MS, _HOUR_MS),
        filters={
            "status": "{}.status",
            "content_type": "{}.content_type",
            "brand_identity_id": "coalesce({}.brand_identity_id, '')",
        },
    ),
)


@frozen(kw_only=True)
class _Searched:
    table: str
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


_TABLES: Final = (
    _Searched(table="context_records", kind="context", id="custom_id", watched="event_id", is_removed=False),
    _Searched(table="posts", kind="post", id="id", watched="title, markdown", is_removed=True),
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _postgresql()
    else:
        _sqlite()


def _sqlite() -> None:
    # The words are separated by spaces. The tokenizer splits at ASCII punctuation only, and words contain none.
    op.execute(
        "CREATE VIRTUAL TABLE search_words USING fts5(words, tokenize = 'ascii', detail = 'none', columnsize = 0)"
    )
    for counted in _LISTS:
        for name, when, does in (
            ("added", "INSERT", [counted.added("NEW", 1)]),
            ("removed", "DELETE", [counted.added("OLD", -1)]),
            ("changed", f"UPDATE OF {counted.watched}", [counted.added("OLD", -1), counted.added("NEW", 1)]),
        ):
            trigger = f"CREATE TRIGGER count_{counted.table}_{name} AFTER {when} ON {counted.table}"
            op.execute(f"{trigger} BEGIN {' '.join(does)} END")
    for searched in _TABLES:
        for name, when, row in searched.changes():
            source = f"(SELECT {row}.organization_id AS organization_id, {row}.{searched.id} AS {searched.id})"
            op.execute(
                f"CREATE TRIGGER search_{searched.table}_{name} AFTER {when} ON {searched.table} "
                f"BEGIN {searched.listed(source, _SQLITE_VERSION)}; END"
            )
    for event, (row, condition) in _WATCHED.items():
        op.execute(
            f"CREATE TRIGGER count_public_{event.lower()} AFTER {_CHANGED if event == 'UPDATE' else event} ON posts "
            f"FOR EACH ROW WHEN ({condition}) BEGIN {_counting(row)}; END"
        )


def _postgresql() -> None:
    op.execute("CREATE TABLE search_words (id bigint PRIMARY KEY, words tsvector NOT NULL)")
    op.execute("CREATE INDEX ix_search_words_words ON search_words USING gin (words)")
    for counted in _LISTS:
        _count_on_postgresql(counted)
    for searched in _TABLES:
        _list_on_postgresql(searched)
    for event, (row, condition) in _WATCHED.items():
        _function(
            f"count_public_{event.lower()}",
            # All transactions lock in the same order, so that they cannot deadlock.
            f"PERFORM id FROM public_changelogs WHERE owner_id = {row}.organization_id ORDER BY id FOR NO KEY UPDATE; "
            f"{_counting(row)}; RETURN NULL;",
        )
        op.execute(
            f"CREATE TRIGGER count_public_{event.lower()} AFTER {_CHANGED if event == 'UPDATE' else event} ON posts "
            f"FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION count_public_{event.lower()}()"
        )
    for name, when, condition, does in (
        (
            "note_publication",
            "INSERT OR UPDATE OF status ON posts",
            "NEW.status = 'published' AND NEW.published_at IS NULL",
            "NEW.published_at := NEW.updated_at;",
        ),
        ("note_occurrence", "INSERT ON posts", "NEW.occurred_at IS NULL", "NEW.occurred_at := NEW.created_at;"),
        (
            "forget_path",
            "UPDATE OF title, content ON posts",
            "OLD.path IS NOT NULL AND (NEW.title <> OLD.title OR NEW.content <> OLD.content)",
            "NEW.path := NULL; NEW.facets := NULL;",
        ),
        (
            "name_first_changelog",
            "INSERT ON public_changelogs",
            "NEW.id IS NULL",
            f"NEW.id := {_FIRST}; NEW.owner_id := NEW.organization_id;",
        ),
    ):
        _function(name, f"{does} RETURN NEW;")
        op.execute(f"CREATE TRIGGER {name} BEFORE {when} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION {name}()")


def _count_on_postgresql(counted: _List) -> None:
    changed = "SELECT OLD.*, -1 AS sign UNION ALL SELECT NEW.*, 1 AS sign"
    in_bulk = f"SELECT {counted.watched}, CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END AS sign FROM changed"
    _function(
        f"count_{counted.table}",
        f"IF TG_OP = 'UPDATE' THEN {counted.summed(changed)}; ELSE {counted.summed(in_bulk)}; END IF; RETURN NULL;",
    )
    for name, when, changes in (
        ("added", "INSERT", "REFERENCING NEW TABLE AS changed FOR EACH STATEMENT"),
        ("removed", "DELETE", "REFERENCING OLD TABLE AS changed FOR EACH STATEMENT"),
        ("changed", f"UPDATE OF {counted.watched}", "FOR EACH ROW"),
    ):
        op.execute(
            f"CREATE TRIGGER count_{counted.table}_{name} AFTER {when} ON {counted.table} "
            f"{changes} EXECUTE FUNCTION count_{counted.table}()"
        )


def _list_on_postgresql(searched: _Searched) -> None:
    row = f"(SELECT NEW.organization_id AS organization_id, NEW.{searched.id} AS {searched.id}) AS changed"
    for function, source in ((f"search_{searched.table}", "changed"), (f"search_{searched.table}_row", row)):
        _function(function, f"{searched.listed(source, _POSTGRESQL_VERSION)}; RETURN NULL;")
    for name, when, table in searched.changes():
        # PostgreSQL provides no transition table to a trigger with a list of columns.
        function, rows = (
            (f"search_{searched.table}_row", "FOR EACH ROW")
            if when.startswith("UPDATE")
            else (f"search_{searched.table}", f"REFERENCING {table} TABLE AS changed FOR EACH STATEMENT")
        )
        op.execute(
            f"CREATE TRIGGER search_{searched.table}_{name} AFTER {when} ON {searched.table} "
            f"{rows} EXECUTE FUNCTION {function}()"
        )


def _function(name: str, body: str) -> None:
    op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$")


def _counting(row: str) -> str:
    return f"UPDATE public_changelogs SET revision = revision + 1 WHERE owner_id = {row}.organization_id"
