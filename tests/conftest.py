"""What holds for every test."""

import pytest
from hypothesis import HealthCheck, settings
from tests import postgres

# How long an example takes says something about the machine, and nothing about the code.
settings.register_profile("contentsvc", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("contentsvc")

_RUN = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    # Once for a run, not once for each of its workers.
    if not hasattr(config, "workerinput"):
        config.stash[_RUN] = postgres.begin_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUN in config.stash:
        postgres.end_run(config.stash[_RUN])
