import errno
import os
import shlex
import socket
import sqlite3
import time
from functools import partial
from pathlib import Path
from typing import Final

from rich.filesize import decimal
from sqlalchemy.engine import make_url

from contentsvc_cli.operate.doctor.findings import Finding, Findings, fault, ok, skipped, warning
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.diagnostics import (
    HEAD,
    OWN_TABLES,
    RIGHT_FILE,
    SPILLED,
    DatabaseInspector,
    DatabaseServer,
    FileState,
    Keys,
    check_known,
    file_state,
    files_open_to_others,
    free_space,
    in_thread,
    is_older,
)

#: Oldest supported version (docs/operations.md).
_OLDEST_POSTGRESQL: Final = (15,)
_ENDS_WHAT_STANDS: Final = (17,)
#: Warning size of the write-ahead log, in bytes; long readers keep it from being checkpointed (`checkpoints.py`).
_LARGE_LOG: Final = 64 * 1024 * 1024
_LITTLE_SPACE: Final = 1024**3
_NO_SPACE: Final = 100 * 1024**2
_TO_UTF8: Final = (
    "back it up, and restore it into a database with the encoding UTF8 (docs/operations.md, Backup, has the commands)"
)


async def reach(settings: Settings, database: DatabaseInspector) -> tuple[Findings, str | None]:
    """Check the connection; also return why further checks are impossible, or ``None``."""
    name = "database"
    if settings.is_sqlite:
        file = settings.database_file
        if not file.is_file():
            return [_missing(settings)], "there is no database yet"
    else:
        unresolved = await _unresolved(settings)
        if unresolved is not None:
            return [fault(name, unresolved, "look at the host in CONTENTSVC_DATABASE_URL, and at DNS")], unresolved
    began = time.perf_counter()
    server = await database.server()
    ms = (time.perf_counter() - began) * 1000
    where = f"the file {settings.database_file}" if settings.is_sqlite else make_url(settings.database_url).database
    sentence = f"{server.kind} {server.version}, {where}, answered in {ms:.0f} ms; {_durable(server)}"
    if settings.is_sqlite and (here := _other_here(settings.database_file)) is not None:
        return [warning(name, f"{sentence}; this folder has another {here.name}", _to_use(here))], None
    if server.kind == "PostgreSQL" and server.numbers < _OLDEST_POSTGRESQL:
        return [warning(name, sentence, "use PostgreSQL 15 or newer; older versions are not tested")], None
    if server.kind == "PostgreSQL" and server.numbers < _ENDS_WHAT_STANDS:
        # Not a warning: the version is supported, and permanent warnings would be ignored.
        sentence = f"{sentence}; version 17 and newer release the locks of a stalled process"
    return [ok(name, sentence)], None


def _missing(settings: Settings) -> Finding:
    folder = settings.database_file.absolute().parent
    if (here := _other_here(settings.database_file)) is not None:
        sentence = f"there is no database at '{settings.database_file}', but this folder has a {here.name}"
        return fault("database", sentence, _to_use(here))
    if settings.database_file.is_dir():
        advice = "name a file in CONTENTSVC_DATABASE_URL, such as one in this folder"
        return fault("database", f"'{settings.database_file}' is a folder", advice)
    if not folder.is_dir():
        advice = "create the folder, or name another one in CONTENTSVC_DATABASE_URL"
        return fault("database", f"the folder {folder} does not exist", advice)
    if not os.access(folder, os.W_OK | os.X_OK):
        advice = "give the user of the server write access, or name another folder in CONTENTSVC_DATABASE_URL"
        return fault("database", f"the folder {folder} is not writable", advice)
    return warning(
        "database",
        f"there is no database at '{settings.database_file}' yet",
        "'contentsvc init' or 'contentsvc serve' creates it; if there should be one, change to its folder, or set "
        "CONTENTSVC_DATABASE_URL as for the server",
    )


def _other_here(file: Path) -> Path | None:
    """Return the file of the same name in this folder if it is another one, as in a copied folder."""
    here = Path.cwd() / file.name
    return here if here.is_file() and not (file.exists() and here.samefile(file)) else None


def _to_use(here: Path) -> str:
    return (
        "if you copied this folder, its contentsvc.env may name the old one; to use the file here, write "
        f"CONTENTSVC_DATABASE_URL=sqlite+aiosqlite:///{here}"
    )


async def _unresolved(settings: Settings) -> str | None:
    url = make_url(settings.database_url)
    for host in str(url.query.get("host") or url.host or "").split(","):
        if host and not host.startswith("/"):
            try:
                await in_thread(partial(socket.getaddrinfo, host, None))
            except OSError as exc:
                return f"the name '{host}' has no address: {exc.strerror or exc}"
    return None


def _durable(server: DatabaseServer) -> str:
    word = "synchronous_commit" if server.kind == "PostgreSQL" else "synchronous"
    return f"{word} is {server.synchronous}"


async def schema(settings: Settings, database: DatabaseInspector) -> tuple[Findings, str | None]:
    name = "schema"
    if (forbidden := await database.forbidden()) is not None:
        advice = f"{OWN_TABLES}; after a restore, docs/operations.md, Backup, has the command"
        found = fault(name, f"{forbidden}: deliveries are answered with 500", advice)
        return [found], "the database role lacks permissions"
    current = await database.revision()
    if is_older(current):
        check_known(current)
    if current is not None and (encoding := (await database.server()).encoding) != "UTF8":
        sentence = f"the database has the encoding {encoding}: deliveries with other characters are refused"
        return [fault(name, sentence, _TO_UTF8)], None
    if current == HEAD:
        return [ok(name, f"revision {HEAD}, as this version needs it")], None
    if is_older(current):
        backup = "" if current is None else "make a backup, then "
        sentence = f"revision {current} of {HEAD}"
        why = "the schema is older than this version"
        if current is None:
            sentence, why = f"there is no schema yet; this version needs {HEAD}", "there is no schema yet"
        if settings.is_sqlite:
            also = "'serve' and other commands also " + ("create it" if current is None else "upgrade it")
            return [warning(name, sentence, f"{backup}run 'contentsvc migrate'; {also}")], why
        return [fault(name, sentence, f"{backup}run 'contentsvc migrate' once")], why
    advice = "install the version that upgraded it, or a newer one, or restore the backup"
    return [fault(name, f"revision {current}, which this version does not know (it knows {HEAD})", advice)], None


async def file(settings: Settings) -> Findings:
    name = "file"
    if not settings.is_sqlite:
        return []
    if not settings.database_file.is_file():
        return [skipped(name, "there is no database yet")]
    return [_usable(await in_thread(partial(file_state, settings.database_file))), *await _closed_to_others(settings)]


async def _closed_to_others(settings: Settings) -> Findings:
    database = settings.database_file.absolute()
    databases = (database, database.with_name("engine.db"))
    open_files = {path: await in_thread(partial(files_open_to_others, path)) for path in databases}
    names = [file.name for files in open_files.values() for file in files]
    if not names:
        return []
    # With the logs, which are temporary.
    commands = [f"{shlex.quote(str(path))}*" for path, files in open_files.items() if files]
    sentence = f"other users of this machine can read {', '.join(names)}"
    return [warning("access", sentence, f"chmod 600 {' '.join(commands)}")]


def _usable(state: FileState) -> Finding:
    name = "file"
    if state.fault is not None:
        return fault(name, f"the file cannot be used: {state.fault}", _why_not_writable(state.fault))
    sentence = f"writable, {decimal(state.size)}, journal mode {state.journal_mode}, log {decimal(state.log_size)}"
    if state.journal_mode != "wal":
        advice = "the first 'contentsvc serve' changes it to wal; if it does not, use a local disk"
        return warning(name, sentence, advice)
    if state.log_size > _LARGE_LOG:
        advice = "a program has been reading for long: end it; the server then checkpoints the log"
        return warning(name, sentence, advice)
    return ok(name, sentence)


def _why_not_writable(cause: sqlite3.Error) -> str:
    # An extended code has the primary one in its lowest byte.
    match getattr(cause, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another program has locked it: end that program or its transaction"
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return RIGHT_FILE
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return "see the check 'disk'; if the disk has room, look for its errors in the system's log"
        case _:
            pass
    return (
        f"give the user with id {os.geteuid()} write access to the file, its '-wal' and '-shm' files and the folder, "
        "or run this as the server's user; mount a read-only file system for writing"
    )


async def disk(settings: Settings, database: DatabaseInspector) -> Findings:
    name = "disk"
    if not settings.is_sqlite:
        await database.check_room()
        return [ok(name, f"the disk of the database's server has room for {decimal(SPILLED)} more")]
    folder = settings.database_file.absolute().parent
    try:
        free, total = await in_thread(partial(free_space, folder))
    except OSError as exc:
        return [skipped(name, "the folder does not exist" if exc.errno == errno.ENOENT else str(exc.strerror))]
    sentence = f"{decimal(free)} of {decimal(total)} are free in {folder}"
    advice = "free some disk space: when the disk is full, deliveries are answered with 503"
    if free < _NO_SPACE:
        return [fault(name, sentence, advice)]
    return [warning(name, sentence, advice)] if free < _LITTLE_SPACE else [ok(name, sentence)]


async def key(database: DatabaseInspector) -> Findings:
    name = "key"
    keys = await database.keys()
    if keys.source is None:
        return [ok(name, "there is no key yet; it is created when it is needed")]
    if keys.unreadable:
        sentence = f"{keys.source} does not decrypt {keys.unreadable} of {keys.tried} stored secrets"
        advice = "set CONTENTSVC_SECRET_KEY to the new key and the previous one: NEW,OLD"
        if keys.unused_file is not None:
            advice += f"; the file {keys.unused_file} may have it"
        return [fault(name, sentence, advice)]
    if keys.open_to_others:
        advice = f"chmod 600 {keys.source.removeprefix('the file ')}"
        return [warning(name, f"{_fits(keys)}, but other users of this machine can read it", advice)]
    return [ok(name, _fits(keys))]


def _fits(keys: Keys) -> str:
    if not keys.tried:
        return f"{keys.source} is valid; no secrets are stored yet"
    return f"{keys.source} decrypts the stored secrets ({keys.tried} tried)"
