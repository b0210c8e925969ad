"""What holds for every test."""

import pytest
from hypothesis import HealthCheck, settings
from tests import postgres

# How long an example takes says something about the machine, and nothing about the code.
settings.register_profile("contentsvc", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("contentsvc")

_RUN = pytest.StashKey[int]()


#: What takes long, a campaign or many scripts: each worker of a run begins with some of it, so that none ends with it.
_LONG = (
    *("test_nodes_short.py", "test_crash_short.py", "test_state_machine.py", "test_deploy.py"),
    *("test_schedules_on_nodes.py", "test_limits_processes.py", "test_document.py", "test_wire.py"),
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
    long = [item for item in items if item.path.name in _LONG]
    others = [item for item in items if item.path.name not in _LONG]
    # The long ones of a file stay together, since they share what one has made; those of three nodes share nothing.
    heads: list[list[pytest.Item]] = [[] for _ in range(workers)]
    groups = {item.nodeid if item.path.name == _LONG[0] else item.path.name: None for item in long}
    for number, group in enumerate(groups):
        heads[number % workers] += [item for item in long if group in {item.nodeid, item.path.name}]
    shares = [others[len(others) * n // workers : len(others) * (n + 1) // workers] for n in range(workers)]
    items[:] = [item for head, share in zip(heads, shares, strict=True) for item in (*head, *share)]


def pytest_configure(config: pytest.Config) -> None:
    # Once for a run, not once for each of its workers.
    if not hasattr(config, "workerinput"):
        config.stash[_RUN] = postgres.begin_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUN in config.stash:
        postgres.end_run(config.stash[_RUN])
