"""The origins of posts."""

from contentsvc_http.dashboard.posts import read_origin


def test_nothing_is_taken_for_granted() -> None:
    nothing = read_origin(None)
    odd = {"writer": 7, "repositories": "acme/x", "deliveryIds": ["d", 1, None], "triggerId": None}

    assert not any(nothing.values())
    assert read_origin(odd) == {**nothing, "deliveryIds": ["d"]}


def test_unknown_fields_are_shown_unchanged() -> None:
    origin = read_origin({"runId": "r", "writer": "rules", "campaign": {"name": "<b>"}})

    assert origin == {**read_origin(None), "runId": "r", "writer": "rules", "more": [("campaign", '{"name":"<b>"}')]}
