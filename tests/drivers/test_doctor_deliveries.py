"""``doctor`` about deliveries: missing, refused and ineffective ones, each with a command as the remedy."""

import asyncio
import contextlib
import json
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.code_host_server import TOKEN, CodeHostServer
from tests.docs.pages import code, read, rows, section
from tests.drivers.commands import command, deliver

from contentsvc_adapters.clocks import SystemClock
from contentsvc_cli.main import main
from contentsvc_cli.operate.doctor.deliveries import ArrivedDeliveries, deliveries
from contentsvc_cli.operate.doctor.findings import Finding, FindingState
from contentsvc_core.journal import LogLine, LogStatus
from contentsvc_core.testing import START
from contentsvc_core.webhooks.diagnosis import IntegrationFacts, command_of, diagnose
from contentsvc_core.webhooks.outcomes import Fault
from contentsvc_http.settings import load_settings
from contentsvc_http.wiring.diagnostics import open_as_it_is

pytestmark = pytest.mark.usefixtures("folder")

ORGANIZATION = ("--organization", "acme")


@pytest.fixture
def hook() -> dict[str, Any]:
    """An integration without a trigger."""
    command("organization", "create", "Acme")
    return command("integration", "connect", "acme/lighthouse", *ORGANIZATION, "--repository-id", "4242")


def looked(after: timedelta = timedelta()) -> list[Finding]:
    """Run the doctor's check at a later time."""

    async def look() -> list[Finding]:
        async with open_as_it_is(load_settings()) as database:
            return list(await deliveries(database, SystemClock().now() + after))

    return asyncio.run(look())


def mended_by(finding: Finding) -> list[str]:
    """Return the command at the end of a finding."""
    assert finding.advice is not None
    return finding.advice[finding.advice.index("contentsvc ") :].split()[1:]


def test_without_a_delivery_it_is_connected_and_never_delivered(hook: dict[str, Any]) -> None:
    (found,) = looked(timedelta(hours=2))

    assert (found.state, found.found) == (FindingState.WARNING, "acme/lighthouse: connected 2 h ago, never delivered")
    assert mended_by(found) == ["integration", "reconcile", hook["integrationId"], "--dry-run"]


def test_a_call_to_the_code_host_is_no_delivery(monkeypatch: pytest.MonkeyPatch) -> None:
    with CodeHostServer() as host:
        monkeypatch.setenv("CONTENTSVC_GITHUB_API_URL", host.api_url)
        command("organization", "create", "Acme")
        command("integration", "connect", "acme/lighthouse", *ORGANIZATION, "--provider", "github", "--token", TOKEN)

    assert [entry["direction"] for entry in command("log", "list", *ORGANIZATION)] == ["outgoing"]
    (found,) = looked()
    assert "never delivered" in found.found


def test_when_every_delivery_is_refused_that_is_a_fault_with_its_cause_and_remedy(hook: dict[str, Any]) -> None:
    deliver(hook, forged=6)

    done = CliRunner().invoke(main, ["doctor", "--port", "1", "--json"])

    assert done.exit_code == 1
    findings = json.loads(done.stdout)
    (found,) = [each for each in findings["checks"] if each["check"] == "deliveries"]
    assert (findings["faults"], found["state"]) == (1, "fault")
    assert found["found"].startswith("acme/lighthouse: last delivery ")
    assert "; refused: 6 of 6 since " in found["found"]
    assert found["found"].endswith(
        "UTC, 6 of 6 in 24 h; 6 of the last 6 deliveries were refused: signature. "
        "The signature is well-formed, but made with another secret, or the body was changed on its way."
    )
    assert f"contentsvc integration rotate-secret {hook['integrationId']}" in found["advice"]
    # On a terminal, the command is on one line.
    shown = CliRunner().invoke(main, ["doctor", "--port", "1"]).stdout.splitlines()
    assert [line for line in shown if line.endswith(f"rotate-secret {hook['integrationId']}")]


def test_refusals_of_long_ago_are_no_fault(hook: dict[str, Any]) -> None:
    command("trigger", "create", "--every-event", *ORGANIZATION, "--repository-id", "4242")
    deliver(hook, "d-1", forged=2)

    assert looked()[0].state is FindingState.FAULT
    (later,) = looked(timedelta(hours=26))
    assert (later.state, later.found) == (FindingState.OK, "acme/lighthouse: last delivery 1.1 d ago, refused")


def test_a_delivery_that_anyone_may_have_forged_is_no_warning(hook: dict[str, Any]) -> None:
    command("trigger", "create", "--every-event", *ORGANIZATION, "--repository-id", "4242")
    deliver(hook, forged=1)
    deliver(hook, *(f"d-{number}" for number in range(12)))

    (found,) = looked()
    assert found.state is FindingState.OK
    assert found.found.endswith("1 of 13 in 24 h")
    deliver(hook, forged=1)
    assert looked()[0].state is FindingState.WARNING, "the last one was refused"


def test_a_mended_integration_is_no_fault(hook: dict[str, Any]) -> None:
    command("trigger", "create", "--every-event", *ORGANIZATION, "--repository-id", "4242")
    deliver(hook, forged=10)
    deliver(hook, *(f"d-{number}" for number in range(20)))

    (found,) = looked()
    assert found.state is FindingState.WARNING
    assert "10 of 30 in 24 h; earlier deliveries were refused: signature. " in found.found


def test_deliveries_without_a_trigger_are_a_warning_and_its_command_fixes_it(hook: dict[str, Any]) -> None:
    deliver(hook, "d-1")

    (found,) = looked()
    assert found.state is FindingState.WARNING
    assert found.found.endswith(
        "accepted (Processed push event); deliveries arrive, but no trigger or schedule uses them"
    )
    trigger = command(*mended_by(found))
    assert looked()[0].state is FindingState.OK
    command("trigger", "disable", trigger["id"])
    assert looked()[0].state is FindingState.WARNING
    at = ("--frequency", "daily", "--at", "09:00", "--repository-id", "4242")
    command("schedule", "create", *ORGANIZATION, "--name", "daily", *at)
    assert looked()[0].state is FindingState.OK


def test_of_many_integrations_the_most_severe_come_first_and_few_are_shown(
    hook: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hook
    monkeypatch.setattr("contentsvc_cli.operate.doctor.deliveries._SHOWN", 2)
    for number in (1, 2):
        command("integration", "connect", f"acme/app{number}", *ORGANIZATION, "--repository-id", str(number))
    (first, *_) = command("integration", "list", *ORGANIZATION)
    command("integration", "disable", first["id"])

    found = looked()

    assert [each.state for each in found] == [FindingState.WARNING, FindingState.WARNING, FindingState.OK]
    assert found[-1].found == "1 more integrations are not shown"


def test_an_organization_that_cannot_be_read_is_named_and_does_not_hide_others(
    hook: dict[str, Any], folder: Path
) -> None:
    command("organization", "create", "Aard")
    with contextlib.closing(sqlite3.connect(folder / "contentsvc.db")) as file, file:
        file.execute("UPDATE organizations SET house_style = '{' WHERE slug = 'aard'")
    named = "the organization 'aard' cannot be read: DecodeError"

    first, second = looked()
    assert first.state is FindingState.FAULT
    assert first.found.startswith(named)
    assert second.found.startswith("acme/lighthouse: connected")
    listed = CliRunner().invoke(main, ["organization", "list"])
    assert listed.exit_code == 1
    assert named in listed.stderr
    assert "Traceback" not in listed.stderr
    assert hook


def test_an_unknown_time_zone_is_named_and_can_be_changed(hook: dict[str, Any], folder: Path) -> None:
    times = ("--name", "Mornings", "--frequency", "daily", "--at", "09:00", "--repository-id", str(4242))
    command("schedule", "create", *ORGANIZATION, *times, "--output", "changelog")
    with contextlib.closing(sqlite3.connect(folder / "contentsvc.db")) as file, file:
        file.execute("UPDATE organizations SET time_zone = 'Mars/Base'")

    first, second = looked()
    assert (first.state, first.found) == (
        FindingState.FAULT,
        "the organization 'acme' starts no runs at fixed times: this machine does not know the time zone 'Mars/Base'",
    )
    assert second.found.startswith("acme/lighthouse: connected")
    assert [each["timeZone"] for each in command("organization", "list")] == ["Mars/Base"]
    listed = CliRunner().invoke(main, ["schedule", "list", *ORGANIZATION])
    assert "daily at 09:00 Mars/Base" in listed.stdout, listed.output
    command("organization", "edit", *ORGANIZATION, "--time-zone", "Asia/Tokyo")
    assert len(looked()) == 1
    assert hook


@pytest.mark.parametrize(
    ("refused", "number", "mostly", "often"),
    [(0, 0, False, False), (1, 2, True, True), (1, 3, False, True), (1, 10, False, False), (2, 10, False, True)],
)
def test_when_refusals_are_many(refused: int, number: int, *, mostly: bool, often: bool) -> None:
    traffic = ArrivedDeliveries(refused=refused, number=number)

    assert (traffic.is_mostly_refused, traffic.is_often_refused) == (mostly, often)


def test_the_commands_of_diagnoses_are_in_the_table_of_the_guide() -> None:
    table = {
        cell: row[2]
        for row in rows(section(read("docs/repository.md"), "## When nothing arrives"))
        for cell in code(row[0])
    }
    named = (Fault.INVALID_SIGNATURE, Fault.INTEGRATION_DISABLED, Fault.REPOSITORY_MISMATCH, Fault.UNAVAILABLE)

    for fault in named:
        line = LogLine(
            id="log_1",
            organization_id="org_1",
            integration_id="int_1",
            repository_id=1,
            reference_id=None,
            title=fault.log_title or "",
            integration_type="codehost",
            status=LogStatus.FAILED,
            status_code=fault.status,
            created_at=START,
        )
        found = diagnose(line, IntegrationFacts(is_enabled=False))
        assert found is not None
        command = command_of(found, "int_1")
        assert command is not None
        assert " ".join(command.split()[:3]) in table[str(fault.status)], fault
