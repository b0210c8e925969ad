"""Trials of mutants: each in a process of its own, forked from one with the core and its tests.

Many modules, tables and methods of attrs refer to the functions of the core. So a mutant
does not replace a module: it replaces the code object of the function.
"""

import ctypes
import gc
import os
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import CodeType, FunctionType
from typing import Final, NoReturn, final

import pytest
from attrs import frozen
from hypothesis import Phase, settings
from tests.mutation.mutants import CORE, ROOT, Mutant
from tests.mutation.watching import TestsFail, Watched, forget_what_is_remembered, relative, watch, with_following

#: Options of pytest, besides ``pyproject.toml``: no report, no workers.
OPTIONS: Final = (
    *("-o", "addopts=", "-o", "timeout=0", "-p", "no:schemathesis", "-p", "no:xdist", "-p", "no:cacheprovider"),
    *("-p", "no:faulthandler", "-p", "no:randomly", "--assert=plain", "--capture=no", "--tb=no", "-q", "-q"),
    *("--no-header", "--no-summary"),
)
_SURVIVED: Final = 0
_KILLED: Final = 3
#: The limit of a test: a multiple of its watched time, plus seconds of processor time.
_LONGER: Final = 3
_MORE_S: Final = 2.0
#: Wall-clock seconds: for a mutant that waits without end.
_WAITING_S: Final = 60.0
#: The watched time, in seconds, of the tests that are tried for a mutant: the fastest ones that reach it.
_ENOUGH_S: Final = 30.0
_MEMORY: Final = 4 * 1024**3
#: The ends of skipped and expected failures.
NO_FAILURES: Final = (pytest.skip.Exception, pytest.xfail.Exception)

#: A function: its file, its name, its first line.
_Key = tuple[str, str, int]


class End(Enum):
    """The result of a mutant."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"
    #: It survived, and no test has reached its line.
    UNREACHED = "not reached"


@final
@frozen(kw_only=True)
class Trial:
    """A mutant and its result."""

    mutant: Mutant
    end: End


@final
class Campaign:
    """A plug-in of pytest that runs the collected tests for each mutant."""

    def __init__(self, mutants: Sequence[Mutant], on_trial: Callable[[Trial], None], *, jobs: int = 1) -> None:
        self.trials: list[Trial] = []
        #: Why some mutants could not be tried.
        self.trouble: str | None = None
        self._mutants = mutants
        self._on_trial = on_trial
        self._jobs = jobs
        self._judge: Callable[[str], None] | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Make Hypothesis deterministic, and stop at the first failure."""
        quiet()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Record the lines that each test reaches; then try each mutant."""
        try:
            self._try_all(session)
        except TestsFail as exc:
            self.trouble = str(exc)
        return True

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Record a failure of a test as soon as it happens."""
        if self._judge is not None and call.excinfo is not None and not call.excinfo.errisinstance(NO_FAILURES):
            self._judge(item.nodeid)

    def _try_all(self, session: pytest.Session) -> None:
        if session.testsfailed:
            message = "tests cannot be collected"
            raise TestsFail(message)
        forget_what_is_remembered()
        items = session.items
        watched = watch(items, self._run_apart)
        # Frozen objects are hidden from ``gc.get_objects``.
        gc.unfreeze()
        held = _functions()
        # Frozen objects are not copied by a forked process that only reads them.
        gc.freeze()
        running: dict[int, Mutant] = {}
        for mutant in self._mutants:
            chosen = _reaching(mutant, items, watched)
            if not chosen:
                self._end(mutant, End.UNREACHED)
                continue
            while len(running) >= self._jobs:
                self._await(running)
            running[self._forked(mutant, chosen, held)] = mutant
        while running:
            self._await(running)

    def _end(self, mutant: Mutant, end: End) -> None:
        trial = Trial(mutant=mutant, end=end)
        self.trials.append(trial)
        self._on_trial(trial)

    def _await(self, running: dict[int, Mutant]) -> None:
        process, status = os.wait()
        mutant = running.pop(process, None)
        if mutant is not None:
            self._end(mutant, ended(status))

    def _run_apart(self, run: Callable[[], None]) -> None:
        """Run tests in a process of its own."""
        reading, writing = os.pipe()

        def judge(test: str) -> None:
            os.write(writing, test.encode())
            die()

        def watching() -> None:
            self._judge = judge
            run()

        process = forked(watching)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as on_trial:
            failed = on_trial.read()
        _, status = os.waitpid(process, 0)
        if status != _SURVIVED:
            message = f"without any fault, a test fails: {failed or status}"
            raise TestsFail(message)

    def _forked(
        self, mutant: Mutant, chosen: Sequence[tuple[pytest.Item, float]], held: Mapping[_Key, list[FunctionType]]
    ) -> int:
        # Here, and not in the process of the trial, where each failure counts as a kill.
        code, functions = _placed(mutant, held)

        def run() -> None:
            self._judge = die
            for function in functions:
                function.__code__ = code
            for (item, seconds), (_, following) in zip(
                chosen, with_following([item for item, _ in chosen]), strict=True
            ):
                limit(_MORE_S + _LONGER * seconds)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

        return forked(run)


def quiet() -> None:
    """Make Hypothesis use the same examples each time, store none, and shrink none."""
    settings.register_profile(
        "mutation",
        parent=settings.get_profile("contentsvc"),
        max_examples=30,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        report_multiple_bugs=False,
        print_blob=False,
    )
    settings.load_profile("mutation")


def forked(run: Callable[[], None]) -> int:
    """Run a function in a silent process of its own; an exception counts as a kill."""
    process = os.fork()
    if process:
        return process
    code = _KILLED
    try:
        _die_with_the_parent()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.RLIM_INFINITY))
        run()
        code = _SURVIVED
    finally:
        # Nothing of the parent's is flushed, closed or removed here.
        os._exit(code)


def ended(status: int) -> End:
    """Return the result of a mutant from the status of its process."""
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in {signal.SIGPROF, signal.SIGALRM}:
        return End.TIMED_OUT
    return End.SURVIVED if status == _SURVIVED else End.KILLED


def limit(seconds: float) -> None:
    """Limit this process's processor time and its wall-clock time."""
    for each in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(each, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, _WAITING_S + seconds)


def _placed(mutant: Mutant, held: Mapping[_Key, list[FunctionType]]) -> tuple[CodeType, list[FunctionType]]:
    """Return a mutant's code, and every function that has the code without the fault."""
    assert mutant.function is not None
    name, line = mutant.function
    found = [code for code in _codes(mutant.code()) if (code.co_qualname, code.co_firstlineno) == (name, line)]
    functions = held.get((str(mutant.path), name, line), [])
    if not found or not functions:
        message = f"there is no function to put it into: {mutant.name}"
        raise TestsFail(message)
    return found[0], functions


def die(_test: str = "") -> NoReturn:
    """End this process: its mutant is killed."""
    os._exit(_KILLED)


def _die_with_the_parent() -> None:
    # Linux signals the parent's death on request, so no mutant continues after a killed campaign.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _functions() -> dict[_Key, list[FunctionType]]:
    """Return the functions of the core that any object holds, by file, name and first line."""
    found: defaultdict[_Key, list[FunctionType]] = defaultdict(list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(str(CORE)):
            code = each.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(each)
    return dict(found)


def _reaching(
    mutant: Mutant, items: Sequence[pytest.Item], watched: Sequence[Watched]
) -> list[tuple[pytest.Item, float]]:
    """Return the tests that reach a mutant's lines, the fastest first."""
    path, lines = relative(mutant.path), frozenset(mutant.lines)
    found = [
        (item, each.seconds)
        for item, each in zip(items, watched, strict=True)
        if not lines.isdisjoint(each.reached.get(path, ()))
    ]
    found.sort(key=lambda pair: pair[1])
    total = 0.0
    chosen: list[tuple[pytest.Item, float]] = []
    for item, seconds in found:
        total += seconds
        if chosen and total > _ENOUGH_S:
            break
        chosen.append((item, seconds))
    return chosen


def collect(tests: Sequence[str], plugin: object) -> int:
    """Run pytest's collection on these tests, with a plug-in for the rest."""
    os.chdir(ROOT)
    return int(pytest.main([*OPTIONS, *tests], plugins=[plugin]))
