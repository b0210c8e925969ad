"""The parts of the work, and the stacks that belong to them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, final

from attrs import frozen

#: The part of all remaining frames.
OTHER: Final = "the interpreter and the rest"


@final
@frozen(kw_only=True)
class Part:
    """A part of the work, and the frames that belong to it."""

    name: str
    #: Patterns of frames as the profiler writes them: ``function (path:line)``.
    frames: str


#: A stack belongs to the part of its innermost frame that any part matches. Shared libraries, such as `re` and attrs'
#: own code, count for their callers.
PARTS: Final = (
    Part(name="verify the signature", frames=r"webhooks/signature\.py|\bhmac\.py"),
    Part(name="parse the body", frames=r"providers/native\.py|\bdecode_aside\b|contentsvc_http/aside\.py"),
    Part(name="answer", frames=r"contentsvc_core/events/wire\.py|webhooks/outcomes\.py|contentsvc_http/responses\.py"),
    Part(name="settlement queue", frames=r"sql/settling/queue\.py"),
    Part(name="checkpoints, in a thread of their own", frames=r"dialects/checkpoints\.py"),
    Part(
        name="SQL: statements and commit",
        frames=r"\b(sqlalchemy|asyncpg|contentsvc_adapters/sql)/",
    ),
    Part(
        name="decide",
        frames=r"contentsvc_core/(webhooks|workflows|usecases|content|journal|identifiers|text|timestamps)"
        r"|contentsvc_adapters/(ids|clocks)\.py",
    ),
    Part(
        name="receiver's HTTP",
        frames=r"contentsvc_http/(webhooks|deliveries|exchange|intake)\.py|benchmarks/serving\.py",
    ),
    Part(name="our middlewares", frames=r"contentsvc_http/"),
    Part(name="Litestar", frames=r"\blitestar/"),
    Part(name="uvicorn, httptools and the event loop", frames=r"\b(uvicorn|uvloop|asyncio)/|\bselectors\.py"),
)
#: Frames of threads that wait for work: the profiler counts some of them as busy.
_WAITING: Final = re.compile(
    r"_worker \(concurrent/futures/thread\.py|WriterThread\._work \(|_connection_worker_thread \(aiosqlite/"
    r"|\bwait \(threading\.py|\bget \(queue\.py"
)
_KNOWN: Final = tuple((part.name, re.compile(part.frames)) for part in PARTS)


def part_of(stack: str) -> str:
    """Return the part of a stack, whose frames are separated by ``;``, the outermost first."""
    for frame in reversed(stack.split(";")):
        for name, frames in _KNOWN:
            if frames.search(frame.replace("\\", "/")):
                return name
    return OTHER


def is_waiting(stack: str) -> bool:
    """Check whether a stack is that of an idle thread."""
    return _WAITING.search(stack.rpartition(";")[2]) is not None


def shares(lines: Iterable[str]) -> Mapping[str, float]:
    """Return each part's share of the samples of a profile: lines of a stack and its number of samples.

    Raises:
        ValueError: There are no samples.
    """
    seen: Counter[str] = Counter()
    for line in lines:
        stack, _, number = line.strip().rpartition(" ")
        if stack and not is_waiting(stack):
            seen[part_of(stack)] += int(number)
    if not seen:
        message = "the profile holds no samples"
        raise ValueError(message)
    return {name: number / seen.total() for name, number in seen.items()}
