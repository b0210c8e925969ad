"""Changes of a post, and the entity tags of its versions."""

import re
from datetime import timedelta
from typing import Any, Final

import pytest
from attrs import evolve
from tests.refusals import message_of

from contentsvc_core import ContentType, PostStatus
from contentsvc_core.content.editing import PostChange, entity_tag, read_post_change
from contentsvc_core.content.posts import Post
from contentsvc_core.testing import START

POST: Final = Post(
    id="post_1",
    organization_id="org_1",
    title="Lamps",
    markdown="# Lamps",
    content="<h1>Lamps</h1>",
    status=PostStatus.DRAFT,
    content_type=ContentType.CHANGELOG,
    source_metadata=None,
    created_at=START,
    updated_at=START,
)
LATER: Final = START + timedelta(hours=1)


def test_what_is_given_is_changed_and_nothing_else() -> None:
    for change, fields in (
        (PostChange(title="Beams"), {"title": "Beams"}),
        (PostChange(markdown="text"), {"markdown": "text"}),
        (PostChange(status=PostStatus.PUBLISHED), {"status": PostStatus.PUBLISHED}),
    ):
        assert change.of(POST, content="<p>", at=LATER) == evolve(POST, content="<p>", updated_at=LATER, **fields)


@pytest.mark.parametrize("step", [timedelta(), timedelta(milliseconds=1), timedelta(hours=-1)])
def test_a_change_is_later_than_the_one_before_whatever_the_clock_says(step: timedelta) -> None:
    changed = PostChange(title="Beams").of(POST, content=POST.content, at=START + step)

    assert changed.updated_at == START + timedelta(milliseconds=1)


def test_what_is_within_its_bounds_is_taken_as_it_is() -> None:
    for title in ("x", "x" * 120, " spaced "):
        assert read_post_change(title=title) == PostChange(title=title)
    for markdown in ("x", "x" * 100_000, " \n"):
        assert read_post_change(markdown=markdown) == PostChange(markdown=markdown)
    assert read_post_change(status=PostStatus.DRAFT) == PostChange(status=PostStatus.DRAFT)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "Nothing to change: give title, markdown or status"),
        ({"title": ""}, "title must have 1 to 120 characters"),
        ({"title": "x" * 121}, "title must have 1 to 120 characters"),
        ({"title": "a\nb"}, "title must be one line without control characters"),
        ({"title": " "}, "title must not be blank"),
        ({"markdown": ""}, "markdown must have 1 to 100,000 characters"),
        ({"markdown": "x" * 100_001}, "markdown must have 1 to 100,000 characters"),
        ({"title": "fine", "markdown": ""}, "markdown must have 1 to 100,000 characters"),
    ],
)
def test_what_is_not_is_refused_and_nothing_is_corrected(given: dict[str, Any], error: str) -> None:
    assert message_of(read_post_change(**given)) == error


def test_an_entity_tag_is_strong_and_no_two_versions_share_one() -> None:
    tag = entity_tag(POST)

    assert re.fullmatch(r'"[0-9a-f]{32}"', tag)
    assert tag == entity_tag(evolve(POST))
    assert tag != entity_tag(evolve(POST, updated_at=START + timedelta(milliseconds=1)))
