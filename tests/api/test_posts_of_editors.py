"""``/v1/posts``: posts by hand, versions, schedules, and several at once."""

from datetime import timedelta
from typing import Any

from tests.api.world import Caller

from contentsvc_core.timestamps import iso_ms

NEW = {"title": "A lamp", "markdown": "# A lamp\n\nBrighter.", "summary": "Brighter", "labels": ["fixed", "new"]}
FIELDS = ["id", "title", "content", "markdown", "contentType", "sourceMetadata", "status", "createdAt", "updatedAt"]


async def created(acme: Caller, **more: object) -> dict[str, Any]:
    answer = await acme("POST", "/v1/posts", {**NEW, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["post"]


async def test_a_post_is_created_and_has_nine_fields(acme: Caller) -> None:
    answer = await acme("POST", "/v1/posts", {**NEW, "repository": "acme/lighthouse", "contentType": "twitter_post"})

    post = answer.json()["post"]
    assert list(post) == FIELDS
    assert post["sourceMetadata"] == {
        "writer": "hand",
        "repositories": ["acme/lighthouse"],
        "text": "A lamp\n\nBrighter.",
        "summary": "Brighter",
        "labels": ["new", "fixed"],
    }
    assert (post["status"], post["content"]) == ("draft", "<h1>A lamp</h1>\n<p>Brighter.</p>\n")
    read = await acme("GET", f"/v1/posts/{post['id']}")
    assert read.json() == {"post": post}
    assert read.headers["ETag"] == answer.headers["ETag"]


async def test_a_faulty_post_is_refused_by_name(acme: Caller) -> None:
    for change, error in (
        ({"publishAt": "2020-01-01"}, "publishAt must be in the future: publish the post now, or choose a later time"),
        ({"labels": ["old"]}, "labels[0]: 'old' is not one of breaking, fixed, improved, new, security"),
    ):
        answer = await acme("POST", "/v1/posts", {**NEW, **change})
        assert (answer.status_code, answer.json()["error"]) == (400, f"Invalid request: {error}")
    assert (await acme("GET", "/v1/posts")).json()["posts"] == []


async def test_the_fields_of_editors_are_changed_and_removed(acme: Caller) -> None:
    at = iso_ms(acme.world.clock.now() + timedelta(hours=1))
    path = f"/v1/posts/{(await created(acme))['id']}"

    changed = (await acme("PATCH", path, {"publishAt": at, "summary": "Much brighter"})).json()["post"]
    assert changed["sourceMetadata"] == {
        "writer": "hand",
        "summary": "Much brighter",
        "labels": ["new", "fixed"],
        "publishAt": at,
    }
    without: dict[str, Any] = {"publishAt": None, "summary": None, "labels": []}
    assert (await acme("PATCH", path, without)).json()["post"]["sourceMetadata"] == {"writer": "hand"}
    assert (await acme("PATCH", path, {"title": None})).status_code == 400


async def test_versions_are_listed_compared_and_restored(acme: Caller) -> None:
    post = await created(acme)
    path = f"/v1/posts/{post['id']}/versions"
    await acme("PATCH", f"/v1/posts/{post['id']}", {"markdown": "# A lamp\n\nDarker."})

    versions = (await acme("GET", path)).json()["versions"]
    assert [(each["number"], each["author"]) for each in versions] == [(2, acme.record.prefix), (1, acme.record.prefix)]
    shown = (await acme("GET", f"{path}/2")).json()
    assert shown["version"]["markdown"] == "# A lamp\n\nDarker."
    assert shown["changes"] == [
        {"mark": "same", "text": "# A lamp"},
        {"mark": "same", "text": ""},
        {"mark": "removed", "text": "Brighter."},
        {"mark": "added", "text": "Darker."},
    ]
    stale = await acme("POST", f"{path}/1/restore", headers={"If-Match": '"stale"'})
    assert stale.status_code == 412
    restored = (await acme("POST", f"{path}/1/restore")).json()["post"]
    assert restored["markdown"] == post["markdown"]
    assert (await acme("GET", path)).json()["versions"][0]["number"] == 3
    assert (await acme("GET", f"{path}/9")).json() == {"error": "Version not found"}


async def test_several_posts_are_changed_by_id_and_by_filter(acme: Caller) -> None:
    ids = [(await created(acme, title=f"Lamp {number}"))["id"] for number in range(3)]

    done = (await acme("POST", "/v1/posts/bulk", {"action": "publish", "ids": [ids[0], "post_unknown"]})).json()
    assert done == {
        "action": "publish",
        "done": [ids[0]],
        "failed": [{"id": "post_unknown", "error": "Post not found"}],
        "remaining": 0,
    }
    body = {"action": "delete", "filter": {"status": "draft", "label": "new", "query": "lamp"}}
    done = (await acme("POST", "/v1/posts/bulk", body)).json()
    assert (sorted(done["done"]), done["failed"]) == (sorted(ids[1:]), [])
    assert [each["id"] for each in (await acme("GET", "/v1/posts")).json()["posts"]] == [ids[0]]
    faults: list[dict[str, Any]] = [
        {"action": "publish"},
        {"action": "publish", "ids": [], "filter": {}},
        {"action": "delete", "filter": {}},
        {"action": "delete", "filter": {"status": ",", "query": " ", "since": " ", "repository": " , "}},
        {"action": "delete", "filter": {"orderBy": "occurredAt"}},
        {"action": "burn", "ids": []},
        {"action": "publish", "ids": ["post_unknown"] * 501},
    ]
    for faulty in faults:
        assert (await acme("POST", "/v1/posts/bulk", faulty)).status_code == 400
    most = {"action": "publish", "ids": ["post_unknown"] * 500}
    assert (await acme("POST", "/v1/posts/bulk", most)).status_code == 200


async def test_posts_are_filtered_by_label_words_and_time(acme: Caller) -> None:
    lamp = await created(acme)
    await created(acme, title="A beam", markdown="Wide.", labels=[])

    for query in ("label=new", "query=brighter", "label=new,security&query=lamp&since=2020-01-01&status=draft"):
        found = (await acme("GET", f"/v1/posts?{query}")).json()
        assert [each["id"] for each in found["posts"]] == [lamp["id"]]
    assert (await acme("GET", "/v1/posts?until=2020-01-01")).json()["posts"] == []
    for query, fault in (("label=old", "label"), ("since=soon", "since"), ("query=%21", "query")):
        refused = await acme("GET", f"/v1/posts?{query}")
        assert refused.status_code == 400
        assert refused.json()["error"].startswith(f"Invalid {fault}: ")
