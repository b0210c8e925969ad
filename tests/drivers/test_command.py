"""The operator's commands, as far as they need no server."""

import contextlib
import json
import os
import socket
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from contentsvc_adapters.sql import HEAD
from contentsvc_cli.main import main
from contentsvc_core.testing import push_body


def leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command


LEAVES = list(leaves(main))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DATABASE_URL", "BASE_URL", "SECRET_KEY"):
        monkeypatch.delenv(f"CONTENTSVC_{name}", raising=False)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def command(*arguments: str) -> Any:
    done = invoke(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def error(*arguments: str) -> str:
    done = invoke(*arguments)
    assert done.exit_code == 1, done.output
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: ")
    return done.stderr.removeprefix("Error: ").strip()


@pytest.fixture
def acme() -> dict[str, Any]:
    return command("organization", "create", "Acme")


def connected() -> dict[str, Any]:
    return command("integration", "connect", "acme/lighthouse", "--organization", "acme", "--repository-id", "4242")


def test_every_command_has_help_and_says_what_its_options_are_for() -> None:
    for path, leaf in LEAVES:
        shown = invoke(*path, "--help")

        assert shown.exit_code == 0, path
        assert leaf.help, path
        for parameter in leaf.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{' '.join(path)} {parameter.name}"


def test_every_command_can_be_asked_for_json() -> None:
    # The standard output of `mcp` speaks a protocol, in JSON always.
    without = [path for path, leaf in LEAVES if not any("--json" in parameter.opts for parameter in leaf.params)]

    assert without == [("mcp",)]


def test_migrate_makes_a_database_that_is_not_there_yet(folder: Path) -> None:
    assert command("migrate") == {"revision": HEAD}
    assert (folder / "contentsvc.db").is_file()
    assert command("migrate") == {"revision": HEAD}


def test_an_organization_is_created_and_listed(acme: dict[str, Any]) -> None:
    assert acme["id"].startswith("org_")
    assert (acme["slug"], acme["name"], acme["retentionDays"]) == ("acme", "Acme", 30)
    weekly = command("organization", "create", "Weekly", "--slug", "w", "--retention-days", "7")
    assert command("organization", "list") == [acme, weekly]
    assert error("organization", "create", "Acme") == "an organization with the slug 'acme' exists already"
    assert invoke("organization", "create", "X", "--retention-days", "8").exit_code == 2


@pytest.mark.usefixtures("acme")
def test_a_key_is_shown_once_and_stored_nowhere_in_clear(folder: Path) -> None:
    issued = command("key", "issue", "--organization", "acme", "--name", "ci", "--scope", "read")

    assert issued["key"].startswith(issued["prefix"])
    assert issued["scopes"] == ["read"]
    listed = command("key", "list", "--organization", "acme")[0]
    assert "key" not in listed
    assert invoke("key", "issue", "--organization", "acme", "--expires-in-days", "9999999").exit_code == 2
    expiring = command("key", "issue", "--organization", "acme", "--expires-in-days", "36500")
    assert expiring["expiresAt"] is not None
    command("key", "revoke", expiring["prefix"])
    assert listed["prefix"] == issued["prefix"]
    for file in folder.iterdir():
        assert issued["key"].encode() not in file.read_bytes()
    other = command("key", "issue", "--organization", "acme")
    assert command("key", "revoke", issued["prefix"])["revokedAt"] is not None
    # The whole key identifies it, too, and is repeated nowhere.
    revoked = invoke("key", "revoke", other["key"])
    assert revoked.exit_code == 0
    assert other["key"] not in revoked.output
    assert other["key"] not in invoke("key", "revoke", other["key"].lower()).output
    assert error("key", "revoke", "csk_nobody") == "there is no key 'csk_nobody'"


@pytest.mark.usefixtures("acme")
def test_a_repository_is_connected_and_its_secret_is_sealed(folder: Path, acme: dict[str, Any]) -> None:
    made = connected()

    assert set(made) == {
        *("organizationId", "integrationId", "repositoryId", "branch"),
        *("webhookUrl", "webhookSecret", "createdAtHost"),
    }
    assert made["webhookUrl"] == (
        f"http://127.0.0.1:8000/api/webhooks/codehost/{acme['id']}/{made['integrationId']}/4242"
    )
    for file in folder.iterdir():
        assert made["webhookSecret"].encode() not in file.read_bytes()
    assert stat.S_IMODE((folder / "contentsvc.db.key").stat().st_mode) == 0o600
    again = ("integration", "connect", "Acme/Lighthouse", "--organization", "acme", "--repository-id", "1")
    assert error(*again) == "Repository already connected"
    (listed,) = command("integration", "list", "--organization", "acme")
    assert listed["enabled"] is True
    assert "webhookSecret" not in listed
    assert command("integration", "disable", made["integrationId"])["enabled"] is False
    assert command("integration", "list", "--organization", "acme")[0]["enabled"] is False
    assert command("integration", "enable", made["integrationId"])["enabled"] is True
    assert error("integration", "enable", "int_nobody") == "there is no integration 'int_nobody'"


@pytest.mark.usefixtures("acme")
def test_a_database_whose_key_is_lost_says_so(folder: Path) -> None:
    made = connected()
    (folder / "contentsvc.db.key").unlink()
    (folder / "x.jsonl").write_text('{"event":"ping","delivery":"d","body":{}}\n')

    receive = ("receive", "x.jsonl", "--integration", made["integrationId"])
    assert "contentsvc.db.key is gone" in error(*receive)
    assert not (folder / "contentsvc.db.key").exists()
    (folder / "contentsvc.db.key").write_text("another key of thirty-two characters")
    said = "a stored secret was sealed with another key: set CONTENTSVC_SECRET_KEY to the one in use before"
    assert error(*receive) == said
    assert error("serve", "--port", "0") == said
    # A list handles no secret. Whatever seals one is refused before anything is written.
    assert len(command("integration", "list", "--organization", "acme")) == 1
    assert error("integration", "connect", "acme/other", "--organization", "acme", "--repository-id", "7") == said
    assert len(command("integration", "list", "--organization", "acme")) == 1


@pytest.mark.usefixtures("acme")
def test_a_trigger_is_created_for_what_is_connected() -> None:
    connected()
    create = ("trigger", "create", "--organization", "acme", "--repository-id")

    made = command(*create, "4242", "--event", "push", "--auto-publish", "--name", "log")
    assert made["sourceType"] == "codehost_webhook"
    assert made["targets"] == {"repositoryIds": ["4242"]}
    assert made["sourceConfig"] == {"eventTypes": ["push"]}
    assert (made["outputType"], made["autoPublish"], made["enabled"]) == ("changelog", True, True)
    assert command("trigger", "list", "--organization", "acme") == [made]
    assert command("trigger", "disable", made["id"])["enabled"] is False
    assert command("trigger", "list", "--organization", "acme")[0]["enabled"] is False
    assert error(*create, "1") == "Unknown repository: 1 is not connected"
    assert error("trigger", "disable", "trg_nobody") == "there is no trigger 'trg_nobody'"
    assert invoke(*create, "4242", "--event", "ping").exit_code == 2


@pytest.mark.usefixtures("acme")
def test_what_was_received_is_listed_newest_first(folder: Path) -> None:
    made = connected()
    command("trigger", "create", "--organization", "acme", "--repository-id", "4242")
    lines: list[dict[str, Any]] = [
        {"event": "push", "delivery": "d-1", "body": push_body("feat: a lamp", repository_id=4242)},
        {"event": "star", "delivery": "d-2", "body": {}},
        {"event": "push", "delivery": "d-1", "body": {}},
    ]
    (folder / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    answers = command("receive", "x.jsonl", "--integration", made["integrationId"])
    assert [answer["status"] for answer in answers] == [200, 200, 200]
    log = command("log", "list", "--organization", "acme")
    assert [row["title"] for row in log] == [
        "Duplicate push delivery",
        "Ignored star event",
        "Processed push event",
    ]
    assert set(log[0]) == {
        *("id", "referenceId", "title", "integrationType", "direction", "status", "statusCode"),
        *("errorMessage", "payload", "createdAt", "reason"),
    }
    (run,) = command("run", "list", "--organization", "acme")
    assert set(run) == {
        *("id", "triggerId", "eventType", "eventAction", "eventData", "repositoryId", "deliveryId"),
        *("scheduleId", "jobId"),
        *("status", "attempts", "kills", "error", "postId", "createdAt"),
    }
    assert (run["status"], run["attempts"], run["deliveryId"]) == ("pending", 0, "d-1")
    (record,) = command("context", "list", "--organization", "acme")
    assert set(record) == {"customId", "content", "metadata", "createdAt"}
    assert record["metadata"] == {
        "source": "codehost_webhook",
        "eventType": "push",
        "repository": "acme/lighthouse",
    }
    assert command("post", "list", "--organization", "acme") == []
    assert len(command("log", "list", "--organization", "acme", "--limit", "2")) == 2
    for limit in ("0", "9" * 20):
        assert invoke("log", "list", "--organization", "acme", "--limit", limit).exit_code == 2
    assert error("log", "list", "--organization", "nobody") == "there is no organization 'nobody'"


@pytest.mark.usefixtures("acme")
def test_a_run_is_cancelled_once(folder: Path) -> None:
    made = connected()
    command("trigger", "create", "--organization", "acme", "--repository-id", "4242")
    (folder / "x.jsonl").write_text(
        json.dumps({"event": "push", "delivery": "d-1", "body": push_body("feat: a lamp", repository_id=4242)})
    )
    command("receive", "x.jsonl", "--integration", made["integrationId"])
    (run,) = command("run", "list", "--organization", "acme")

    assert command("run", "cancel", run["id"]) == {"runId": run["id"], "status": "cancelled"}

    (run,) = command("run", "list", "--organization", "acme")
    assert (run["status"], run["error"]) == ("cancelled", "cancelled by an operator")
    assert error("run", "cancel", run["id"]) == f"the run '{run['id']}' has ended already"
    assert error("run", "cancel", "run_unknown") == "there is no run 'run_unknown'"


@pytest.mark.usefixtures("acme")
def test_a_recording_that_cannot_be_read_is_named(folder: Path) -> None:
    made = connected()
    (folder / "x.jsonl").write_text('{"event":"ping","delivery":"d","body":{}}\n{"event":1}\n')

    done = invoke("receive", "x.jsonl", "--integration", made["integrationId"], "--json")
    assert done.exit_code == 1
    # The result is printed all the same.
    assert [row["status"] for row in json.loads(done.stdout)] == [200]
    assert done.stderr.startswith("Error: x.jsonl, line 2: ")
    assert done.stderr.endswith("; 1 deliveries before it were received\n")
    (folder / "x.jsonl").write_text('{"event":"push","delivery":"d","body":{}}\n')
    assert invoke("receive", "x.jsonl", "--integration", made["integrationId"]).exit_code == 1
    assert "missing.jsonl" in error("receive", "missing.jsonl", "--integration", made["integrationId"])
    assert error("receive", "x.jsonl", "--integration", "int_x") == "there is no integration 'int_x'"


def test_tables_are_for_people(acme: dict[str, Any]) -> None:
    shown = invoke("organization", "list").stdout

    assert shown.splitlines()[0].split() == ["slug", "name", "retentionDays", "id"]
    assert acme["id"] in shown
    assert invoke("key", "list").stdout == "No keys yet.\n"
    made = connected()
    assert made["webhookUrl"] in invoke("integration", "list", "--organization", "acme").stdout


def test_a_setting_that_cannot_be_used_is_one_readable_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", "mysql://root:hunter2@db/x")

    for arguments in (("serve",), ("migrate",), ("settings",), ("organization", "list")):
        assert "hunter2" not in error(*arguments)


def test_settings_are_shown_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_SECRET_KEY", "correct horse battery staple and again")

    shown = command("settings")

    assert shown["CONTENTSVC_SECRET_KEY"] == "***"
    assert shown["CONTENTSVC_DATABASE_URL"] == "sqlite+aiosqlite:///contentsvc.db"
    assert "horse" not in invoke("settings").output


def test_a_database_in_a_folder_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", "sqlite+aiosqlite:///missing/x.db")

    assert "its folder does not exist" in error("organization", "create", "Acme")


def test_a_command_in_the_wrong_folder_says_so_and_makes_nothing(folder: Path) -> None:
    for arguments in (("log", "list", "--organization", "acme"), ("key", "list"), ("organization", "list")):
        assert error(*arguments).startswith("there is no database at 'contentsvc.db'")
    assert list(folder.iterdir()) == []


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert error("serve", "--port", str(port)).startswith(f"cannot listen on 127.0.0.1 port {port}")


def test_no_other_user_may_read_the_files_that_commands_make(folder: Path) -> None:
    before = os.umask(0o022)
    try:
        command("organization", "create", "Acme")
        with contextlib.closing(sqlite3.connect(folder / "contentsvc.db")) as reader:
            reader.execute("SELECT count(*) FROM organizations").fetchone()
            # The log and its index are there as long as the database is open.
            connected()
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    finally:
        left = os.umask(before)

    assert modes == dict.fromkeys(
        ("contentsvc.db", "contentsvc.db-wal", "contentsvc.db-shm", "contentsvc.db.key"), 0o600
    )
    assert left == 0o022, "a command in this process keeps its umask to itself"
