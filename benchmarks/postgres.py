"""The private PostgreSQL: one server for the whole run, a database for each side."""

import itertools
from typing import Final, Self, final

import psycopg
from psycopg import sql
from tests.postgres_server import PrivateServer, begin_run, end_run

#: Beside PostgreSQL's defaults, fsync and all: room for connections, and for its pages.
SETTINGS: Final = ("max_connections=200", "shared_buffers=256MB", "max_wal_size=4GB")


@final
class Postgres:
    """A server that starts when it is first used, and ends with the context."""

    def __init__(self) -> None:
        """Create the server without starting it."""
        self._alive: int | None = None
        self._server: PrivateServer | None = None
        self._numbers = itertools.count(1)

    def __enter__(self) -> Self:
        self._alive = begin_run()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server, and remove everything."""
        assert self._alive is not None
        if self._server is not None:
            self._server.__exit__()
        end_run(self._alive)

    def database(self, template: str | None = None) -> str:
        """Create a database, empty or the copy of another one; return its URL."""
        name = f"side_{next(self._numbers)}"
        with self._connected() as connection:
            source = "template0" if template is None else template.rpartition("/")[2]
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(source))
            )
        return f"{self._address()}/{name}"

    def drop(self, url: str) -> None:
        """Drop a database, even with open connections."""
        with self._connected() as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(url.rpartition("/")[2])))

    @property
    def version(self) -> str:
        """Return the server's version."""
        with self._connected() as connection:
            row = connection.execute("SHOW server_version").fetchone()
        assert row is not None
        return str(row[0])

    def _connected(self) -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(f"{self._address()}/postgres", autocommit=True)

    def _address(self) -> str:
        if self._server is None:
            self._server = PrivateServer(durable=True, settings=SETTINGS)
            self._server.start()
        return f"postgresql://postgres@127.0.0.1:{self._server.port}"
