"""The command ``init``: the wizard on a terminal, the same by options, the written files, and a second run."""

import json
import os
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from tests.checkouts import Work
from tests.code_host_server import REPOSITORY_ID, TOKEN, CodeHostServer
from tests.server_process import PATIENCE_S, PLAIN, Installation, serving, until
from tests.terminal import on_terminal

from contentsvc_cli.main import main
from contentsvc_cli.start.machine_zone import machine_zone

OPTIONS = ("--yes", "--organization", "Acme", "--repository", "acme/lighthouse", "--repository-id", "4242")


@pytest.fixture(autouse=True)
def folder(folder: Path, git_configuration: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the command, beside the checkout."""
    created = folder / "service"
    created.mkdir()
    monkeypatch.chdir(created)
    return created


@pytest.fixture
def work(tmp_path: Path) -> Work:
    work = Work(tmp_path / "lighthouse")
    work.git("remote", "add", "origin", "git@github.com:acme/lighthouse.git")
    work.commit("feat: turn the lamp (#1)")
    work.git("tag", "v1.0.0")
    work.commit("feat: dim the lamp (#2)")
    work.git("tag", "--annotate", "--message=Dim.", "v1.1.0")
    work.commit("feat: colour the lamp (#3)")
    return work


def ran(*arguments: str, command: str = "init") -> Result:
    return CliRunner().invoke(main, [command, *arguments])


def done(*arguments: str) -> dict[str, Any]:
    result = ran(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def listed(*command: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(main, [*command, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_everything_is_set_up_and_commands_in_the_folder_find_it(folder: Path) -> None:
    created = done(*OPTIONS)

    assert created["existing"] == []
    assert created["webhookUrl"].startswith("http://127.0.0.1:8000/api/webhooks/github/org_")
    assert created["webhookUrl"].endswith("/4242")
    assert re.fullmatch(r"whsec_\w{40}", created["webhookSecret"])
    assert created["changelogUrl"] == "http://127.0.0.1:8000/changelog/acme"
    assert re.fullmatch(r"http://127\.0\.0\.1:8000/dashboard/sign-in/link\?token=\w{40}", created["signInUrl"])
    file = folder / "contentsvc.env"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().splitlines() == [
        f"CONTENTSVC_DATABASE_URL=sqlite+aiosqlite:///{folder}/contentsvc.db",
        "CONTENTSVC_BASE_URL=http://127.0.0.1:8000",
        f"CONTENTSVC_API_KEY={created['key']}",
    ]
    (trigger,) = listed("trigger", "list", "--organization", "acme")
    assert (trigger["targets"]["repositoryIds"], trigger["autoPublish"]) == (["4242"], True)
    assert trigger["sourceConfig"]["eventTypes"] == ["release"]
    (key,) = listed("key", "list", "--organization", "acme")
    assert key["scopes"] == ["read", "write", "admin"]
    # The file is only read in the folder, and its settings do not stay in the environment of the process.
    assert not {"CONTENTSVC_API_KEY", "CONTENTSVC_DATABASE_URL"} & set(os.environ)


@pytest.mark.slow("starts a command on a terminal")
def test_the_wizard_asks_again_and_its_output_fits_a_narrow_terminal(folder: Path, work: Work) -> None:
    pasted = "https://github.com/acme/lighthouse"
    typed = f"not-a-name\n{pasted}\nsourceforge\ngithub\n\nhttps://hooks.example.org\nAcme Lamps\nn\n\nn\n"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CONTENTSVC_")}

    shown = on_terminal(
        50,
        *("init", "--repository-id", "4242", "--checkout", str(work.path)),
        environment=environment,
        typed=typed,
        folder=str(folder),
    )

    assert "'not-a-name' is not of the form OWNER/NAME" in shown
    assert "'sourceforge' is not one of 'github', 'forgejo'" in shown
    assert re.search(
        r"^  URL     https://hooks\.example\.org/api/webhooks/github/org_\S+/int_\S+/4242$", shown, re.MULTILINE
    )
    assert re.search(r"^  Secret  whsec_\w{40}$", shown, re.MULTILINE)
    assert "Next: contentsvc serve" in shown
    assert re.search(
        r"^  http://127\.0\.0\.1:8000/dashboard/sign-in/link\?token=\w{40}$", shown.rstrip().splitlines()[-1]
    )
    assert [each["slug"] for each in listed("organization", "list")] == ["acme-lamps"]
    (trigger,) = listed("trigger", "list", "--organization", "acme-lamps")
    # The answers chose drafts, and no history.
    assert trigger["autoPublish"] is False
    assert listed("log", "list", "--organization", "acme-lamps") == []


def test_files_with_secrets_in_a_checkout_are_named(folder: Path, work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    advice = "Do not commit it and contentsvc.db*: they contain secrets."
    assert advice not in ran("--yes", "--checkout", str(work.path), "--repository-id", "4242").stdout
    monkeypatch.chdir(work.path)

    assert f"Settings are in contentsvc.env. {advice}\n" in ran("--yes", "--repository-id", "4242").stdout


@pytest.mark.slow("starts a server, and commands")
def test_from_an_empty_folder_to_a_public_page_about_a_checkout_in_two_commands(folder: Path, work: Work) -> None:
    shown = ran("--yes", "--checkout", str(work.path), "--repository-id", "4242")
    assert shown.exit_code == 0, shown.output
    assert "Received 5 pushes and releases of your checkout" in shown.stdout

    with serving(Installation(folder)) as server:

        def page() -> str:
            at = f"{server.url}/changelog/acme"
            return httpx.get(at, trust_env=False, verify=PLAIN, timeout=PATIENCE_S).text

        until(lambda: "v1.1.0" in page() and "v1.0.0" in page(), "both releases are published")
        assert "Dim the lamp" in page()
        assert "<h1>lighthouse changelog</h1>" in page()
        # Unreleased commits are in no post, and an annotation of a tag is not a release note.
        assert "Colour the lamp" not in page()
        assert "10 March 2025" in page()


def test_a_second_run_reports_existing_objects_and_changes_nothing(folder: Path, work: Work) -> None:
    first = done(*OPTIONS, "--checkout", str(work.path))
    before = (folder / "contentsvc.env").read_bytes()

    again = done(*OPTIONS, "--checkout", str(work.path))

    assert [each.partition(" ")[0] for each in again["existing"]] == [
        *("organization", "repository", "trigger", "public", "key")
    ]
    assert (again["key"], again["webhookSecret"], again["received"]) == (None, None, 0)
    assert again["webhookUrl"] == first["webhookUrl"]
    assert again["signInUrl"] != first["signInUrl"]
    assert (folder / "contentsvc.env").read_bytes() == before
    for what in (("trigger", "list"), ("integration", "list"), ("key", "list")):
        assert len(listed(*what, "--organization", "acme")) == 1
    assert "rotate-secret int_" in ran(*OPTIONS, "--no-history").stdout


def test_an_organization_is_found_by_its_name_when_its_slug_is_another(work: Work) -> None:
    ran("create", "Łódź", "--slug", "odz", command="organization")

    again = done(*OPTIONS, "--checkout", str(work.path), "--organization", "Łódź")

    assert (again["organization"], len(listed("organization", "list"))) == ("odz", 1)


def test_a_second_run_leads_to_the_port_of_the_first(folder: Path) -> None:
    del folder
    done(*OPTIONS, "--port", "8123")

    again = ran(*OPTIONS).stdout.splitlines()

    assert "Next: contentsvc serve --port 8123" in again
    assert again[-1].startswith("  http://127.0.0.1:8123/dashboard/sign-in/link?token=")


def test_an_env_file_is_replaced_only_when_that_is_asked_for(folder: Path) -> None:
    own = "CONTENTSVC_LOG_LEVEL='warning' # quiet\n"
    (folder / "contentsvc.env").write_text(own)
    (folder / "contentsvc.env").chmod(0o600)

    kept = ran(*OPTIONS)

    assert "contentsvc.env is kept as it was; --overwrite replaces it" in kept.stdout
    assert re.search(r"^API key, shown once: csk_\w{10}_\w{40}$", kept.stdout, re.MULTILINE)
    assert (folder / "contentsvc.env").read_text() == own
    assert done(*OPTIONS, "--overwrite")["envFile"] == "contentsvc.env"
    lines = (folder / "contentsvc.env").read_text().splitlines()
    # Existing lines stay.
    assert "CONTENTSVC_LOG_LEVEL=warning" in lines
    assert any(line.startswith("CONTENTSVC_API_KEY=csk_") for line in lines)
    assert not list(folder.glob("*.new"))


def test_a_settings_file_that_cannot_be_written_or_read_loses_no_secret(folder: Path) -> None:
    (folder / "open.env").write_text("")
    (folder / "open.env").chmod(0o644)

    refused = ran(*OPTIONS, "--env-file", "open.env")
    lost = ran(*OPTIONS, "--env-file", "missing/contentsvc.env")

    assert "open.env may come from a checkout" in refused.stderr
    assert lost.exit_code == 1
    assert "the setup is complete, but missing/contentsvc.env cannot be written" in lost.stderr
    assert re.search(r"^API key, shown once: csk_\w{10}_\w{40}$", lost.stdout, re.MULTILINE)
    assert re.search(r"^  Secret +\w{20,}$", lost.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        ("CONTENTSVC_LOG_LEVEL=info", 0o620, "may have been written by another user"),
        ("CONTENTSVC_LOG_LEVEL=info", 0o602, "may have been written by another user"),
        ("CONTENTSVC_GITHUB_API_URL=https://evil.example", 0o644, "may come from a checkout: check its content"),
        ("CONTENTSVC_GITHUB_API_URL=https://evil.example", 0o604, "may come from a checkout: check its content"),
        ("fine=1\nCONTENTSVC LOG", 0o600, "contentsvc.env, line 2: the form is NAME=value"),
        ("CONTENTSVC_LOG_LEVEL='info", 0o600, "contentsvc.env, line 1: No closing quotation"),
        ("\udcff", 0o600, "contentsvc.env cannot be read"),
    ],
)
def test_a_settings_file_that_cannot_be_trusted_or_read_is_refused(
    folder: Path, text: str, mode: int, message: str
) -> None:
    file = folder / "contentsvc.env"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    file.chmod(mode)

    result = CliRunner().invoke(main, ["settings"])

    assert result.exit_code == 1
    assert message in result.stderr


def test_the_environment_wins_over_the_settings_file(folder: Path) -> None:
    file = folder / "contentsvc.env"
    file.write_text("export CONTENTSVC_LOG_LEVEL=warning\nCONTENTSVC_LOG_FORMAT=json\nPATH=/nowhere\n")
    file.chmod(0o600)

    shown = CliRunner(env={"CONTENTSVC_LOG_LEVEL": "error"}).invoke(main, ["settings", "--json"])

    settings = json.loads(shown.stdout)
    assert (settings["CONTENTSVC_LOG_LEVEL"], settings["CONTENTSVC_LOG_FORMAT"]) == ("error", "json")
    assert os.environ["PATH"] != "/nowhere"
    assert CliRunner().invoke(main, ["--version"]).exit_code == 0


@pytest.mark.slow("starts a server")
def test_a_pre_existing_post_becomes_public_only_when_that_is_asked_for(work: Work, folder: Path) -> None:
    done(*OPTIONS, "--no-changelog", "--checkout", str(work.path))
    with serving(Installation(folder)):
        until(lambda: len(listed("post", "list", "--organization", "acme")) == 2, "the posts are written")

    shown = ran(*OPTIONS).stdout

    assert "2 published posts would become public: contentsvc changelog publish shows which." in shown
    assert done(*OPTIONS)["changelogUrl"] is None
    assert done(*OPTIONS, "--changelog")["changelogUrl"] == "http://127.0.0.1:8000/changelog/acme"


def test_a_checkout_without_releases_gets_posts_about_its_pushes(tmp_path: Path) -> None:
    work = Work(tmp_path / "lamp")
    for number in range(12):
        work.commit(f"feat: step {number}")

    created = done(*OPTIONS, "--checkout", str(work.path))

    assert created["received"] == 10
    (trigger,) = listed("trigger", "list", "--organization", "acme")
    assert trigger["sourceConfig"]["eventTypes"] == ["push"]


@pytest.mark.parametrize(
    ("start", "reported"),
    [
        ("releases", "; the post about your next release reports them."),
        ("both", "; the server writes posts about them."),
        ("none", "; no trigger writes posts about them."),
    ],
)
def test_what_reports_the_received_pushes_is_named(tmp_path: Path, start: str, reported: str) -> None:
    work = Work(tmp_path / "lamp")
    work.commit("feat: turn the lamp")

    shown = ran(*OPTIONS, "--checkout", str(work.path), "--trigger", start)

    assert f"Received 1 pushes and releases of your checkout{reported}" in shown.stdout


def test_the_remote_names_the_code_host_and_the_subgroups(work: Work, folder: Path) -> None:
    work.git("remote", "set-url", "origin", "https://gitlab.com/acme/harbour/lighthouse.git")

    created = done("--yes", "--checkout", str(work.path), "--repository-id", "4242")

    assert created["webhookUrl"].startswith("http://127.0.0.1:8000/api/webhooks/gitlab/org_")
    assert listed("integration", "list")[0]["repository"] == "acme/harbour/lighthouse"


def test_the_code_host_is_asked_and_makes_the_webhook_with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    with CodeHostServer() as host:
        api = ("--yes", "--organization", "Acme", "--repository", "acme/lighthouse", "--api-url", host.api_url)
        created = done(*api, "--token", TOKEN, "--base-url", "https://hooks.example.org")

    assert created["repositoryId"] == str(REPOSITORY_ID)
    assert created["createdAtHost"] is True
    assert created["webhookSecret"] is None
    assert host.hook.url == created["webhookUrl"]
    assert created["webhookUrl"].startswith("https://hooks.example.org/")
    assert f"CONTENTSVC_GITHUB_API_URL={host.api_url}" in Path("contentsvc.env").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--repository", "acme/lighthouse"), 2, "there is no terminal to ask on: add --yes"),
        (("--yes",), 2, "no default for --repository: add the option, or name a checkout with a remote"),
        (("--yes", "--repository", "lighthouse"), 2, "--repository: 'lighthouse' is not of the form OWNER/NAME"),
        (("--yes", "--repository", "a/b", "--code-host", "gitea"), 2, "no default for --api-url: add the option\n"),
        (("--yes", "--repository", "a/b", "--code-host", "sourceforge"), 2, "'sourceforge' is not one of"),
        (("--yes", "--checkout", "."), 1, "not a git repository"),
        ((*OPTIONS, "--base-url", "ftp://x"), 2, "--base-url: must be an address such as https://example.org"),
        ((*OPTIONS, "--env-file", "no/such/folder"), 1, "the setup is complete, but no/such/folder cannot be written"),
    ],
)
def test_invalid_options_are_refused_by_name(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = ran(*arguments)

    assert result.exit_code == code, result.output
    assert message in result.stderr


@pytest.mark.parametrize(
    ("named", "zone"), [("Europe/Berlin\n", "Europe/Berlin"), ("Etc/UTC\n", "UTC"), ("Mars/Base\n", "UTC")]
)
def test_the_machines_time_zone_is_the_default_and_utc_has_its_usual_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, zone: str
) -> None:
    monkeypatch.delenv("TZ", raising=False)
    (tmp_path / "timezone").write_text(named)

    assert machine_zone(tmp_path) == zone


def test_a_code_host_that_cannot_be_reached_leaves_nothing_half_done(folder: Path) -> None:
    result = ran("--yes", "--repository", "acme/lighthouse", "--api-url", "http://127.0.0.1:9/api/v3")

    assert result.exit_code == 1
    assert "cannot be reached" in result.stderr
    assert "127.0.0.1:9" in result.stderr
    assert "--repository-id" in result.stderr
    assert not (folder / "contentsvc.env").exists()
    # A second run with an id continues from there.
    assert done(*OPTIONS)["existing"] == ["organization acme"]


@pytest.mark.slow("starts a server")
def test_the_links_of_posts_lead_to_the_connected_repository_and_not_to_a_fork(work: Work, folder: Path) -> None:
    work.git("remote", "set-url", "origin", "git@github.com:ada/lighthouse.git")
    done(*OPTIONS, "--checkout", str(work.path))

    with serving(Installation(folder)):
        until(lambda: len(listed("post", "list", "--organization", "acme")) == 2, "the posts are written")

    for post in listed("post", "list", "--organization", "acme"):
        assert "](https://github.com/acme/lighthouse/" in post["markdown"]
        assert "codehost.example" not in post["markdown"]
