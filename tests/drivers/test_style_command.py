"""``contentsvc style``: the house style, from a terminal."""

from typing import Any

import pytest
from tests.core.test_house_style import WHOLE
from tests.drivers.commands import command, invoke

pytestmark = pytest.mark.usefixtures("acme")

MINE = ("--organization", "acme")


def style(*arguments: str, stdin: str | None = None) -> Any:
    return command("style", *arguments, *MINE, input=stdin)["houseStyle"]


def test_it_is_set_by_options_shown_and_reset() -> None:
    assert style("show") is None
    options = (
        *("--audience", "team", "--heading", "breaking=Take care", "--heading", "added=🚀 New"),
        *("--hide", "docs", "--hide", "api", "--hide-path", "vendor/*", "--hide-path", "*.lock"),
        *("--hide-author", "Kettle", "--no-hide-release-chores", "--no-fold-upkeep"),
        *("--upkeep-posts", "write", "--notes", "fill", "--emoji"),
        *("--fold-section", "performance", "--fold-section", "other", "--no-commit-hashes", "--no-links"),
        *("--no-details", "--no-contributors", "--bot", "kettle-bot", "--longest-post", "5000"),
    )
    assert style("set", *options) == WHOLE
    assert style("set", "--links", "--unset", "hide") == {
        name: value for name, value in (WHOLE | {"links": True}).items() if name != "hide"
    }
    assert style("set", "--file", "-", stdin='{"links": false}') == {"links": False}
    shown = invoke("style", "show", *MINE).output.splitlines()
    assert [line.split() for line in shown if line.startswith(("links", "details"))] == [
        ["links", "no", "set"],
        ["details", "yes", "default"],
    ]
    shown = invoke("style", "show", *MINE, "--json").output
    assert style("reset") is None
    assert style("set", "--file", "-", stdin=shown) == {"links": False}
    assert style("reset") is None
    assert style("set", "--file", "-", stdin=invoke("style", "show", *MINE, "--json").output) is None
    assert style("show") is None


def test_a_trigger_and_a_schedule_have_overrides() -> None:
    command("integration", "connect", "acme/lighthouse", *MINE, "--repository-id", "1")
    trigger = command("trigger", "create", "--every-event", *MINE, "--repository-id", "1")["id"]
    schedule = command(
        *("schedule", "create", *MINE, "--repository-id", "1", "--name", "Daily"),
        *("--frequency", "daily", "--at", "09:00", "--output", "changelog"),
    )["id"]
    style("set", "--hide", "docs")
    for override in (("--trigger", trigger), ("--schedule", schedule)):
        assert style("set", *override, "--no-links") == {"links": False}
        shown = command("style", "show", *MINE, *override)
        assert shown["houseStyle"] == {"links": False}
        assert (shown["effective"]["hide"], shown["effective"]["links"]) == (["docs"], False)
        assert "organization" in invoke("style", "show", *MINE, *override).output
        assert style("reset", *override) is None
    assert style("show") == {"hide": ["docs"]}
    for unknown in (("--trigger", "trg_x"), ("--schedule", "sch_x")):
        assert invoke("style", "show", *MINE, *unknown).exit_code == 1
        assert invoke("style", "reset", *MINE, *unknown).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "message"),
    [
        (("--longest-post", "12"), None, 2, "--longest-post must be a whole number from 1,000 to 100,000"),
        (("--heading", "added"), None, 2, "write a heading as SECTION=TEXT"),
        (("--file", "-"), '{"colour": 1}', 1, "colour is not a field of the house style"),
        (("--file", "-"), "{", 1, "the file is not valid JSON"),
        (("--file", "-", "--no-links"), "{}", 2, "--file replaces the complete style: use it without other options"),
        ((), None, 2, "nothing to change: add --file or another option"),
        (("--no-links", "--trigger", "a", "--schedule", "b"), None, 2, "name a trigger or a schedule, not both"),
    ],
)
def test_faults_are_named_and_nothing_changes(
    arguments: tuple[str, ...], stdin: str | None, code: int, message: str
) -> None:
    done = invoke("style", "set", *MINE, *arguments, input=stdin)

    assert done.exit_code == code, done.output
    assert message in done.output
    assert style("show") is None
