"""``log show`` and the bulk form of ``log replay``."""

import asyncio
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.builders import an_entry
from tests.drivers.commands import command, deliver, invoke
from tests.terminal import on_terminal

from contentsvc_cli.main import main
from contentsvc_cli.wiring import open_app
from contentsvc_core.journal import LogStatus
from contentsvc_http.settings import load_settings


@pytest.fixture(autouse=True)
def hook(folder: Path) -> dict[str, Any]:
    """An integration with an accepted delivery and a forged one."""
    del folder
    command("organization", "create", "Acme")
    found = command("integration", "connect", "acme/lighthouse", "--repository-id", "4242")
    deliver(found, "d-0", forged=1)
    return found


def test_an_entry_is_shown_with_its_cause_and_the_command_that_mends_it(hook: dict[str, Any]) -> None:
    refused, accepted = command("log", "list")

    found = command("log", "show", refused["id"])

    assert (found["outcome"], found["diagnosis"]["cause"]) == ("refused", "wrongSecret")
    assert found["diagnosis"]["command"] == f"contentsvc integration rotate-secret {hook['integrationId']}"
    assert command("log", "show", accepted["id"])["outcome"] == "processed"
    shown = CliRunner().invoke(main, ["log", "show", refused["id"]]).stdout
    assert "The signature is well-formed, but made with another secret" in shown
    assert invoke("log", "show", "log_unknown").exit_code == 1


def test_a_message_that_could_not_be_sent_is_shown_with_its_error(hook: dict[str, Any]) -> None:
    error = "the server answered 550: no such user"
    entry = an_entry(
        datetime.now(UTC),
        organization_id=hook["organizationId"],
        status=LogStatus.FAILED,
        status_code=None,
        error_message=error,
        reason="attempt 1 of 8",
    )

    async def write() -> None:
        async with open_app(load_settings()) as app:
            await app.stores.journal.append(entry)

    asyncio.run(write())

    for arguments in (("log", "list"), ("log", "show", entry.id)):
        shown = CliRunner().invoke(main, arguments)
        assert (shown.stdout.count(error), "attempt 1 of 8" in shown.stdout) == (1, True), arguments


def test_a_filter_is_counted_and_replayed_once_for_a_request() -> None:
    assert command("log", "replay", "--outcome", "processed", "--dry-run") == {
        "replayable": 1,
        "notKept": 0,
        "more": False,
    }
    first = command("log", "replay", "--outcome", "processed", "--since", "1h", "--request", "r-1")
    assert (first["replayed"], first["repeated"]) == (1, 0)
    second = command("log", "replay", "--outcome", "processed", "--since", "1h", "--request", "r-1")
    assert (second["replayed"], second["repeated"]) == (0, 1)


def test_an_entry_that_cannot_be_replayed_is_named_and_fails() -> None:
    found = invoke("log", "replay", "--failed", "--since", "1h", "--json")

    assert found.exit_code == 1
    assert json.loads(found.stdout)["refused"] == 1
    assert "The body of a refused delivery is not stored" in found.stderr


@pytest.mark.slow("starts a command on a terminal")
def test_a_replay_without_runs_leads_to_the_entry_that_explains_it(folder: Path) -> None:
    _, accepted = command("log", "list")

    def replayed() -> str:
        shown = on_terminal(80, "log", "replay", accepted["id"], environment=os.environ, folder=str(folder))
        return shown.splitlines()[-1]

    assert replayed() == f"next: contentsvc log show {accepted['id']}"
    command("trigger", "create", "--repository-id", "4242", "--event", "push")
    assert replayed() == "next: contentsvc run list"


@pytest.mark.parametrize("wrong", [[], ["log_1", "--failed"], ["--since", "soon"], ["--outcome", "lost"]])
def test_wrong_usage_is_refused(wrong: list[str]) -> None:
    assert invoke("log", "replay", *wrong).exit_code == 2
