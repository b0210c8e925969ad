"""Clients that hold connections: silent ones, slow ones, and ones that do not read."""

import asyncio
import contextlib
from collections import Counter
from enum import Enum
from time import monotonic
from typing import Final, final

from attrs import define
from tests.server_process import LOOPBACK, Hook

_EVERY_S: Final = 1.0
#: The bytes of a head that are sent one by one; the rest of the head follows at once, and the body byte by byte.
_OF_HEAD: Final = 15


class Manner(Enum):
    """The manner in which a connection is held."""

    SILENT = "silent"
    HEAD = "head by bytes"
    BODY = "body by bytes"
    BOTH = "head, then body by bytes"
    UNREAD = "answers unread"


@final
@define(kw_only=True)
class Held:
    """The end of a held connection."""

    manner: Manner
    #: The time until the server closed the connection, in seconds; ``None``: it is still open.
    closed_after_s: float | None = None
    #: The status of the answer, if any.
    answer: str = ""


async def hold(port: int, hook: Hook, manner: Manner, *, for_s: float) -> Held:
    """Hold a connection until the server ends it, or the time is over."""
    held = Held(manner=manner)
    try:
        reader, writer = await asyncio.open_connection(LOOPBACK, port, limit=1024)
    except OSError:
        held.closed_after_s, held.answer = 0.0, "refused"
        return held
    began = monotonic()
    try:
        async with asyncio.timeout(for_s):
            if manner is Manner.UNREAD:
                await _never_read(writer, hook)
                # It ignores all answers.
                held.answer = ""
            else:
                talking = asyncio.create_task(_talk(writer, hook, manner))
                try:
                    held.answer = (await reader.readline()).decode("latin-1").strip()
                    await reader.read(4096)
                finally:
                    talking.cancel()
            held.closed_after_s = monotonic() - began
    except TimeoutError:
        pass
    except OSError:
        held.closed_after_s = monotonic() - began
    finally:
        writer.transport.abort()
    return held


def summary(held: list[Held]) -> str:
    """Return the results as a line of text."""
    parts: list[str] = []
    for manner in Manner:
        own = [each for each in held if each.manner is manner]
        closed = [each.closed_after_s for each in own if each.closed_after_s is not None]
        answers = Counter(each.answer.removeprefix("HTTP/1.1 ") or "closed" for each in own)
        last = f"the last after {max(closed):.0f} s" if closed else "none"
        parts.append(f"{manner.value}: {len(closed)} of {len(own)} ended, {last} ({', '.join(map(str, answers))})")
    return "; ".join(parts)


async def _talk(writer: asyncio.StreamWriter, hook: Hook, manner: Manner) -> None:
    with contextlib.suppress(OSError):
        if manner is Manner.SILENT:
            return
        begin = f"POST {hook.path} HTTP/1.1\r\nHost: {LOOPBACK}\r\n".encode()
        head = begin + b"Content-Length: 4096\r\nContent-Type: application/json\r\n\r\n"
        slowly = {Manner.HEAD: len(begin), Manner.BODY: 0, Manner.BOTH: _OF_HEAD}[manner]
        for byte in head[:slowly]:
            await _say(writer, bytes([byte]))
        if manner is not Manner.HEAD:
            await _say(writer, head[slowly:])
        while True:
            await _say(writer, b"x")


async def _say(writer: asyncio.StreamWriter, what: bytes) -> None:
    writer.write(what)
    await writer.drain()
    await asyncio.sleep(_EVERY_S)


async def _never_read(writer: asyncio.StreamWriter, hook: Hook) -> None:
    """Request more than fits into the buffers, and read nothing."""
    del hook
    ask = f"GET /schema/openapi.json HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n".encode()
    while not writer.transport.is_closing():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EVERY_S):
                writer.write(ask)
                await writer.drain()
        await asyncio.sleep(0.05)
