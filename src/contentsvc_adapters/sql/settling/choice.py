from typing import Final

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.settling import settlement_rows
from contentsvc_adapters.sql.settling.queue import SettlementQueue

#: The maximum number of settlements in a batch: PostgreSQL idles while this process prepares a larger one.
_POSTGRESQL_BATCH: Final = 32
_SQLITE_BATCH: Final = 128


def settlement_queue(database: Database) -> SettlementQueue:
    # Imported late: the statements of the other database are not compiled.
    if database.dialect.is_sqlite:
        from contentsvc_adapters.sql.settling.sqlite import SqliteBatchWriter  # noqa: PLC0415  # see above

        lane, batch_items = SqliteBatchWriter, _SQLITE_BATCH
    else:
        from contentsvc_adapters.sql.settling.postgresql import PostgresqlBatchWriter  # noqa: PLC0415  # see above

        lane, batch_items = PostgresqlBatchWriter, _POSTGRESQL_BATCH
    lanes = [lane(database) for _ in range(database.dialect.lanes)]
    return SettlementQueue(lanes, size_of=settlement_rows.size_of, batch_items=batch_items)
