"""PostgreSQL databases for tests, on a server of the test run.

The first test that needs a database starts the server, for all processes of the run. It listens on a Unix socket only.
If CONTENTSVC_TEST_POSTGRES_URL names a database of a server whose role may create databases, that server is used
instead. Without a server the tests fail: a skipped test proves nothing.
"""

import asyncio
import contextlib
import functools
import os
import uuid
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import psycopg
from psycopg import sql
from sqlalchemy import delete

from contentsvc_adapters.sql import Database, upgrade
from contentsvc_adapters.sql.schema.all_tables import metadata
from tests import postgres_server
from tests.postgres_server import VARIABLE, NoPostgres, PrivateServer, begin_run, once, run_folder, shared_server

__all__ = [
    "VARIABLE",
    "NoPostgres",
    "PrivateServer",
    "begin_run",
    "database",
    "emptied",
    "emptying",
    "end_process",
    "end_run",
    "rows",
]

#: Drops this process's databases at its end.
_kept: Final = contextlib.ExitStack()
#: The databases that no test uses at the moment, each with a connection that empties it.
_emptied: Final[list[tuple[str, "psycopg.Connection[tuple[Any, ...]]"]]] = []
#: One statement. Tables that others refer to come last.
_EMPTY: Final = ";".join(str(delete(table)) for table in reversed(metadata.sorted_tables)).encode()


def end_run(alive: int) -> None:
    """Drop the run's template databases, and stop and remove its servers."""
    _drop_templates()
    postgres_server.end_run(alive)


def end_process() -> None:
    """Drop the reused databases of this process."""
    _kept.close()


@contextlib.contextmanager
def database(*, migrated: bool = True, also: Callable[[str], object] | None = None) -> Generator[str]:
    """Create a database, return its URL, and drop it afterwards, even with open connections.

    Args:
        migrated: Whether it has the service's schema.
        also: A further setup, run once, with the URL for PostgreSQL's own clients.
    """
    name = f"contentsvc_test_{uuid.uuid4().hex}"
    template = _template(also) if migrated else "template0"
    with _server() as server:
        server.execute(_statement("CREATE DATABASE {} TEMPLATE {} STRATEGY wal_log", name, template))
    try:
        yield _named(_address(), name)
    finally:
        with _server() as server:
            server.execute(_statement("DROP DATABASE {} WITH (FORCE)", name))


@contextlib.contextmanager
def emptied() -> Generator[str]:
    """Return the URL of an empty database with the schema, which tests of this process share.

    Creating a database takes longer than most tests; a test must not change the schema.
    """
    url, connection = _emptied.pop() if _emptied else _made()
    yield url
    # Not after a failure: a lock may still be held.
    connection.execute(_EMPTY)
    _emptied.append((url, connection))


@contextlib.contextmanager
def emptying(url: str) -> Generator[Callable[[], None]]:
    """Return a function that deletes all rows of a database."""
    with psycopg.connect(url.replace("+asyncpg", "", 1), autocommit=True) as connection:
        yield lambda: connection.execute(_EMPTY) and None


def _made() -> "tuple[str, psycopg.Connection[tuple[Any, ...]]]":
    url = _kept.enter_context(database())
    return url, _kept.enter_context(psycopg.connect(url.replace("+asyncpg", "", 1), autocommit=True))


def rows(url: str, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Execute a statement directly in a database; return its rows."""
    with psycopg.connect(url.replace("+asyncpg", "", 1), autocommit=True) as connection:
        cursor = connection.execute(query.encode(), parameters)
        return cursor.fetchall() if cursor.description else []


def _address() -> str:
    """Return the server's URL for its own clients; start the server if needed."""
    return os.environ.get(VARIABLE, "").replace("+asyncpg", "", 1) or shared_server()


@contextlib.contextmanager
def _server() -> Generator["psycopg.Connection[tuple[Any, ...]]"]:
    try:
        connection = psycopg.connect(_address(), autocommit=True)
    except psycopg.OperationalError as exc:
        message = f"the server that {VARIABLE} names cannot be used: {exc}"
        raise NoPostgres(message) from exc
    with connection:
        yield connection


def _statement(form: str, *names: str) -> sql.Composed:
    return sql.SQL(form).format(*map(sql.Identifier, names))  # pyright: ignore[reportArgumentType]  # a constant


def _named(address: str, name: str) -> str:
    """Replace the database's name in a URL, for the service."""
    scheme, _, rest = address.partition("://")
    location, _, options = rest.partition("?")
    return f"{scheme}+asyncpg://{location.rpartition('/')[0]}/{name}" + (f"?{options}" if options else "")


@functools.cache
def _template(also: Callable[[str], object] | None = None) -> str:
    """Return a database with the schema, created once for the run: a copy is faster than a migration."""
    folder = run_folder()
    what = "template" if also is None else f"template_{also.__name__}"
    name = _template_name(what)
    with once(folder, what) as first:
        if first:
            with _server() as server:
                server.execute(_statement("CREATE DATABASE {} TEMPLATE template0", name))
            # In a thread of its own: the caller may run inside an event loop.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _migrate(_named(_address(), name))).result()
                if also is not None:
                    thread.submit(also, _named(_address(), name).replace("+asyncpg", "", 1)).result()
    return name


def _template_name(what: str) -> str:
    return f"contentsvc_{what}_{run_folder().name.replace('-', '_')}"


async def _migrate(url: str) -> None:
    created = Database(url)
    await upgrade(created)
    await created.dispose()


def _drop_templates() -> None:
    if os.environ.get(VARIABLE):
        # Not those of files.
        created = [each.stem for each in run_folder().glob("template*.lock") if "." not in each.stem]
        for what in created:
            with _server() as server:
                server.execute(_statement("DROP DATABASE IF EXISTS {} WITH (FORCE)", _template_name(what)))
