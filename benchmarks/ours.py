"""The service's own sides, on SQLite and on PostgreSQL, and the baselines."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.material import Hook
from benchmarks.sides import Database, Prepared, Side

if TYPE_CHECKING:
    from benchmarks.bench import Bench

REPOSITORY: Final = "acme/lighthouse"
REPOSITORY_ID: Final = 4242
ORGANIZATION: Final = "acme"
_FILE: Final = "contentsvc.db"
_PROGRAM: Final = str(Path(sys.executable).with_name("contentsvc"))
_SEALED_WITH: Final = "a long secret that only benchmarks seal with"
_COUNTS: Final = {
    "claims": "SELECT count(*) FROM claims",
    "events": "SELECT count(*) FROM events",
    "contexts": "SELECT count(*) FROM context_records",
    "runs": "SELECT count(*) FROM workflow_runs",
    "logs": "SELECT count(*) FROM log_entries",
}
#: The templates of a run's databases: each is created once, by the service's commands.
_MADE: Final[dict[tuple[Path, Database], tuple[str, Hook]]] = {}


def sqlite() -> Side:
    """Return the service on a SQLite file, as a receiver."""
    return _side("sqlite", "contentsvc, SQLite", Database.SQLITE, "receiver")


def postgresql() -> Side:
    """Return the service on PostgreSQL, as a receiver."""
    return _side("postgresql", "contentsvc, PostgreSQL", Database.POSTGRESQL, "receiver")


def sqlite_whole() -> Side:
    """Return the service on a SQLite file with all roles: receiving, runs, sweeping."""
    return _side("sqlite-all", "contentsvc, SQLite, all roles", Database.SQLITE, None)


def postgresql_whole() -> Side:
    """Return the service on PostgreSQL with all roles."""
    return _side("postgresql-all", "contentsvc, PostgreSQL, all roles", Database.POSTGRESQL, None)


def null() -> Side:
    """Return the receiver with a store that does nothing."""

    def prepare(bench: "Bench", folder: Path, port: int) -> Prepared:
        return _prepared(bench, folder, port, Database.SQLITE, "null")

    return Side(name="null", title="our receiver, no store", database=Database.NONE, counts={}, prepare=prepare)


def floor() -> Side:
    """Return the HMAC-and-200 application on the same server."""
    hook = Hook(
        organization="org_floor",
        integration="int_floor",
        repository=REPOSITORY,
        repository_id=REPOSITORY_ID,
        secret="a secret of thirty-two characters",  # noqa: S106  # a secret of a test
    )

    def prepare(bench: "Bench", folder: Path, port: int) -> Prepared:
        _ = bench
        return Prepared(
            command=_command("floor"),
            environment=_outside() | {"PORT": str(port), "SECRET": hook.secret},
            folder=folder,
            ready="/ready",
            hook=hook,
            database="",
        )

    return Side(name="floor", title="floor: HMAC and 200", database=Database.NONE, counts={}, prepare=prepare)


def _side(name: str, title: str, database: Database, kind: str | None) -> Side:
    def prepare(bench: "Bench", folder: Path, port: int) -> Prepared:
        return _prepared(bench, folder, port, database, kind)

    return Side(name=name, title=title, database=database, counts=_COUNTS, prepare=prepare)


def _prepared(bench: "Bench", folder: Path, port: int, database: Database, kind: str | None) -> Prepared:
    template, hook = _template(bench, database)
    if database is Database.SQLITE:
        for file in Path(template).parent.glob(f"{_FILE}*"):
            shutil.copy(file, folder)
        where = str(folder / _FILE)
    else:
        where = bench.postgres.database(template)
    command = [program(), "serve", "--port", str(port)] if kind is None else _command(kind)
    return Prepared(
        command=command,
        environment=environment(where, database) | {"PORT": str(port)},
        folder=folder,
        ready="/health/ready",
        hook=hook,
        database=where,
    )


def command(prepared: Prepared, *arguments: str) -> Any:  # noqa: ANN401  # JSON
    """Run a command of the service on a side's database; return its JSON."""
    return _run([_PROGRAM, *arguments, "--json"], dict(prepared.environment))


def _command(kind: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.serving", kind]


def program() -> str:
    """Return the path of the service's command."""
    return str(Path(sys.executable).with_name("contentsvc"))


def environment(where: str, database: Database) -> dict[str, str]:
    """Return the environment of a process of the service: its defaults, and its database."""
    url = f"sqlite+aiosqlite:///{where}" if database is Database.SQLITE else where.replace("://", "+asyncpg://", 1)
    variables = _outside() | {"CONTENTSVC_DATABASE_URL": url, "CONTENTSVC_LOG_FORMAT": "json"}
    if database is Database.POSTGRESQL:
        variables["CONTENTSVC_SECRET_KEY"] = _SEALED_WITH
    return variables


def _outside() -> dict[str, str]:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("CONTENTSVC_")}
    # So that `-m benchmarks.serving` is found from each side's folder.
    places = (str(Path(__file__).parents[1]), *filter(None, [outside.get("PYTHONPATH")]))
    return outside | {"PYTHONPATH": os.pathsep.join(places)}


def _template(bench: "Bench", database: Database) -> tuple[str, Hook]:
    template = _MADE.get((bench.folder, database))
    if template is None:
        bench.note(f"making the {database.value} database")
        in_file = database is Database.SQLITE
        where = str(bench.new_folder("template") / _FILE) if in_file else bench.postgres.database()
        template = _MADE[bench.folder, database] = (where, _made_hook(environment(where, database)))
    return template


def _made_hook(environment: dict[str, str]) -> Hook:
    words = [sys.executable, "-m", "benchmarks.installing", ORGANIZATION, REPOSITORY, str(REPOSITORY_ID)]
    answer = _run(words, environment)
    return Hook(
        organization=answer["organizationId"],
        integration=answer["integrationId"],
        repository=REPOSITORY,
        repository_id=REPOSITORY_ID,
        secret=answer["webhookSecret"],
    )


def _run(command: list[str], environment: dict[str, str]) -> Any:  # noqa: ANN401  # JSON
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)  # noqa: S603  # our own
    if done.returncode:
        message = f"{' '.join(command)}: {done.stderr}"
        raise RuntimeError(message)
    return json.loads(done.stdout)
