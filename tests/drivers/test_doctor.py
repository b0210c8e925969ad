"""``doctor``: every fault is named, with advice."""

import asyncio
import json
import os
import resource
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import Result
from rich.console import Console
from sqlalchemy.engine import make_url
from tests import postgres
from tests.code_host_server import CodeHostServer
from tests.drivers.commands import command, invoke, receive
from tests.http_server import HttpServer, ReceivedRequest, Reply

from contentsvc_adapters.sql import HEAD
from contentsvc_adapters.sql.dialects.dialect import RIGHT_FILE
from contentsvc_adapters.sql.schema.all_tables import metadata
from contentsvc_cli.operate.doctor import clock, network, work
from contentsvc_cli.operate.doctor import command as doctor_command
from contentsvc_cli.operate.doctor.fetching import Unanswered, fetch
from contentsvc_cli.operate.doctor.findings import Finding, FindingState, ok, within
from contentsvc_cli.servers import has_another_port, local_port
from contentsvc_core.errors import StoreUnavailable
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.diagnostics import DatabaseInspector, DatabaseServer, in_thread

VERSION = version("contentsvc")


@pytest.fixture(autouse=True)
def short_observation(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    # The test needs no margin for a loaded machine.
    monkeypatch.setattr(work, "WATCHED_S", 0.3)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def doctor(*arguments: str) -> Result:
    all_arguments = arguments if "--port" in arguments else ("--port", str(free_port()), *arguments)
    return invoke("doctor", *all_arguments)


class Findings:
    """The output of the doctor."""

    def __init__(self, done: Result) -> None:
        assert done.stderr == ""
        self.body: dict[str, Any] = json.loads(done.stdout)
        self.exit_code = done.exit_code
        assert self.exit_code == (1 if self.body["faults"] else 0)
        assert self.body["ok"] is (self.body["faults"] == 0)

    def all(self, check: str) -> list[dict[str, Any]]:
        return [each for each in self.body["checks"] if each["check"] == check]

    def one(self, check: str) -> tuple[str, str]:
        (found,) = self.all(check)
        assert (found["advice"] is not None) == (found["state"] in {"warning", "fault"})
        return found["state"], found["found"]

    def states(self) -> dict[str, str]:
        return {each["check"]: each["state"] for each in self.body["checks"]}


def findings_of(*arguments: str) -> Findings:
    return Findings(doctor(*arguments, "--json"))


@pytest.fixture
def connected(folder: Path) -> dict[str, Any]:
    command("organization", "create", "Acme")
    return command("integration", "connect", "acme/lighthouse", "--organization", "acme", "--repository-id", "4242")


def change(statement: str, *values: object) -> None:
    with closing(sqlite3.connect("contentsvc.db")) as connection, connection:
        connection.execute(statement, values)


def test_in_an_empty_folder_there_is_no_fault_and_nothing_is_made(folder: Path) -> None:
    found = findings_of()

    assert found.exit_code == 0
    state, output = found.one("database")
    assert (state, "there is no database at 'contentsvc.db' yet" in output) == ("warning", True)
    assert {
        found.states()[name] for name in ("schema", "file", "key", "engine", "runs", "executors", "deliveries")
    } == {"skipped"}
    assert list(folder.iterdir()) == []


def test_a_folder_in_the_place_of_the_database_is_named(folder: Path) -> None:
    (folder / "contentsvc.db").mkdir()

    found = findings_of()

    assert found.one("database") == ("fault", "'contentsvc.db' is a folder")
    assert found.states()["file"] == "skipped"


def test_a_database_in_order_has_no_fault(connected: dict[str, Any]) -> None:
    found = findings_of()

    assert found.exit_code == 0
    assert found.states() == {
        **dict.fromkeys(("settings", "database", "schema", "file", "disk", "key", "engine", "runs", "clock"), "ok"),
        "references": "ok",
        "search": "ok",
        "server": "ok",
        "executors": "warning",
        "deliveries": "warning",
        "base_url": "warning",
        "dashboard": "skipped",
        "code host": "skipped",
    }
    assert "SQLite" in found.one("database")[1]
    assert "synchronous is full" in found.one("database")[1]
    assert "journal mode wal" in found.one("file")[1]
    assert found.one("schema")[1] == f"revision {HEAD}, as this version needs it"
    assert found.one("key")[1] == "the file contentsvc.db.key decrypts the stored secrets (1 tried)"


def test_the_answer_to_people_has_the_state_in_a_word_and_what_to_do() -> None:
    done = doctor()

    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    (found,) = [number for number, line in enumerate(lines) if line.startswith("warning") and "database" in line]
    assert lines[found + 1].strip().startswith("→ 'contentsvc init' or 'contentsvc serve' creates it")
    assert lines[-1] == "no faults, 2 warnings."
    assert "\x1b" not in done.stdout


def test_each_setting_that_cannot_be_used_is_named_and_no_secret_is(
    connected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {
        "LOG_LEVEL": "loud",
        "RUN_CONCURRENCY": "many",
        "METRICS": "perhaps",
        "WRITER_URL": "http://127.0.0.1:1/v1",
        "WRITER_KEY": "hunter2",
        "BASE_ULR": "https://hooks.example.org",
        "WEBHOOK_SECRET": "hunter2",
    }
    for name, value in environment.items():
        monkeypatch.setenv(f"CONTENTSVC_{name}", value)

    found = findings_of()

    assert found.exit_code == 1
    faults = [each["found"].split()[0] for each in found.all("settings") if each["state"] == "fault"]
    assert faults == [f"CONTENTSVC_{name}" for name in ("LOG_LEVEL", "METRICS", "RUN_CONCURRENCY", "WRITER_MODEL")]
    (unknown,) = [each for each in found.all("settings") if each["state"] == "warning"]
    assert unknown["found"] == "CONTENTSVC_BASE_ULR is set, but is not a setting"
    assert unknown["advice"] == "did you mean CONTENTSVC_BASE_URL?"
    assert found.all("settings")[-1]["found"].endswith(" are set: CONTENTSVC_WRITER_KEY=***")
    assert "hunter2" not in json.dumps(found.body)
    # The independent checks still run.
    assert found.one("database")[0] == "ok"


def test_a_database_url_that_cannot_be_used_leads_to_no_other_database(
    connected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", "mysql://root:hunter2@db/x")

    found = findings_of()

    assert found.exit_code == 1
    assert found.one("database") == ("skipped", "CONTENTSVC_DATABASE_URL is invalid")
    assert {found.states()[name] for name in ("file", "disk", "key", "engine")} == {"skipped"}
    assert "hunter2" not in json.dumps(found.body)


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid"])
def test_an_unreachable_database_is_reported_and_the_other_checks_run(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", f"postgresql+asyncpg://ada:hunter2@{host}/contents")

    found = findings_of()

    assert found.exit_code == 1
    assert found.one("database")[0] == "fault"
    assert {found.states()[name] for name in ("schema", "key", "engine", "runs", "search", "executors")} == {"skipped"}
    assert (found.one("clock")[0], found.one("server")[0]) == ("ok", "ok")
    assert "hunter2" not in json.dumps(found.body)


def test_a_folder_that_is_not_there_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", "sqlite+aiosqlite:///missing/x.db")

    state, output = findings_of().one("database")

    assert (state, output.endswith("missing does not exist")) == ("fault", True)


def test_a_copied_folder_with_settings_of_the_old_one_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, here = folder / "old", folder / "new"
    old.mkdir()
    here.mkdir()
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", f"sqlite+aiosqlite:///{old}/contentsvc.db")
    command("organization", "create", "Acme")
    monkeypatch.chdir(here)
    assert findings_of().one("database")[0] == "ok"
    (here / "contentsvc.db").touch()

    state, output = findings_of().one("database")
    assert (state, output.endswith("; this folder has another contentsvc.db")) == ("warning", True)
    (old / "contentsvc.db").unlink()
    (missing,) = findings_of().all("database")

    assert missing["state"] == "fault"
    assert missing["found"] == f"there is no database at '{old}/contentsvc.db', but this folder has a contentsvc.db"
    assert missing["advice"].endswith(f"write CONTENTSVC_DATABASE_URL=sqlite+aiosqlite:///{here}/contentsvc.db")


def test_on_a_narrow_terminal_a_finding_is_under_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    monkeypatch.setattr(doctor_command, "console", lambda: Console(width=40))

    lines = [line.rstrip() for line in doctor().output.splitlines()]

    # Without the advice, which is one line at each width.
    assert max(len(line) for line in lines if not line.startswith("  →")) <= 40
    at = lines.index("skipped  schema")
    assert lines[at + 1] == "  there is no database yet"


def test_a_file_that_is_no_database_is_a_fault(folder: Path) -> None:
    (folder / "contentsvc.db").write_text("this is no database, and long enough to be seen as none" * 20)

    found = findings_of()

    assert (found.one("database")[0], found.one("file")[0]) == ("fault", "fault")
    assert found.one("database")[1].endswith("cannot be used: file is not a database")
    assert found.all("database")[0]["advice"] == found.all("file")[0]["advice"] == RIGHT_FILE
    assert found.one("schema")[0] == "skipped"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its user")
@pytest.mark.parametrize("owner", [0, 65534])
def test_a_file_that_may_only_be_read_is_a_fault(
    connected: dict[str, Any], monkeypatch: pytest.MonkeyPatch, owner: int
) -> None:
    findings_of()
    with tempfile.TemporaryDirectory(dir="/tmp") as named:
        database_file = Path(named)
        for file in Path().glob("contentsvc.db*"):
            (database_file / file.name).write_bytes(file.read_bytes())
            (database_file / file.name).chmod(0o444)
        database_file.chmod(0o755)
        # SQLite begins a transaction on a read-only file if the user can create its log.
        os.chown(database_file, owner, -1)
        monkeypatch.chdir(database_file)
        os.seteuid(65534)
        try:
            found = findings_of()
        finally:
            os.seteuid(0)
        monkeypatch.undo()

    state, output = found.one("file")
    assert (state, output.startswith("the file cannot be used: ")) == ("fault", True)
    assert "65534" in found.all("file")[0]["advice"]


def test_files_that_other_users_may_read_are_named_with_the_command_that_closes_them(
    connected: dict[str, Any], folder: Path
) -> None:
    assert findings_of().all("access") == []
    for name in ("contentsvc.db.serving", "engine.db"):
        (folder / name).touch(0o600)
    for name in ("contentsvc.db", "contentsvc.db.serving", "engine.db", "contentsvc.db.key"):
        (folder / name).chmod(0o644)
    # The folder of this test is private.
    assert findings_of().all("access") == []
    folder.chmod(0o755)

    found = findings_of()

    # The key has a check of its own.
    named = ("contentsvc.db", "contentsvc.db.serving", "engine.db")
    assert found.one("access") == ("warning", f"other users of this machine can read {', '.join(named)}")
    command = found.all("access")[0]["advice"]
    assert command == f"chmod 600 {folder}/contentsvc.db* {folder}/engine.db*"
    subprocess.run(["sh", "-c", command], check=True)
    assert findings_of().all("access") == []


def test_a_file_on_a_full_disk_is_a_fault_without_advice_about_permissions(connected: dict[str, Any]) -> None:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file can grow, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, old[1]))
    try:
        found = findings_of()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)

    assert found.one("file") == ("fault", "the file cannot be used: disk I/O error")
    assert found.all("file")[0]["advice"].startswith("see the check 'disk'")


def test_a_file_that_another_program_holds_is_a_fault(connected: dict[str, Any]) -> None:
    with closing(sqlite3.connect("contentsvc.db", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        found = findings_of()

    assert found.one("file") == ("fault", "the file cannot be used: database is locked")


def test_a_file_that_keeps_its_changes_otherwise_is_a_warning(connected: dict[str, Any]) -> None:
    change("PRAGMA journal_mode=DELETE")

    state, output = findings_of().one("file")

    assert (state, "journal mode delete" in output) == ("warning", True)


@pytest.mark.parametrize(
    ("revision", "state", "advice"),
    [
        ("0020", "warning", "make a backup, then run 'contentsvc migrate'; 'serve' and other commands also upgrade it"),
        ("0019", "fault", "upgrade it with an earlier version of contentsvc first"),
        ("9999", "fault", "install the version that upgraded it, or a newer one, or restore the backup"),
    ],
)
def test_a_schema_of_another_version_is_named(
    connected: dict[str, Any], revision: str, state: str, advice: str
) -> None:
    change("UPDATE alembic_version SET version_num = ?", revision)

    found = findings_of()

    assert found.one("schema")[0] == state
    assert revision in found.one("schema")[1]
    assert found.all("schema")[0]["advice"] == advice
    # The doctor changes nothing.
    with closing(sqlite3.connect("contentsvc.db")) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(revision,)]


def test_a_file_without_a_schema_needs_no_backup(folder: Path) -> None:
    (folder / "contentsvc.db").touch()

    found = findings_of()

    assert found.one("schema") == ("warning", f"there is no schema yet; this version needs {HEAD}")
    assert found.all("schema")[0]["advice"] == "run 'contentsvc migrate'; 'serve' and other commands also create it"
    assert found.one("key") == ("skipped", "there is no schema yet")


def test_a_file_of_another_application_is_a_fault(folder: Path) -> None:
    change("CREATE TABLE lamps (lit)")

    found = findings_of()

    assert found.one("schema")[0] == "fault"
    assert "another application" in found.one("schema")[1]
    assert found.all("schema")[0]["advice"].startswith("set CONTENTSVC_DATABASE_URL to another file")
    assert found.one("key") == ("skipped", "the database cannot be used")


def test_a_key_that_does_not_open_what_is_stored_is_a_fault(
    connected: dict[str, Any], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("CONTENTSVC_SECRET_KEY", "another key of thirty-two characters")
    found = findings_of()
    assert found.one("key") == ("fault", "CONTENTSVC_SECRET_KEY does not decrypt 1 of 1 stored secrets")
    assert found.all("key")[0]["advice"].endswith("NEW,OLD; the file contentsvc.db.key may have it")
    monkeypatch.setenv("CONTENTSVC_SECRET_KEY", "hunter2")
    found = findings_of()
    assert found.all("key")[0]["found"].startswith("a key is too short: set CONTENTSVC_SECRET_KEY to")
    assert "hunter2" not in json.dumps(found.body)
    monkeypatch.delenv("CONTENTSVC_SECRET_KEY")
    (folder / "contentsvc.db.key").chmod(0o644)
    found = findings_of()
    assert found.one("key")[0] == "warning"
    assert found.all("key")[0]["advice"] == "chmod 600 contentsvc.db.key"
    (folder / "contentsvc.db.key").unlink()
    assert findings_of().all("key")[0]["state"] == "fault"
    assert not (folder / "contentsvc.db.key").exists()


def test_runs_without_a_worker_are_a_warning(connected: dict[str, Any]) -> None:
    command("trigger", "create", "--every-event", "--organization", "acme", "--repository-id", "4242")
    receive(connected["integrationId"], "feat: a lamp")
    assert findings_of().one("runs")[0] == "ok"
    change("UPDATE workflow_runs SET due_at = ?", (int(time.time()) - 7200) * 1000)

    assert findings_of().one("runs") == ("warning", "1 pending, 0 running; the oldest has been due for 2 h")


def test_executors_are_watched(connected: dict[str, Any]) -> None:
    change("INSERT INTO executors (id, beats) VALUES ('exe_dead', 7)")

    (found,) = findings_of().all("executors")
    assert found == {
        "check": "executors",
        "state": "warning",
        "found": "0 alive; 1 without a heartbeat for 0.3 s: runs are not performed",
        "advice": "if 'contentsvc serve' runs, see 'disk', 'file' and its log; otherwise start it",
    }


async def test_an_executor_that_beats_is_alive() -> None:
    class Beating:
        def __init__(self) -> None:
            self.count = 0

        async def heartbeats(self) -> Mapping[str, int]:
            self.count += 1
            return {"exe_alive": self.count, "exe_dead": 7}

    (found,) = await work.executors(Settings(), Beating())  # pyright: ignore[reportArgumentType]  # the only attribute that is read

    assert (found.state, found.found) == (FindingState.WARNING, "1 alive; 1 without a heartbeat for 0.3 s")


class Pages(HttpServer):
    """Answers with JSON, or text of HTML, at paths whose slashes are written as ``__``; with status 0 not at all."""

    def __init__(self, **pages: tuple[int, object]) -> None:
        super().__init__()
        self._pages = {name.replace("__", "/"): page for name, page in pages.items()}

    def reply(self, request: ReceivedRequest, /) -> Reply | None:
        status, body = self._pages.get(request.path, (404, {}))
        if not status:
            return None
        kind, text = ("text/html", body) if isinstance(body, str) else ("application/json", json.dumps(body))
        return status, {"Content-Type": kind}, text.encode()


def status(running: str = VERSION) -> tuple[int, object]:
    return 200, {"status": "ok", "version": running}


READY = (200, {"status": "ready"})


def test_a_server_is_known_by_its_version_and_its_dashboard_is_named() -> None:
    with Pages(__v1__status=status(), __health__ready=READY, __dashboard=(200, "<title>Sign in</title>")) as pages:
        found = findings_of("--port", str(pages.port))

    assert found.one("server") == ("ok", f"contentsvc {VERSION} answers on 127.0.0.1 port {pages.port}")
    assert found.one("dashboard") == ("ok", f"http://127.0.0.1:{pages.port}/dashboard")


@pytest.mark.parametrize(
    ("base_url", "port", "other"),
    [
        ("http://127.0.0.1:9000", 9000, False),
        ("http://localhost:9001/", 9001, True),
        ("http://[::1]:9000", 9000, False),
        # A proxy on this machine, or elsewhere.
        ("http://localhost", 8000, False),
        ("https://hooks.example.org:8443", 8000, False),
    ],
)
def test_a_base_url_of_this_machine_has_the_port_of_its_server(base_url: str, port: int, *, other: bool) -> None:
    assert (local_port(base_url), has_another_port(base_url, 9000)) == (port, other)


def test_without_a_port_the_base_urls_one_is_checked_and_the_command_that_serves_there_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setenv("CONTENTSVC_BASE_URL", f"http://127.0.0.1:{port}")

    found = Findings(invoke("doctor", "--json"))

    serve = f"'contentsvc serve --port {port}'"
    assert found.one("server")[1] == f"no server runs on 127.0.0.1 port {port}; the port is free for {serve}"
    assert found.one("dashboard")[1] == f"it will be at http://127.0.0.1:{port}/dashboard when {serve} runs"


def test_a_server_of_another_version_or_that_is_not_ready_is_named() -> None:
    not_ready = (503, {"error": "Not ready: the engine has stopped\x1b[2J"})
    with Pages(__v1__status=status("0.0.1"), __health__ready=not_ready) as pages:
        found = findings_of("--port", str(pages.port))

    assert [each["state"] for each in found.all("server")] == ["warning", "fault"]
    assert found.all("server")[0]["found"].startswith("contentsvc 0.0.1 answers")
    assert found.all("server")[1]["found"] == "Not ready: the engine has stopped [2J"


def test_a_worker_and_another_program_are_distinguished() -> None:
    with Pages(__health__live=(200, {"status": "live"}), __health__ready=READY) as pages:
        assert findings_of("--port", str(pages.port)).one("server") == (
            "ok",
            f"a worker answers on 127.0.0.1 port {pages.port}",
        )
    with Pages(__v1__status=(200, "<h1>Hello</h1>")) as pages:
        assert findings_of("--port", str(pages.port)).one("server") == (
            "warning",
            f"another program answers on 127.0.0.1 port {pages.port}",
        )


def test_a_server_that_is_live_but_has_not_loaded_the_rest_is_no_other_program() -> None:
    with Pages(__v1__status=(0, {}), __health__live=(200, {"status": "live"})) as pages:
        state, found = findings_of("--port", str(pages.port)).one("server")

    assert state == "warning"
    assert found.startswith(f"the server on 127.0.0.1 port {pages.port} is live, but slow: ")


async def test_a_server_that_never_ends_its_answer_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contentsvc_cli.operate.doctor.fetching._WHOLE_S", 0.2)
    over = threading.Event()

    def trickle() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
            while not over.wait(0.01):
                connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        sender = threading.Thread(target=trickle)
        sender.start()
        answered = await fetch(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        over.set()
        sender.join()

    assert answered == Unanswered(reason="no complete answer within 0.2 s")


def test_a_server_without_a_free_connection_is_no_other_program() -> None:
    with Pages(__v1__status=(503, {"error": "Too many connections"})) as pages:
        found = findings_of("--port", str(pages.port))

    assert found.one("server") == ("fault", f"too many connections are open on 127.0.0.1 port {pages.port}")


def test_an_address_that_is_not_this_machines_is_a_fault() -> None:
    found = findings_of("--host", "192.0.2.1", "--port", "8000")

    assert found.all("server")[0]["state"] in {"warning", "fault"}


@pytest.mark.parametrize(
    ("base_url", "output"),
    [
        *((f"http://{host}:8000", "only reachable on this machine") for host in ("127.0.0.1", "localhost", "[::1]")),
        ("https://no-such-host.invalid", "cannot be reached from here"),
    ],
)
async def test_an_address_that_code_hosts_cannot_reach_is_a_warning(base_url: str, output: str) -> None:
    found = await network.base_url(Settings(base_url=base_url))

    assert (found.state, output in found.found) == (FindingState.WARNING, True)
    assert found.advice is not None


def test_a_code_host_is_asked_without_a_token(connected: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with CodeHostServer() as host:
        monkeypatch.setenv("CONTENTSVC_GITHUB_API_URL", host.api_url)
        found = findings_of()
        assert found.one("code host github")[0] == "ok"
        assert [each["state"] for each in found.all("clock")] == ["ok", "ok"]
        assert host.requests
        assert not [each for each in host.requests if "authorization" in {name.lower() for name in each.headers}]
    found = findings_of()
    assert found.one("code host github")[0] == "warning"
    assert found.exit_code == 0


def test_a_page_that_is_no_api_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    with Pages(__=(200, "<h1>Sign in</h1>")) as pages:
        monkeypatch.setenv("CONTENTSVC_CODEHOST_API_URL", pages.url)
        state, output = findings_of().one("code host codehost")

    assert (state, output.endswith("but not as an API")) == ("warning", True)


@pytest.mark.parametrize(
    ("answer", "state", "output"),
    [
        ((200, {"object": "list"}), "ok", "answers 200 (no text was requested)"),
        ((404, {"error": "unknown"}), "ok", "answers 404 (no text was requested)"),
        ((401, {"error": "unknown"}), "fault", "answers 401"),
        ((429, {"error": "unknown"}), "warning", "answers 429"),
        ((503, "<h1>Down</h1>"), "warning", "answers 503"),
        ((200, "<h1>Sign in</h1>"), "warning", "answers 200, but not as an API"),
    ],
)
def test_the_model_server_is_asked_with_the_key_and_for_no_text(
    answer: tuple[int, object], state: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTENTSVC_WRITER_MODEL", "large-1")
    monkeypatch.setenv("CONTENTSVC_WRITER_KEY", "sk-0123456789")
    with Pages(__v1__models=answer) as pages:
        monkeypatch.setenv("CONTENTSVC_WRITER_URL", f"{pages.url}/v1")
        done = doctor("--json")

    assert Findings(done).one("model") == (state, f"{pages.url}/v1 {output}")
    assert [each.headers["authorization"] for each in pages.requests] == ["Bearer sk-0123456789"]
    assert "sk-0123456789" not in done.stdout


def test_a_model_server_that_is_away_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_WRITER_MODEL", "large-1")
    monkeypatch.setenv("CONTENTSVC_WRITER_URL", "http://model.invalid/v1")

    (found,) = findings_of().all("model")

    assert found["state"] == "fault"
    assert found["found"].startswith("http://model.invalid/v1 cannot be reached: ")
    assert found["advice"].endswith("meanwhile, rules write the posts")


def test_only_apis_that_are_meant_to_be_used_are_asked() -> None:
    settings = Settings(api_urls={"codehost": "https://host.example/api/v1"})

    def asked(*variables: str, providers: tuple[str, ...] = ()) -> set[str]:
        return set(network.hosts_to_check(settings, variables, providers))

    # The default address is known without a setting, so it needs no call.
    assert asked() == set()
    assert asked("CONTENTSVC_CODEHOST_API_URL") == {"codehost"}
    assert asked(providers=("github",)) == {"github"}


@pytest.mark.parametrize(
    ("ahead_s", "state", "output"),
    [
        (0.3, FindingState.OK, "within 1 s of the database's"),
        (-12.0, FindingState.WARNING, "12.0 s ahead of the database's"),
        (90.0, FindingState.FAULT, "1.5 min behind the database's"),
    ],
)
def test_a_clock_that_is_off_is_named(ahead_s: float, state: FindingState, output: str) -> None:
    found = clock.compared(ahead_s, "the database's", near_s=1.0)

    assert (found.state, found.found) == (state, output)


def test_few_checks_query_the_database_at_once(connected: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[str] = []
    counts: list[int] = []

    async def counted(*_: object) -> list[Finding]:
        running.append("a check")
        for _turn in range(20):
            await asyncio.sleep(0)
            counts.append(len(running))
        running.pop()
        return []

    for name in ("runs", "references", "search", "executors"):
        monkeypatch.setattr(work, name, counted)
    findings_of()

    assert max(counts) <= 2


async def test_a_check_that_hangs_or_breaks_is_a_fault_and_no_more() -> None:
    over = threading.Event()

    async def hangs() -> Finding:
        await in_thread(over.wait)
        return ok("a", "b")

    async def breaks() -> Finding:
        message = "x"
        raise RuntimeError(message)

    async def away() -> Finding:
        message = "the database is away"
        raise StoreUnavailable(message)

    async def knows_more() -> Finding:
        message = "the database is away: a; b; start it"
        raise StoreUnavailable(message)

    async def well() -> Finding:
        return ok("a", "b")

    def itself(fault: Finding) -> Finding:
        return fault

    found = [
        await within("a", check, itself, limit_s=0.1, advice="mend it", if_slow="try again")
        for check in (hangs, breaks, away, knows_more)
    ]
    over.set()
    assert [each.found for each in found] == [
        "there was no answer within 0.1 s",
        "the check failed: RuntimeError: x",
        "the database is away",
        "the database is away: a; b",
    ]
    assert [each.advice for each in found] == ["try again", "mend it", "mend it", "start it"]
    assert {each.state for each in found} == {FindingState.FAULT}
    assert await within("a", well, itself) == ok("a", "b")


@pytest.mark.slow("looks at several databases of PostgreSQL")
@pytest.mark.parametrize(
    ("numbers", "state", "findings_beside"),
    [
        ((14, 12), "warning", None),
        ((15, 0), "ok", "version 17 and newer release the locks of a stalled process"),
        ((16, 9), "ok", "version 17 and newer release the locks of a stalled process"),
        ((17, 0), "ok", None),
    ],
)
def test_what_an_older_postgresql_lacks_is_named(
    monkeypatch: pytest.MonkeyPatch, numbers: tuple[int, ...], state: str, findings_beside: str | None
) -> None:
    asked = DatabaseInspector.server

    async def older(database: DatabaseInspector) -> DatabaseServer:
        return evolve(await asked(database), version=".".join(map(str, numbers)), numbers=numbers)

    monkeypatch.setattr(DatabaseInspector, "server", older)
    with postgres.emptied() as url:
        monkeypatch.setenv("CONTENTSVC_DATABASE_URL", url)
        found = findings_of()

    state_of, output = found.one("database")
    assert state_of == state
    assert output.startswith(f"PostgreSQL {numbers[0]}.{numbers[1]}, ")
    assert output.partition("synchronous_commit is on")[2] == (f"; {findings_beside}" if findings_beside else "")


@pytest.mark.slow("looks at several databases of PostgreSQL")
def test_a_postgresql_database_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres.database() as url:
        monkeypatch.setenv("CONTENTSVC_DATABASE_URL", url)
        found = findings_of()
        assert found.one("key")[1].startswith("CONTENTSVC_SECRET_KEY is not set")
        assert found.all("key")[0]["advice"].startswith("set it to the key of your other nodes or of your backup. ")
        monkeypatch.setenv("CONTENTSVC_SECRET_KEY", "a key of thirty-two characters or more")
        found = findings_of()
        state, output = found.one("database")
        assert (state, output.startswith("PostgreSQL "), output.endswith("synchronous_commit is on")) == (
            "ok",
            True,
            True,
        )
        assert (found.one("schema")[0], found.one("key")) == (
            "ok",
            ("ok", "CONTENTSVC_SECRET_KEY is valid; no secrets are stored yet"),
        )
        assert [each["state"] for each in found.all("clock")] == ["ok", "ok"]
        assert not found.all("file")
        assert found.one("disk") == ("ok", "the disk of the database's server has room for 4.2 MB more")
        assert found.one("engine") == ("fault", "dbos: its tables are missing")
        command("migrate")
        assert found.exit_code == 1
        found = findings_of()
        assert found.one("engine")[1].startswith("dbos: the database answers; its tables have version ")
        assert found.exit_code == 0
        # As after a restore with another role.
        postgres.rows(url, f'ALTER DATABASE "{make_url(url).database}" SET role TO pg_monitor')
        found = findings_of()
        state, output = found.one("schema")
        tables = f"{len(metadata.tables)} tables"
        assert (state, output.split(",")[0]) == ("fault", f"the database role may not read and change {tables}")
        assert found.all("schema")[0]["advice"].startswith("let the role of CONTENTSVC_DATABASE_URL own the database")
        assert found.one("runs") == ("skipped", "the database role lacks permissions")
        refused = invoke("organization", "create", "Acme")
        assert refused.stderr == (
            "Error: the database role lacks a permission: permission denied for table alembic_version; "
            "let the role of CONTENTSVC_DATABASE_URL own the database, and all tables and schemas in it\n"
        )


@pytest.mark.slow("looks at several databases of PostgreSQL")
def test_a_postgresql_server_that_cannot_write_files_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres.database() as url:
        monkeypatch.setenv("CONTENTSVC_DATABASE_URL", url)
        # No temporary file can grow, as on a full disk.
        postgres.rows(url, f"ALTER DATABASE \"{make_url(url).database}\" SET temp_file_limit TO '64kB'")
        found = findings_of()

    state, output = found.one("disk")
    assert (state, "temporary file size exceeds" in output) == ("fault", True)
    assert found.all("disk")[0]["advice"].startswith("free some space on the disk of the database's server")


@pytest.mark.slow("looks at several databases of PostgreSQL")
def test_a_postgresql_database_with_another_encoding_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres.database() as url:
        monkeypatch.setenv("CONTENTSVC_DATABASE_URL", url)
        # As a version made it that did not check the encoding.
        postgres.rows(
            url,
            "UPDATE pg_database SET encoding = pg_char_to_encoding('LATIN1') WHERE datname = current_database()",
        )
        found = findings_of()

    sentence = "the database has the encoding LATIN1: deliveries with other characters are refused"
    assert found.one("schema") == ("fault", sentence)
    assert found.all("schema")[0]["advice"].startswith("back it up, and restore it into a database with the encoding")
    # Everything else is still looked at.
    assert found.one("runs")[0] == "ok"


def test_a_postgresql_database_without_a_schema_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_SECRET_KEY", "a key of thirty-two characters or more")
    with postgres.database(migrated=False) as url:
        monkeypatch.setenv("CONTENTSVC_DATABASE_URL", url)
        found = findings_of()

    assert found.one("schema") == ("fault", f"there is no schema yet; this version needs {HEAD}")
    assert found.all("schema")[0]["advice"] == "run 'contentsvc migrate' once"


def test_the_engine_beside_a_file_makes_its_tables_itself(
    connected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTENTSVC_ENGINE", "dbos")

    assert findings_of().one("engine")[0] == "ok"
    assert not Path("engine.db").exists()


def test_references_to_missing_rows_are_counted(connected: dict[str, Any]) -> None:
    command("trigger", "create", "--every-event", "--organization", "acme", "--repository-id", "4242")
    receive(connected["integrationId"], "feat: a lamp")
    assert findings_of().one("references")[0] == "ok"
    change("DELETE FROM events")
    change("UPDATE log_entries SET organization_id = 'gone'")

    sentence = "rows refer to events or organizations that do not exist"
    tables = "1 of workflow_runs, 1 of context_records, 1 of log_entries"
    assert findings_of().one("references") == ("fault", f"{sentence}: {tables}")


def test_documents_that_were_given_up_are_counted(connected: dict[str, Any]) -> None:
    assert connected
    insert = "INSERT INTO search_pending (organization_id, kind, document_id, version, begun, begun_version) "
    for name, begun, begun_version in (("a", 4, 1), ("b", 4, 1), ("tried", 3, 1), ("changed since", 4, 0)):
        change(f"{insert} VALUES ('org', 'context', ?, 1, ?, ?)", name, begun, begun_version)

    assert findings_of().one("search") == ("warning", "2 documents are not indexed: indexing failed three times")


def test_mails_that_wait_or_have_failed_are_counted(connected: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert connected
    command("changelog", "publish", "--organization", "acme", "--yes")
    change(
        "INSERT INTO subscribers (id, organization_id, changelog_id, address, status, digest, sealed_token, "
        "created_at) SELECT 'sub', organization_id, id, 'ann@acme.example', 'confirmed', 'd', 's', 1 "
        "FROM public_changelogs"
    )
    now = time.time_ns() // 1_000_000

    def mail(status: str, *, created: int, due: int, error: str | None = None) -> None:
        change(
            "INSERT INTO mails (id, organization_id, subscriber_id, kind, status, attempts, takes, created_at, due_at, "
            "error) SELECT ?, organization_id, id, 'posts', ?, 1, 1, ?, ?, ? FROM subscribers",
            *(f"{status} {created}", status, created, due, error),
        )

    days = 86_400_000
    mail("delivered", created=now - 2, due=now - 1)
    mail("failed", created=now - 2 * days, due=now - 2 * days, error="the server answered 551: long ago")
    assert findings_of().all("mails") == []
    monkeypatch.setenv("CONTENTSVC_SMTP_URL", "smtp://127.0.0.1:9?starttls=off")
    monkeypatch.setenv("CONTENTSVC_MAIL_FROM", "log@acme.example")
    assert findings_of().one("mails") == ("ok", "0 waiting; 1 sent and 0 failed in the last day")

    mail("failed", created=now - 2, due=now - 1, error="the server answered 550: <…>: no such user")
    failed = "1 sent and 1 failed in the last day; error: the server answered 550: <…>: no such user"
    assert findings_of().one("mails") == ("warning", f"0 waiting; {failed}")

    mail("pending", created=now - 3_600_000, due=now + 60_000, error="the server answered 421: come back later")
    waiting = "1 waiting (the oldest for 1 h); 1 sent and 1 failed in the last day"
    found = findings_of().one("mails")
    assert found == ("warning", f"{waiting}; error: the server answered 421: come back later")
    monkeypatch.delenv("CONTENTSVC_SMTP_URL")
    assert findings_of().one("mails") == found


def test_messages_that_wait_for_endpoints_are_counted(connected: dict[str, Any]) -> None:
    assert connected
    assert findings_of().all("webhooks") == []
    command("endpoint", "create", "https://hooks.example/a", "--organization", "acme")
    assert findings_of().one("webhooks") == ("ok", "no message waits for an endpoint")
    change("UPDATE webhook_endpoints SET id = 'whe_1', failures = 5")
    now = time.time_ns() // 1_000_000

    def message(id_: str, *, age_ms: int, status: str = "pending", endpoint: str = "whe_1") -> None:
        change(
            "INSERT INTO webhook_messages (id, organization_id, endpoint_id, type, data, status, attempts, takes, "
            "created_at, due_at) SELECT ?, organization_id, ?, 'ping', '{}', ?, 5, 5, ?, ? FROM webhook_endpoints",
            *(id_, endpoint, status, now - age_ms, now + 60_000),
        )

    message("sent", age_ms=7_200_000, status="delivered")
    message("of a deleted endpoint", age_ms=7_200_000, endpoint="whe_2")
    message("new", age_ms=1_000)
    level, sentence = findings_of().one("webhooks")
    assert (level, sentence.partition(";")[0]) == ("ok", "1 message waits for endpoints")

    message("old", age_ms=3_600_000)
    waiting = "2 messages wait for endpoints; the oldest for 1 h, for whe_1, whose last 5 attempts failed"
    assert findings_of().one("webhooks") == ("warning", waiting)
    change("UPDATE webhook_endpoints SET enabled = false")
    assert findings_of().all("webhooks") == []
