"""The lines that each test reaches: recorded once without a fault, and cached until the code changes."""

import functools
import gc
import os
import pickle
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any, Final, final

import pytest
from attrs import field, frozen
from tests.mutation.mutants import CORE, ROOT

_REMEMBERED: Final = ROOT / "build" / "reached.pickle"


@final
@frozen(kw_only=True)
class Watched:
    """The recorded run of a test."""

    #: Its processor time.
    seconds: float
    #: The reached lines of each file of the core, by the file's path within the project.
    reached: Mapping[str, frozenset[int]] = field(repr=False)


class TestsFail(Exception):
    """A test fails without a fault, or there is no place for one: there can be no trials."""

    # Nor is it one of pytest's.
    __test__ = False


def watch(items: Sequence[pytest.Item], run_apart: Callable[[Callable[[], None]], None]) -> list[Watched]:
    """Return the lines that each test reaches.

    Args:
        items: The tests.
        run_apart: Runs tests in another process, so that their caches end with it.

    Raises:
        TestsFail: A test fails.
    """
    digests = _digests(items)
    known: dict[str, tuple[str, Watched]] = {}
    if _REMEMBERED.exists():
        known = pickle.loads(_REMEMBERED.read_bytes())  # noqa: S301  # written by this program
    left = [item for item in items if known.get(item.nodeid, ("",))[0] != digests[item.path]]

    def run() -> None:
        for item, following in with_following(left):
            known[item.nodeid] = (digests[item.path], _watched(item, following))
        # Replaced at once: another campaign may read it meanwhile.
        written = _REMEMBERED.with_suffix(f".{os.getpid()}")
        written.write_bytes(pickle.dumps(known))
        written.replace(_REMEMBERED)

    if left:
        _REMEMBERED.parent.mkdir(exist_ok=True)
        run_apart(run)
        known = pickle.loads(_REMEMBERED.read_bytes())  # noqa: S301  # as above
    return [known[item.nodeid][1] for item in items]


def forget_what_is_remembered() -> None:
    """Empty the caches of the core's functions: a cached result hides a fault, and the test that computed it."""
    for each in gc.get_objects():
        if type(each) is _CACHED and each.__module__.startswith("contentsvc_core"):
            each.cache_clear()


_CACHED: Final[type] = type(functools.cache(forget_what_is_remembered))


def relative(path: str | Path) -> str:
    """Return a file's path within the project: the cache may be copied to another working copy."""
    return str(Path(path).relative_to(ROOT))


def with_following(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Return each test with the next one."""
    return zip(items, [*items[1:], None], strict=True)


def _digests(items: Sequence[pytest.Item]) -> dict[Path, str]:
    """Return a digest of each test file and of all modules that it may run."""
    paths = {item.path for item in items}
    others = [path for folder in ("src", "tests", "campaigns") for path in sorted((ROOT / folder).rglob("*.py"))]
    shared = sha256()
    for path in others:
        if not path.name.startswith("test_") and "mutation" not in path.parts:
            shared.update(path.read_bytes())
    return {path: sha256(shared.digest() + path.read_bytes()).hexdigest() for path in paths}


def _watched(item: pytest.Item, following: pytest.Item | None) -> Watched:
    forget_what_is_remembered()
    reached: defaultdict[str, set[int]] = defaultdict(set)
    notes: dict[str, Callable[..., Any] | None] = {}

    def enter(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any] | None:
        name = frame.f_code.co_filename
        try:
            return notes[name]
        except KeyError:
            notes[name] = _noting(reached[relative(name)]) if name.startswith(str(CORE)) else None
            return notes[name]

    began = os.times()
    threading.settrace(enter)
    sys.settrace(enter)
    try:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # pyright: ignore[reportArgumentType]  # the former value
    took = os.times()
    return Watched(
        seconds=took.user + took.system - began.user - began.system,
        reached={name: frozenset(lines) for name, lines in reached.items()},
    )


def _noting(lines: set[int]) -> Callable[..., Any]:
    def note(frame: FrameType, event: str, _argument: Any) -> Callable[..., Any]:
        if event == "line":
            lines.add(frame.f_lineno)
        return note

    return note
