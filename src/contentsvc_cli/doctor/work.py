"""What the doctor finds where runs are performed: the engine, what waits for it, and who works."""

import asyncio
import time
from typing import Final

from contentsvc_cli.doctor.findings import Findings, aside, fault, ok, warning
from contentsvc_core.timestamps import from_ms
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.looking import LookedAt, engine_tables

#: A run that has been due for longer is one that nobody takes, in seconds.
_LONG_S: Final = 60.0
#: Executors are heard every 2 seconds, and under load a little later.
WATCHED_S: Final = 4.5
_LOOK_EVERY_S: Final = 0.25
_MS: Final = 1000


async def engine(settings: Settings) -> Findings:
    """Look at what keeps the steps of runs."""
    name = "engine"
    if settings.engine_in_force == "inline":
        return [ok(name, "inline: the steps of runs are kept in the database itself")]
    version = await aside(lambda: engine_tables(settings))
    if version is not None:
        return [ok(name, f"dbos: its database can be reached, and its tables are at version {version}")]
    if settings.is_sqlite:
        return [ok(name, "dbos: it has no tables yet; 'contentsvc serve' makes them, in engine.db")]
    return [fault(name, "dbos: its tables are not there", "run 'contentsvc migrate' once, with the settings of serve")]


async def runs(database: LookedAt) -> Findings:
    """Look at what waits to be performed."""
    name = "runs"
    left = await database.backlog(from_ms(time.time_ns() // _MS // _MS))
    said = f"{left.pending} pending, {left.running} running"
    if left.oldest_due_s:
        said += f"; the oldest has been due for {duration(left.oldest_due_s)}"
    if left.oldest_due_s > _LONG_S:
        advice = "see whether anybody performs runs (executors), and what the log of 'serve' says of runs"
        return [warning(name, said, advice)]
    return [ok(name, said)]


async def search(database: LookedAt) -> Findings:
    """Check for documents that are not searched."""
    name = "search"
    documents = await database.given_up()
    if not documents:
        return [ok(name, "no document was given up")]
    said = f"given up, because their processing began three times without an end: {documents} documents"
    advice = "look for 'search document given up' in the log of 'serve'; a document is tried again when it changes"
    return [warning(name, said, advice)]


async def executors(settings: Settings, database: LookedAt) -> Findings:
    """Watch for some seconds who says that it lives."""
    name = "executors"
    first = await database.beats()
    if not first:
        advice = "start 'contentsvc serve', or a node with '--role worker'"
        return [warning(name, "there are none: nobody performs runs now", advice)]
    began = time.monotonic()
    silent, gone = set(first), set[str]()
    while silent and time.monotonic() - began < WATCHED_S:
        await asyncio.sleep(_LOOK_EVERY_S)
        now = await database.beats()
        gone = first.keys() - now.keys()
        silent = {executor for executor in silent if now.get(executor) == first[executor]}
    alive = len(first) - len(silent) - len(gone)
    if not silent:
        return [ok(name, f"{alive} alive")]
    said = f"{alive} alive; of {len(silent)} nothing was heard for {WATCHED_S:g} s"
    if alive:
        return [warning(name, said, "nothing, if a node was just killed: the others take its runs over in 15 s")]
    advice = "start 'contentsvc serve'" if settings.is_sqlite else "start a node: it takes over what they have left"
    return [warning(name, f"{said}: nobody performs runs now", advice)]


def duration(seconds: float) -> str:
    """Give a stretch of time for people."""
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {word}".replace(".0 ", " ")
    return f"{seconds:.1f} s"
