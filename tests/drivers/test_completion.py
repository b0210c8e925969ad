"""Completions of commands, options and values for shells."""

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.drivers.commands import command

from contentsvc_cli.main import main

pytestmark = pytest.mark.usefixtures("folder")


def completed(*words: str) -> list[str]:
    """Request completions of the last word as bash does."""
    environment = {
        "_CONTENTSVC_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("contentsvc", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = CliRunner().invoke(main, [], prog_name="contentsvc", env=environment)
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return [line.removeprefix("plain,") for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_printed_and_asks_with_the_variable_that_is_answered(shell: str) -> None:
    printed = CliRunner().invoke(main, ["completion", shell])

    assert printed.exit_code == 0
    assert f"_CONTENTSVC_COMPLETE={shell}_complete" in printed.stdout
    assert command("completion", shell) == {"shell": shell, "script": printed.stdout}
    if interpreter := shutil.which(shell):
        assert subprocess.run([interpreter, "-n"], input=printed.stdout, text=True, check=False).returncode == 0


def test_fish_keeps_what_follows_a_comma() -> None:
    script = CliRunner().invoke(main, ["completion", "fish"]).stdout

    assert '(string split --max 1 "," $completion)' in script
    assert script.count("string split") == 1


def test_another_shell_is_refused() -> None:
    assert CliRunner().invoke(main, ["completion", "csh"]).exit_code == 2


def test_commands_options_and_choices_are_completed() -> None:
    assert completed("sch") == ["schedule"]
    assert sorted(completed("trigger", "e")) == ["edit", "enable"]
    assert "--organization" in completed("log", "list", "--o")
    assert completed("generate", "--type", "blog") == ["blog_post"]


def test_slugs_and_ids_are_completed_from_the_database(folder: Path) -> None:
    command("organization", "create", "Acme")
    command("organization", "create", "Beta")
    created = command("integration", "connect", "acme/lighthouse", "--organization", "acme", "--repository-id", "4242")
    trigger = command("trigger", "create", "--organization", "acme", "--repository-id", "4242")

    assert completed("log", "list", "--organization", "") == ["acme", "beta"]
    assert completed("key", "list", "--organization", "b") == ["beta"]
    assert completed("integration", "disable", "") == [created["integrationId"]]
    assert completed("receive", "x.jsonl", "--integration", "int_") == [created["integrationId"]]
    assert completed("trigger", "disable", "trg_") == [trigger["id"]]
    (folder / "post.md").write_text("Brighter.", "utf-8")
    post = command("post", "create", "--organization", "acme", "--title", "A lamp", "--markdown", "post.md")
    assert completed("post", "show", "post_") == [post["id"]]
    endpoint = command("endpoint", "create", "https://acme.example/hook", "--organization", "acme")
    assert completed("endpoint", "show", "whe_") == [endpoint["id"]]
    weekly = ("--frequency", "weekly", "--day-of-week", "monday", "--at", "09:00", "--repository-id", "4242")
    schedule = command("schedule", "create", "--organization", "acme", "--name", "Weekly", *weekly)
    assert completed("schedule", "show", "sch_") == [schedule["id"]]
    assert completed("trigger", "create", "--organization", "acme", "--repository-id", "4") == ["4242"]
    assert completed("trigger", "create", "--repository-id", "4") == ["4242"]
    # Another organization's integrations are not offered.
    assert completed("tail", "--organization", "beta", "--integration", "") == []


def test_without_a_readable_database_there_are_no_completions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slugs = ("log", "list", "--organization", "")

    assert completed(*slugs) == []
    assert list(folder.iterdir()) == []
    (folder / "contentsvc.db").write_text("this is no database, and long enough to be seen as none")
    assert completed(*slugs) == []
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", "postgresql+asyncpg://u:p@127.0.0.1:1/x")
    assert completed(*slugs) == []
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", "mysql://u:p@h/d")
    assert completed(*slugs) == []
