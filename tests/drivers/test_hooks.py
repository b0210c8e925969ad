"""A server, the command beside it, and a code host: a webhook from its creation to its end."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.code_host_server import REPOSITORY, REPOSITORY_ID, TOKEN, CodeHostServer, Fault, HostPull
from tests.drivers.commands import command, invoke
from tests.server_process import PLAIN, Installation, serving, signature

from contentsvc_core.testing import push_body

BODY = push_body("feat: turn the beam", repository_id=REPOSITORY_ID)


@pytest.fixture
def server() -> Generator[CodeHostServer]:
    with CodeHostServer() as created:
        yield created


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: CodeHostServer) -> Installation:
    """An installation whose commands may run in this process."""
    created = Installation(tmp_path, github_api_url=server.api_url)
    for name, value in created.environment.items():
        monkeypatch.setenv(name, value)
    command("organization", "create", "Acme")
    return created


def connect(given: str | None = TOKEN) -> Any:
    return command(
        *("integration", "connect", REPOSITORY, "--organization", "acme", "--provider", "github"),
        *(() if given is None else ("--token", "-")),
        input=given,
    )


@pytest.mark.slow("starts a server")
def test_a_hook_that_is_made_through_the_api_delivers_through_a_rotation_and_an_outage(
    installation: Installation, server: CodeHostServer
) -> None:
    key = command("key", "issue", "--organization", "acme")["key"]
    with serving(installation) as running:
        created = httpx.post(
            f"{running.url}/v1/integrations/github",
            json={"owner": "acme", "repo": "lighthouse", "token": TOKEN},
            headers={"Authorization": f"Bearer {key}"},
            trust_env=False,
            verify=PLAIN,
        )
        assert created.status_code == 201
        assert server.hook.url == created.json()["webhook"]["url"]
        assert server.hook.url.startswith(running.url)
        assert server.deliver("push", BODY, "d-first") == 200

        old = server.hook.secret
        id_ = created.json()["github"]["id"]
        # The command does not know the server's public URL, and leaves the hook's address unchanged.
        rotated = command("integration", "rotate-secret", id_, "--overlap-hours", "1")
        assert (rotated["changedAtHost"], rotated["webhookSecret"]) == (True, None)
        assert server.hook.secret != old
        assert server.deliver("push", BODY, "d-new") == 200
        raw = json.dumps(BODY).encode()
        headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "d-old", "X-Hub-Signature-256": signature(raw, old)}
        assert (
            httpx.post(server.hook.url, content=raw, headers=headers, trust_env=False, verify=PLAIN).status_code == 200
        )

        assert server.deliver("push", BODY, "d-lost", reach=False) == 0
        there = ("--server", running.url, "integration", "reconcile", id_, "--hours", "2")
        (found,) = command(*there, "--dry-run", env={"CONTENTSVC_API_KEY": key})
        assert (found["delivery"], found["result"]) == ("d-lost", "would be asked")
        (row,) = command("integration", "reconcile", id_)
        assert found == {**row, "result": "would be asked"}
        assert (row["delivery"], row["statusCode"], row["result"]) == ("d-lost", 0, "redelivery asked")
        assert set(row) == {*("delivery", "repository", "event", "action"), *("statusCode", "deliveredAt", "result")}

    log = command("log", "list", "--organization", "acme")
    entries = [(entry["direction"], entry["title"], entry["status"], entry["referenceId"]) for entry in reversed(log)]
    assert entries == [
        ("outgoing", "Webhook creation", "success", None),
        ("incoming", "Processed push event", "success", "d-first"),
        ("outgoing", "Webhook secret change", "success", None),
        ("incoming", "Processed push event", "success", "d-new"),
        ("incoming", "Processed push event", "success", "d-old"),
        ("outgoing", "Redelivery request", "success", "d-lost"),
        ("incoming", "Processed push event", "success", "d-lost"),
    ]
    for secret in (TOKEN, old, server.hook.secret):
        assert secret not in json.dumps(log) + running.log()
        assert secret.encode() not in b"".join(file.read_bytes() for file in installation.folder.iterdir())


@pytest.mark.slow("launches an engine with a database of its own")
def test_a_run_reads_pull_requests_with_the_token_and_logs_why_it_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: CodeHostServer
) -> None:
    # The engine with steps in DBOS.
    installation = Installation(tmp_path, github_api_url=server.api_url, engine="dbos")
    for name, value in installation.environment.items():
        monkeypatch.setenv(name, value)
    command("organization", "create", "Acme")
    server.add(HostPull(number=12, title="A lamp"))
    with serving(installation) as running:
        # The command does not know this server's public URL.
        monkeypatch.setenv("CONTENTSVC_BASE_URL", running.url)
        connect()
        command("trigger", "create", "--every-event", "--organization", "acme", "--repository-id", str(REPOSITORY_ID))
        for guid, fault in (("d-read", None), ("d-refused", Fault(status=403, path="graphql"))):
            server.fault = fault
            body = push_body(f"feat: {guid} (#12)", repository_id=REPOSITORY_ID)
            assert server.deliver("push", body, guid) == 200
            installation.until_runs_ended()

    # One call for the pull requests, one for first contributions, and one refused call.
    assert [result.headers["authorization"] for result in server.did("POST", "graphql")] == [f"Bearer {TOKEN}"] * 3
    runs = command("run", "list", "--organization", "acme")
    assert [run["status"] for run in runs] == ["completed", "completed"]
    (failed,) = [each for each in command("log", "list", "--organization", "acme") if each["status"] == "failed"]
    assert (failed["title"], failed["direction"], failed["statusCode"]) == ("Pull request lookup", "outgoing", 403)
    assert "'Pull requests: read'" in failed["errorMessage"]
    assert TOKEN not in json.dumps(failed) + running.log()


def test_the_token_is_read_from_standard_input_or_the_environment_and_shown_nowhere(
    installation: Installation, server: CodeHostServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = connect(f"{TOKEN}\n")

    assert (created["createdAtHost"], created["webhookSecret"], created["branch"]) == (True, None, "trunk")
    assert created["repositoryId"] == str(REPOSITORY_ID)
    gone = invoke("integration", "delete", created["integrationId"], "--json")
    assert json.loads(gone.stdout) == {
        "id": created["integrationId"],
        "disabledSchedules": [],
        "disabledEvents": [],
        "webhook": "removed",
    }
    assert gone.stderr == ""

    monkeypatch.setenv("CONTENTSVC_CODEHOST_TOKEN", TOKEN)
    assert connect(None)["createdAtHost"] is True
    assert len(server.hooks) == 1
    monkeypatch.setenv("CONTENTSVC_CODEHOST_TOKEN", "ghp_wrong")
    refused = invoke("integration", "connect", "acme/other", "--organization", "acme", "--provider", "github")
    assert refused.exit_code == 1
    assert "the code host answered 401" in refused.stderr
    assert "ghp_wrong" not in refused.output
    assert "no token" in invoke("integration", "connect", "a/b", "--organization", "acme", "--token", "-").stderr


def test_the_manual_steps_are_printed(installation: Installation, server: CodeHostServer) -> None:
    pasted = "https://code.example/acme/buoy.git"
    created = command("integration", "connect", pasted, "--organization", "acme", "--repository-id", "7")
    id_ = created["integrationId"]
    assert (created["createdAtHost"], created["branch"]) == (False, None)

    rotated = command("integration", "rotate-secret", id_)
    assert rotated["webhookSecret"] not in {None, created["webhookSecret"]}
    assert command("integration", "list")[0]["repository"] == "acme/buoy"
    reconciled = invoke("integration", "reconcile", id_)
    assert (reconciled.exit_code, "has no token" in reconciled.stderr) == (1, True)
    gone = invoke("integration", "delete", id_)
    assert gone.exit_code == 0
    assert "delete it at the code host, too" in gone.stderr
    for verb in ("delete", "rotate-secret", "reconcile"):
        assert invoke("integration", verb, id_).stderr == f"Error: there is no integration '{id_}'\n"
    assert server.requests == []


def test_a_refusal_of_the_code_host_is_printed_and_fails(installation: Installation, server: CodeHostServer) -> None:
    id_ = connect()["integrationId"]
    assert invoke("integration", "reconcile", id_).stderr == "Nothing is missing.\n"
    server.fault = Fault(status=403, body=b'{"message": "Forbidden"}')

    rotated = invoke("integration", "rotate-secret", id_, "--json")
    assert rotated.exit_code == 1
    assert json.loads(rotated.stdout)["webhookSecret"].startswith("whsec_")
    assert "enter the new one there: the code host answered 403 (Forbidden)" in rotated.stderr
    assert "answered 403" in invoke("integration", "reconcile", id_).stderr

    server.fault = Fault(status=404, method="POST", path="/attempts$")
    server.note(server.hook, "d-1", status=504)
    shown = invoke("integration", "reconcile", id_, "--dry-run")
    assert (shown.exit_code, "would be asked" in shown.stdout) == (0, True)
    result = invoke("integration", "reconcile", id_)
    assert (result.exit_code, "refused" in result.stdout) == (1, True)
    assert "1 could not be requested" in result.stderr

    server.fault = Fault(status=500, method="DELETE")
    gone = invoke("integration", "delete", id_, "--json")
    assert json.loads(gone.stdout)["webhook"] == "left"
    assert "remove it there: the code host answered 500" in gone.stderr
