# Nothing that a client sends is in these statements: names of tables, columns and triggers.
# ruff: noqa: S608
"""Counts of log entries and posts by stretches of time, for finding pages.

Nothing else can write during this migration: it counts the existing rows, and the triggers count later ones.
"""

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from alembic import op
from attrs import frozen

revision: Final = "0004"
down_revision: Final = "0003"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
#: 30 days: posts are kept for years.
_LONG_MS: Final = 30 * _DAY_MS
#: PostgreSQL: concurrent connections seldom share a shard, and so seldom wait for each other.
_SHARD: Final = "pg_backend_pid() & 15"


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
        return self.columns.format("created_at")

    @property
    def columns(self) -> str:
        return ", ".join(["organization_id", "{}", *self.filters])

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

    def summed(self, source: str, spans: Sequence[int], shard: str) -> str:
        lengths = " UNION ALL ".join(f"SELECT {span} AS span" for span in spans)
        # In the order of keys, so that concurrent writers cannot deadlock.
        return (
            f"INSERT INTO {self.counts} ({self.key}, number) "
            f"SELECT row.organization_id, spans.span, row.created_at - row.created_at % spans.span, "
            f"{self.values('row')}, {shard}, sum(row.sign) "
            f"FROM ({source}) AS row CROSS JOIN ({lengths}) AS spans "
            f"GROUP BY {self._places} HAVING sum(row.sign) <> 0 ORDER BY {self._places}"
        )

    def filled(self) -> Sequence[str]:
        *longer, shortest = self.spans
        counted = f"SELECT {self.columns.format('starts_at AS created_at')}, number AS sign FROM {self.counts}"
        return [
            self.summed(self.rows(self.table, "1"), [shortest], "0"),
            *(self.summed(f"{counted} WHERE span = {shortest}", [span], "0") for span in longer),
        ]

    @property
    def _places(self) -> str:
        return ", ".join(str(number) for number in range(1, 4 + len(self.filters)))

    def rows(self, source: str, sign: str) -> str:
        return f"SELECT {self.watched}, {sign} AS sign FROM {source}"


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


def upgrade() -> None:
    for each in _LISTS:
        _table(each)
        if op.get_bind().dialect.name == "postgresql":
            _postgresql(each)
        else:
            _sqlite(each)
        # The triggers exist: from here on nothing else can write until this transaction commits.
        for statement in each.filled():
            op.execute(statement)


def _table(each: _List) -> None:
    op.create_table(
        each.counts,
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("span", sa.BigInteger(), nullable=False),
        sa.Column("starts_at", sa.BigInteger(), nullable=False),
        *(sa.Column(name, _KEY, nullable=False) for name in each.filters),
        sa.Column("shard", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "organization_id", "span", "starts_at", *each.filters, "shard", name=op.f(f"pk_{each.counts}")
        ),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 50},
    )


def _sqlite(each: _List) -> None:
    for name, when, does in (
        ("added", "INSERT", [each.added("NEW", 1)]),
        ("removed", "DELETE", [each.added("OLD", -1)]),
        ("changed", f"UPDATE OF {each.watched}", [each.added("OLD", -1), each.added("NEW", 1)]),
    ):
        op.execute(f"CREATE TRIGGER count_{each.table}_{name} AFTER {when} ON {each.table} BEGIN {' '.join(does)} END")


def _postgresql(each: _List) -> None:
    changed = "SELECT OLD.*, -1 AS sign UNION ALL SELECT NEW.*, 1 AS sign"
    in_bulk = each.rows("changed", "CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END")
    conflict = f"ON CONFLICT ({each.key}) DO UPDATE SET number = {each.counts}.number + excluded.number"
    op.execute(
        f"CREATE FUNCTION count_{each.table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF TG_OP = 'UPDATE' THEN {each.summed(changed, each.spans, _SHARD)} {conflict}; "
        f"ELSE {each.summed(in_bulk, each.spans, _SHARD)} {conflict}; "
        "END IF; RETURN NULL; END $$"
    )
    for name, when, changes in (
        ("added", "INSERT", "REFERENCING NEW TABLE AS changed FOR EACH STATEMENT"),
        ("removed", "DELETE", "REFERENCING OLD TABLE AS changed FOR EACH STATEMENT"),
        ("changed", f"UPDATE OF {each.watched}", "FOR EACH ROW"),
    ):
        op.execute(
            f"CREATE TRIGGER count_{each.table}_{name} AFTER {when} ON {each.table} "
            f"{changes} EXECUTE FUNCTION count_{each.table}()"
        )
