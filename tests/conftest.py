"""What holds for every test."""

import gc
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from tests import postgres

# How long an example takes says something about the machine, and nothing about the code.
settings.register_profile("contentsvc", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("contentsvc")

_RUN = pytest.StashKey[int]()


#: Campaigns run processes by the half-dozen: one worker takes them all, one after the other and first, since two at a
#: time would only wait for each other. What else takes long comes first with the other workers, so that none ends with
#: it; what a file's tests share, they find with one worker.
_CAMPAIGNS: Final = (
    *("test_nodes_short.py", "test_crash_short.py", "test_deploy.py"),
    *("test_schedules_on_nodes.py", "test_limits_processes.py"),
)
_LONG: Final = ("test_state_machine.py", "test_document.py", "test_wire.py", "test_serving_processes.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
    heads: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for name in _CAMPAIGNS:
        heads[0] += [item for item in items if item.path.name == name]
    for number, name in enumerate(_LONG, start=1):
        heads[number % workers] += [item for item in items if item.path.name == name]
    others = [item for item in items if item.path.name not in {*_CAMPAIGNS, *_LONG}]
    # As the plug-in cuts them; what one of them has not begun when the others are done, they take.
    items.clear()
    left = sum(map(len, heads)) + len(others)
    for number, head in enumerate(heads):
        length = left // (workers - number)
        taken = max(0, length - len(head))
        items += [*head, *others[:taken]]
        del others[:taken]
        left -= len(head) + taken


def pytest_collection_finish() -> None:
    # Half a million objects that are there to the end: looked through again and again, they are a tenth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_configure(config: pytest.Config) -> None:
    # Once for a run, not once for each of its workers.
    if not hasattr(config, "workerinput"):
        config.stash[_RUN] = postgres.begin_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    postgres.end_process()
    if _RUN in config.stash:
        postgres.end_run(config.stash[_RUN])
