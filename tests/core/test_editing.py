"""Changes of a post, and the entity tags of its versions."""

import re
from datetime import datetime, timedelta
from typing import Any, Final

import pytest
from attrs import evolve
from tests.builders import a_post
from tests.refusals import accepted, existing, message_of

from contentsvc_core import PostStatus
from contentsvc_core.content.editing import CreatePost, changed_post, due_post, entity_tag, new_post, post_fault
from contentsvc_core.content.posts import BY_HAND, Label, Post, post_metadata
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START

POST: Final = a_post(title="Lamps", markdown="# Lamps", content="<h1>Lamps</h1>", source_metadata=None)
LATER: Final = START + timedelta(hours=1)


def changed(post: Post, *, at: datetime = LATER, content: str = "<p>", **values: Any) -> Post | Refusal:
    return post_fault(values) or changed_post(post, values, content=content, at=at)


@pytest.mark.parametrize("step", [timedelta(), timedelta(milliseconds=1), timedelta(hours=-1)])
def test_a_change_is_later_than_the_previous_one_at_any_clock(step: timedelta) -> None:
    created = accepted(changed(POST, title="Beams", at=START + step))

    assert created.updated_at == START + timedelta(milliseconds=1)


@pytest.mark.parametrize(
    "values",
    [
        *({"title": title} for title in ("x", "x" * 120, " spaced ")),
        *({"markdown": markdown} for markdown in ("x", "x" * 100_000, " \n")),
        *({"summary": summary} for summary in ("x", "x" * 200)),
        {"publish_at": "2026-01-02"},
        {"repository": "acme/lighthouse"},
        {"repository": "acme/coast/lighthouse"},
    ],
)
def test_values_within_their_bounds_are_valid(values: dict[str, Any]) -> None:
    assert post_fault(values) is None


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "Nothing to change: give at least one field"),
        ({"title": ""}, "title must have 1 to 120 characters"),
        ({"title": "x" * 121}, "title must have 1 to 120 characters"),
        ({"title": "a\nb"}, "title must be one line without control characters"),
        ({"title": " "}, "title must not be blank"),
        ({"markdown": ""}, "markdown must have 1 to 100,000 characters"),
        ({"markdown": "x" * 100_001}, "markdown must have 1 to 100,000 characters"),
        ({"title": "fine", "markdown": ""}, "markdown must have 1 to 100,000 characters"),
        ({"summary": "x" * 201}, "summary must have 1 to 200 characters"),
        ({"summary": "a\nb"}, "summary must be one line without control characters"),
        ({"publish_at": "soon"}, "publishAt 'soon' is no time, such as 2026-11-22T08:30:00Z"),
        ({"repository": "acme"}, "repository must be owner/name, which 'acme' is not"),
    ],
)
def test_other_values_are_refused_and_nothing_is_corrected(given: dict[str, Any], error: str) -> None:
    assert message_of(post_fault(given)) == error


class TestScheduling:
    AT: Final = LATER + timedelta(hours=1)
    SCHEDULED: Final = evolve(POST, publish_at=AT)

    def test_a_draft_is_scheduled_and_its_text_may_change(self) -> None:
        assert changed(POST, publish_at="2026-01-01T02:00Z") == evolve(self.SCHEDULED, content="<p>", updated_at=LATER)
        retitled = accepted(changed(self.SCHEDULED, title="Beams"))
        assert retitled.publish_at == self.AT

    @pytest.mark.parametrize(
        "values", [{"publish_at": None}, {"status": PostStatus.DRAFT}, {"status": PostStatus.PUBLISHED}]
    )
    def test_a_cleared_time_a_withdrawal_and_a_publication_end_the_schedule(self, values: dict[str, Any]) -> None:
        created = accepted(changed(self.SCHEDULED, **values))
        assert created.publish_at is None

    def test_a_time_that_has_passed_and_a_published_post_are_refused(self) -> None:
        late = "publishAt must be in the future: publish the post now, or choose a later time"
        assert message_of(changed(POST, publish_at="2026-01-01T01:00Z")) == late
        command = CreatePost(title="Lamps", markdown="# Lamps", publish_at="2026-01-01T01:00Z")
        assert message_of(new_post(command, post_id="post_1", organization_id="org_1", content="", at=LATER)) == late
        public = evolve(POST, status=PostStatus.PUBLISHED)
        assert message_of(changed(public, publish_at="2027-01-01")) == "publishAt must be absent: the post is published"

    def test_a_due_draft_becomes_a_published_post(self) -> None:
        assert due_post(self.SCHEDULED, self.AT - timedelta(milliseconds=1)) is None
        assert due_post(POST, self.AT) is None
        expected = evolve(
            self.SCHEDULED, publish_at=None, status=PostStatus.PUBLISHED, updated_at=self.AT, published_at=self.AT
        )
        assert due_post(self.SCHEDULED, self.AT) == expected

    def test_a_post_without_events_happens_when_it_is_first_published(self) -> None:
        by_hand = evolve(self.SCHEDULED, source_metadata={"writer": BY_HAND})
        published = existing(due_post(by_hand, self.AT))
        assert published.occurred_at == self.AT
        back = accepted(changed(published, status=PostStatus.DRAFT, at=self.AT))
        again = accepted(changed(back, status=PostStatus.PUBLISHED, at=self.AT + timedelta(days=1)))
        assert again.occurred_at == self.AT


def test_an_entity_tag_is_strong_and_no_two_versions_share_one() -> None:
    tag = entity_tag(POST)

    assert re.fullmatch(r'"[0-9a-f]{32}"', tag)
    assert tag == entity_tag(evolve(POST))
    assert tag != entity_tag(evolve(POST, updated_at=START + timedelta(milliseconds=1)))


def test_the_fields_that_editors_set_are_metadata_of_a_post_without_a_source() -> None:
    assert post_metadata(POST) is None
    assert post_metadata(evolve(POST, summary="Of lamps")) == {"summary": "Of lamps"}
    assert post_metadata(evolve(POST, labels=(Label.FIXED,))) == {"labels": ["fixed"]}
