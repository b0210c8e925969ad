"""A real server whose clock is set forwards and back while it serves."""

import contextlib
import sqlite3
import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest
from tests import postgres
from tests.drivers.delivering import deliver
from tests.server_process import DUPLICATE, Installation, Prepared, ServerProcess, prepare, serving, until
from tests.stepped_clock import SteppedClock

pytestmark = pytest.mark.slow("starts servers whose clock is stepped")
PROCESSED: Final = "Processed push event (pushed)"
HOUR_S: Final = 3600.0
#: The limit of `POST /v1/posts/generate`, per minute.
LIMIT: Final = 10


@pytest.fixture(params=["sqlite", "postgresql"])
def prepared(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Prepared]:
    if request.param == "sqlite":
        yield prepare(tmp_path)
        return
    with postgres.database(migrated=False) as url:
        yield prepare(tmp_path, database_url=url)


@pytest.fixture
def on_file(tmp_path: Path) -> Prepared:
    return prepare(tmp_path)


@pytest.fixture
def clock(tmp_path: Path) -> SteppedClock:
    return SteppedClock(tmp_path)


def serving_by(clock: SteppedClock, installation: Installation) -> contextlib.AbstractContextManager[ServerProcess]:
    return serving(installation, program=clock.program, environment=clock.environment)


def delivered(prepared: Prepared, server: ServerProcess, delivery: str) -> str:
    """Send the push with an id; return the answer's message."""
    answered = deliver(prepared, server, delivery)
    assert answered.status_code == 200, answered.text
    return str(answered.json()["message"])


def runs_of(installation: Installation, delivery: str) -> list[str]:
    """Return the statuses of a delivery's runs."""
    query = "SELECT status FROM workflow_runs JOIN events ON events.id = event_id WHERE delivery_id = ?"
    return [row["status"] for row in installation.rows(query, delivery)]


def posts(installation: Installation) -> int:
    return installation.count("SELECT count(*) FROM posts")


def test_after_a_step_back_of_an_hour_old_deliveries_are_duplicates_and_new_ones_are_processed(
    prepared: Prepared, clock: SteppedClock
) -> None:
    installation = prepared.installation
    before, after = str(uuid.uuid4()), str(uuid.uuid4())
    with serving_by(clock, installation) as server:
        assert delivered(prepared, server, before) == PROCESSED
        installation.until_runs_ended()

        clock.step_to(-HOUR_S)

        assert delivered(prepared, server, before) == DUPLICATE
        assert delivered(prepared, server, after) == PROCESSED
        assert delivered(prepared, server, after) == DUPLICATE
        # At once, and not after an hour.
        installation.until_runs_ended()
        clock.step_to(0)
        assert delivered(prepared, server, after) == DUPLICATE

    assert runs_of(installation, before) == runs_of(installation, after) == ["completed", "completed"]
    assert posts(installation) == 4


def test_stepped_forward_a_day_and_a_bit_the_same_delivery_counts_anew_and_work_goes_on(
    prepared: Prepared, clock: SteppedClock
) -> None:
    installation = prepared.installation
    delivery = str(uuid.uuid4())
    with serving_by(clock, installation) as server:
        assert delivered(prepared, server, delivery) == PROCESSED
        # Ended or not, the delivery has its runs exactly once.
        clock.step_to(24 * HOUR_S + 60)

        assert delivered(prepared, server, delivery) == PROCESSED
        assert delivered(prepared, server, delivery) == DUPLICATE
        installation.until_runs_ended()
        assert server.is_ready()

    assert prepared.left_by(delivery) == {
        "contexts": 1,
        "logs": ["Processed push event", "Processed push event", "Duplicate push delivery"],
        "runs": sorted([prepared.on_all, prepared.on_push] * 2),
    }
    assert runs_of(installation, delivery) == ["completed"] * 4
    assert posts(installation) == 4
    assert installation.count("SELECT max(kills) FROM workflow_runs") == 0


@pytest.mark.parametrize("prepared", ["postgresql"], indirect=True)
def test_a_clock_far_ahead_of_the_databases_deletes_no_claim_and_no_log_entry(
    prepared: Prepared, clock: SteppedClock
) -> None:
    installation = prepared.installation
    with serving_by(clock, installation) as server:
        assert delivered(prepared, server, "d-1") == PROCESSED
    clock.step_to(40 * 24 * HOUR_S)
    with serving_by(clock, installation) as server:
        until(lambda: "nothing expired is deleted" in server.log(), "the sweep was left out")
    clock.step_to(0)

    assert len(installation.rows("SELECT * FROM log_entries")) == 1
    with serving_by(clock, installation) as server:
        assert delivered(prepared, server, "d-1") == DUPLICATE


def test_runs_that_wait_when_the_clock_is_stepped_back_wait_until_it_has_caught_up_and_new_ones_do_not(
    on_file: Prepared, clock: SteppedClock
) -> None:
    installation = on_file.installation
    waiting, new = str(uuid.uuid4()), str(uuid.uuid4())
    clock.step_to(HOUR_S)
    with serving_by(clock, installation) as server:
        assert delivered(on_file, server, waiting) == PROCESSED
        installation.until_runs_ended()
    with contextlib.closing(sqlite3.connect(installation.database)) as file, file:
        file.execute("UPDATE workflow_runs SET status = 'pending', post_id = NULL")
        file.execute("DELETE FROM posts")

    clock.step_to(0)
    with serving_by(clock, installation) as server:
        assert delivered(on_file, server, new) == PROCESSED
        until(lambda: runs_of(installation, new) == ["completed", "completed"], "what is new is done")
        assert runs_of(installation, waiting) == ["pending", "pending"]
        clock.step_to(HOUR_S)
        installation.until_runs_ended()

    assert runs_of(installation, waiting) == ["completed", "completed"]
    assert posts(installation) == 4
