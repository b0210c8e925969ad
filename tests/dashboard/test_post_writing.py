"""Requesting a post, and following its job."""

import asyncio
from datetime import timedelta

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing
from tests.dashboard.contents import branded

POSTS = "/dashboard/posts"
WRITE = f"{POSTS}/write"


async def test_a_post_is_requested_and_followed_until_it_is_written(acme: Caller, browsing: Browsing) -> None:
    world = acme.world
    brand = await branded(acme)
    await acme.push("d-1", "feat: a lamp")
    world.clock.advance(timedelta(seconds=1))
    form = (await browsing.open(WRITE)).form(WRITE)
    assert form.fields["repository"] == ["codehost/acme/lighthouse"]

    page = await browsing.send(form, contentType="blog_post", brandIdentityId=brand.id)

    assert world.nudged == 1
    assert page.heading == "Blog post from commits"
    assert page.links["Reload"] == page.path
    poll = page.tree.one(id="now")
    assert poll["hx-trigger"] == "every 1s"
    # Without news, the page does not change.
    assert (await browsing.open(poll["hx-get"], headers={"HX-Request": "true"})).status == 204

    await world.perform()
    part = await browsing.open(poll["hx-get"], headers={"HX-Request": "true"})
    assert "hx-get" not in part.tree.one(id="now").attributes
    (post,) = await world.stores.posts.posts(acme.organization.id)
    assert part.links["Read the post"] == f"{POSTS}/{post.id}"
    assert post.content_type.value == "blog_post"
    assert "was created" in (await browsing.open(page.path)).text


@pytest.mark.parametrize("path", [WRITE, f"{POSTS}/new", "/dashboard/brands"])
async def test_a_form_that_is_sent_twice_creates_one_object(acme: Caller, browsing: Browsing, path: str) -> None:
    form = (await browsing.open(path)).form(path)
    typed = {"title": "A lens", "markdown": "It turns.", "websiteUrl": "https://acme.example/"}

    first, second = await asyncio.gather(*(browsing.send(form, **typed) for _ in range(2)))
    acme.world.clock.advance(timedelta(seconds=3))
    reloaded = await browsing.send(form, **typed)

    assert (first.path, first.status) == (second.path, second.status) == (first.path, 200)
    assert "This form was sent before" in reloaded.text
    posts = await acme.world.stores.posts.posts(acme.organization.id)
    assert len(posts) + len(await acme.world.stores.ledger.runs(acme.organization.id)) == 1


async def test_a_request_without_a_post_shows_the_reason(acme: Caller, browsing: Browsing) -> None:
    answer = await browsing.send((await browsing.open(WRITE)).form(WRITE))
    await acme.world.perform()

    page = await browsing.open(answer.path)

    assert "Nothing was made: nothing to report" in page.text
    assert page.links["Write another post"] == WRITE


async def test_some_of_the_repositories_are_chosen(acme: Caller, browsing: Browsing) -> None:
    connected = await acme.world.operator.connect(
        acme.organization, full_name="acme/keeper", repository_id=77, provider="github", branch=None
    )
    form = (await browsing.open(WRITE)).form(WRITE)
    assert form.fields["repository"] == ["codehost/acme/lighthouse", "github/acme/keeper"], connected

    all_of_them = await browsing.send(form)
    one = await browsing.send(form, repository="github/acme/keeper", commits=[])

    assert "acme/lighthouse, acme/keeper" in all_of_them.text
    assert "acme/keeper" in one.text
    assert "acme/lighthouse" not in one.text


async def test_faults_of_a_request_are_named_and_nothing_is_started(acme: Caller, browsing: Browsing) -> None:
    form = (await browsing.open(WRITE)).form(WRITE)

    page = await browsing.send(form, repository=[], commits=[], releases=[], lookbackWindow="yesterday")

    assert page.status == 422
    assert [fault["id"] for fault in page.tree.all("p", class_="fault")] == ["repository-fault", "material-fault"]
    again = page.form(WRITE).fields
    assert (again["lookbackWindow"], "repository" in again, "commits" in again) == (["yesterday"], False, False)

    unknown = await browsing.send(form, repository="codehost/acme/gone")
    assert (unknown.status, "acme/gone" in unknown.tree.one(role="alert").text) == (422, True)
    foreign = await browsing.send(form, brandIdentityId="brand_0")
    assert (foreign.status, "brand_0" in foreign.tree.one(role="alert").text) == (422, True)
    odd = await browsing.send(form, contentType="ode", lookbackWindow="ever")
    assert [fault["id"] for fault in odd.tree.all("p", class_="fault")] == ["contentType-fault", "lookbackWindow-fault"]
    assert acme.world.nudged == 0
