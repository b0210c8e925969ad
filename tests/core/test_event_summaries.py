"""Summaries of events in lists: small, with the content of the event in one line."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_release

from contentsvc_core import Push
from contentsvc_core.events.normalized import Author, Commit, Event
from contentsvc_core.events.summaries import EventSummary, summary_from_json, summary_to_json
from contentsvc_core.strategies import events, foreign_text
from contentsvc_core.text import has_controls

_COMMIT = Commit(id="a" * 40, message="m", author=Author(name="Ada", email=""), timestamp="", url="")
_PUSH = Push(ref="refs/heads/main", branch="main", commits=(_COMMIT,), head_commit=None)
_RELEASE = a_release()


@given(events())
def test_a_stored_summary_is_small_and_is_read_back(event: Event) -> None:
    stored = summary_to_json(event)

    assert len(stored.encode()) < 2048
    summary = summary_from_json(event.type, stored)
    assert summary == EventSummary.of(event)
    assert not has_controls(summary.about)


@given(foreign_text(max_size=3), st.sampled_from(["", "\n", " ", "\0", "\u202e", "e\u0301"]))
def test_the_longest_texts_are_cut(text: str, filler: str) -> None:
    long = (text + filler + "x") * 30_000
    push = evolve(_PUSH, branch=long, commits=(evolve(_COMMIT, message=long),))
    for event in (push, evolve(_RELEASE, tag_name=long, name=long)):
        assert len(summary_to_json(event).encode()) < 2048


@pytest.mark.parametrize(
    ("event", "about"),
    [
        (evolve(_PUSH, commits=()), "main: no commits"),
        (evolve(_PUSH, commits=[evolve(_COMMIT, message="feat: lamp\n\nIt glows.")]), "main: feat: lamp"),
        (evolve(_PUSH, commits=(_COMMIT, _COMMIT, evolve(_COMMIT, message="fix: door"))), "main: fix: door and 2 more"),
        (_RELEASE, "v1"),
        (evolve(_RELEASE, name="Lamp"), "v1: Lamp"),
        (evolve(_RELEASE, name="Lamp v1"), "Lamp v1"),
    ],
)
def test_a_summary_is_one_line_about_the_event(event: Event, about: str) -> None:
    assert EventSummary.of(event).about == about


def test_an_event_without_known_facts_has_an_empty_summary() -> None:
    assert EventSummary(type="push").about == ""
