"""The operator's commands that need no server."""

import contextlib
import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from tests.drivers.commands import command, error, invoke, receive
from tests.server_process import PATIENCE_S

from contentsvc_adapters.sql import HEAD
from contentsvc_cli.main import main
from contentsvc_core.testing import push_body

pytestmark = pytest.mark.usefixtures("folder")


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


def connected() -> dict[str, Any]:
    return command("integration", "connect", "acme/lighthouse", "--organization", "acme", "--repository-id", "4242")


def test_every_command_and_every_option_has_help() -> None:
    for path, leaf in LEAVES:
        shown = invoke(*path, "--help")

        assert shown.exit_code == 0, path
        assert leaf.help, path
        for parameter in leaf.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{' '.join(path)} {parameter.name}"


@pytest.mark.parametrize("name", ["serve", "doctor"])
def test_a_command_of_this_machine_has_help_with_a_server_too(name: str) -> None:
    assert invoke("--server", "https://contentsvc.example", name, "-h").stdout.startswith("Usage: ")
    assert "works on the machine of the service" in error("--server", "https://contentsvc.example", name)


def test_no_line_of_help_is_cut() -> None:
    # The room for the help of a group on a terminal of 80 columns. `main.py` has the lines of the other commands.
    for path, leaf in (each for each in LEAVES if len(each[0]) > 1):
        assert not leaf.get_short_help_str(60).endswith("..."), path


def test_every_command_can_be_asked_for_json() -> None:
    # The standard output of `mcp` is a protocol, which is always JSON.
    without = [path for path, leaf in LEAVES if not any("--json" in parameter.opts for parameter in leaf.params)]

    assert without == [("mcp",)]


def test_migrate_creates_a_missing_database(folder: Path) -> None:
    assert command("migrate") == {"revision": HEAD}
    assert (folder / "contentsvc.db").is_file()
    assert command("migrate") == {"revision": HEAD}


def test_an_organization_is_created_and_listed(acme: dict[str, Any]) -> None:
    assert acme["id"].startswith("org_")
    assert (acme["slug"], acme["name"], acme["retentionDays"]) == ("acme", "Acme", 30)
    weekly = command("organization", "create", "Weekly", "--slug", "w", "--retention-days", "7")
    assert command("organization", "list") == [acme, weekly]
    edit = ("organization", "edit", "-o", "w")
    assert command(*edit, "--name", "Daily", "--retention-days", "30") == weekly | {
        "name": "Daily",
        "retentionDays": 30,
    }
    assert command(*edit, "--retention-days", "7", "--name", "Weekly") == weekly
    assert "name at least one option" in error(*edit, code=2)
    assert error("organization", "create", "Acme") == "an organization with the slug 'acme' exists already"
    assert invoke("organization", "create", "X", "--retention-days", "8").exit_code == 2


def test_the_only_organization_needs_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    command("migrate")
    assert error("post", "list").startswith("there is no organization: create one")
    command("organization", "create", "Acme")

    assert command("post", "list") == []
    assert error("post", "list", "-o", "acmee") == (
        "there is no organization 'acmee' (did you mean 'acme'?); there is acme"
    )
    command("organization", "create", "Beta")
    several = invoke("post", "list")
    assert several.exit_code == 2
    assert "choose an organization with -o, or set CONTENTSVC_ORGANIZATION: acme, beta" in several.stderr
    monkeypatch.setenv("CONTENTSVC_ORGANIZATION", "beta")
    assert command("post", "list") == []


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (("posts",), "Did you mean 'post'?"),
        (("post", "lst"), "Did you mean 'list'?"),
        (("post", "list", "--org", "acme"), "Did you mean '--organization'?"),
        (("post", "list", "--limt", "1"), "Did you mean '--limit'?"),
    ],
)
def test_a_misspelt_word_gets_a_suggestion(typed: tuple[str, ...], hint: str) -> None:
    done = invoke(*typed)

    assert done.exit_code == 2
    assert hint in done.stderr


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
    created = connected()

    assert set(created) == {
        *("organizationId", "integrationId", "repositoryId", "branch"),
        *("webhookUrl", "webhookSecret", "createdAtHost"),
    }
    assert created["webhookUrl"] == (
        f"http://127.0.0.1:8000/api/webhooks/codehost/{acme['id']}/{created['integrationId']}/4242"
    )
    for file in folder.iterdir():
        assert created["webhookSecret"].encode() not in file.read_bytes()
    assert stat.S_IMODE((folder / "contentsvc.db.key").stat().st_mode) == 0o600
    again = ("integration", "connect", "Acme/Lighthouse", "--organization", "acme", "--repository-id", "1")
    assert error(*again) == "Repository already connected"
    (listed,) = command("integration", "list", "--organization", "acme")
    assert listed["enabled"] is True
    assert "webhookSecret" not in listed
    assert command("integration", "disable", created["integrationId"])["enabled"] is False
    assert command("integration", "list", "--organization", "acme")[0]["enabled"] is False
    assert command("integration", "enable", created["integrationId"])["enabled"] is True
    assert error("integration", "enable", "int_nobody") == "there is no integration 'int_nobody'"


@pytest.mark.usefixtures("acme")
def test_a_database_with_a_lost_key_is_refused(folder: Path) -> None:
    created = connected()
    (folder / "contentsvc.db.key").unlink()
    (folder / "x.jsonl").write_text('{"event":"ping","delivery":"d","body":{}}\n')

    receive = ("receive", "x.jsonl", "--integration", created["integrationId"])
    assert "contentsvc.db.key is gone" in error(*receive)
    assert not (folder / "contentsvc.db.key").exists()
    (folder / "contentsvc.db.key").write_text("another key of thirty-two characters")
    message = "a stored secret was sealed with another key: add that key to CONTENTSVC_SECRET_KEY, as NEW,OLD"
    assert error(*receive) == message
    assert error("serve", "--port", "0") == message
    # A list handles no secret. Commands that seal one are refused before they write.
    assert len(command("integration", "list", "--organization", "acme")) == 1
    assert error("integration", "connect", "acme/other", "--organization", "acme", "--repository-id", "7") == message
    assert len(command("integration", "list", "--organization", "acme")) == 1


@pytest.mark.usefixtures("acme")
def test_a_trigger_is_created_for_a_connected_repository() -> None:
    connected()
    create = ("trigger", "create", "--organization", "acme", "--repository-id")

    created = command(*create, "4242", "--event", "push", "--auto-publish", "--name", "log")
    assert created["sourceType"] == "codehost_webhook"
    assert created["targets"] == {"repositoryIds": ["4242"]}
    assert created["sourceConfig"] == {"eventTypes": ["push"]}
    assert (created["outputType"], created["autoPublish"], created["enabled"]) == ("changelog", True, True)
    assert command("trigger", "list", "--organization", "acme") == [created]
    assert command("trigger", "disable", created["id"])["enabled"] is False
    assert command("trigger", "list", "--organization", "acme")[0]["enabled"] is False
    assert error(*create, "1") == "Unknown repository: 1 is not connected"
    assert command("trigger", "enable", created["id"]) == {"triggerId": created["id"], "enabled": True}
    for verb in ("enable", "disable"):
        assert error("trigger", verb, "trg_nobody") == "there is no trigger 'trg_nobody'"
    assert invoke(*create, "4242", "--event", "ping").exit_code == 2


@pytest.mark.usefixtures("acme")
def test_a_trigger_has_filters_and_a_batch() -> None:
    connected()
    create = ("trigger", "create", "--organization", "acme")

    created = command(*create, "--repository-id", "4242")
    assert created["sourceConfig"] == {"eventTypes": ["release"]}
    every = command(*create, "--all-repositories", "--every-event", "--path", "pkg/a/**", "--path", "!**/*.md")
    assert (every["allRepositories"], every["sourceConfig"]) == (True, {"eventTypes": []})
    assert every["paths"] == ["pkg/a/**", "!**/*.md"]
    assert (next(iter(every)), list(every)[-2:]) == ("id", ["allRepositories", "paths"])
    changes = ("--branch", "release/*", "--scope", "api", "--tag", "a@*", "--batch", "daily", "--no-pre-releases")
    changed = command("trigger", "edit", every["id"], *changes, "--without", "path")
    assert [changed.get(name) for name in ("branches", "scopes", "tags", "batch", "preReleases", "paths")] == [
        ["release/*"],
        ["api"],
        ["a@*"],
        "daily",
        False,
        None,
    ]
    repository = "a trigger needs a repository: add --repository-id, or --all-repositories"
    assert error(*create, code=2) == repository
    # A filter for events that the trigger does not match would have no effect.
    pushes = "--branch filters only events of the type 'push': add --event push"
    assert error(*create, "--all-repositories", "--branch", "next", code=2) == pushes
    releases = "--tag filters only events of the type 'release': add --event release"
    assert error(*create, "--all-repositories", "--event", "push", "--tag", "v*", code=2) == releases
    assert error("trigger", "edit", created["id"], "--branch", "next", code=2) == pushes
    assert command("trigger", "edit", created["id"], "--branch", "next", "--every-event")["branches"] == ["next"]
    assert "--path has the pattern '/src'" in error(*create, "--all-repositories", "--path", "/src", code=2)
    assert invoke(*create, "--all-repositories", "--every-event", "--event", "push").exit_code == 2


@pytest.mark.usefixtures("acme")
def test_received_deliveries_are_listed_newest_first(folder: Path) -> None:
    created = connected()
    command("trigger", "create", "--every-event", "--organization", "acme", "--repository-id", "4242")
    lines: list[dict[str, Any]] = [
        {"event": "push", "delivery": "d-1", "body": push_body("feat: a lamp", repository_id=4242)},
        {"event": "star", "delivery": "d-2", "body": {}},
        {"event": "push", "delivery": "d-1", "body": {}},
    ]
    (folder / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    answers = command("receive", "x.jsonl", "--integration", created["integrationId"])
    assert [answer["status"] for answer in answers] == [200, 200, 200]
    log = command("log", "list", "--organization", "acme")
    assert [row["title"] for row in log] == [
        "Duplicate push delivery",
        "Ignored star event",
        "Processed push event",
    ]
    (run,) = command("run", "list", "--organization", "acme")
    assert (run["status"], run["attempts"], run["deliveryId"]) == ("pending", 0, "d-1")
    (record,) = command("context", "list", "--organization", "acme")
    assert record["metadata"] == {"source": "codehost_webhook", "eventType": "push", "repository": "acme/lighthouse"}
    assert command("post", "list", "--organization", "acme") == []
    assert len(command("log", "list", "--organization", "acme", "--limit", "2")) == 2
    for limit in ("0", "9" * 20):
        assert invoke("log", "list", "--organization", "acme", "--limit", limit).exit_code == 2
    assert error("log", "list", "--organization", "nobody") == "there is no organization 'nobody'; there is acme"


@pytest.mark.usefixtures("acme")
def test_the_beginning_of_an_id_is_enough_if_it_is_unique() -> None:
    connected()
    create = ("trigger", "create", "--repository-id", "4242", "--output")
    one, two = (command(*create, kind)["id"] for kind in ("changelog", "blog_post"))
    shared = one[: next(index for index, (a, b) in enumerate(zip(one, two, strict=True)) if a != b)]
    unique = one[: len(shared) + 1]

    assert command("trigger", "show", unique)["id"] == one
    # The prefix of the kind is optional.
    assert command("trigger", "disable", unique.removeprefix("trg_"))["triggerId"] == one
    ambiguous = invoke("trigger", "delete", shared[: len("trg_") + 8])
    assert ambiguous.exit_code == 2
    assert "is ambiguous" in ambiguous.stderr
    assert one in ambiguous.stderr
    assert two in ambiguous.stderr
    assert len(command("trigger", "list")) == 2
    for unknown in ("trg_0000", "trg_01a", "trg_*", "nothing"):
        assert error("trigger", "delete", unknown) == f"there is no trigger '{unknown}'"


@pytest.mark.usefixtures("acme")
def test_lists_are_limited_filtered_and_mention_further_rows(folder: Path) -> None:
    created = connected()
    command("trigger", "create", "--every-event", "--repository-id", "4242")
    receive(created["integrationId"][:20], *(f"feat: lamp {number}" for number in range(3)))

    shown = invoke("log", "list", "--limit", "2")
    assert "feat: lamp 2" in shown.stdout
    assert len(shown.stdout.splitlines()) == 3
    assert shown.stderr == "There are more than 2: raise --limit.\n"
    assert len(command("log", "list", "--event", "push", "--since", "1h")) == 3
    assert command("log", "list", "--event", "release") == []
    assert command("log", "list", "--since", "2999-01-01") == []
    assert len(command("log", "list", "--since", "1h", "--until", "2999-01-01")) == 3
    assert command("log", "list", "--until", "1h") == []
    assert len(command("run", "list", "--status", "pending", "--limit", "2")) == 2
    assert command("run", "list", "--status", "completed") == []
    since = error("log", "list", "--since", "yesterday", code=2)
    assert "'yesterday' is no date and no time" in since
    assert since.endswith("and no age, such as 30m, 2h, 3d or 1w")
    entry = command("log", "list", "--limit", "1")[0]
    assert command("log", "show", entry["id"]).items() >= entry.items()
    assert error("log", "show", "log_none") == "there is no log entry 'log_none'"
    (run, *_) = command("run", "list")
    assert command("run", "show", run["id"]) == {**run, "eventAction": None, "eventData": None}


@pytest.mark.usefixtures("acme")
def test_a_sample_of_a_trigger_is_received() -> None:
    connected()
    trigger = command("trigger", "create", "--repository-id", "4242", "--event", "release")["id"]

    assert command("trigger", "test", trigger)["matches"] is True
    push = command("trigger", "test", trigger, "--event", "push")
    assert (push["matches"], push["why"]) == (False, "the trigger takes release, not push")
    assert "are of a push" in invoke("trigger", "test", trigger, "--tag", "v1", "--branch", "main").stderr
    sent = command("trigger", "test", trigger, "--send")
    assert (sent["status"], sent["event"]) == (200, "release")
    (run,) = command("run", "list")
    assert (run["triggerId"], run["deliveryId"]) == (trigger, sent["delivery"])
    assert command("open", "changelog") == {"url": "http://127.0.0.1:8000/changelog/acme"}
    assert command("open", "dashboard") == {"url": "http://127.0.0.1:8000/dashboard"}
    assert error("open", "post", "post_none") == "there is no post 'post_none'"


@pytest.mark.usefixtures("acme")
def test_a_sample_passes_through_the_filters_of_its_trigger() -> None:
    connected()
    filters = ("--tag", "v*", "--path", "api/**", "--scope", "api", "--no-pre-releases")
    created = command("trigger", "create", "--every-event", "--repository-id", "4242", *filters)["id"]
    named = command("trigger", "create", "--repository-id", "4242", "--event", "push", "--branch", "release/*")["id"]

    def why(trigger: str, *sample: str) -> str | None:
        answer = command("trigger", "test", trigger, *sample)
        return None if answer["matches"] else answer["why"]

    fix = ("--message", "fix(api): a fault")
    assert why(created) == "no commit has a scope that matches api"
    assert why(created, *fix, "--path", "api/lamp.py") is None
    assert why(created, "--tag", "v1.0.0", "--pre-release") == "v1.0.0 is a pre-release"
    sent = command("trigger", "test", named, "--branch", "release/1", "--send")
    (run,) = command("run", "list")
    assert (run["triggerId"], run["deliveryId"]) == (named, sent["delivery"])


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("provider", ["gitlab", "bitbucket"])
def test_a_sample_has_the_form_of_its_provider(provider: str) -> None:
    command("integration", "connect", "acme/horn", "--repository-id", "7", "--branch", "main", "--provider", provider)
    of_provider = ("--repository-id", "7", "--event", "push", "--provider", provider)
    trigger = command("trigger", "create", *of_provider)["id"]

    sent = command("trigger", "test", trigger, "--send")
    (run,) = command("run", "list")
    assert (sent["status"], run["deliveryId"]) == (200, sent["delivery"])


@pytest.mark.usefixtures("acme")
def test_a_run_is_cancelled_once(folder: Path) -> None:
    created = connected()
    command("trigger", "create", "--every-event", "--organization", "acme", "--repository-id", "4242")
    receive(created["integrationId"], "feat: a lamp")
    (run,) = command("run", "list", "--organization", "acme")

    assert command("run", "cancel", run["id"]) == {"runId": run["id"], "status": "cancelled"}

    (run,) = command("run", "list", "--organization", "acme")
    assert (run["status"], run["error"]) == ("cancelled", "cancelled by an operator")
    assert error("run", "cancel", run["id"]) == f"the run '{run['id']}' has ended already"
    assert error("run", "cancel", "run_unknown") == "there is no run 'run_unknown'"


@pytest.mark.usefixtures("acme")
def test_a_recording_that_cannot_be_read_is_named(folder: Path) -> None:
    created = connected()
    (folder / "x.jsonl").write_text('{"event":"ping","delivery":"d","body":{}}\n{"event":1}\n')

    done = invoke("receive", "x.jsonl", "--integration", created["integrationId"], "--json")
    assert done.exit_code == 1
    # The result is still printed.
    assert [row["status"] for row in json.loads(done.stdout)] == [200]
    assert done.stderr.startswith("Error: x.jsonl, line 2: ")
    assert done.stderr.endswith("; received before it: 1\n")
    (folder / "x.jsonl").write_text('{"event":"push","delivery":"d","body":{}}\n')
    assert invoke("receive", "x.jsonl", "--integration", created["integrationId"]).exit_code == 1
    assert "missing.jsonl" in error("receive", "missing.jsonl", "--integration", created["integrationId"])
    assert error("receive", "x.jsonl", "--integration", "int_x") == "there is no integration 'int_x'"


def test_tables_are_for_people(acme: dict[str, Any]) -> None:
    shown = invoke("organization", "list").stdout

    assert shown.splitlines()[0].split() == ["slug", "name", "timeZone", "retentionDays", "id"]
    assert acme["id"] in shown
    none = invoke("key", "list")
    # Scripts count the lines of standard output.
    assert (none.stdout, none.stderr) == ("", "No keys yet.\n")
    created = connected()
    assert created["webhookUrl"] in invoke("integration", "list", "--organization", "acme").stdout


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


def test_a_database_in_a_missing_folder_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", "sqlite+aiosqlite:///missing/x.db")

    assert "its folder does not exist" in error("organization", "create", "Acme")


def test_a_command_in_the_wrong_folder_is_refused_and_creates_nothing(folder: Path) -> None:
    login = ". For a running service, use 'contentsvc login URL'"
    for arguments, end in ((("log", "list"), login), (("key", "list"), "CONTENTSVC_DATABASE_URL")):
        message = error(*arguments)
        assert message.startswith("there is no database at 'contentsvc.db': run 'contentsvc init' to create one, ")
        assert message.endswith(end)
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("acme")
def test_an_invalid_value_is_exit_code_2() -> None:
    assert error("organization", "create", "", code=2) == "an organization needs a name"
    assert error("organization", "create", "Beta", "--slug", "A B", code=2).startswith("'A B' is no slug")
    assert error("integration", "connect", "acme", code=2) == "'acme' is not of the form OWNER/NAME"
    branch = ("--repository-id", "1", "--branch", "")
    assert error("integration", "connect", "acme/x", *branch, code=2).startswith("a branch's name is one line")
    daily = ("schedule", "create", "--frequency", "daily", "--at", "09:00", "--repository-id", "1")
    assert error(*daily, "--name", "", code=2) == "a schedule needs a name"


@pytest.mark.usefixtures("acme")
def test_a_repository_that_is_connected_on_this_machine_is_told_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = ("integration", "connect", "acme/lighthouse")
    provider = "; for a repository of another code host, add --provider, such as github"
    assert error(*connect).endswith(provider)
    assert not error(*connect, "--provider", "codehost").endswith(provider)

    # `init` writes the address of this machine to the settings.
    monkeypatch.setenv("CONTENTSVC_BASE_URL", "http://127.0.0.1:8000")
    assert "works on this machine alone" in invoke(*connect, "--repository-id", "1").stderr
    monkeypatch.setenv("CONTENTSVC_BASE_URL", "https://hooks.example.org")
    assert invoke("integration", "connect", "acme/buoy", "--repository-id", "2").stderr == ""


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        fault = error("serve", "--port", str(port))
    assert fault.startswith(f"cannot listen on 127.0.0.1 port {port}: ")
    assert fault.strip().endswith("; choose another with --host or --port")


def test_no_other_user_may_read_the_files_that_commands_make(folder: Path) -> None:
    before = os.umask(0o022)
    try:
        command("organization", "create", "Acme")
        with contextlib.closing(sqlite3.connect(folder / "contentsvc.db")) as reader:
            reader.execute("SELECT count(*) FROM organizations").fetchone()
            # The log and its index exist as long as the database is open.
            connected()
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    finally:
        restored = os.umask(before)

    assert modes == dict.fromkeys(
        ("contentsvc.db", "contentsvc.db-wal", "contentsvc.db-shm", "contentsvc.db.key"), 0o600
    )
    assert restored == 0o022, "a command in this process keeps its umask to itself"


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("how", [(), ("--json",), ("--help",)])
def test_an_output_that_cannot_be_written_is_one_line(how: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "contentsvc_cli", "organization", "list", *how],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    assert (done.returncode, done.stderr) == (1, "Error: the output cannot be written: No space left on device\n")


_INTERRUPTED = """
import sys
from contentsvc_cli.__main__ import run

class Interrupted:
    def find_spec(self, *_):
        raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
run()
"""


def test_an_interrupt_while_modules_are_imported_is_no_traceback() -> None:
    command = [sys.executable, "-c", _INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)

    assert (done.returncode, done.stdout, done.stderr) == (1, "", "Aborted!\n")


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("command", "closed", "code"), [("organization list", 1, 0), ("organization list", 2, 0), ("init", 0, 2)]
)
def test_a_closed_stream_is_like_an_empty_one(command: str, closed: int, code: int) -> None:
    shell = f"{sys.executable} -m contentsvc_cli {command} {closed}>&-"
    done = subprocess.run(
        ["sh", "-c", shell],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )

    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert ("acme" in done.stdout) is (closed == 2)
