"""Real `contentsvc serve` with roles and workers, and the end of one of its processes."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any, Final, final

import httpx
import pytest
from tests.drivers.delivering import deliver
from tests.postgres import database, rows
from tests.server_process import (
    LOOPBACK,
    PATIENCE_S,
    PLAIN,
    REPOSITORY_ID,
    Installation,
    Prepared,
    ServerProcess,
    prepare,
    serving,
    until,
)

from contentsvc_core.testing import push_body
from contentsvc_http.processes import restart_pause

pytestmark = pytest.mark.slow("starts servers of several processes")

#: A database that is never used: not a file, so that several processes may serve.
NOWHERE: Final = f"postgresql+asyncpg://nobody@{LOOPBACK}:1/nothing"
_SENDERS: Final = 8


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Prepared]:
    with database(migrated=False) as url:
        # Without DBOS, whose import would be half of each process's start.
        yield prepare(tmp_path_factory.mktemp("postgres"), database_url=url, engine="inline")


@pytest.fixture(autouse=True)
def temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the files of killed processes in a folder that pytest removes."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def node(prepared: Prepared, request: pytest.FixtureRequest) -> Generator[ServerProcess]:
    """Start two processes that serve together, with a log of their own."""
    with ServerProcess(prepared.installation, "--workers", "2", name=request.node.name) as server:
        server.start()
        until_all_ready(server)
        yield server


@pytest.fixture(scope="module")
def lasting(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """Start three processes for tests that leave them running: each start takes a second of the processor."""
    environment = {"TMPDIR": str(tmp_path_factory.mktemp("left"))}
    with ServerProcess(
        prepared.installation, "--workers", "3", "--json", name="lasting", environment=environment
    ) as server:
        server.start()
        until_all_ready(server)
        yield server


def lines(server: ServerProcess) -> list[dict[str, Any]]:
    """Return the log's lines; an incomplete last line is ignored."""
    text = server.log()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines() if line.startswith('{"')]


def events(server: ServerProcess) -> list[str]:
    return [line["event"] for line in lines(server)]


def until_all_ready(server: ServerProcess, *, times: int = 1) -> None:
    def ready() -> bool:
        assert server.is_alive, f"the server has ended: {server.log()[-2000:]}"
        return events(server).count("ready") == times

    until(ready, "all are ready")


def pids(server: ServerProcess) -> dict[int, int]:
    """Return each worker's latest process id."""
    return {line["worker"]: line["pid"] for line in lines(server) if line["event"] == "worker ready"}


def is_running(pid: int) -> bool:
    """Check whether a process is alive; a zombie is not."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    return False


def get(server: ServerProcess, path: str, **headers: str) -> httpx.Response:
    """Send a request on a connection of its own."""
    return httpx.get(f"{server.url}{path}", headers=headers, trust_env=False, verify=PLAIN, timeout=PATIENCE_S)


def runs_of(installation: Installation, delivery: str) -> list[str]:
    """Return the statuses of a delivery's runs."""
    query = "SELECT status FROM workflow_runs JOIN events ON events.id = event_id WHERE delivery_id = ?"
    return [row["status"] for row in installation.rows(query, delivery)]


@final
class Load:
    """Senders that continue after faults, and record the acknowledged deliveries."""

    def __init__(self, prepared: Prepared, server: ServerProcess) -> None:
        self._hook = prepared.hook
        self._url = f"{server.url}{prepared.hook.path}"
        self.acknowledged: set[str] = set()

    @contextlib.asynccontextmanager
    async def sending(self) -> AsyncGenerator[None]:
        senders = [asyncio.create_task(self._send_on()) for _ in range(_SENDERS)]
        try:
            yield
        finally:
            for sender in senders:
                sender.cancel()
            await asyncio.gather(*senders, return_exceptions=True)

    async def until_acknowledged(self, count: int) -> None:
        """Wait for ``count`` more acknowledged deliveries."""
        enough = len(self.acknowledged) + count
        async with asyncio.timeout(PATIENCE_S):
            while len(self.acknowledged) < enough:
                await asyncio.sleep(0.01)

    async def _send_on(self) -> None:
        body = json.dumps(push_body("feat: add a lamp", repository_id=REPOSITORY_ID)).encode()
        async with httpx.AsyncClient(trust_env=False, verify=PLAIN, timeout=PATIENCE_S) as client:
            while True:
                delivery = str(uuid.uuid4())
                with contextlib.suppress(httpx.TransportError):
                    answered = await client.post(self._url, content=body, headers=self._hook.headers(body, delivery))
                    if answered.is_success:
                        self.acknowledged.add(delivery)
                # No process may be listening any more.
                await asyncio.sleep(0.005)

    def assert_all_stored(self, prepared: Prepared) -> None:
        stored = {row["delivery_id"] for row in prepared.installation.rows("SELECT delivery_id FROM events")}
        assert self.acknowledged - stored == set()


# A SQLite file has one serving process.


@pytest.mark.parametrize("arguments", [("--workers", "2"), ("--role", "receiver"), ("--role", "worker")])
def test_a_file_is_not_served_in_parts(tmp_path: Path, arguments: tuple[str, str]) -> None:
    done = Installation(tmp_path).run("serve", "--port", "0", *arguments)

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"{' '.join(arguments)} needs PostgreSQL" in done.stderr
    assert "Set it to postgresql+asyncpg://" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("serve", "--port", "0", "--workers", "2"), ("migrate",)])
def test_a_misspelt_setting_is_named(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    url = "postgresql+asyncpg://u:hunter2@h/d"

    done = Installation(tmp_path).run(*arguments, CONTENTSVC_DATABSE_URL=url, CONTENTSVC_WEBHOOK_SECRET="hunter2")

    first = done.stderr.splitlines()[0]
    assert "CONTENTSVC_DATABSE_URL" in first
    assert "did you mean CONTENTSVC_DATABASE_URL?" in first
    assert "WEBHOOK_SECRET" not in done.stderr
    assert "hunter2" not in done.stderr


def test_a_second_server_on_a_file_is_refused_and_commands_are_not(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.command("organization", "create", "Acme", "--slug", "acme")
    with serving(installation):
        done = installation.run("serve", "--port", "0")
        assert done.returncode == 1
        assert "another process serves" in done.stderr
        assert "use PostgreSQL" in done.stderr
        assert done.stderr.count("\n") == 1
        assert [row["slug"] for row in installation.command("organization", "list")] == ["acme"]
        installation.connect("acme", "acme/lighthouse", REPOSITORY_ID)


# Roles.


def test_a_worker_performs_the_runs_of_a_receiver(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every import is a line in the log.
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    # With the default engine.
    url = prepared.installation.environment["CONTENTSVC_DATABASE_URL"]
    installation = Installation(prepared.installation.folder, database_url=url)
    with serving(installation, "--role", "receiver", name="receiver", fresh=True) as receiver:
        delivery = str(uuid.uuid4())
        assert deliver(prepared, receiver, delivery).status_code == 200
        assert get(receiver, "/health/live").status_code == 200
        assert runs_of(installation, delivery) == ["pending", "pending"]

        with serving(installation, "--role", "worker", name="worker", fresh=True) as worker:
            until(lambda: runs_of(installation, delivery) == ["completed", "completed"], "both runs are performed")
            assert get(worker, "/health/live").json() == {"status": "live"}
            refused = deliver(prepared, worker, delivery)
            assert (refused.status_code, refused.json()) == (404, {"error": "Not Found"})
            for path in ("/v1/posts", "/v1/status", "/schema/openapi.json", "/"):
                answered = get(worker, path)
                assert (answered.status_code, answered.json()) == (404, {"error": "Not Found"})

        posts = get(receiver, "/v1/posts", Authorization=f"Bearer {prepared.key}").json()
        assert posts["pagination"]["totalItems"] > 0
        assert "contentsvc_adapters.engine.dbos_on_demand" in worker.log()
        for engine in ("contentsvc_adapters.engine", "dbos"):
            assert engine not in receiver.log()


# Several processes.


def test_several_processes_answer_on_one_port_and_each_gets_its_part(lasting: ServerProcess) -> None:
    ready = [line for line in lines(lasting) if line["event"] in {"ready", "worker ready"}][:4]
    assert [line["event"] for line in ready] == [*["worker ready"] * 3, "ready"]
    assert {line["worker"] for line in ready[:-1]} == {1, 2, 3}
    assert ready[-1]["url"] == lasting.url

    named = uuid.uuid4().hex
    for number in range(200):
        assert get(lasting, "/health/ready", **{"X-Request-Id": f"{named}-{number}"}).json() == {"status": "ready"}

    def counted() -> "Counter[int]":
        return Counter(line["worker"] for line in lines(lasting) if named in line.get("request_id", ""))

    until(lambda: counted().total() == 200, "every request is logged")
    assert set(counted()) == {1, 2, 3}


def test_the_address_is_printed_once(lasting: ServerProcess) -> None:
    assert lasting.log().count('"url": ') == 2
    printed = "".join(line for line in lasting.log().splitlines() if not line.startswith('{"'))
    assert json.loads(printed) == {"url": lasting.url}


def test_a_taken_port_is_refused(prepared: Prepared, lasting: ServerProcess) -> None:
    # Without the option, the port is that of a base URL of this machine.
    for options in (
        ["--port", str(lasting.port), "--workers", "1"],
        ["--port", str(lasting.port), "--workers", "2"],
        [],
    ):
        done = prepared.installation.run("serve", *options, CONTENTSVC_BASE_URL=f"http://localhost:{lasting.port}")
        assert done.returncode == 1
        where = f"{LOOPBACK} port {lasting.port}"
        advice = "choose another with --host or --port"
        assert done.stderr == f"Error: cannot listen on {where}: Address already in use; {advice}\n"


@pytest.mark.parametrize(("worker", "number", "code"), [(2, signal.SIGKILL, -9), (3, signal.SIGTERM, 0)])
def test_when_one_ends_the_others_answer_and_it_comes_back(
    prepared: Prepared, lasting: ServerProcess, worker: int, number: signal.Signals, code: int
) -> None:
    first = pids(lasting)

    def ends() -> list[dict[str, Any]]:
        return [line for line in lines(lasting) if line["event"] == "worker ended" and line["pid"] == first[worker]]

    os.kill(first[worker], number)
    until(lambda: bool(ends()), "its end is noticed")
    for _ in range(30):
        assert get(lasting, "/health/ready").status_code == 200
    until(lambda: pids(lasting)[worker] != first[worker], "it is started again")

    assert {**pids(lasting), worker: first[worker]} == first
    assert deliver(prepared, lasting, str(uuid.uuid4())).status_code == 200
    assert events(lasting).count("ready") == 1
    assert [(line["worker"], line["exit"]) for line in ends()] == [(worker, code)]


@pytest.mark.parametrize(("times", "pause_s"), [(1, 0.5), (2, 1.0), (6, 16.0), (7, 30.0), (9_999, 30.0)])
def test_the_pause_before_a_restart_grows_up_to_half_a_minute(times: int, pause_s: float) -> None:
    assert restart_pause(times) == pause_s


def test_when_one_cannot_be_started_again_the_others_answer_and_it_is_tried_later(node: ServerProcess) -> None:
    first, own = pids(node), node.process.pid
    files = resource.prlimit(own, resource.RLIMIT_NOFILE)
    # No further file can be opened, as on a system without resources.
    resource.prlimit(own, resource.RLIMIT_NOFILE, (0, files[1]))

    os.kill(first[1], signal.SIGKILL)
    until(lambda: "worker not started" in events(node), "its start fails")
    for _ in range(10):
        assert get(node, "/health/ready").status_code == 200
    resource.prlimit(own, resource.RLIMIT_NOFILE, files)
    until(lambda: pids(node)[1] != first[1], "it is started later")

    assert pids(node)[2] == first[2]


async def test_a_termination_under_load_keeps_all_acknowledged_deliveries(
    prepared: Prepared, node: ServerProcess
) -> None:
    load = Load(prepared, node)
    async with load.sending():
        await load.until_acknowledged(100)
        node.terminate()
        assert await asyncio.to_thread(node.exit_code, within_s=PATIENCE_S) == 0

    load.assert_all_stored(prepared)
    assert [pid for pid in pids(node).values() if is_running(pid)] == []
    assert events(node).count("stopping") == 1
    assert "Traceback" not in node.log()


async def test_when_the_first_process_is_killed_the_others_finish_and_end(
    prepared: Prepared, node: ServerProcess
) -> None:
    load = Load(prepared, node)
    async with load.sending():
        await load.until_acknowledged(100)
        node.process.kill()
        await asyncio.to_thread(node.process.wait)
        await asyncio.to_thread(
            until, lambda: not any(is_running(pid) for pid in pids(node).values()), "all processes have ended"
        )

    load.assert_all_stored(prepared)
    assert "Traceback" not in node.log()
    node.kill()
    # And the port is free.
    node.start()
    until_all_ready(node, times=2)
    assert deliver(prepared, node, str(uuid.uuid4())).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_from_a_terminal_ends_all_without_a_word_too_many(node: ServerProcess, number: signal.Signals) -> None:
    os.killpg(node.process.pid, number)

    assert node.exit_code(within_s=PATIENCE_S) == 0
    assert [pid for pid in pids(node).values() if is_running(pid)] == []
    assert events(node).count("stopping") == 1
    assert "worker ended" not in events(node)
    assert node.log().splitlines()[-1].startswith("{")
    for word in ("Traceback", "KeyboardInterrupt", "Aborted"):
        assert word not in node.log()


def test_one_that_does_not_end_is_killed(node: ServerProcess) -> None:
    os.kill(pids(node)[2], signal.SIGSTOP)
    node.terminate()

    assert node.exit_code(within_s=PATIENCE_S) == 0
    assert [pid for pid in pids(node).values() if is_running(pid)] == []
    assert [line["worker"] for line in lines(node) if line["event"].startswith("worker killed")] == [2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_they_start_ends_all(prepared: Prepared, number: signal.Signals) -> None:
    with ServerProcess(prepared.installation, "--workers", "3", name=f"start-{number}") as server:
        server.start()
        children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        until(lambda: len(children.read_text("ascii").split()) == 3, "all are started")
        started = [int(pid) for pid in children.read_text("ascii").split()]
        os.killpg(server.process.pid, number)

        assert server.exit_code(within_s=PATIENCE_S) == 0
        assert [pid for pid in started if is_running(pid)] == []
        assert "Traceback" not in server.log()


# When they cannot start.


@pytest.mark.parametrize("workers", ["1", "3"])
def test_an_unexpected_schema_is_reported_once_in_one_line(tmp_path: Path, workers: str) -> None:
    with database() as url:
        rows(url, "UPDATE alembic_version SET version_num = '9999'")
        done = Installation(tmp_path, database_url=url).run("serve", "--port", "0", "--workers", workers)

    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "9999" in done.stderr
    assert done.stderr.count("\n") == 1


def test_processes_that_die_at_once_without_a_word_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each interpreter reads it at its start.
    tmp_path.joinpath("sitecustomize.py").write_text(
        "import os, sys\nif 'contentsvc_http.worker_process' in sys.orig_argv: os._exit(3)\n", "utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    installation = Installation(tmp_path, database_url=NOWHERE, engine="inline")

    done = installation.run("serve", "--port", "0", "--workers", "2")

    assert done.returncode == 1
    *log, error = done.stderr.splitlines()
    assert error.startswith("Error: worker ")
    assert "ended 5 times before it was ready, with exit code 3" in error
    pauses = [json.loads(line)["again_in_s"] for line in log if '"worker": 1' in line]
    assert pauses == sorted(pauses)


def test_processes_stop_in_time_though_the_reader_of_their_log_has_stopped(prepared: Prepared) -> None:
    with (
        ServerProcess(prepared.installation, "--workers", "2", name="pipe") as server,
        server.started_with_a_reader_that_stops(),
    ):
        server.terminate()

        assert server.exit_code(within_s=15) == 0
