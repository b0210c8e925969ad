"""Queries over context records and posts, the searched words, and the wire form of hits."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from tests.builders import a_record
from tests.core.test_search_excerpts import RELEASE, post_of, push_of, terms_of
from tests.refusals import message_of, the_refusal

from contentsvc_core.content.posts import ContentType, PostStatus, post_body
from contentsvc_core.lists.parameters import read_time
from contentsvc_core.refusals import Refusal
from contentsvc_core.search.documents import DocumentKind, post_words, record_words
from contentsvc_core.search.excerpts import post_hit_body, record_hit_body
from contentsvc_core.search.questions import ContextSearch, PostSearch, read_context_search, read_post_search

NO_DATE = "is no date and no time, such as 2026-11-22 or 2026-11-22T08:30:00Z"


def test_a_question_about_context_is_read_whole() -> None:
    parameters = {"query": "lamp", "repository": " Acme/Tea ", "eventType": "push,release", "since": "2026-11-22"}

    assert read_context_search(parameters) == ContextSearch(
        terms=terms_of("lamp"),
        repository="acme/tea",
        event_types=["push", "release"],
        since=datetime(2026, 11, 22, tzinfo=UTC),
    )
    assert read_context_search({}) == ContextSearch()
    assert read_context_search(dict.fromkeys(parameters, "")) == ContextSearch()


def test_a_question_about_posts_is_read_whole() -> None:
    parameters = {
        "query": "lamp",
        "status": "published,draft",
        "contentType": "blog_post,changelog",
        "since": "2026-11-22",
    }

    assert read_post_search(parameters) == PostSearch(
        terms=terms_of("lamp"),
        statuses=[PostStatus.PUBLISHED, PostStatus.DRAFT],
        content_types=[ContentType.BLOG_POST, ContentType.CHANGELOG],
        since=datetime(2026, 11, 22, tzinfo=UTC),
    )
    assert read_post_search({}) == PostSearch()
    assert read_post_search(dict.fromkeys(parameters, "")) == PostSearch()


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"query": "!"}, "Invalid query: it has no word, only signs"),
        ({"eventType": "push,ping"}, "Invalid eventType: 'ping' is not one of push, release"),
        ({"eventType": "x" * 99}, f"Invalid eventType: '{'x' * 63}…' is not one of push, release"),
        ({"since": "soon"}, f"Invalid since: 'soon' {NO_DATE}"),
    ],
)
def test_a_question_about_context_that_cannot_be_is_refused(parameters: dict[str, str], error: str) -> None:
    assert message_of(read_context_search(parameters)) == error


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"query": "!"}, "Invalid query: it has no word, only signs"),
        ({"status": "open"}, "Invalid status: 'open'"),
        ({"contentType": "poem"}, "Invalid contentType: 'poem'"),
        ({"since": "soon"}, f"Invalid since: 'soon' {NO_DATE}"),
    ],
)
def test_a_question_about_posts_that_cannot_be_is_refused(parameters: dict[str, str], error: str) -> None:
    refused = the_refusal(read_post_search(parameters))

    assert refused.message().startswith(error)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("", None),
        (" ", None),
        ("2026-11-22", datetime(2026, 11, 22, tzinfo=UTC)),
        ("2026-11-22T08:30:00", datetime(2026, 11, 22, 8, 30, tzinfo=UTC)),
        ("2026-11-22t08:30:00.1239Z", datetime(2026, 11, 22, 8, 30, 0, 123_000, tzinfo=UTC)),
        ("2026-11-22T08:30:00+01:00", datetime(2026, 11, 22, 7, 30, tzinfo=UTC)),
        # An unescaped plus sign.
        ("2026-11-22T08:30:00 01:00", datetime(2026, 11, 22, 7, 30, tzinfo=UTC)),
        ("2026-11-22T08:30 0100", datetime(2026, 11, 22, 8, 30, tzinfo=timezone(timedelta(hours=1)))),
    ],
)
def test_a_point_in_time_is_read(text: str, at: datetime | None) -> None:
    assert read_time("since", text) == at


@pytest.mark.parametrize("text", ["22.11.2026", "2026-11", "2026-13-01", "20261122", "2026-W47-7", "9" * 70])
def test_an_invalid_time_is_refused(text: str) -> None:
    shown = text if len(text) <= 64 else f"{'9' * 63}…"
    assert message_of(read_time("since", text)) == f"Invalid since: '{shown}' {NO_DATE}"


def test_the_searched_text_of_a_push() -> None:
    push = push_of("feat: a lamp", "fix: the door", username="ada-l")

    assert record_words(a_record(push)) == (
        *("acme", "lighthouse", "push", "pushed", "main"),
        *("feat", "a", "lamp", "0", "ada", "l", "fix", "the", "door", "1"),
    )
    assert record_words(a_record(push_of("fix: it", username=None))) == (
        *("acme", "lighthouse", "push", "pushed", "main"),
        *("fix", "it", "0", "ada", "lamp"),
    )
    # People are found by their names, not by their addresses.
    assert not {"example", "com"} & set(record_words(a_record(push)))


def test_the_searched_text_of_a_release() -> None:
    assert record_words(a_record(RELEASE)) == (
        *("acme", "lighthouse", "release", "published"),
        *("1\ue0012\ue0013", "v1", "2", "3", "the", "lamp", "news", "a", "door"),
    )
    assert record_words(a_record(evolve(RELEASE, name=None, body=None))) == (
        *("acme", "lighthouse", "release", "published"),
        *("1\ue0012\ue0013", "v1", "2", "3"),
    )


def test_the_searched_text_of_a_post() -> None:
    assert post_words(post_of("## Lamps\n\nA door.")) == ("news", "lamps", "a", "door")
    assert [kind.value for kind in DocumentKind] == ["context", "post"]


def test_the_body_of_a_record_hit() -> None:
    assert record_hit_body(a_record(push_of("feat: a lamp")), terms_of("lamp")) == {
        "customId": "codehost:1:d-1",
        "metadata": {"source": "codehost_webhook", "eventType": "push", "repository": "acme/lighthouse"},
        "action": "pushed",
        "deliveryId": "d-1",
        "excerpts": [{"text": "feat: a lamp (ada)", "ref": "0", "url": "https://codehost.example/0"}],
        "createdAt": "2026-01-01T00:00:00.000Z",
    }


def test_the_body_of_a_post_hit() -> None:
    assert post_hit_body(post_body(post_of("A lamp.")), terms_of("lamp")) == {
        "id": "post_1",
        "title": "News",
        "contentType": "changelog",
        "status": "draft",
        "excerpts": [{"text": "A lamp."}],
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }


def test_a_day_that_is_out_of_range_in_the_zone_is_refused() -> None:
    assert isinstance(read_time("since", "0001-01-01", ZoneInfo("Asia/Tokyo")), Refusal)
