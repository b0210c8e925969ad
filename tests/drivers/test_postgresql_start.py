"""Messages and exit codes of `contentsvc` with an unusable PostgreSQL."""

import contextlib
import uuid
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import make_url
from tests import postgres
from tests.server_process import PLAIN, Installation, ServerProcess, serving, until

from contentsvc_adapters.sql.schema.all_tables import metadata

pytestmark = pytest.mark.slow("starts servers on a PostgreSQL of their own")


@pytest.fixture
def empty_url() -> Generator[str]:
    with postgres.database(migrated=False) as url:
        yield url


@pytest.mark.parametrize("arguments", [("serve", "--port", "0"), ("organization", "create", "Acme")])
def test_an_empty_database_is_refused_until_it_is_migrated(
    tmp_path: Path, empty_url: str, arguments: tuple[str, ...]
) -> None:
    installation = Installation(tmp_path, database_url=empty_url)

    refused = installation.run(*arguments)

    assert refused.returncode == 1
    assert "Error: the database has no schema yet" in refused.stderr
    assert "run 'contentsvc migrate'" in refused.stderr
    assert postgres.rows(empty_url, "SELECT * FROM pg_tables WHERE schemaname = 'public'") == []


def test_migrating_needs_no_key_and_everything_else_does(tmp_path: Path, empty_url: str) -> None:
    installation = Installation(tmp_path, database_url=empty_url)

    migrated = installation.run("migrate", CONTENTSVC_SECRET_KEY="")
    keyless = installation.run("organization", "create", "Acme", CONTENTSVC_SECRET_KEY="")
    created = installation.run("organization", "create", "Acme")

    assert migrated.returncode == 0, migrated.stderr
    assert keyless.returncode == 1
    assert "CONTENTSVC_SECRET_KEY is not set" in keyless.stderr
    assert "openssl rand -base64 32" in keyless.stderr
    assert created.returncode == 0, created.stderr
    assert not list(tmp_path.iterdir())


def test_another_schema_and_a_server_that_is_away_are_one_sentence_each(tmp_path: Path) -> None:
    with postgres.database() as url:
        installation = Installation(tmp_path, database_url=url)
        messages: list[str] = []
        for found in ("0020", "9999"):
            postgres.rows(url, "UPDATE alembic_version SET version_num = %s", found)
            refused = installation.run("organization", "list")
            assert refused.returncode == 1
            messages.append(refused.stderr)
        missing = Installation(tmp_path, database_url=url.replace("?", "_missing?")).run("migrate")
    away = Installation(tmp_path, database_url="postgresql+asyncpg://ada:hunter2@127.0.0.1:1/contents")
    unreachable = away.run("organization", "list")

    assert "is at revision 0020" in messages[0]
    assert "run 'contentsvc migrate'" in messages[0]
    assert "a newer version of contentsvc has upgraded it" in messages[1]
    assert (missing.returncode, unreachable.returncode) == (1, 1)
    assert "does not exist; create it as an administrator" in missing.stderr
    assert "the database 'contents' at 127.0.0.1 port 1 cannot be used" in unreachable.stderr
    assert "hunter2" not in unreachable.stderr
    assert [len(each.strip().splitlines()) for each in (*messages, missing.stderr, unreachable.stderr)] == [1] * 4


def test_the_engines_tables_are_asked_for_by_name(tmp_path: Path, empty_url: str) -> None:
    installation = Installation(tmp_path, database_url=empty_url)
    assert installation.run("migrate").returncode == 0
    postgres.rows(empty_url, "DROP SCHEMA dbos CASCADE")

    refused = installation.run("serve", "--port", "0")

    assert refused.returncode == 1
    assert "Error: the engine's tables are not there: run 'contentsvc migrate'" in refused.stderr
    assert "Traceback" not in refused.stderr


@contextlib.contextmanager
def _connecting_as_role(url: str, right: str) -> Generator[None]:
    """Grant all new connections to a database only one right."""
    role = f"role_{uuid.uuid4().hex}"
    postgres.rows(url, f"CREATE ROLE {role}; GRANT {right.format(role=role)} TO {role}")
    postgres.rows(url, f'ALTER DATABASE "{make_url(url).database}" SET role TO {role}')
    try:
        yield
    finally:
        postgres.rows(url, f"SET role TO NONE; DROP OWNED BY {role}; DROP ROLE {role}")


@pytest.mark.parametrize(
    ("right", "message"),
    [
        (
            "USAGE ON SCHEMA public",
            "the database role lacks a permission: permission denied for table alembic_version; ",
        ),
        (
            "SELECT ON ALL TABLES IN SCHEMA public",
            f"the database role may not read and change {len(metadata.tables)} tables, such as announced_posts: ",
        ),
        (
            "ALL ON ALL TABLES IN SCHEMA public",
            "the engine's database cannot be used: permission denied for schema dbos; ",
        ),
        (
            (
                "ALL ON ALL TABLES IN SCHEMA public, dbos TO {role};"
                " REVOKE INSERT ON dbos.operation_outputs FROM {role}; GRANT USAGE ON SCHEMA dbos"
            ),
            "the database role may not read and change the engine's table operation_outputs; ",
        ),
    ],
)
def test_a_role_without_the_ownership_of_the_tables_gets_an_error_that_names_the_fix(
    tmp_path: Path, empty_url: str, right: str, message: str
) -> None:
    installation = Installation(tmp_path, database_url=empty_url)
    assert installation.run("migrate").returncode == 0
    with _connecting_as_role(empty_url, right):
        refused = installation.run("serve", "--port", "0")

    assert refused.returncode == 1
    assert (
        f"Error: {message}let the role of CONTENTSVC_DATABASE_URL own the database, and all tables and schemas in it\n"
        in refused.stderr
    )
    assert '"ready"' not in refused.stderr
    assert "Traceback" not in refused.stderr


def test_migrating_without_the_ownership_of_the_database_gets_an_error_that_names_the_fix(
    tmp_path: Path, empty_url: str
) -> None:
    with _connecting_as_role(empty_url, "ALL ON SCHEMA public"):
        refused = Installation(tmp_path, database_url=empty_url).run("migrate")

    assert refused.returncode == 1
    assert "Error: the engine cannot use its tables: permission denied for database" in refused.stderr
    assert "; let the role of CONTENTSVC_DATABASE_URL own the database" in refused.stderr


@pytest.fixture
def server() -> Generator[postgres.PrivateServer]:
    with postgres.PrivateServer(durable=False) as created:
        yield created


def test_a_node_ends_in_time_however_its_database_hangs(tmp_path: Path, server: postgres.PrivateServer) -> None:
    installation = Installation(tmp_path, database_url=server.url)
    assert installation.run("migrate").returncode == 0
    with serving(installation) as node:
        server.pause()
        node.terminate()
        ended = node.exit_code(within_s=20)
        server.resume()

    assert ended == 0
    assert "Traceback" not in node.log()


def test_an_engine_without_its_database_logs_it_and_takes_no_runs(
    tmp_path: Path, server: postgres.PrivateServer
) -> None:
    installation = Installation(tmp_path, database_url=server.url)
    assert installation.run("migrate").returncode == 0
    assert installation.run("organization", "create", "Acme").returncode == 0
    with serving(installation) as node:
        # The first step of a run launches the engine: the site, which does not exist, is asked for in one.
        result = installation.run("brand", "generate", "https://acme.invalid", "--organization", "acme")
        assert "acme.invalid" in result.stdout + result.stderr
        until(lambda: bool(postgres.rows(server.url, "SELECT 1 FROM dbos.workflow_status")), "the engine runs")
        server.stop()
        until(lambda: not node.is_ready(), "it is not ready")
        until(lambda: "engine unavailable: taking no runs" in node.log(), "it has said so")
        server.start()
        until(node.is_ready, "it is ready again")
        until(lambda: "engine available again" in node.log(), "it has said so")

        postgres.rows(server.url, "ALTER SCHEMA dbos RENAME TO away")
        until(lambda: "the engine cannot reach its tables" in why_not_ready(node), "the reason is given")
        postgres.rows(server.url, "ALTER SCHEMA away RENAME TO dbos")
        until(node.is_ready, "it is ready again")

    assert "Traceback" not in node.log()


def why_not_ready(node: ServerProcess) -> str:
    return httpx.get(f"{node.url}/health/ready", trust_env=False, verify=PLAIN).text


def test_nodes_with_different_engines_say_so_and_the_doctor_does(tmp_path: Path, empty_url: str) -> None:
    installation = Installation(tmp_path, database_url=empty_url)
    assert installation.run("migrate").returncode == 0
    inline = {"CONTENTSVC_ENGINE": "inline"}
    with serving(installation) as node, serving(installation, name="other", environment=inline) as other:
        for each, found in ((node, "inline"), (other, "dbos")):
            until(lambda each=each, found=found: f'"other": ["{found}"]' in each.log(), "the other engine is noticed")
        doctor = installation.run("doctor")

    assert "other nodes use another engine: set the same CONTENTSVC_ENGINE on all nodes" in node.log()
    assert "nodes use different engines, dbos and inline: an interrupted run may repeat its steps" in doctor.stdout
