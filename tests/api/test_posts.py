"""``/v1/posts`` over HTTP: reading, changing and deleting a post, and the list's filters."""

from datetime import timedelta
from typing import Any

import pytest
from tests.api.world import ApiWorld, Caller
from tests.builders import a_brand

LIST = "/v1/posts"


@pytest.fixture
async def post(world: ApiWorld, acme: Caller) -> dict[str, Any]:
    """Return a post of a push."""
    await acme("POST", "/v1/event-triggers", {"targets": {"repositoryIds": [acme.repository_id]}})
    await acme.push("d-1", "feat: a lamp")
    await world.perform()
    (created,) = (await acme("GET", LIST)).json()["posts"]
    return created


async def test_a_post_is_read_with_a_strong_tag(world: ApiWorld, acme: Caller, post: dict[str, Any]) -> None:
    path = f"{LIST}/{post['id']}"
    read = await acme("GET", path)

    assert (read.status_code, read.json()) == (200, {"post": post})
    tag = read.headers["ETag"]
    assert tag.startswith('"')
    # Nothing has changed, and the tag stays.
    world.clock.advance(timedelta(days=1))
    assert (await acme("GET", path)).headers["ETag"] == tag
    for known in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        unchanged = await acme("GET", path, headers={"If-None-Match": known})
        assert (unchanged.status_code, unchanged.content, unchanged.headers["ETag"]) == (304, b"", tag)
    assert (await acme("GET", path, headers={"If-None-Match": '"x"'})).status_code == 200
    assert (await acme("GET", path, headers={"If-Match": '"x"'})).status_code == 412


async def test_a_changed_post_is_rendered_again_with_a_new_tag(acme: Caller, post: dict[str, Any]) -> None:
    path = f"{LIST}/{post['id']}"
    before = (await acme("GET", path)).headers["ETag"]
    markdown = "# Lamps\n\n<script>alert(1)</script> [x](javascript:alert(1)) ![y](https://example.org/y.png)"

    changed = await acme("PATCH", path, {"title": "Lamps", "markdown": markdown, "status": "published"})

    body = changed.json()["post"]
    assert changed.status_code == 200
    assert (body["title"], body["markdown"], body["status"]) == ("Lamps", markdown, "published")
    assert "<h1>Lamps</h1>" in body["content"]
    assert "<script" not in body["content"]
    assert "javascript:" not in body["content"].replace("[x](javascript:alert(1))", "")
    kept = ("id", "contentType", "sourceMetadata", "createdAt")
    assert {name: body[name] for name in kept} == {name: post[name] for name in kept}
    # The clock has not moved, but the versions differ.
    assert body["updatedAt"] > post["updatedAt"]
    assert changed.headers["ETag"] not in {before, ""}
    read = await acme("GET", path)
    assert (read.json(), read.headers["ETag"]) == (changed.json(), changed.headers["ETag"])
    # A single field leaves the others unchanged.
    drafted = (await acme("PATCH", path, {"status": "draft"})).json()["post"]
    assert drafted == {**body, "status": "draft", "updatedAt": drafted["updatedAt"]}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"title": "x" * 121}, "Invalid request: title must have at most 120 characters"),
        ({"title": "x", "content": "<p>"}, "Invalid request: content is an unknown field"),
        (["title"], "Invalid request: the body must be a JSON object"),
    ],
)
async def test_a_faulty_change_is_refused_by_name_and_changes_nothing(
    acme: Caller, post: dict[str, Any], body: Any, error: str
) -> None:
    refused = await acme("PATCH", f"{LIST}/{post['id']}", body)

    assert (refused.status_code, refused.json()) == (400, {"error": error})
    assert (await acme("GET", f"{LIST}/{post['id']}")).json() == {"post": post}


async def test_the_largest_post_fits_however_it_is_escaped(acme: Caller, post: dict[str, Any]) -> None:
    # Two escapes of six bytes for each character.
    markdown = "\U0001f6a8" * 100_000
    content = ('{"title": "' + "x" * 120 + '", "markdown": "' + "\\ud83d\\udea8" * 100_000 + '"}').encode()

    changed = await acme("PATCH", f"{LIST}/{post['id']}", content=content)

    assert changed.status_code == 200
    assert changed.json()["post"]["markdown"] == markdown
    longer = await acme("PATCH", f"{LIST}/{post['id']}", {"markdown": "x" * 100_001})
    assert longer.status_code == 400
    assert longer.json() == {"error": "Invalid request: markdown must have at most 100000 characters"}
    beyond = await acme("PATCH", f"{LIST}/{post['id']}", content=content + b" " * 1_000_000)
    assert (beyond.status_code, beyond.json()) == (413, {"error": "Request body exceeds 1.2 MiB"})
    several = await acme("POST", f"{LIST}/bulk", content=content)
    assert (several.status_code, several.json()) == (413, {"error": "Request body exceeds 1 MiB"})


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_only_the_version_that_was_seen_is_changed(acme: Caller, post: dict[str, Any], method: str) -> None:
    path = f"{LIST}/{post['id']}"
    version = (await acme("GET", path)).headers["ETag"]
    now = (await acme("PATCH", path, {"title": "Another"})).headers["ETag"]
    body = {"title": "Mine"} if method == "PATCH" else None

    for stale in (version, f"W/{now}", '""', f'{version}, "x,y"'):
        refused = await acme(method, path, body, headers={"If-Match": stale})
        assert (refused.status_code, set(refused.json())) == (412, {"error"}), stale
    for malformed in ("", "x", f"{now} x", f"*, {now}", now[:-1], "W/*", ","):
        refused = await acme(method, path, body, headers={"If-Match": malformed})
        assert (refused.status_code, refused.json()["error"][:25]) == (400, "Malformed If-Match header"), malformed
    assert (await acme("GET", path)).headers["ETag"] == now
    unknown = await acme(method, f"{LIST}/post_unknown", body, headers={"If-Match": "*"})
    assert (unknown.status_code, unknown.json()) == (404, {"error": "Post not found"})

    for known in (now, f"W/{now}", "*"):
        refused = await acme(method, path, body, headers={"If-None-Match": known})
        assert refused.status_code == 412
        assert refused.json()["error"].startswith("The post has the version in If-None-Match: ")

    done = await acme(method, path, body, headers={"If-Match": f', "x" ,{now}', "If-None-Match": version})
    assert done.status_code == 200
    if method == "DELETE":
        assert done.json() == {"id": post["id"]}
        assert (await acme("GET", path)).status_code == 404
    else:
        assert (await acme(method, path, body, headers={"If-Match": "*"})).status_code == 200


async def test_posts_are_filtered_by_brand_identity(world: ApiWorld, acme: Caller) -> None:
    brands = [a_brand(id=f"brand_{name}", organization_id=acme.organization.id, name=name) for name in ("a", "b")]
    for number, brand in enumerate(brands):
        await world.stores.brands.add(brand)
        body = {"targets": {"repositoryIds": [1]}, "outputConfig": {"brandIdentityId": brand.id}}
        await acme("POST", "/v1/event-triggers", {**body, "autoPublish": number == 0})
    await acme.push("d-1", "feat: a lamp")
    await world.perform()

    async def found(**parameters: str) -> list[str]:
        posts = (await acme("GET", LIST, params=parameters)).json()["posts"]
        return [post["sourceMetadata"]["brandIdentityId"] for post in posts]

    assert sorted(await found()) == ["brand_a", "brand_b"]
    assert await found(brandIdentityId="brand_b") == ["brand_b"]
    for unknown in ("brand_c", "brand_a,brand_c"):
        refused = await acme("GET", LIST, params={"brandIdentityId": unknown})
        error = "Invalid brandIdentityId: 'brand_c' is unknown"
        assert (refused.status_code, refused.json()) == (400, {"error": error})
    other = await world.caller("Other")
    assert (await other("GET", LIST, params={"brandIdentityId": "brand_a"})).status_code == 400
