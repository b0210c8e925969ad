"""The look of results: states as coloured words, readable times, and no escape sequences."""

import io
import json
import sys
import time
from typing import Any

import pytest
from rich.console import Console

from contentsvc_cli.terminal.ids import shortened
from contentsvc_cli.terminal.output import cell, json_text, show, style_of
from contentsvc_cli.terminal.waiting import waiting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("words", "colour"),
    [
        (("success", "completed", "published", "processed", "yes"), "green"),
        (("failed", "error", "fault", "refused"), "red"),
        (("pending", "running", "draft", "queued", "warning"), "yellow"),
        (("skipped", "cancelled", "filtered", "ignored", "duplicate", "no"), "dim"),
        (("lantern", ""), ""),
    ],
)
def test_a_state_has_its_colour(words: tuple[str, ...], colour: str) -> None:
    assert {style_of("status", word) for word in words} == {colour}
    # A name that resembles a state has no style.
    assert {style_of("name", word) for word in words} == {""}


@pytest.mark.parametrize(("status", "colour"), [(200, "green"), (401, "red"), (503, "red"), (None, "")])
def test_a_status_of_http_has_its_colour(status: int | None, colour: str) -> None:
    assert cell("statusCode", status).style == colour


def test_a_switch_is_a_word() -> None:
    assert (cell("enabled", True).plain, cell("enabled", True).style) == ("yes", "green")
    assert (cell("enabled", False).plain, cell("enabled", False).style) == ("no", "dim")


def test_a_time_is_for_people_on_a_terminal_and_for_programs_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    at = "2026-01-02T03:04:05.678Z"

    assert cell("createdAt", at).plain == at
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert cell("createdAt", at).plain == "2026-01-02 03:04:05 UTC"
    # Text of users stays unchanged.
    assert cell("title", at).plain == at


def test_no_control_character_of_strangers_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    title = "red \x1b[31m bell \x07 c1 \x9b2J turned \u202e del \x7f"

    assert cell("title", title).plain == "red [31m bell c1 2J turned del"
    # A server may name fields, too.
    show({title: 1})
    assert capsys.readouterr().out == "red [31m bell c1 2J turned del  1\n"
    shown = json_text({"title": title})
    assert json.loads(shown) == {"title": title}
    assert not set(shown) & set("\x1b\x07\x9b\u202e\x7f")
    # Harmless characters stay readable.
    assert json_text({"title": "Grüße"}) == '{"title": "Grüße"}'


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_omitted_by_the_environment(environment: dict[str, str], coloured: bool) -> None:
    terminal = Terminal()

    Console(file=terminal, _environ={"TERM": "xterm", **environment}).print(cell("status", "failed"))

    assert ("\x1b[31m" in terminal.getvalue()) is coloured


def shown_while_waiting(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, **how: Any) -> str:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    with waiting("reading", **how) as shown:
        shown.count(2, 5)
        shown.say("reading\x1b]0;pwn\x07 on")
        for _ in range(200):
            if stream.getvalue() or not how:
                break
            # The display has a thread of its own.
            time.sleep(0.02)
    return stream.getvalue()


def test_a_slow_task_shows_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = shown_while_waiting(monkeypatch, Terminal(), patience_s=0.01)

    # The text may be from a server.
    assert r"reading\x1b]0;pwn\x07 on" in shown
    assert "2 of 5" in shown


def test_a_fast_task_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_while_waiting(monkeypatch, Terminal()) == ""


def test_nothing_is_shown_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        stream = io.StringIO()
        patched.setattr(sys, "stderr", stream)
        with waiting("reading", patience_s=0.0):
            pass
    assert stream.getvalue() == ""


def test_ids_are_shortened_as_far_as_they_differ() -> None:
    one, two = "post_01a209fd-d39c-755e-a40d-86faf5163712", "post_01a209fd-d39c-755f-a40d-86faf5163712"
    alone = "01a209fd-a1ae-70d3-a86a-b83c1abb040b"

    assert shortened([one, two, alone, "codehost:4242:d-1", ""]) == {
        one: "post_01a209fd-d39c-755e",
        two: "post_01a209fd-d39c-755f",
        alone: "01a209fd-a1ae",
    }
