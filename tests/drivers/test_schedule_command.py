"""``contentsvc schedule``: usual spellings of times, and errors in one line."""

from pathlib import Path
from typing import Any

import pytest
from tests.drivers.commands import command, error, invoke

_NEW = ("--organization", "acme", "--repository-id", "4242", "--name")


def refused(exit_code: int, *arguments: str) -> str:
    return error("schedule", *arguments, code=exit_code)


@pytest.fixture(autouse=True)
def acme(folder: Path) -> None:
    del folder
    command("organization", "create", "Acme")
    command("integration", "connect", "acme/lighthouse", "--organization", "acme", "--repository-id", "4242")


def cron(created: dict[str, Any]) -> dict[str, Any]:
    return created["sourceConfig"]["cron"]


def test_times_are_written_changed_and_read_as_people_do() -> None:
    weekly = ("--frequency", "weekly", "--at", "9:05", "--day-of-week", "sunday")
    created = command("schedule", "create", *_NEW, "Sundays", *weekly, "--lookback", "yesterday")
    assert cron(created) == {"frequency": "weekly", "hour": 9, "minute": 5, "dayOfWeek": 0}
    id_ = created["id"]
    # Missing fields stay unchanged, and a day belongs to its frequency.
    assert cron(command("schedule", "edit", id_, "--at", "23:59")) == cron(created) | {"hour": 23, "minute": 59}
    monthly = command("schedule", "edit", id_, "--frequency", "monthly", "--day-of-month", "31", "--name", "Ends")
    assert cron(monthly) == {"frequency": "monthly", "hour": 23, "minute": 59, "dayOfMonth": 31}
    assert (monthly["name"], monthly["lookbackWindow"]) == ("Ends", "yesterday")
    daily = command("schedule", "edit", id_, "--frequency", "daily", "--auto-publish")
    assert (cron(daily)["frequency"], daily["autoPublish"]) == ("daily", True)

    listed = invoke("schedule", "list", "--organization", "acme").stdout
    assert "daily at 23:59 UTC" in listed
    assert f"{daily['nextRunAt'][:10]} 23:59" in listed
    command("schedule", "disable", id_)
    assert "never: it is off" in invoke("schedule", "list", "--organization", "acme").stdout
    assert command("schedule", "enable", id_)["nextRunAt"].endswith("T23:59:00.000Z")


def test_faults_are_one_line_each() -> None:
    daily = ("--frequency", "daily", "--at", "09:00")
    id_ = command("schedule", "create", *_NEW, "Daily", *daily)["id"]

    assert refused(2, "edit", id_) == "there is nothing to change: name at least one option"
    assert refused(2, "edit", id_, "--frequency", "weekly") == "a weekly schedule needs --day-of-week"
    assert refused(2, "edit", id_, "--day-of-month", "1") == "a daily schedule takes no --day-of-month"
    for at in ("noon", "24:00", "09:60"):
        assert refused(2, "edit", id_, "--at", at) == f"Invalid value for --at: '{at}' is no time from 00:00 to 23:59"
    for verb in (("enable",), ("disable",), ("delete",), ("edit", "--name", "x")):
        assert refused(1, *verb, "sch_unknown") == "there is no schedule 'sch_unknown'"
    assert [each["id"] for each in command("schedule", "list", "--organization", "acme")] == [id_]
