"""Writing posts by hand, scheduling, versions, and actions on several posts."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing
from tests.dashboard.contents import posted, stored

from contentsvc_core.content.versions import DiffLineBody, differences
from contentsvc_core.timestamps import iso_ms
from contentsvc_http.dashboard.post_versions import MAX_LINES

POSTS = "/dashboard/posts"


async def test_a_post_is_written_by_hand_and_waits_as_a_draft(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open((await browsing.open(POSTS)).links["New post"])
    form = page.form(f"{POSTS}/new")

    refused = await browsing.send(form, title="", markdown="Brighter.", summary="x" * 201, label="new")
    assert refused.status == 422
    assert refused.form(f"{POSTS}/new").fields["markdown"] == ["Brighter."]
    assert refused.form(f"{POSTS}/new").fields["label"] == ["new"]
    page = await browsing.send(form, title="A lamp", markdown="Brighter.", summary="Light", label="new")

    assert page.tree.one(role="status").text == "Created."
    (post,) = await acme.world.stores.posts.posts(acme.organization.id)
    assert (post.title, post.summary, [label.value for label in post.labels]) == ("A lamp", "Light", ["new"])
    assert "no run writes it again" not in (await browsing.open(f"{POSTS}/{post.id}")).text
    # From "there is a draft" to published in three clicks.
    page = await browsing.open((await browsing.open("/dashboard")).links["1 draft waits for you"])
    page = await browsing.open(page.links["A lamp"])
    page = await browsing.send(page.form(f"{POSTS}/{post.id}/publish"))
    assert "Published." in page.text
    assert "1 draft waits for you" not in page.links


async def test_a_draft_is_scheduled_in_its_form_and_the_schedule_is_cancelled(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme)
    path = f"{POSTS}/{post.id}/edit"
    form = (await browsing.open(path)).form(path)
    page = await browsing.send(form, publishAt="2020-01-01T09:00")
    assert page.status == 422
    assert page.tree.one(id="publishAt-fault").text.startswith("The time must be in the future")

    at = acme.world.clock.now() + timedelta(days=1)
    page = await browsing.send(form, publishAt=at.strftime("%Y-%m-%dT%H:%M"))

    assert "Goes public on" in page.text
    assert "scheduled" in (await browsing.open(POSTS)).text
    assert not any("wait" in link for link in page.links)
    page = await browsing.send(page.form(f"{POSTS}/{post.id}/unpublish"))
    assert (await stored(acme, post)).publish_at is None


async def test_an_unchanged_time_of_a_draft_is_kept_exactly(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme)
    organization = "/dashboard/organization"
    await browsing.send((await browsing.open(organization)).form(organization), time_zone="Europe/Berlin")
    # The clocks show 02:30 twice in this night. This is the second time, and the form has no seconds.
    at = datetime(2027, 10, 31, 1, 30, 15, tzinfo=UTC)
    await acme("PATCH", f"/v1/posts/{post.id}", json={"publishAt": iso_ms(at)})
    path = f"{POSTS}/{post.id}/edit"
    form = (await browsing.open(path)).form(path)
    assert form.fields["publishAt"] == ["2027-10-31T02:30"]

    await browsing.send(form, title="Another title")

    changed = await stored(acme, post)
    assert (changed.title, changed.publish_at) == ("Another title", at)


async def test_versions_are_compared_and_restored(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme)
    path = f"{POSTS}/{post.id}/edit"
    await browsing.send((await browsing.open(path)).form(path), title="New", summary="Short", markdown="Other \u202e")

    page = await browsing.open((await browsing.open(f"{POSTS}/{post.id}")).links["Versions"])
    root = page.tree
    # An editor sees each hidden character.
    assert "+ Other \\u202e" in root.one("pre").text
    # The words of a title and of a summary have their own direction.
    changed = [tag for tag, attributes in page.elements if attributes.get("dir") == "auto" and tag in {"del", "ins"}]
    assert changed == ["del", "ins"] * 2
    assert "Title" in page.text
    page = await browsing.open(page.links["Version 1"])
    page = await browsing.send(page.form(f"{POSTS}/{post.id}/versions"))

    assert page.tree.one(role="status").text.startswith("Restored")
    restored = await stored(acme, post)
    assert (restored.title, restored.markdown) == (post.title, post.markdown)
    # The form of an older page is refused.
    old = await browsing.open(f"{POSTS}/{post.id}/versions?number=2")
    await acme("PATCH", f"/v1/posts/{post.id}", {"title": "Newer"})
    assert (await browsing.send(old.form(f"{POSTS}/{post.id}/versions"))).status == 409
    assert (await browsing.open(f"{POSTS}/post_unknown/versions")).status == 404


async def test_a_long_difference_is_cut(acme: Caller, browsing: Browsing) -> None:
    created = await acme("POST", "/v1/posts", {"title": "Lamps", "markdown": "a\n" * 5000})
    post_id = created.json()["post"]["id"]
    assert (await acme("PATCH", f"/v1/posts/{post_id}", {"markdown": "b\n" * 5000})).status_code == 200

    page = await browsing.open(f"{POSTS}/{post_id}/versions")

    marks = [tag for tag, _ in page.elements if tag in {"ins", "del"}]
    assert len(marks) == MAX_LINES
    assert "8,001 more lines of the difference are not shown." in page.text
    version = (await acme("GET", f"/v1/posts/{post_id}/versions/2")).json()
    assert len(version["changes"]) == 10_001


async def test_versions_are_compared_off_the_event_loop(
    acme: Caller, browsing: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    post_id = (await acme("POST", "/v1/posts", {"title": "Lamps", "markdown": "a"})).json()["post"]["id"]
    assert (await acme("PATCH", f"/v1/posts/{post_id}", {"markdown": "b"})).status_code == 200
    on_the_loop: list[bool] = []

    def compare(before: str, after: str) -> Sequence[DiffLineBody]:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            on_the_loop.append(False)
        else:
            on_the_loop.append(True)
        return differences(before, after)

    for module in ("dashboard", "v1"):
        monkeypatch.setattr(f"contentsvc_http.{module}.post_versions.differences", compare)
    assert (await browsing.open(f"{POSTS}/{post_id}/versions")).status == 200
    assert (await acme("GET", f"/v1/posts/{post_id}/versions/2")).status_code == 200

    assert on_the_loop == [False, False]


async def test_several_posts_are_published_and_deleted_after_a_question(acme: Caller, browsing: Browsing) -> None:
    first, second = await posted(acme, "feat: a lamp"), await posted(acme, "feat: a beam")
    bulk = f"{POSTS}/bulk"
    page = await browsing.open(POSTS)

    assert (await browsing.send(page.form(bulk), action="publish")).status == 422
    page = await browsing.send(page.form(bulk), post=[first.id, second.id], action="publish")
    assert "The posts are published." in page.text
    question = await browsing.send(page.form(bulk), post=[first.id, second.id], action="delete")
    assert question.heading == "Delete 2 posts?"
    assert (await stored(acme, first)).status.value == "published"
    await acme("DELETE", f"/v1/posts/{second.id}")
    page = await browsing.send(question.form(bulk), action="delete")

    assert page.heading == "1 post deleted"
    assert second.id in page.text
    assert "Post not found." in page.text
    assert await acme.world.stores.posts.posts(acme.organization.id) == []


async def test_all_posts_of_a_filter_are_unpublished(acme: Caller, browsing: Browsing) -> None:
    bulk = f"{POSTS}/bulk"
    for number in range(21):
        body = {"title": f"Lamp {number}", "markdown": "Bright.", "status": "published", "labels": ["new"]}
        assert (await acme("POST", "/v1/posts", body)).status_code == 201

    page = await browsing.open(f"{POSTS}?label=new&query=lamp")
    question = await browsing.send(page.form(bulk), all="yes", action="unpublish")
    assert question.heading == "Unpublish 21 posts?"
    # The question is about the posts that it names.
    late = {"title": "Lamp 22", "markdown": "Late.", "status": "published", "labels": ["new"]}
    newest = (await acme("POST", "/v1/posts", late)).json()["post"]["id"]
    page = await browsing.send(question.form(bulk), action="unpublish")

    assert "The posts are drafts again." in page.text
    posts = await acme.world.stores.posts.posts(acme.organization.id)
    assert [post.id for post in posts if post.status.value == "published"] == [newest]
    assert "21 drafts wait for you" in page.links

    question = await browsing.send(page.form(bulk), all="yes", action="publish")
    assert (question.heading, "Readers see the posts at once" in question.text) == ("Publish 22 posts?", True)
    assert "The posts are published." in (await browsing.send(question.form(bulk), action="publish")).text


async def test_a_post_for_a_network_is_shown_as_the_network_does(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme, "fix: the lens", content_type="twitter_post")
    page = await browsing.open(f"{POSTS}/{post.id}")
    assert "of 280 characters" in page.text
    assert "Publishing does not send this post to X." in page.text

    path = f"{POSTS}/{post.id}/edit"
    long = (await browsing.open(path)).form(path)
    page = await browsing.send(long, markdown="a" * 270 + " https://example.org/" + "b" * 90)
    assert "294 of 280 characters: X refuses it" in page.text
