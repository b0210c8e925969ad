import asyncio
import time
from functools import partial
from typing import Final

from contentsvc_cli.operate.doctor.findings import Findings, fault, ok, warning
from contentsvc_core.timestamps import from_ms
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.diagnostics import DatabaseInspector, engines_of, in_thread, tables_version

#: Warning limit for the age of a due run, in seconds: no executor takes it.
_LONG_S: Final = 60.0
#: The time for observing heartbeats, in seconds: one every 2 seconds, later under load.
WATCHED_S: Final = 4.5
_LOOK_EVERY_S: Final = 0.25
_MS: Final = 1000
#: The number of rows of each table whose references are checked: some 50 ms.
_CHECKED: Final = 10_000


async def engine(settings: Settings) -> Findings:
    name = "engine"
    if settings.engine_in_force == "inline":
        return [ok(name, "inline: run steps are stored in the database")]
    version = await in_thread(partial(tables_version, settings.engine_database_url))
    if version is not None:
        return [ok(name, f"dbos: the database answers; its tables have version {version}")]
    if settings.is_sqlite:
        return [ok(name, "dbos: no tables yet; 'contentsvc serve' creates them in engine.db")]
    return [fault(name, "dbos: its tables are missing", "run 'contentsvc migrate' with the settings of the server")]


async def runs(database: DatabaseInspector) -> Findings:
    name = "runs"
    unended = await database.backlog(from_ms(time.time_ns() // _MS // _MS))
    sentence = f"{unended.pending} pending, {unended.running} running"
    if unended.oldest_due_s:
        sentence += f"; the oldest has been due for {duration(unended.oldest_due_s)}"
    if unended.oldest_due_s > _LONG_S:
        advice = "check the executors below, and the log of 'serve'"
        return [warning(name, sentence, advice)]
    return [ok(name, sentence)]


async def references(database: DatabaseInspector) -> Findings:
    """Check references that the service keeps correct without foreign keys."""
    name = "references"
    dangling = {table: number for table, number in (await database.dangling(limit=_CHECKED)).items() if number}
    if not dangling:
        return [ok(name, f"correct in {_CHECKED:,} rows of each table")]
    tables = ", ".join(f"{number} of {table}" for table, number in dangling.items())
    sentence = f"rows refer to events or organizations that do not exist: {tables}"
    return [fault(name, sentence, "rows were deleted by hand, or the file is damaged: restore the backup")]


async def search(database: DatabaseInspector) -> Findings:
    name = "search"
    documents = await database.abandoned_documents()
    if not documents:
        return [ok(name, "all documents are indexed")]
    sentence = f"{documents} documents are not indexed: indexing failed three times"
    advice = "see 'search document given up' in the log of 'serve'; a document is indexed again when it changes"
    return [warning(name, sentence, advice)]


async def executors(settings: Settings, database: DatabaseInspector) -> Findings:
    name = "executors"
    first = await database.heartbeats()
    if not first:
        advice = "start 'contentsvc serve', or a node with '--role worker'"
        return [warning(name, "there are no executors: runs are not performed", advice)]
    began = time.monotonic()
    silent, gone = set(first), set[str]()
    while silent and time.monotonic() - began < WATCHED_S:
        await asyncio.sleep(_LOOK_EVERY_S)
        now = await database.heartbeats()
        gone = first.keys() - now.keys()
        silent = {executor for executor in silent if now.get(executor) == first[executor]}
    alive = len(first) - len(silent) - len(gone)
    engines = engines_of(first.keys() - silent - gone)
    if len(engines) > 1:
        sentence = (
            f"nodes use different engines, {' and '.join(sorted(engines))}: an interrupted run may repeat its steps"
        )
        return [warning(name, sentence, "set the same CONTENTSVC_ENGINE on all nodes, and restart them")]
    if not silent:
        return [ok(name, f"{alive} alive")]
    sentence = f"{alive} alive; {len(silent)} without a heartbeat for {WATCHED_S:g} s"
    if alive:
        return [warning(name, sentence, "if a node was just killed, wait 15 s: the others take over its runs")]
    # An executor that cannot write, for example on a full disk, has no heartbeat either.
    advice = "if 'contentsvc serve' runs, see 'disk', 'file' and its log; otherwise start it"
    if not settings.is_sqlite:
        advice = "start a node: it takes over their runs"
    return [warning(name, f"{sentence}: runs are not performed", advice)]


def duration(seconds: float) -> str:
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {word}".replace(".0 ", " ")
    return f"{seconds:.1f} s"
