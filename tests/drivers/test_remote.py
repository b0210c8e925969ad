"""Commands on a server of another machine: over `/v1` of a real server, with an API key and without a database."""

import gzip
import json
import os
import shlex
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import httpx
import pytest
from click.testing import CliRunner, Result
from tests.http_server import HttpServer, ReceivedRequest, Reply
from tests.server_process import Installation, ServerProcess, serving
from tests.terminal import on_terminal

from contentsvc_cli import remote
from contentsvc_cli.main import main
from contentsvc_cli.wiring import accepted
from contentsvc_core.lists.parameters import bad_query
from contentsvc_core.refusals import Refusal, RefusalKind, invalid
from contentsvc_core.testing import push_body
from contentsvc_http.errors import refused

DELIVERY = "d-1"
NO_HEADERS: dict[str, str] = {}


def no_pause(_: float) -> None:
    """Replace :func:`time.sleep`."""


class Machine:
    """Another machine: an empty folder, a server's address and an API key."""

    def __init__(self, server: ServerProcess, key: str) -> None:
        self.url = server.url
        self.environment = {"CONTENTSVC_SERVER": server.url, "CONTENTSVC_API_KEY": key}

    def run(self, *arguments: str, **environment: str) -> Result:
        return CliRunner(env={**self.environment, **environment}).invoke(main, arguments)

    def json(self, *arguments: str) -> Any:
        done = self.run(*arguments, "--json")
        assert done.exit_code == 0, (arguments, done.output)
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, str, str]]:
    """A server with a processed push; with the trigger's id and a key."""
    folder = tmp_path_factory.mktemp("server")
    installation = Installation(folder)
    installation.command("organization", "create", "Acme")
    hook = installation.connect("acme", "acme/lighthouse", 4242)
    trigger = installation.trigger("acme", "log", 4242, "push")
    body = push_body("feat: a lamp", repository_id=4242)
    (folder / "x.jsonl").write_text(json.dumps({"event": "push", "delivery": DELIVERY, "body": body}))
    installation.command("receive", str(folder / "x.jsonl"), "--integration", hook.integration_id)
    key = installation.command("key", "issue", "--organization", "acme")["key"]
    with serving(installation) as running:
        installation.until_runs_ended()
        yield running, trigger, key


@pytest.fixture
def machine(server: tuple[ServerProcess, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONTENTSVC_DATABASE_URL", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Machine(server[0], server[2])


@pytest.mark.slow("starts a server")
def test_posts_are_listed_edited_published_and_deleted(machine: Machine) -> None:
    (post,) = [each for each in machine.json("post", "list") if DELIVERY in each["sourceMetadata"]["deliveryIds"]]
    short = post["id"][: len("post_") + 18]

    assert machine.run("post", "show", short).stdout.startswith("## Added")
    assert machine.json("post", "edit", post["id"], "--title", "A lamp")["title"] == "A lamp"
    assert machine.json("post", "unpublish", post["id"])["status"] == "draft"
    assert machine.json("post", "list", "--status", "published", "--since", "1h") == []
    assert machine.json("post", "publish", post["id"])["status"] == "published"
    assert machine.json("open", "post", post["id"]) == {"url": f"{machine.url}/dashboard/posts/{post['id']}"}
    (hit,) = machine.json("post", "search", "lamp", "--content-type", post["contentType"], "--limit", "1")
    assert hit["id"] == post["id"]
    assert hit["excerpts"][0]["text"].startswith("A lamp")
    bulk = ("post", "bulk", "unpublish", "--query", "lamp", "--yes")
    assert post["id"] in machine.json(*bulk)["done"]
    # `--wait` shows the job's events, and its post exists.
    created = machine.run("generate", "--type", "changelog", "--wait", "30", "--json")
    assert created.exit_code == 0, created.output
    assert created.stderr.endswith("Done.\n")
    written = json.loads(created.stdout)["postId"]
    assert machine.json("post", "delete", written) == {"postId": written, "deleted": True}
    gone = machine.run("post", "show", written)
    assert (gone.exit_code, gone.stderr) == (1, "Error: Post not found\n")


@pytest.mark.slow("starts a server")
def test_the_log_and_the_runs_are_read_and_repeated(machine: Machine) -> None:
    entry = machine.json("log", "list", "--status", "success")[-1]
    assert entry["referenceId"] == DELIVERY
    assert "feat: a lamp" in machine.run("log", "list", "--since", "1h", "--until", "2999-01-01").stdout
    assert machine.json("log", "list", "--until", "1h") == []
    shown = machine.json("log", "show", entry["id"])
    assert (shown["payload"]["event"], shown["outcome"]) == ("push", "processed")
    assert machine.json("log", "replay", "--outcome", "processed", "--request", "r-1")["runs"] == 1
    assert machine.json("log", "replay", "--outcome", "processed", "--request", "r-1")["replayed"] == 0
    counted = machine.json(
        "log",
        "replay",
        "--outcome",
        "processed",
        "--event",
        "push",
        "--since",
        "1h",
        "--until",
        "2999-01-01",
        "--dry-run",
    )
    assert counted == {"replayable": 1, "notKept": 0, "more": False}
    (found,) = machine.json("context", "search", "lamp", "--limit", "1")
    record = machine.json("context", "show", found["customId"])
    assert record in machine.json("context", "list", "--since", "1h")
    assert found["customId"] in machine.run("context", "list", "--limit", "5").stdout
    assert machine.json("log", "replay", entry["id"])["logId"] == entry["id"]
    run = machine.json("run", "list", "--status", "completed")[-1]
    assert machine.json("run", "show", run["id"])["id"] == run["id"]
    for operation, fault in (
        ("cancel", "The run has ended already"),
        ("retry", "The run has not ended, or has its post"),
    ):
        refused = machine.run("run", operation, run["id"])
        assert (refused.exit_code, refused.stderr) == (1, f"Error: {fault}\n")
    assert machine.run("log", "list", "--event", "push").exit_code == 2


@pytest.mark.slow("starts a server")
def test_a_refused_delivery_is_shown_with_its_cause_and_the_command_that_mends_it(machine: Machine) -> None:
    made = machine.json("integration", "connect", "acme/buoy", "--repository-id", "8")
    headers = {"X-Host-Event": "push", "X-Host-Delivery": "d-unsigned"}
    assert httpx.post(made["webhookUrl"], json={}, headers=headers, trust_env=False).status_code == 401
    (refused,) = machine.json("log", "list", "--integration", made["integrationId"])

    shown = machine.json("log", "show", refused["id"])

    assert (shown["outcome"], shown["diagnosis"]["cause"]) == ("refused", "noSignature")
    lines = machine.run("log", "show", refused["id"]).stdout
    assert shown["diagnosis"]["sentence"] in " ".join(lines.split())
    machine.json("integration", "delete", made["integrationId"])


@pytest.mark.slow("starts a server")
def test_a_remote_integration_is_connected_changed_and_deleted(
    machine: Machine, server: tuple[ServerProcess, str, str]
) -> None:
    created = machine.json("integration", "connect", "acme/lens", "--repository-id", "7")
    assert machine.json("integration", "show", created["integrationId"])["repository"] == "acme/lens"
    listed = machine.json("integration", "list")
    assert [each["repositoryId"] for each in listed][-1:] == ["7"]
    # Settings are those of the server's machine, and `/v1` does not return all values.
    assert list(listed[-1]) == [
        *("id", "organizationId", "provider", "repository", "repositoryId", "branch", "enabled", "webhookUrl"),
        "createdAt",
    ]
    assert machine.json("integration", "disable", created["integrationId"])["enabled"] is False
    assert machine.json("integration", "enable", created["integrationId"])["enabled"] is True
    rotated = machine.json("integration", "rotate-secret", created["integrationId"], "--overlap-hours", "0")
    assert rotated["webhookSecret"] != created["webhookSecret"]
    assert machine.run("integration", "disable", "int_none").stderr == "Error: Integration not found\n"
    trigger = machine.json("trigger", "create", "--repository-id", "7", "--event", "release", "--name", "lens")
    assert machine.json("trigger", "show", trigger["id"][: len("trg_") + 18]) == trigger
    assert machine.json("trigger", "edit", trigger["id"], "--auto-publish", "--every-event")["autoPublish"] is True
    assert machine.json("trigger", "disable", trigger["id"])["enabled"] is False
    assert machine.json("trigger", "test", trigger["id"])["why"] == "the trigger is disabled"
    assert machine.json("trigger", "test", server[1], "--event", "push")["matches"] is True
    off_default = machine.json("trigger", "test", server[1], "--branch", "next")
    assert (off_default["matches"], off_default["why"]) == (False, "branch next is not the default branch")
    assert len(machine.json("trigger", "list")) == 2
    when = ("--frequency", "weekly", "--at", "09:30", "--day-of-week", "monday")
    schedule = machine.json("schedule", "create", "--name", "Mondays", *when, "--repository-id", "7")
    assert machine.json("schedule", "show", schedule["id"][: len("sch_") + 18]) == schedule
    for override in (("--trigger", trigger["id"]), ("--schedule", schedule["id"])):
        style = machine.json("style", "set", *override, "--audience", "public")
        assert style["houseStyle"] == {"audience": "public"}
        assert machine.json("style", "show", *override) == style
        assert machine.json("style", "show")["houseStyle"] is None
        assert machine.json("style", "reset", *override)["houseStyle"] is None
    gone = machine.run("style", "show", "--trigger", "trg_none")
    assert (gone.exit_code, gone.stderr) == (1, "Error: Event trigger not found\n")
    changed = machine.json("schedule", "edit", schedule["id"], "--at", "10:00", "--lookback", "yesterday")
    assert changed["sourceConfig"]["cron"] == {"frequency": "weekly", "hour": 10, "minute": 0, "dayOfWeek": 1}
    assert machine.json("schedule", "disable", schedule["id"])["enabled"] is False
    assert machine.json("schedule", "delete", schedule["id"])["deleted"] is True
    assert machine.json("trigger", "delete", trigger["id"])["deleted"] is True
    deleted = machine.run("integration", "delete", created["integrationId"], "--json")
    assert json.loads(deleted.stdout)["id"] == created["integrationId"]
    assert "delete it at the code host, too" in deleted.stderr


@pytest.mark.slow("starts a server")
def test_endpoints_brands_style_and_changelogs_are_changed(machine: Machine) -> None:
    endpoint = machine.json("endpoint", "create", "https://acme.example/hook", "--event", "post.published")
    assert endpoint["secret"].startswith("whsec_")
    one = endpoint["id"]
    assert machine.json("endpoint", "edit", one, "--all-events", "--description", "ours")["description"] == "ours"
    assert machine.json("endpoint", "rotate-secret", one)["secret"] != endpoint["secret"]
    assert machine.json("endpoint", "test", one)["endpointId"] == one
    assert machine.json("endpoint", "show", one) == machine.json("endpoint", "list")[0]
    assert machine.json("endpoint", "delete", one) == {"id": one}
    assert "secret" not in machine.json("endpoint", "create", "https://hooks.slack.com/services/x")
    assert machine.json("brand", "list") == []
    job = machine.json("brand", "generate", "https://acme.example/")
    assert job["status"] in {"queued", "running"}
    assert machine.run("brand", "show", "brand_none").stderr == "Error: Brand identity not found\n"
    assert machine.json("style", "set", "--audience", "public")["houseStyle"] == {"audience": "public"}
    assert machine.json("style", "reset")["houseStyle"] is None
    assert machine.json("style", "show")["houseStyle"] is None
    lens = machine.json("changelog", "create", "--slug", "lens", "--title", "Lens")
    assert machine.json("changelog", "set", "--changelog", "lens", "--link", "Docs", "https://a.example")["headerLinks"]
    shown = machine.run("changelog", "publish", "--changelog", "lens", "--yes", "--json")
    assert json.loads(shown.stdout)["isPublic"] is True
    assert "will be public at" in shown.stderr
    assert machine.json("changelog", "hide", "--changelog", "lens")["isPublic"] is False
    assert machine.json("changelog", "show", "--changelog", "lens")["id"] == lens["id"]
    assert machine.json("changelog", "delete", "--changelog", "lens") == {"id": lens["id"]}
    assert len(machine.json("changelog", "list")) == 1


@pytest.mark.slow("starts a server")
def test_a_key_is_stored_for_its_owner_alone_and_used_without_a_database(machine: Machine, tmp_path: Path) -> None:
    key = machine.environment.pop("CONTENTSVC_API_KEY")
    machine.environment["CONTENTSVC_SERVER"] = ""
    refused = machine.run("--server", machine.url, "post", "list")
    assert "there is no API key for" in refused.stderr

    stored = CliRunner().invoke(main, ["login", machine.url, "--json"], input=f"{key}\n")

    stored_login = json.loads(stored.stdout)
    assert (stored_login["organization"], stored_login["scopes"]) == ("acme", ["read", "write"])
    assert key not in stored.output
    assert stat.S_IMODE(os.stat(stored_login["file"]).st_mode) == 0o600  # noqa: PTH116
    assert machine.json("organization", "edit", "--name", "Tea")["name"] == "Tea"
    shortened = machine.run("organization", "edit", "--retention-days", "7")
    assert "--retention-days works on the machine of the service" in shortened.stderr
    assert machine.json("organization", "show")["slug"] == "acme"
    assert "belongs to the organization 'acme', not to 'beta'" in machine.run("post", "list", "-o", "beta").stderr
    (blocked := Path(stored_login["file"]).with_name("logins.json.new")).mkdir()
    unwritable = CliRunner().invoke(main, ["login", machine.url], input=f"{key}\n")
    assert (unwritable.exit_code, unwritable.stdout) == (1, "")
    assert "cannot be written: " in unwritable.stderr
    assert "set CONTENTSVC_SERVER and CONTENTSVC_API_KEY instead" in unwritable.stderr
    blocked.rmdir()
    # A database in the folder has precedence.
    assert machine.run("organization", "create", "Here").exit_code == 0
    assert [each["slug"] for each in machine.json("organization", "list")] == ["here"]
    os.chmod(stored_login["file"], 0o644)  # noqa: PTH101
    (tmp_path / "contentsvc.db").unlink()
    assert "other users may read your API keys" in machine.run("post", "list").stderr
    os.chmod(stored_login["file"], 0o600)  # noqa: PTH101
    machine.json("login", machine.url, "--delete")
    assert "there is no database at" in machine.run("post", "list").stderr


@pytest.mark.slow("starts a server")
@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("http://contentsvc.example", "without encryption"),
        ("ftp://contentsvc.example", "is not the URL of a server"),
        ("https://user:word@contentsvc.example", "is not the URL of a server"),
        ("https://contentsvc.example/;id", "is not the URL of a server"),
        ("http://127.0.0.1:1", "cannot be reached: Connection refused; run 'contentsvc serve', or check the port\n"),
        ("https://{server}", "cannot be reached: it answers without encryption: is http:// its URL?\n"),
    ],
)
def test_a_server_that_cannot_be_used_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, url: str, fault: str
) -> None:
    monkeypatch.setattr("time.sleep", no_pause)

    done = machine.run("--server", url.format(server=machine.url.partition("//")[2]), "post", "list")

    assert done.exit_code == 1
    assert fault in done.stderr


class Scripted(HttpServer):
    """Answers each request with the next of a script."""

    def __init__(self) -> None:
        super().__init__()
        self.script: list[tuple[int, dict[str, str], str | bytes]] = []

    def reply(self, _request: ReceivedRequest, /) -> Reply:
        status, headers, body = self.script.pop(0)
        return status, headers, body.encode() if isinstance(body, str) else body

    def run(self, *arguments: str) -> Result:
        """Run a command on this server."""
        environment = {"CONTENTSVC_SERVER": self.url, "CONTENTSVC_API_KEY": "csk_x"}
        return CliRunner(env=environment).invoke(main, arguments)

    @property
    def keys(self) -> list[str | None]:
        return [each.headers.get("idempotency-key") for each in self.requests]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Scripted]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONTENTSVC_DATABASE_URL", raising=False)
    monkeypatch.setattr("time.sleep", no_pause)
    with Scripted() as server:
        yield server


NO_SCOPE = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="write"'}
POSTS = json.dumps({"posts": [], "pagination": {"currentPage": 1, "totalPages": 0}})


def test_a_busy_server_is_asked_again_and_a_change_only_if_nothing_happened(scripted: Scripted) -> None:
    scripted.script = [(503, {"Retry-After": "1"}, "{}"), (429, {"Retry-After": "1"}, "{}"), (200, {}, POSTS)]
    assert scripted.run("post", "list", "--json").stdout == "[]\n"
    assert len(scripted.requests) == 3

    # A rate limit refuses before a change; a failure may follow the change.
    scripted.requests.clear()
    scripted.script = [(429, {}, "{}"), (503, {}, json.dumps({"error": "away"}))]
    done = scripted.run("post", "publish", "post_x")
    assert (done.exit_code, len(scripted.requests)) == (1, 2)
    assert "answers with 503: away" in done.stderr

    # A creation has one effect, by its idempotency key.
    scripted.requests.clear()
    scripted.script = [(503, {}, "{}"), (409, {"Retry-After": "1"}, "{}"), (200, {}, '{"run": {"id": "run_x"}}')]
    assert json.loads(scripted.run("run", "retry", "run_x", "--json").stdout) == {"runId": "run_x", "status": "pending"}
    [key] = {*scripted.keys}
    assert key is not None
    scripted.script = [(409, {"Retry-After": "1"}, "{}")] * 4
    assert "look at its result before you repeat it" in scripted.run("run", "retry", "run_x").stderr
    assert key not in scripted.keys[3:]

    # So has a deletion, which is not found when it is repeated without a key.
    scripted.requests.clear()
    scripted.script = [(503, {}, "{}"), (200, {}, '{"id": "trg_x"}')]
    assert scripted.run("trigger", "delete", "trg_x").exit_code == 0
    assert (len(scripted.keys), len({*scripted.keys}), None in scripted.keys) == (2, 1, False)


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        ((401, NO_HEADERS, '{"error": "Invalid API key"}'), 1, "refuses the API key: check CONTENTSVC_API_KEY"),
        ((403, NO_SCOPE, '{"error": "use another"}'), 1, "refuses: use another; issue a key that may read and write"),
        ((403, NO_HEADERS, '{"error": "Integration is disabled"}'), 1, "Error: Integration is disabled"),
        ((404, NO_HEADERS, '{"error": "Post not found"}'), 1, "Error: Post not found"),
        ((404, NO_HEADERS, "nothing here"), 1, "does not know this operation"),
        ((404, NO_HEADERS, '{"error": "Not Found"}'), 1, "'worker' processes do not"),
        ((404, NO_HEADERS, '{"error": {"code": 404}}'), 1, "Error: {'code': 404}"),
        ((400, NO_HEADERS, '{"error": "Invalid status"}'), 2, "Error: Invalid status"),
        ((400, NO_HEADERS, "{}"), 1, "answers with 400: is this the URL of contentsvc?"),
        ((429, {"Retry-After": "3600"}, "{}"), 1, "try again in 3600 seconds"),
        ((200, NO_HEADERS, "<html>"), 1, "answers with no JSON object"),
    ],
)
def test_a_refusal_has_its_advice(
    scripted: Scripted, answer: tuple[int, dict[str, str], str], code: int, message: str
) -> None:
    scripted.script = [answer]

    done = scripted.run("post", "list")

    assert done.exit_code == code
    assert message in done.stderr
    assert "csk_x" not in done.output


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ("Invalid request: autoPublish must be a boolean", 2, "--auto-publish must be a boolean"),
        ("targets.repositoryIds[0]: 'x' is no id", 1, "--repository-id: 'x' is no id"),
        ("Invalid request: paths has an empty pattern", 2, "--path has an empty pattern"),
        ("Unknown brand identity: 'x'", 1, "Unknown brand identity: 'x'"),
        ("Invalid name: '' is empty", 2, "Invalid --name: '' is empty"),
        ("Invalid request: more is an unknown field", 2, "more is an unknown field"),
    ],
)
def test_a_refusal_names_the_option_of_a_field(scripted: Scripted, error: str, code: int, message: str) -> None:
    scripted.script = [(400, {}, json.dumps({"error": error}))]

    done = scripted.run("trigger", "edit", "trg_x", "--auto-publish")

    assert (done.exit_code, done.stderr.splitlines()[-1]) == (code, f"Error: {message}")


@pytest.mark.parametrize(
    "refusal",
    [
        invalid("name", "must have a character"),
        bad_query("since", "'x' is no time"),
        *(Refusal(kind, "it is refused") for kind in RefusalKind if kind.name not in {"INVALID", "QUERY"}),
    ],
    ids=lambda refusal: refusal.kind.name,
)
def test_a_refusal_has_the_exit_code_that_it_has_without_a_server(scripted: Scripted, refusal: Refusal) -> None:
    answer = refused(refusal)
    scripted.script = [(answer.status, answer.headers, json.dumps(answer.body))] * 4

    done = scripted.run("trigger", "edit", "trg_x", "--name", "x")

    with pytest.raises(click.ClickException) as here:
        accepted(refusal)
    assert done.exit_code == here.value.exit_code


@pytest.mark.parametrize("key", ["csk_clé", "csk_one\ncsk_two"])
def test_a_text_that_is_no_key_is_neither_sent_nor_shown(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("CONTENTSVC_API_KEY", key)

    for command in (("--server", "http://127.0.0.1:1", "post", "list"), ("login", "http://127.0.0.1:1")):
        done = CliRunner().invoke(main, command)
        assert (done.exit_code, scripted.requests) == (1, [])
        assert "the API key has characters that no key has" in done.stderr
        assert "csk_" not in done.output


def test_without_a_home_folder_the_error_names_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "CONTENTSVC_SERVER", "CONTENTSVC_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 5)
    monkeypatch.chdir(tmp_path)

    assert "there is no database at" in CliRunner().invoke(main, ["post", "list"]).stderr


@pytest.mark.parametrize("wrong", ["", ".", "..", "a/b"])
def test_a_text_that_is_no_id_is_sent_to_no_server(scripted: Scripted, wrong: str) -> None:
    for command in (("post", "show", wrong), ("post", "edit", wrong, "--title", "x"), ("run", "show", wrong)):
        done = scripted.run(*command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr == f"Error: '{wrong}' is no id: the 'list' commands print the ids\n"

    assert scripted.requests == []


def test_an_override_of_the_house_style_keeps_the_brand_identity(scripted: Scripted) -> None:
    trigger = json.dumps({"eventTrigger": {"outputConfig": {"brandIdentityId": "brand_x"}}})
    scripted.script = [(200, {}, json.dumps({"houseStyle": None})), (200, {}, trigger), (200, {}, trigger)]

    assert scripted.run("style", "set", "--trigger", "trg_x", "--audience", "public").exit_code == 0

    assert (scripted.requests[-1].method, scripted.requests[-1].path) == ("PATCH", "/v1/event-triggers/trg_x")
    output = {"brandIdentityId": "brand_x", "houseStyle": {"audience": "public"}}
    assert scripted.requests[-1].body == {"outputConfig": output}


@pytest.mark.parametrize("is_compressed", [False, True])
def test_an_answer_of_any_size_is_not_read(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, *, is_compressed: bool
) -> None:
    monkeypatch.setattr(remote, "MAX_ANSWER", 1024 * 1024)
    text = json.dumps({"posts": [], "filler": " " * 1024 * 1024})
    body = gzip.compress(text.encode()) if is_compressed else text
    headers = {"Content-Encoding": "gzip"} if is_compressed else NO_HEADERS
    scripted.script = [(200, headers, body)]

    done = scripted.run("post", "list")

    assert done.exit_code == 1
    assert "sends an answer of more than 1 MiB: use a smaller --limit, or check the URL" in done.stderr
    assert len(scripted.requests) == 1


@pytest.mark.parametrize(
    ("headers", "body", "error"),
    [
        (NO_HEADERS, '{"ok": true}', "answers without 'posts': is this the URL of contentsvc, and of this version?"),
        (
            NO_HEADERS,
            '{"posts": [{"id": "post_x"}], "pagination": {}}',
            "answers without 'currentPage': is this the URL",
        ),
        (NO_HEADERS, '{"posts": [], "pagination": 7}', "answers without 'pagination': is this the URL"),
        (NO_HEADERS, '{"posts": [1], "pagination": {}}', "answers without 'posts': is this the URL"),
        (NO_HEADERS, "[" * 100_000, "answers with no JSON object: is this the URL of contentsvc?"),
        ({"Content-Encoding": "gzip"}, '{"ok": true}', "sends an answer that cannot be decompressed"),
        ({"Content-Encoding": "gzip, gzip"}, "", "cannot be decompressed: it is compressed several times"),
    ],
)
def test_an_answer_of_another_service_is_named(
    scripted: Scripted, headers: dict[str, str], body: str, error: str
) -> None:
    scripted.script = [(200, headers, body)]

    done = scripted.run("post", "list")

    assert done.exit_code == 1
    assert error in done.stderr


@pytest.mark.parametrize("body", ["{}", '{"codehost": 7}', '{"codehost": [7]}'])
def test_an_answer_without_integrations_is_of_another_service(scripted: Scripted, body: str) -> None:
    for command in (("integration", "list"), ("integration", "disable", "int_1234"), ("trigger", "list")):
        scripted.script = [(200, NO_HEADERS, body)]
        done = scripted.run(*command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert "answers without '" in done.stderr


def log_entry(number: int, *, status: str = "success") -> dict[str, str]:
    return {"id": f"log_{number}", "status": status, "createdAt": "2026-11-29T08:00:00.000Z"}


def log_page(numbers: Iterable[int], *, page: int = 1, pages: int = 1) -> tuple[int, dict[str, str], str]:
    logs = [log_entry(number) for number in numbers]
    return 200, {}, json.dumps({"logs": logs, "pagination": {"currentPage": page, "totalPages": pages}})


def test_the_log_of_a_server_is_followed_beyond_an_outage_and_a_page(scripted: Scripted) -> None:
    scripted.script = [
        *[log_page([0])] * 2,
        *[(503, NO_HEADERS, "{}")] * 8,
        # No entry of the newest page is known: two pages are read, and entry 51 is on both.
        log_page(range(150, 50, -1), pages=2),
        log_page(range(150, 50, -1), pages=2),
        log_page(range(51, -1, -1), page=2, pages=2),
        (401, NO_HEADERS, "{}"),
    ]

    done = scripted.run("tail", "--json")

    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [f"log_{number}" for number in range(151)]
    outage, again, refused = done.stderr.splitlines()
    assert "answers with 503; trying again" in outage
    assert again == "the server is available again"
    assert "refuses the API key" in refused


def test_an_old_pending_entry_of_a_server_is_printed_again_when_it_ends(scripted: Scripted) -> None:
    first = [log_entry(number, status="pending") for number in range(3)]
    pages = [log_page(range(102, 2, -1), pages=2)] * 2 + [log_page([2], page=2, pages=2)]

    def alone(number: int, status: str) -> tuple[int, dict[str, str], str]:
        return 200, {}, json.dumps({"log": log_entry(number, status=status), "explanation": {}})

    scripted.script = [
        *[(200, {}, json.dumps({"logs": first, "pagination": {"currentPage": 1, "totalPages": 1}}))] * 2,
        *pages,
        # The tenth request for the newest entries is followed by requests for the old ones.
        *[log_page(range(102, 2, -1))] * 9,
        *(alone(0, "pending"), (404, {}, '{"error": "Log not found"}')),
        *[log_page(range(102, 2, -1))] * 10,
        alone(0, "failed"),
        *[log_page(range(102, 2, -1))] * 10,
        (401, NO_HEADERS, "{}"),
    ]

    done = scripted.run("tail", "--json", "-n", "0")

    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in printed] == [*(f"log_{number}" for number in range(2, 103)), "log_0"]
    assert printed[-1]["status"] == "failed"
    assert [each.path for each in scripted.requests if "log_" in each.path] == [
        f"/v1/webhook-logs/log_{id_}" for id_ in (0, 1, 0)
    ]


def test_of_a_server_failed_entries_are_printed_also_if_they_were_pending(scripted: Scripted) -> None:
    def page(*statuses: str) -> tuple[int, dict[str, str], str]:
        entries = [log_entry(number, status=status) for number, status in enumerate(statuses)]
        return 200, {}, json.dumps({"logs": entries, "pagination": {"currentPage": 1, "totalPages": 1}})

    scripted.script = [page(), page("pending"), page("pending", "pending"), page("failed", "failed"), (401, {}, "{}")]

    done = scripted.run("tail", "--json", "--status", "failed")

    assert [(each["id"], each["status"]) for each in map(json.loads, done.stdout.splitlines())] == [
        ("log_1", "failed"),
        ("log_0", "failed"),
    ]
    assert [each.query["status"] for each in scripted.requests[:3]] == ["failed", "pending", "failed,pending"]


def test_the_state_of_an_entry_of_a_server_has_no_escapes(scripted: Scripted) -> None:
    pages = {"pagination": {"currentPage": 1, "totalPages": 1}}
    shown = {"title": "T", "integrationType": "github"}
    empty = dict.fromkeys(("payload", "errorMessage", "statusCode", "referenceId"))
    entry = {**log_entry(1, status="failed\x1b]0;pwn\x07"), **shown, **empty}
    scripted.script = [(200, {}, json.dumps({"logs": logs, **pages})) for logs in ([entry], [])]
    scripted.script.append((401, {}, "{}"))

    printed = scripted.run("tail").stdout

    assert "failed ]0;pwn" in printed
    assert printed.replace("\n", "").isprintable()


@pytest.mark.parametrize("url", ["--gpu-launcher=sh", "file:///etc/passwd", "javascript:alert(1)"])
def test_a_server_opens_only_web_pages(scripted: Scripted, url: str) -> None:
    scripted.script = [(200, NO_HEADERS, json.dumps({"changelogs": [{"url": url}]}))]

    done = scripted.run("open", "changelog")

    assert (done.exit_code, done.stdout) == (1, "")
    assert "names a changelog whose URL is not http or https" in done.stderr


@pytest.mark.slow("starts a command on a terminal")
def test_ids_of_a_server_are_one_word_of_a_command_and_no_escapes_of_an_error(scripted: Scripted) -> None:
    def shown(*arguments: str, code: int = 0) -> str:
        environment = {**os.environ, "CONTENTSVC_SERVER": scripted.url, "CONTENTSVC_API_KEY": "csk_x"}
        return on_terminal(80, *arguments, environment=environment, code=code)

    hostile = "post_01a2\x1b]0;pwn\x07; touch x"
    created = {"webhookEndpoint": {"id": hostile, "enabled": True}, "secret": "whsec_x"}
    listed = {
        "posts": [{"id": hostile}, {"id": f"{hostile}2"}],
        "pagination": {"currentPage": 1, "totalPages": 1},
    }
    scripted.script = [(201, NO_HEADERS, json.dumps(created)), (200, NO_HEADERS, json.dumps(listed))]

    *_, command = shown("endpoint", "create", "https://acme.example/hook").splitlines()
    *_, error = shown("post", "show", "01a2", code=2).splitlines()

    assert shlex.split(command) == ["next:", "contentsvc", "endpoint", "test", r"post_01a2\x1b]0;pwn\x07; touch x"]
    assert error == (
        r"Error: Invalid value for 'POST_ID': '01a2' is ambiguous: post_01a2\x1b]0;pwn\x07; touch x, "
        r"post_01a2\x1b]0;pwn\x07; touch x2"
    )


def test_the_key_follows_no_redirect(scripted: Scripted) -> None:
    scripted.script = [(307, {"Location": "http://127.0.0.1:1/v1/posts"}, "")]

    done = scripted.run("post", "list")

    assert done.exit_code == 1
    assert "redirects to 'http://127.0.0.1:1/v1/posts'" in done.stderr
    assert len(scripted.requests) == 1


def test_the_key_of_a_file_of_the_folder_is_sent_to_no_other_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.sleep", no_pause)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("CONTENTSVC_API_KEY", "CONTENTSVC_BASE_URL", "CONTENTSVC_SERVER"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "contentsvc.env").write_text("CONTENTSVC_BASE_URL=https://own.invalid\nCONTENTSVC_API_KEY=csk_file\n")
    (tmp_path / "contentsvc.env").chmod(0o600)

    def refusal(*arguments: str) -> str:
        return CliRunner().invoke(main, arguments).stderr

    assert "there is no API key for https://other.invalid" in refusal(
        "--server", "https://other.invalid", "post", "list"
    )
    assert "there is no API key on standard input" in refusal("login", "https://other.invalid")
    assert "cannot be reached" in refusal("--server", "https://own.invalid/", "post", "list")
    assert "cannot be reached" in refusal("login", "http://127.0.0.1:1")


def test_a_file_of_the_folder_sends_the_key_of_the_environment_nowhere(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "contentsvc.env").write_text("CONTENTSVC_SERVER=http://127.0.0.1:1\nCONTENTSVC_API_KEY=csk_file\n")
    (tmp_path / "contentsvc.env").chmod(0o600)
    monkeypatch.setenv("CONTENTSVC_API_KEY", "csk_x")
    monkeypatch.delenv("CONTENTSVC_SERVER", raising=False)

    refused = CliRunner().invoke(main, ["post", "list"])

    assert refused.exit_code == 1
    assert "names the server 'http://127.0.0.1:1', but your API key is from the environment" in refused.stderr
    assert "csk_" not in refused.output
    # A server of the environment or of the option was chosen by the user.
    scripted.script = [(404, {}, "")]
    scripted.run("post", "list")
    assert len(scripted.requests) == 1
    assert "cannot be reached" in CliRunner().invoke(main, ["--server", "http://127.0.0.1:1", "post", "list"]).stderr
