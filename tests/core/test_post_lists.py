"""Posts on the wire, and the queries of their lists."""

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from tests.builders import a_post
from tests.refusals import accepted, the_refusal

from contentsvc_core import ContentType, PostStatus
from contentsvc_core.content.posts import Label, post_body
from contentsvc_core.content.queries import PostOrder, PostQuery, read_post_query, unknown_brand
from contentsvc_core.testing import START

POST: Final = a_post(
    title="Lamps",
    content="<p>Lamps</p>",
    markdown="Lamps",
    content_type=ContentType.TWITTER_POST,
    source_metadata={"runId": "run_1"},
    updated_at=START + timedelta(hours=12),
)


def test_the_wire_form_of_a_post_has_nine_fields() -> None:
    assert post_body(POST) == {
        "id": "post_1",
        "title": "Lamps",
        "content": "<p>Lamps</p>",
        "markdown": "Lamps",
        "contentType": "twitter_post",
        "sourceMetadata": {"runId": "run_1", "text": "Lamps"},
        "status": "draft",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T12:00:00.000Z",
    }
    assert post_body(evolve(POST, source_metadata=None))["sourceMetadata"] is None


def test_lists_are_read_and_an_empty_list_means_all() -> None:
    assert read_post_query({}) == PostQuery()
    assert read_post_query({"orderBy": "createdAt"}) == PostQuery()
    assert read_post_query({"sort": "", "orderBy": "", "status": "", "contentType": " , "}) == PostQuery()
    lists = {"status": "draft, published,draft", "contentType": "changelog", "brandIdentityId": " bi_1,,bi_2,bi_1"}
    assert read_post_query({"sort": "asc", "orderBy": "occurredAt", **lists}) == PostQuery(
        ascending=True,
        order_by=PostOrder.OCCURRED_AT,
        statuses=(PostStatus.DRAFT, PostStatus.PUBLISHED),
        content_types=(ContentType.CHANGELOG,),
        brand_identity_ids=("bi_1", "bi_2"),
    )
    more = {"label": "new", "repository": "acme/x, acme/y", "query": "fog horn", "since": "2026-01-02"}
    read = accepted(read_post_query({**more, "until": "2026-01-03"}, ZoneInfo("Asia/Tokyo")))
    assert (read.labels, read.repositories) == ((Label.NEW,), ("acme/x", "acme/y"))
    assert (len(read.terms), read.ascending, read.order_by) == (2, False, PostOrder.CREATED_AT)
    assert (read.since, read.until) == (datetime(2026, 1, 1, 15, tzinfo=UTC), datetime(2026, 1, 2, 15, tzinfo=UTC))


@pytest.mark.parametrize("name", ["label", "repository", "query", "since", "until"])
def test_only_some_filters_are_counted_ahead(name: str) -> None:
    values = {"label": "new", "repository": "acme/x", "query": "fog", "since": "2026-01-02", "until": "2026-01-02"}
    counted = accepted(read_post_query({"status": "draft", "contentType": "changelog", "brandIdentityId": "bi_1"}))
    read = accepted(read_post_query({name: values[name]}))
    assert (counted.is_counted, read.is_counted) == (True, False)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"sort": "up\ndown"}, "Invalid sort: 'up down' is not one of asc, desc"),
        ({"sort": "x" * 65}, f"Invalid sort: '{'x' * 63}…' is not one of asc, desc"),
        ({"sort": "DESC"}, "Invalid sort: 'DESC' is not one of asc, desc"),
        ({"since": "soon"}, "Invalid since: 'soon'"),
        ({"until": "late"}, "Invalid until: 'late'"),
        ({"label": "old"}, "Invalid label: 'old'"),
        ({"orderBy": "updatedAt"}, "Invalid orderBy: 'updatedAt' is not one of "),
        ({"contentType": "changelog;x"}, "Invalid contentType: 'changelog;x' is not one of changelog, "),
        ({"status": "draft,gone"}, "Invalid status: 'gone' is not one of draft, published"),
        (
            {"contentType": "poem"},
            "Invalid contentType: 'poem' is not one of changelog, blog_post, linkedin_post, twitter_post, inv",
        ),
        ({"contentType": "x" * 65}, "Invalid contentType: '" + "x" * 63 + "…' is not one of changelog,"),
    ],
)
def test_an_unknown_value_of_a_query_is_refused_with_the_known_values(parameters: dict[str, str], error: str) -> None:
    refused = the_refusal(read_post_query(parameters))
    assert refused.message().startswith(error)


def test_an_unknown_brand_identity_is_named() -> None:
    assert unknown_brand("brand_x").message() == "Invalid brandIdentityId: 'brand_x' is unknown"
    assert unknown_brand("x" * 65).message() == f"Invalid brandIdentityId: '{'x' * 63}…' is unknown"
