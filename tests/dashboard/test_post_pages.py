"""The pages of posts: list, source, publishing and deleting."""

from datetime import timedelta

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing
from tests.dashboard.contents import branded, posted, stored

EVIL = "<script>alert(1)</script>"
POSTS = "/dashboard/posts"


async def listed(browsing: Browsing, query: str) -> list[str]:
    """Return the ids of the posts in the list."""
    page = await browsing.open(f"{POSTS}?{query}")
    assert page.status == 200
    return [link["href"].rpartition("/")[2] for row in page.tree.all("tr")[1:] for link in row.all("a")]


async def test_posts_are_listed_and_filtered(acme: Caller, browsing: Browsing) -> None:
    brand = await branded(acme)
    changelog = await posted(acme, "feat: a lamp")
    tweet = await posted(acme, "fix: the lens", content_type="twitter_post")
    await acme("PATCH", f"/v1/posts/{tweet.id}", {"status": "published"})

    assert await listed(browsing, "") == [tweet.id, changelog.id]
    assert await listed(browsing, "status=published&contentType=&brandIdentityId=") == [tweet.id]
    assert await listed(browsing, "status=draft") == [changelog.id]
    assert await listed(browsing, "contentType=changelog") == [changelog.id]
    assert await listed(browsing, f"brandIdentityId={brand.id}") == [tweet.id, changelog.id]

    page = await browsing.open(f"{POSTS}?contentType=blog_post")
    assert "No post matches" in page.text
    assert page.form(POSTS).fields["contentType"] == ["blog_post"]
    # Without scripts, a button filters.
    page = await browsing.send(page.form(POSTS), contentType="twitter_post")
    assert tweet.title in page.links


async def test_posts_are_sorted_by_when_they_were_written_or_happened(acme: Caller, browsing: Browsing) -> None:
    await acme("POST", "/v1/event-triggers", {"targets": {"repositoryIds": [acme.repository_id]}})
    for tag, day in (("v2", "2025-12-02"), ("v1", "2025-06-07")):
        await acme.release(f"d-{tag}", tag, published_at=f"{day}T00:00:00Z")
        await acme.world.perform()
        acme.world.clock.advance(timedelta(hours=1))
    second, first = await acme.world.stores.posts.posts(acme.organization.id)

    assert await listed(browsing, "") == await listed(browsing, "orderBy=createdAt") == [second.id, first.id]
    assert await listed(browsing, "orderBy=occurredAt") == [first.id, second.id]
    page = await browsing.open(f"{POSTS}?orderBy=occurredAt")
    assert page.form(POSTS).fields["orderBy"] == ["occurredAt"]
    assert "7 Jun 2025, 00:00" in (await browsing.open(f"{POSTS}/{second.id}")).text


@pytest.mark.parametrize("query", ["status=gone", "orderBy=title", "contentType=ode", "brandIdentityId=brand_0"])
async def test_a_filter_that_cannot_be_is_named(browsing: Browsing, query: str) -> None:
    page = await browsing.open(f"{POSTS}?{query}")

    assert page.status == 400
    assert query.partition("=")[2] in page.tree.one(role="alert").text


async def test_the_list_comes_in_pages_and_one_beyond_the_last_is_the_last(acme: Caller, browsing: Browsing) -> None:
    for number in range(21):
        await posted(acme, f"feat: lamp {number}", content_type="twitter_post")

    first = await browsing.open(f"{POSTS}?contentType=twitter_post")
    second = await browsing.open(first.links["Older posts"])

    assert ("Page 1 of 2" in first.text, len(first.rows)) == (True, 1 + 20)
    assert ("Page 2 of 2" in second.text, len(second.rows)) == (True, 1 + 1)
    assert (await browsing.open(second.links["Newer posts"])).rows == first.rows
    assert (await browsing.open(f"{POSTS}?contentType=twitter_post&page=9")).rows == second.rows


async def test_a_post_is_shown_with_where_it_came_from(acme: Caller, browsing: Browsing) -> None:
    brand = await branded(acme)
    post = await posted(acme, f"feat: {EVIL} **lamp**")
    (run,) = await acme.world.stores.ledger.runs(acme.organization.id)

    page = await browsing.open(f"{POSTS}/{post.id}")

    assert page.heading == post.title
    root = page.tree
    assert root.all("dl")[0].all("a")[0]["href"] == f"/dashboard/runs/{run.id}"
    assert "acme/lighthouse" in root.all("dl")[0].text
    assert page.links[brand.name] == f"/dashboard/brands/{brand.id}"
    assert page.links["a request"].startswith(f"{POSTS}/jobs/job_")
    assert root.one("textarea", id="as-markdown").raw == post.markdown
    assert root.one("textarea", id="as-html").raw == post.content
    buttons = root.all("button", class_="copy")
    copies = {button.text.strip() or button["aria-label"]: button["data-copy"] for button in buttons}
    assert copies == {
        "Copy as Markdown": post.markdown,
        "Copy as HTML": post.content,
        "Copy as plain text": root.one("textarea", id="as-text").raw,
        "Copy the post id": post.id,
        "Copy the run id": run.id,
    }
    # The service's scripts are files, so no script in a post runs.
    assert all(script["src"] for script in root.all("script"))
    assert EVIL not in page.response.text


async def test_a_post_may_name_deleted_objects(acme: Caller, browsing: Browsing) -> None:
    await branded(acme)
    brand = await branded(acme, "Keeper")
    post = await posted(acme, brandIdentityId=brand.id)
    await acme.world.stores.brands.remove(acme.organization.id, brand.id)

    page = await browsing.open(f"{POSTS}/{post.id}")

    assert "a deleted brand identity" in page.text


async def test_a_post_is_published_taken_back_and_deleted(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme)
    path = f"{POSTS}/{post.id}"

    page = await browsing.send((await browsing.open(path)).form(f"{path}/publish"))
    assert (page.path, page.tree.one(role="status").text) == (path, "Published.")
    assert (await stored(acme, post)).status.value == "published"

    page = await browsing.send(page.form(f"{path}/unpublish"))
    assert (page.path, page.tree.one(role="status").text) == (path, "Back to draft.")
    assert (await stored(acme, post)).status.value == "draft"

    assert "no run writes it again for the same release" in page.text
    assert "cannot be undone" in page.tree.one("form", action=f"{path}/delete")["data-confirm"]
    page = await browsing.send(page.form(f"{path}/delete"))
    assert (page.path, page.tree.one(role="status").text) == (POSTS, "Deleted.")
    assert await acme.world.stores.posts.post(acme.organization.id, post.id) is None
    assert (await browsing.open(path)).status == 404


@pytest.mark.parametrize("action", ["publish", "delete"])
async def test_an_action_on_a_changed_post_shows_the_change_first(
    acme: Caller, browsing: Browsing, action: str
) -> None:
    post = await posted(acme)
    path = f"{POSTS}/{post.id}"
    page = await browsing.open(path)
    await acme("PATCH", f"/v1/posts/{post.id}", {"title": "Another title"})

    refused = await browsing.send(page.form(f"{path}/{action}"))

    assert (refused.status, refused.heading) == (409, "Another title")
    assert "This post was changed" in refused.tree.one(role="alert").text
    assert (await stored(acme, post)).status.value == "draft"
    assert (await browsing.send(refused.form(f"{path}/{action}"))).status == 200
