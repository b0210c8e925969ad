"""Diagnostics of a database in any state: nothing is created or changed."""

import asyncio
import contextlib
import glob
import stat
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, final

from attrs import frozen

from contentsvc_adapters.engine.dbos_tables import tables_version
from contentsvc_adapters.engine.membership import engines_of
from contentsvc_adapters.offload import in_thread
from contentsvc_adapters.sealing import FernetSealer, UnusableKey, key_beside
from contentsvc_adapters.sql import HEAD, Database, SqlStores, check_known, is_older, revision
from contentsvc_adapters.sql.backlog import Backlog, abandoned_documents, backlog, mail_backlog, message_backlog
from contentsvc_adapters.sql.condition import (
    SPILLED,
    DatabaseServer,
    FileState,
    check_room,
    dangling,
    file_state,
    forbidden,
    free_space,
    heartbeats,
    organization_ids,
    providers,
    sealed_secrets,
    server,
)
from contentsvc_adapters.sql.dialects.dialect import OWN_TABLES, RIGHT_FILE
from contentsvc_adapters.sql.ids import ids_beginning_with
from contentsvc_core.errors import SecretUnreadable
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.stores import NO_KEY

__all__ = [
    "HEAD",
    "OWN_TABLES",
    "RIGHT_FILE",
    "SPILLED",
    "Backlog",
    "DatabaseInspector",
    "DatabaseServer",
    "FileState",
    "Keys",
    "check_known",
    "engines_of",
    "file_state",
    "free_space",
    "in_thread",
    "is_older",
    "open_as_it_is",
    "tables_version",
]

#: The maximum number of sealed values that the key is tried on; more would give no further information.
_TRIED: Final = 500
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
#: A folder without these modes protects its files from other users.
_OTHERS_ENTER: Final = stat.S_IXGRP | stat.S_IXOTH


@final
@frozen(kw_only=True)
class Keys:
    """The result of trying the key on stored secrets."""

    source: str | None
    #: The number of stored secrets that were tried.
    tried: int = 0
    #: The number of secrets that the key does not open.
    unreadable: int = 0
    #: Whether other users of this machine may read the key file.
    open_to_others: bool = False
    #: The key file of a database whose key is set by a setting.
    unused_file: Path | None = None


class _Unsealed:
    """A sealer for stores that never seal or open anything."""

    def seal(self, secret: str) -> str:
        del secret
        raise NotImplementedError

    def open(self, sealed: str) -> str:
        del sealed
        raise NotImplementedError


@final
class DatabaseInspector:
    """Queries of a database in any state. All of them raise the core's errors."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        #: For reading; they cannot open secrets.
        self.stores: Final = SqlStores(database, _Unsealed())
        #: Returns the schema's revision; ``None``: there is no schema yet.
        self.revision: Final = partial(revision, database)
        self.forbidden: Final = partial(forbidden, database)
        self.check_room: Final = partial(check_room, database)
        self.ids: Final = partial(ids_beginning_with, database)
        self.backlog: Final = partial(backlog, database)
        self.mails: Final = partial(mail_backlog, database)
        self.messages: Final = partial(message_backlog, database)
        self.abandoned_documents: Final = partial(abandoned_documents, database)
        self.dangling: Final = partial(dangling, database)
        self.heartbeats: Final = partial(heartbeats, database)
        self.organization_ids: Final = partial(organization_ids, database)
        self.providers: Final = partial(providers, database)

    async def server(self) -> DatabaseServer:
        return await server(self._database)

    async def keys(self) -> Keys:
        sealed = await sealed_secrets(self._database, limit=_TRIED)
        return await asyncio.to_thread(_tried, self._settings, sealed)


@contextlib.asynccontextmanager
async def open_as_it_is(settings: Settings, *, patience_s: float = 3.0) -> AsyncGenerator[DatabaseInspector]:
    """Open the database; a SQLite file must exist. ``patience_s`` limits the time of closing, in seconds."""
    database = Database(settings.database_url, busy_timeout_ms=1000, readers=4, pool_size=4)
    try:
        yield DatabaseInspector(settings, database)
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(database.dispose(), patience_s)


def files_open_to_others(database: Path) -> Sequence[Path]:
    """Return the files of a SQLite database that other users of this machine may read or lock."""
    if not database.parent.stat().st_mode & _OTHERS_ENTER:
        return ()
    files = database.parent.glob(f"{glob.escape(database.name)}*")
    opened = {file for file in files if file.suffix != ".key" and file.stat().st_mode & _OTHERS}
    logs = {file.with_name(f"{file.name}-{log}") for file in opened for log in ("wal", "shm")}
    return sorted(opened - logs)


def _tried(settings: Settings, sealed: Sequence[str]) -> Keys:
    path = settings.database_file.with_name(f"{settings.database_file.name}.key")
    source, open_to_others = "CONTENTSVC_SECRET_KEY", False
    unused = path if settings.is_sqlite and settings.secret_key and path.exists() else None
    text = settings.secret_key
    if not text and not settings.is_sqlite:
        raise UnusableKey(NO_KEY)
    if not text:
        if not sealed and not path.exists():
            return Keys(source=None)
        text = key_beside(settings.database_file, may_make=False)
        source, open_to_others = f"the file {path}", bool(path.stat().st_mode & _OTHERS)
    sealer = FernetSealer(text)
    unreadable = sum(not _opens(sealer, secret) for secret in sealed)
    return Keys(
        source=source, tried=len(sealed), unreadable=unreadable, open_to_others=open_to_others, unused_file=unused
    )


def _opens(sealer: FernetSealer, sealed: str) -> bool:
    try:
        sealer.open(sealed)
    except SecretUnreadable:
        return False
    return True
