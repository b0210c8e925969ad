# Nothing that a client sends is in these statements: names of tables, columns and triggers.
# ruff: noqa: S608
"""Search: the index, and the documents that wait for indexing.

Nothing else can write during this migration: it lists the existing rows, and the triggers list later ones.
"""

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from alembic import op
from attrs import frozen

revision: Final = "0006"
down_revision: Final = "0005"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_KEYS: Final = "organization_id, kind, document_id"
#: A random number, which no earlier change of the document had: a concurrent indexer notices the change.
_SQLITE_VERSION: Final = "random()"
_POSTGRESQL_VERSION: Final = "(random() * 9007199254740991)::bigint"


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
    op.create_table(
        "search_documents",
        sa.Column("id", sa.Integer().with_variant(sa.BigInteger(), "postgresql"), nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("document_id", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("place_id", _KEY, nullable=False),
        sa.Column("repository", _KEY, nullable=True),
        sa.Column("type", _KEY, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_documents")),
        sa.UniqueConstraint(
            "organization_id", "kind", "document_id", name=op.f("uq_search_documents_organization_id_kind_document_id")
        ),
    )
    op.create_index(
        op.f("ix_search_documents_place"),
        "search_documents",
        ["organization_id", "kind", "created_at", "place_id"],
        unique=False,
    )
    op.create_table(
        "search_pending",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("document_id", _KEY, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "kind", "document_id", name=op.f("pk_search_pending")),
        sqlite_with_rowid=False,
    )
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    if is_postgresql:
        op.execute("CREATE TABLE search_words (id bigint PRIMARY KEY, words tsvector NOT NULL)")
        op.execute("CREATE INDEX ix_search_words_words ON search_words USING gin (words)")
    else:
        # The words are separated by spaces. The tokenizer splits at ASCII punctuation only, and words contain none.
        op.execute(
            "CREATE VIRTUAL TABLE search_words USING fts5(words, tokenize = 'ascii', detail = 'none', columnsize = 0)"
        )
    for each in _TABLES:
        if is_postgresql:
            _postgresql(each)
            op.execute(each.listed(each.table, _POSTGRESQL_VERSION))
        else:
            _sqlite(each)
            op.execute(each.listed(each.table, _SQLITE_VERSION))


def _sqlite(each: _Searched) -> None:
    for name, when, row in each.changes():
        source = f"(SELECT {row}.organization_id AS organization_id, {row}.{each.id} AS {each.id})"
        op.execute(
            f"CREATE TRIGGER search_{each.table}_{name} AFTER {when} ON {each.table} "
            f"BEGIN {each.listed(source, _SQLITE_VERSION)}; END"
        )


def _postgresql(each: _Searched) -> None:
    op.execute(
        f"CREATE FUNCTION search_{each.table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"{each.listed('changed', _POSTGRESQL_VERSION)}; RETURN NULL; END $$"
    )
    row = f"(SELECT NEW.organization_id AS organization_id, NEW.{each.id} AS {each.id}) AS changed"
    op.execute(
        f"CREATE FUNCTION search_{each.table}_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"{each.listed(row, _POSTGRESQL_VERSION)}; RETURN NULL; END $$"
    )
    for name, when, table in each.changes():
        # PostgreSQL provides no transition table to a trigger with a list of columns.
        function, rows = (
            (f"search_{each.table}_row", "FOR EACH ROW")
            if when.startswith("UPDATE")
            else (f"search_{each.table}", f"REFERENCING {table} TABLE AS changed FOR EACH STATEMENT")
        )
        op.execute(
            f"CREATE TRIGGER search_{each.table}_{name} AFTER {when} ON {each.table} "
            f"{rows} EXECUTE FUNCTION {function}()"
        )
