"""Settings that hold for every test."""

import gc
from collections.abc import Generator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from _pytest.unraisableexception import gc_collect_iterations_key
from hypothesis import HealthCheck, settings
from tests import postgres, postgres_server
from tests.compiled import share_compiled_statements
from tests.trusted import share_trusted_certificates

settings.register_profile(
    "contentsvc",
    # Examples of one property. New ones with each run; the campaigns (`make fuzz`, `make model`) try many more.
    max_examples=10,
    # The time of an example depends on the machine, not on the code.
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# The second tier repeats all properties.
settings.register_profile("thorough", parent=settings.get_profile("contentsvc"), max_examples=60)
settings.load_profile("contentsvc")

share_compiled_statements()
share_trusted_certificates()

_RUN = pytest.StashKey[int]()
#: Exists once a run of this clone has collected its tests.
_COMPILED = "contentsvc/compiled"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Check that each test of the second tier says why it is there."""
    for item in items:
        for mark in item.iter_markers("slow"):
            if not (mark.args and isinstance(mark.args[0], str) and mark.args[0].strip()):
                message = f"{item.nodeid}: the marker `slow` takes the reason: pytest.mark.slow('starts three nodes')"
                raise pytest.UsageError(message)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """In a new clone, let one process compile what all import; the others wait, and load the result."""
    cache: Any = getattr(session.config, "cache", None)
    if cache is None or not hasattr(session.config, "workerinput") or cache.get(_COMPILED, None):
        return (yield)
    with postgres_server.once(postgres_server.run_folder(), "compiled"):
        collected = yield
        cache.set(_COMPILED, value=True)
        return collected


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Report a passed test once, with its whole duration, where pytest sends five messages to another process."""
    if not hasattr(item.config, "workerinput"):
        return None
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        if report.when == "call":
            report.duration = sum(each.duration for each in reports)
        elif report.passed:
            continue
        item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_collection_finish() -> None:
    # Half a million objects stay until the end. Looking through them again and again is a tenth of the run's time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_configure(config: pytest.Config) -> None:
    # At the end of a process, pytest looks five times for exceptions that nothing has raised: CPython needs one look.
    config.stash[gc_collect_iterations_key] = 1
    # Once for a run, not once for each of its workers.
    if not hasattr(config, "workerinput"):
        config.stash[_RUN] = postgres.begin_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    postgres.end_process()
    if _RUN in config.stash:
        postgres.end_run(config.stash[_RUN])
