"""A real `contentsvc serve`, used only through its commands, its socket and its files.

No module of the service is imported here, so that checks cannot share the service's mistakes.
"""

import contextlib
import hashlib
import hmac
import json
import os
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import httpx
import psycopg
from attrs import asdict, evolve, frozen
from psycopg.rows import dict_row

from tests import preloaded
from tests.postgres_server import RUN, ask_server, once
from tests.stepped_clock import SteppedClock

COMMAND: Final = str(Path(sys.executable).with_name("contentsvc"))
#: The command of a next version with one more migration.
NEXT_VERSION: Final = (sys.executable, "-m", "campaigns.next_version")
LOOPBACK: Final = "127.0.0.1"
REPOSITORY: Final = "acme/lighthouse"
REPOSITORY_ID: Final = 4242
DUPLICATE: Final = "Webhook already processed (duplicate delivery)"
#: Trusts no certificate, since all is plain HTTP. Loading the system's certificates takes 50 ms each time.
PLAIN: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
#: The longest wait of a test, in seconds: a busy machine is slow.
PATIENCE_S: Final = 45.0
#: The default encryption key of installations on PostgreSQL, which have no key file.
SECRET_KEY: Final = "a long secret that only tests seal with"
_POLL_S: Final = 0.01


def until(holds: Callable[[], bool], what: str, *, within_s: float = PATIENCE_S) -> None:
    """Wait until a condition holds; raise ``AssertionError`` if it does not."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        time.sleep(_POLL_S)


def _is_preloaded() -> bool:
    """Check whether pytest runs, which starts hundreds of processes; campaigns start real ones."""
    return "PYTEST_VERSION" in os.environ


def signature(body: bytes, secret: str) -> str:
    """Sign as specification 5.2 says."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


@final
@frozen(kw_only=True)
class Hook:
    """A webhook, as `integration connect` prints it."""

    organization: str
    organization_id: str
    integration_id: str
    repository_id: int
    secret: str

    @property
    def path(self) -> str:
        return f"/api/webhooks/codehost/{self.organization_id}/{self.integration_id}/{self.repository_id}"

    def headers(self, body: bytes, delivery: str, event: str = "push") -> dict[str, str]:
        return {
            "Content-Type": "application/json",
            "X-Host-Event": event,
            "X-Host-Delivery": delivery,
            "X-Hub-Signature-256": signature(body, self.secret),
        }


@final
class Installation:
    """A database and the service's commands: a SQLite file in the folder, or that of `database_url`."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        #: The SQLite file, if there is one.
        self.database = folder / "contentsvc.db"
        url = settings.get("database_url", "")
        #: The address for PostgreSQL's own clients; `None` with SQLite.
        self.postgres = url.replace("+asyncpg", "", 1) if url.startswith("postgresql") else None
        self._settings = settings if self.postgres is None else {"secret_key": SECRET_KEY} | settings

    @property
    def environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("CONTENTSVC_")}
        own["CONTENTSVC_DATABASE_URL"] = f"sqlite+aiosqlite:///{self.database}"
        own["CONTENTSVC_LOG_FORMAT"] = "json"
        return own | {f"CONTENTSVC_{name.upper()}": value for name, value in self._settings.items()}

    def run(
        self, *arguments: str, program: Sequence[str] = (COMMAND,), **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, with any exit code."""
        own = self.environment | environment
        if program == (COMMAND,) and _is_preloaded():
            return preloaded.run(arguments, environment=own, timeout_s=PATIENCE_S)
        return subprocess.run(
            [*program, *arguments], env=own, capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )

    def command(self, *arguments: str) -> Any:
        """Run a command with `--json`; return its output."""
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, (arguments, done.stderr)
        return json.loads(done.stdout)

    def connect(self, organization: str, name: str, repository_id: int) -> Hook:
        created = self.command(
            *("integration", "connect", name), *("--organization", organization, "--repository-id", str(repository_id))
        )
        return Hook(
            organization=organization,
            organization_id=created["organizationId"],
            integration_id=created["integrationId"],
            repository_id=int(created["repositoryId"]),
            secret=created["webhookSecret"],
        )

    def trigger(self, organization: str, name: str, repository_id: int, *events: str) -> str:
        """Create a trigger that publishes; return its id."""
        created = self.command(
            *("trigger", "create", "--organization", organization, "--name", name, "--auto-publish"),
            *("--repository-id", str(repository_id)),
            *([part for event in events for part in ("--event", event)] or ["--every-event"]),
        )
        return str(created["id"])

    def rows(self, query: str, *parameters: object) -> list[dict[str, Any]]:
        """Run a query on the database, without changing it; `?` marks a parameter for both databases."""
        if self.postgres is not None:
            translated = query.replace("%", "%%").replace("?", "%s").encode()
            with psycopg.connect(self.postgres) as opened, opened.cursor(row_factory=dict_row) as cursor:
                opened.read_only = True
                return cursor.execute(translated, parameters).fetchall()
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=30)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query, parameters)]

    def count(self, query: str, *parameters: object) -> int:
        """Return the number of a query."""
        return int(next(iter(self.rows(query, *parameters)[0].values())))

    def unended_runs(self) -> int:
        return self.count("SELECT count(*) FROM workflow_runs WHERE status IN ('pending', 'running')")

    def until_runs_ended(self) -> None:
        """Wait until all runs have ended, as long as their number falls: a thousand kills leave ten thousand runs."""
        left = self.unended_runs()
        while left:
            before = left
            until(lambda before=before: self.unended_runs() < before, f"one of {before} runs has ended")
            left = self.unended_runs()


@final
@frozen(kw_only=True)
class Prepared:
    """An installation with an organization, a key, a webhook and two triggers."""

    installation: Installation
    hook: Hook
    key: str
    #: Starts a run for every push and release.
    on_all: str
    #: Starts a run for every push.
    on_push: str

    def copied_to(self, folder: Path, **settings: str) -> "Prepared":
        """Copy the installation, while no server runs on it."""
        assert self.installation.postgres is None, "only a file can be copied"
        copy = Installation(folder, **settings)
        for file in self.installation.folder.glob("contentsvc.db*"):
            shutil.copy(file, folder)
        return Prepared(installation=copy, hook=self.hook, key=self.key, on_all=self.on_all, on_push=self.on_push)

    def left_by(self, delivery: str) -> dict[str, Any]:
        """Return the rows that a delivery has left: context records, log titles, and the triggers of its runs."""
        rows = self.installation.rows
        contexts = rows(
            "SELECT custom_id FROM context_records WHERE custom_id = ?",
            f"codehost:{self.hook.repository_id}:{delivery}",
        )
        logs = rows("SELECT title FROM log_entries WHERE reference_id = ? ORDER BY id", delivery)
        runs = rows(
            "SELECT trigger_id FROM workflow_runs JOIN events ON events.id = event_id WHERE delivery_id = ?", delivery
        )
        return {
            "contexts": len(contexts),
            "logs": [row["title"] for row in logs],
            "runs": sorted(row["trigger_id"] for row in runs),
        }


def prepare(folder: Path, **settings: str) -> Prepared:
    """Set up an installation with the operator's commands, or copy one of this test run.

    Commands are processes: a run of all tests would spend minutes on the same few.
    """
    installation = Installation(folder, **settings)
    run = os.environ.get(RUN)
    if run is None or "secret_key" in settings:
        return _set_up(installation)
    kept = Path(run) / ("prepared-sqlite" if installation.postgres is None else "prepared-postgresql")
    with once(Path(run), f"{kept.name}-made") as first:
        if first:
            # For all installations, with any engine.
            created = _set_up(Installation(folder, **{name: settings[name] for name in settings if name != "engine"}))
            kept.mkdir(exist_ok=True)
            _keep(created, kept)
            return evolve(created, installation=installation)
    _restore(installation, kept)
    stored = json.loads((kept / "prepared.json").read_text())
    return Prepared(installation=installation, hook=Hook(**stored.pop("hook")), **stored)


def _keep(prepared: Prepared, kept: Path) -> None:
    installation = prepared.installation
    if installation.postgres is None:
        for file in installation.folder.glob("contentsvc.db*"):
            shutil.copy(file, kept)
    else:
        ask_server("pg_dump", installation.postgres, "--no-owner", "--file", str(kept / "dump.sql"))
    stored = {"hook": asdict(prepared.hook)} | {name: getattr(prepared, name) for name in ("key", "on_all", "on_push")}
    (kept / "prepared.json").write_text(json.dumps(stored))


def _restore(installation: Installation, kept: Path) -> None:
    if installation.postgres is None:
        for file in kept.glob("contentsvc.db*"):
            shutil.copy(file, installation.folder)
    else:
        quietly = ("--no-psqlrc", "--quiet", "--single-transaction", "--output=/dev/null", "--set=ON_ERROR_STOP=1")
        ask_server("psql", installation.postgres, *quietly, "--file", str(kept / "dump.sql"))


def _set_up(installation: Installation) -> Prepared:
    if installation.postgres is not None:
        # Also the engine's own tables.
        installation.command("migrate")
    installation.command("organization", "create", "Acme", "--slug", "acme")
    return Prepared(
        installation=installation,
        hook=installation.connect("acme", REPOSITORY, REPOSITORY_ID),
        on_all=installation.trigger("acme", "all", REPOSITORY_ID),
        on_push=installation.trigger("acme", "pushes", REPOSITORY_ID, "push"),
        key=installation.command("key", "issue", "--organization", "acme", "--scope", "read")["key"],
    )


@final
class ServerProcess:
    """A server that tests start repeatedly on the same port; the end of the context kills it."""

    def __init__(
        self,
        installation: Installation,
        *arguments: str,
        name: str = "serve",
        program: Sequence[str] = (COMMAND,),
        environment: Mapping[str, str] | None = None,
        fresh: bool = False,
    ) -> None:
        """Create the process.

        Args:
            installation: The installation.
            arguments: Further arguments, such as `--workers`.
            name: The log's name; nodes of one installation need different names.
            program: The command, or a variant of it for a test.
            environment: Further variables of such a variant.
            fresh: Whether the start itself is tested: then all imports are new, as in production.
        """
        self._installation = installation
        self._arguments = arguments
        self._program = program
        self._environment = environment or {}
        self._fresh = fresh
        self._process: subprocess.Popen[bytes] | preloaded.Forked | None = None
        self.stderr = installation.folder / f"{name}.log"
        # Bound and never listening: the server's own socket may share the port, and no other process gets it.
        self._reservation = socket.socket()
        self._reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reservation.bind((LOOPBACK, 0))
        self.port = int(self._reservation.getsockname()[1])
        self.url = f"http://{LOOPBACK}:{self.port}"

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._reservation.close()

    @property
    def process(self) -> "subprocess.Popen[bytes] | preloaded.Forked":
        assert self._process is not None
        return self._process

    def start(self) -> None:
        assert self._process is None
        arguments = ("serve", "--host", LOOPBACK, "--port", str(self.port), *self._arguments)
        own = {**self._installation.environment, **self._environment, "CONTENTSVC_BASE_URL": self.url}
        modules = {(COMMAND,): None, tuple(SteppedClock.program): SteppedClock.program[-1]}
        with self.stderr.open("ab") as log:
            if not self._fresh and tuple(self._program) in modules and _is_preloaded():
                module = modules[tuple(self._program)]
                self._process = preloaded.start(arguments, program=module, environment=own, stdout=log, stderr=log)
                return
            self._process = subprocess.Popen(
                [*self._program, *arguments],
                env=own,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A group of its own, as a shell makes one: its workers are in it, too.
                process_group=0,
            )

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def is_ready(self) -> bool:
        assert self.is_alive, f"the server has ended: {self.log()[-2000:]}"
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/health/ready", trust_env=False, verify=PLAIN, timeout=PATIENCE_S).is_success
        return False

    def until_ready(self) -> "ServerProcess":
        until(self.is_ready, f"the server is ready; its log: {self.log()[-2000:]}")
        return self

    def kill(self) -> None:
        """Kill the server and its workers with `kill -9`, and wait for their end."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                # The group exists as long as one of its processes: workers may outlive the first process for a moment.
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def exit_code(self, *, within_s: float) -> int:
        return self.process.wait(within_s)

    @contextlib.contextmanager
    def started_with_a_reader_that_stops(self) -> Generator[None]:
        """Start the server with a pipe as its log, and fill the pipe when the server is ready."""
        os.mkfifo(self.stderr)
        pipe = os.open(self.stderr, os.O_RDWR | os.O_NONBLOCK)
        try:
            self.start()
            until(self.is_ready, "the server is ready")
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(pipe, b"x")
            yield
        finally:
            self.kill()
            os.close(pipe)

    def connect(self) -> socket.socket:
        """Open a connection to the server, for requests that no client sends."""
        return socket.create_connection((LOOPBACK, self.port), PATIENCE_S)

    def log(self) -> str:
        """Return the output so far."""
        return self.stderr.read_text("utf-8", "backslashreplace") if self.stderr.exists() else ""


@contextlib.contextmanager
def serving(
    installation: Installation,
    *arguments: str,
    name: str = "serve",
    program: Sequence[str] = (COMMAND,),
    environment: Mapping[str, str] | None = None,
    fresh: bool = False,
) -> Generator[ServerProcess]:
    """Serve an installation; at the end, no process is left."""
    with ServerProcess(
        installation, *arguments, name=name, program=program, environment=environment, fresh=fresh
    ) as server:
        server.start()
        yield server.until_ready()
