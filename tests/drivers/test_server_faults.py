"""A real server under faults: signals at any moment, a locked file, an unreadable row."""

import asyncio
import contextlib
import re
import resource
import sqlite3
import time
import uuid
from collections.abc import Generator
from pathlib import Path

import httpx
import msgspec
import pytest
from tests.drivers.delivering import deliver
from tests.server_process import (
    NEXT_VERSION,
    PATIENCE_S,
    PLAIN,
    REPOSITORY_ID,
    Prepared,
    ServerProcess,
    prepare,
    serving,
    until,
)

from contentsvc_adapters.sql import HEAD
from contentsvc_core.testing import push_body
from contentsvc_core.webhooks.decision import MAX_BODY

pytestmark = pytest.mark.slow("starts servers by the dozen")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare(tmp_path_factory.mktemp("template"))


@pytest.fixture
def prepared(template: Prepared, tmp_path: Path) -> Prepared:
    return template.copied_to(tmp_path)


@contextlib.contextmanager
def locked(prepared: Prepared) -> Generator[None]:
    """Hold the write lock, as another process would."""
    with contextlib.closing(sqlite3.connect(prepared.installation.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def new_id() -> str:
    return str(uuid.uuid4())


def test_a_server_whose_file_is_removed_is_not_ready_until_it_is_back(prepared: Prepared) -> None:
    file = prepared.installation.database
    with serving(prepared.installation) as server:
        away = file.rename(file.with_name("away"))

        def refusal() -> str:
            return httpx.get(f"{server.url}/health/ready", trust_env=False, verify=PLAIN).text

        # Before that, a new reading connection may miss the file.
        until(lambda: "was removed or replaced" in refusal(), "a heartbeat was refused")
        assert deliver(prepared, server, new_id(), "feat: lamp").status_code == 503

        away.rename(file)
        until(server.is_ready, "a heartbeat was stored")
        assert deliver(prepared, server, new_id(), "feat: lamp").status_code == 200


@pytest.mark.parametrize(
    ("after_s", "fresh"),
    [*((after_s, False) for after_s in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6)), (0.3, True), (0.9, True)],
)
def test_a_signal_while_the_server_starts_ends_it(prepared: Prepared, after_s: float, fresh: bool) -> None:
    with ServerProcess(prepared.installation, fresh=fresh) as server:
        server.start()
        # Each case is a moment: before, while and after the server installs its signal handlers.
        time.sleep(after_s)
        server.terminate()

        # Killed by the signal before Python handles it, or stopped in an orderly way.
        assert server.exit_code(within_s=PATIENCE_S) in {0, -15}


def test_a_signal_while_the_server_waits_for_a_lock_at_its_start_ends_it(prepared: Prepared) -> None:
    with locked(prepared), ServerProcess(prepared.installation) as server:
        server.start()
        until(lambda: '"ready"' in server.log(), "reading and serving need no lock")
        server.terminate()

        assert server.exit_code(within_s=PATIENCE_S) == 0


def test_a_stop_ends_in_time_though_the_reader_of_the_log_has_stopped(prepared: Prepared) -> None:
    with (
        ServerProcess(prepared.installation, name="pipe") as server,
        server.started_with_a_reader_that_stops(),
        # The log line of a request is the first one that waits.
        server.connect() as client,
    ):
        client.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        server.terminate()

        assert server.exit_code(within_s=12) == 0


def test_a_stop_with_a_delivery_behind_a_lock_ends_in_time_and_asks_the_sender_to_come_again(
    prepared: Prepared,
) -> None:
    with serving(prepared.installation) as server, locked(prepared):
        body = msgspec.json.encode(push_body("feat: x", repository_id=REPOSITORY_ID))
        lines = [f"POST {prepared.hook.path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in prepared.hook.headers(body, str(uuid.uuid4())).items()]
        with server.connect() as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
            # An answer on another connection: the delivery has been read by now, too.
            httpx.get(f"{server.url}/health/live", trust_env=False, verify=PLAIN).raise_for_status()
            server.terminate()
            answered = connection.recv(65_536)
        assert server.exit_code(within_s=PATIENCE_S) == 0
    assert answered.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in answered.lower()
    assert "Traceback" not in server.log()


@pytest.mark.parametrize("stays", [False, True], ids=["a lock that goes", "a lock that stays"])
async def test_of_50_deliveries_under_way_when_it_is_terminated_twice_each_is_answered_or_to_be_sent_again(
    prepared: Prepared, stays: bool
) -> None:
    acknowledged: set[str] = set()
    statuses: list[int | None] = []

    async def send(client: httpx.AsyncClient, number: int) -> None:
        body = msgspec.json.encode(push_body(f"feat: lamp {number}", repository_id=REPOSITORY_ID))
        headers = prepared.hook.headers(body, delivery := f"under-way-{number}")
        try:
            answered = await client.post(prepared.hook.path, content=body, headers=headers)
        except httpx.TransportError:
            statuses.append(None)
            return
        statuses.append(answered.status_code)
        if answered.is_success:
            acknowledged.add(delivery)
        else:
            assert (answered.status_code, answered.headers["retry-after"]) == (503, "1")

    with serving(prepared.installation) as server, contextlib.ExitStack() as lock:
        lock.enter_context(locked(prepared))
        async with (
            httpx.AsyncClient(base_url=server.url, trust_env=False, verify=PLAIN, timeout=PATIENCE_S) as client,
            asyncio.TaskGroup() as senders,
        ):
            for number in range(50):
                senders.create_task(send(client, number))
            await asyncio.to_thread(until, lambda: settling(server) == 50, "all wait to be written")
            server.terminate()
            await asyncio.to_thread(until, lambda: is_closed(server), "new connections are refused")
            server.terminate()
            if not stays:
                lock.close()
        code = await asyncio.to_thread(server.exit_code, within_s=PATIENCE_S)
        assert "Traceback" not in server.log()

    assert code == 0
    assert len(statuses) == 50
    stored = {row["delivery_id"] for row in prepared.installation.rows("SELECT delivery_id FROM events")}
    assert acknowledged <= stored
    assert len(acknowledged) == (0 if stays else 50)
    # Whole, or not at all.
    count = prepared.installation.count
    assert [count(f"SELECT count(*) FROM {table}") for table in ("claims", "context_records", "log_entries")] == [  # noqa: S608
        len(stored)
    ] * 3
    assert count("SELECT count(*) FROM workflow_runs") == 2 * len(stored)


def settling(server: ServerProcess) -> int:
    """Return the number of deliveries that wait to be written."""
    metrics = httpx.get(f"{server.url}/metrics", trust_env=False, verify=PLAIN, timeout=PATIENCE_S).text
    found = re.search(r"^contentsvc_settles_in_progress (\S+)$", metrics, re.MULTILINE)
    return int(float(found[1])) if found else 0


def is_closed(server: ServerProcess) -> bool:
    try:
        server.connect().close()
    except (ConnectionRefusedError, ConnectionResetError):
        # Reset: the port was closed between the two packets of the connection.
        return True
    return False


def test_a_locked_database_still_answers_reads(prepared: Prepared) -> None:
    with serving(prepared.installation) as server, locked(prepared):
        headers = {"Authorization": f"Bearer {prepared.key}"}
        # Less than the lock timeout: storing the use of the key must not delay the answer.
        answered = httpx.get(f"{server.url}/v1/posts", headers=headers, trust_env=False, verify=PLAIN, timeout=4)

        assert answered.status_code == 200


def test_while_the_disk_is_full_senders_are_asked_to_come_again_and_nothing_is_lost(prepared: Prepared) -> None:
    with serving(prepared.installation) as server:
        pid = server.process.pid
        before = [deliver(prepared, server, new_id(), f"feat: before {number}") for number in range(3)]
        prepared.installation.until_runs_ended()

        # The kernel refuses writes beyond this size of a file: those of the write-ahead log,
        # and of the server's own log.
        limits = resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        meanwhile = [deliver(prepared, server, new_id(), f"feat: meanwhile {number}") for number in range(3)]
        headers = {"Authorization": f"Bearer {prepared.key}"}
        read = httpx.get(f"{server.url}/v1/posts", headers=headers, trust_env=False, verify=PLAIN, timeout=PATIENCE_S)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)

        after = [deliver(prepared, server, new_id(), f"feat: after {number}") for number in range(3)]
        prepared.installation.until_runs_ended()

    assert [each.status_code for each in before + after] == [200] * 6
    assert [(each.status_code, each.headers["retry-after"]) for each in meanwhile] == [(503, "1")] * 3
    assert read.status_code == 200
    assert read.json()["pagination"]["totalItems"] == 6
    count = prepared.installation.count
    assert [count(f"SELECT count(*) FROM {table}") for table in ("claims", "context_records", "log_entries")] == [6] * 3  # noqa: S608
    assert count("SELECT count(*) FROM posts") == 12


def test_settings_bound_connections_and_large_bodies(template: Prepared, tmp_path: Path) -> None:
    prepared = template.copied_to(tmp_path, max_connections="10", max_large_bodies_mib="50")
    named = prepared.hook.headers(b"", str(uuid.uuid4())) | {"Host": "x", "Expect": "100-continue"}
    named["Content-Length"] = str(MAX_BODY)
    head = "\r\n".join([f"POST {prepared.hook.path} HTTP/1.1", *map(": ".join, named.items()), "", ""]).encode()
    with serving(prepared.installation) as server, contextlib.ExitStack() as held:
        first = held.enter_context(server.connect())
        first.sendall(head)
        # The sender may continue, and its body takes room.
        assert first.recv(4096).startswith(b"HTTP/1.1 100 ")
        first.sendall(bytes(MAX_BODY - 1))
        # This integration's half has no room left.
        until(lambda: refused_at_once(server, head), "the bytes have arrived")
        for _ in range(9):
            held.enter_context(server.connect())
        with server.connect() as eleventh:
            assert b"Too many connections" in eleventh.recv(4096)


def refused_at_once(server: ServerProcess, head: bytes) -> bool:
    with server.connect() as connection:
        connection.sendall(head)
        return connection.recv(4096).startswith(b"HTTP/1.1 503 ")


def test_an_unreadable_row_does_not_delay_other_runs(prepared: Prepared) -> None:
    installation = prepared.installation
    with serving(installation) as server:
        assert deliver(prepared, server, new_id(), "feat: the broken one").status_code == 200
        installation.until_runs_ended()
    with contextlib.closing(sqlite3.connect(installation.database)) as file, file:
        file.execute("UPDATE events SET data = '{}'")
        file.execute("UPDATE workflow_runs SET status = 'pending', post_id = NULL")
        file.execute("DELETE FROM posts")
    with serving(installation) as server:
        for number in range(3):
            assert deliver(prepared, server, new_id(), f"feat: lamp {number}").status_code == 200
        installation.until_runs_ended()

    ended = installation.rows("SELECT status, error FROM workflow_runs ORDER BY created_at")
    assert [row["status"] for row in ended] == ["failed", "failed", *["completed"] * 6]
    assert "cannot be read" in ended[0]["error"]
    # A table reads no event.
    assert installation.run("run", "list", "--organization", "acme").returncode == 0
    listed = installation.run("run", "list", "--organization", "acme", "--json")
    assert listed.returncode == 1
    assert "cannot be read" in listed.stderr
    assert "Traceback" not in listed.stderr


def test_a_server_goes_on_with_a_newer_schema_and_not_with_an_older_one(prepared: Prepared) -> None:
    """A newer schema only adds; while nodes are replaced one by one, the old ones must not all drop out."""
    with (
        serving(prepared.installation) as server,
        contextlib.closing(sqlite3.connect(prepared.installation.database, isolation_level=None)) as file,
    ):
        file.execute("UPDATE alembic_version SET version_num = '9999'")
        newer = httpx.get(f"{server.url}/health/ready", trust_env=False, verify=PLAIN)
        file.execute("UPDATE alembic_version SET version_num = '0001'")
        older = httpx.get(f"{server.url}/health/ready", trust_env=False, verify=PLAIN)

    assert newer.json() == {"status": "ready"}
    assert older.status_code == 503
    assert older.json() == {"error": f"Not ready: the schema is at revision 0001, and this version needs {HEAD}"}


def test_a_file_is_served_by_this_version_while_the_next_one_migrates_it_and_by_the_next_one_after(
    prepared: Prepared,
) -> None:
    installation = prepared.installation
    with serving(installation) as server:
        assert deliver(prepared, server, new_id(), "feat: before").status_code == 200
        migrated = installation.run("migrate", "--json", program=NEXT_VERSION)
        assert migrated.returncode == 0, migrated.stderr
        assert server.is_ready()
        assert deliver(prepared, server, new_id(), "feat: beside").status_code == 200
        installation.until_runs_ended()
    with serving(installation, program=NEXT_VERSION) as server:
        assert deliver(prepared, server, new_id(), "feat: after").status_code == 200
        installation.until_runs_ended()

    back = installation.run("serve", "--port", "0")

    assert back.returncode == 1
    assert "a newer version of contentsvc has upgraded it" in back.stderr
    assert back.stderr.count("\n") == 1
    assert installation.count("SELECT count(*) FROM added") == 0
    assert [row["status"] for row in installation.rows("SELECT status FROM workflow_runs")] == ["completed"] * 6
    assert installation.count("SELECT count(*) FROM posts") == 6
