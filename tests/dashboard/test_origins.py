"""The origins of posts."""

from contentsvc_http.dashboard.posts import Origin, read_origin


def test_nothing_is_taken_for_granted() -> None:
    assert read_origin(None) == Origin()
    assert read_origin({"writer": 7, "repositories": "acme/x", "deliveryIds": ["d", 1, None], "triggerId": None}) == (
        Origin(delivery_ids=["d"])
    )


def test_unknown_fields_are_shown_unchanged() -> None:
    origin = read_origin({"runId": "r", "writer": "rules", "campaign": {"name": "<b>"}})

    assert origin == Origin(writer="rules", more=[("campaign", '{"name":"<b>"}')])
