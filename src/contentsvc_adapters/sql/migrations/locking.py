from typing import Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.exc import DBAPIError

#: In milliseconds: less than the second after which PostgreSQL ends one of two transactions in a deadlock.
_PATIENCE_MS: Final = 800
#: The most tries, of which each has that patience: 40 s in all.
_TRIES: Final = 50


def lock(tables: str) -> None:
    """Lock tables of PostgreSQL without a deadlock: the transactions of nodes lock them in any order.

    ``tables`` are names, separated by commas.
    """
    connection = op.get_bind()
    connection.execute(sa.text(f"SET LOCAL lock_timeout = {_PATIENCE_MS}"))
    for number in range(_TRIES):
        try:
            with connection.begin_nested():
                connection.execute(sa.text(f"LOCK TABLE {tables}"))
        except DBAPIError:
            if number == _TRIES - 1:
                raise
        else:
            break
    connection.execute(sa.text("SET LOCAL lock_timeout = 0"))
