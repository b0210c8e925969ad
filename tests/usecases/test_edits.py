"""Changing posts and brand identities, and what others do to them meanwhile."""

from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from tests.refusals import message_of
from tests.usecases.conftest import World
from tests.usecases.test_perform import perform_all, pushed
from tests.usecases.test_trigger_changes import Between, a_brand

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core import PostStatus, StoreUnavailable
from contentsvc_core.content.brand_changes import UNKNOWN_BRAND
from contentsvc_core.content.editing import POST_CHANGED, UNKNOWN_POST, PostChange
from contentsvc_core.content.posts import Post
from contentsvc_core.content.site_addresses import read_site_hosts
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.brands import BrandEditor
from contentsvc_core.usecases.edit import PostEditor


@pytest.fixture
async def post(world: World) -> Post:
    await pushed(world, "d-1", "feat: a lamp")
    await perform_all(world)
    (post,) = await world.stores.posts.posts(world.organization.id)
    world.clock.advance(timedelta(hours=1))
    return post


def editor(world: World, posts: Any = None) -> PostEditor:
    return PostEditor(posts or world.stores.posts, SafeMarkdown(), world.clock)


async def test_a_change_renders_the_text_anew_and_leaves_the_rest(world: World, post: Post) -> None:
    owner = world.organization.id
    titled = await editor(world).change(owner, post.id, PostChange(title="Lamps"))
    assert titled == evolve(post, title="Lamps", updated_at=world.clock.now())
    assert await world.stores.posts.post(owner, post.id) == titled

    change = PostChange(markdown="*Lamps*", status=PostStatus.DRAFT)
    written = await editor(world).change(owner, post.id, change)
    assert isinstance(written, Post)
    assert (written.markdown, written.content, written.title) == ("*Lamps*", "<p><em>Lamps</em></p>\n", "Lamps")
    assert written.status is PostStatus.DRAFT


async def test_a_text_whose_html_is_too_long_is_refused(world: World, post: Post) -> None:
    owner = world.organization.id
    edit = PostEditor(world.stores.posts, SafeMarkdown(limit=100), world.clock)

    refused = await edit.change(owner, post.id, PostChange(markdown=f"{'>' * 20} x"))

    assert isinstance(refused, Refusal)
    assert "becomes more than 2,097,152 characters of HTML" in refused.message()
    assert await world.stores.posts.post(owner, post.id) == post


async def test_a_post_that_is_not_there_or_not_the_one_that_was_seen_stays(world: World, post: Post) -> None:
    owner, edit = world.organization.id, editor(world)
    for unknown in ("post_unknown", "no id"):
        assert await edit.change(owner, unknown, PostChange(title="x")) is UNKNOWN_POST
        assert await edit.remove(owner, unknown) is UNKNOWN_POST
    assert await edit.change(owner, post.id, PostChange(title="x"), if_=lambda _: False) is POST_CHANGED
    assert await edit.remove(owner, post.id, if_=lambda _: False) is POST_CHANGED
    assert await world.stores.posts.post(owner, post.id) == post
    assert await edit.remove(owner, post.id) is None
    assert await world.stores.posts.post(owner, post.id) is None


@pytest.mark.parametrize(("times", "done"), [(1, True), (15, True), (16, False)])
async def test_who_changes_a_post_that_others_change_comes_after_them_unless_they_do_not_end(
    world: World, post: Post, times: int, *, done: bool
) -> None:
    owner = world.organization.id

    async def beside() -> None:
        await editor(world).change(owner, post.id, PostChange(title="theirs"))

    changing = Between(world.stores.posts, "change", beside, times=times)
    removing = Between(world.stores.posts, "remove", beside, times=times)
    if done:
        ours = await editor(world, changing).change(owner, post.id, PostChange(status=PostStatus.DRAFT))
        assert isinstance(ours, Post)
        assert (ours.title, ours.status) == ("theirs", PostStatus.DRAFT)
        assert await editor(world, removing).remove(owner, post.id) is None
    else:
        with pytest.raises(StoreUnavailable, match="the post is changed faster than it can be read"):
            await editor(world, changing).change(owner, post.id, PostChange(status=PostStatus.DRAFT))
        with pytest.raises(StoreUnavailable, match="the post is changed faster than it can be read"):
            await editor(world, removing).remove(owner, post.id)
    assert (changing.left, removing.left) == (0, 0)


async def test_an_identity_is_changed_field_by_field(world: World) -> None:
    brand = await a_brand(world, "Acme")
    owner, edit = world.organization.id, BrandEditor(world.stores.brands, world.clock)

    changed = await edit.change(owner, brand.id, {"audience": "keepers"})

    assert changed == evolve(brand, is_default=True, audience="keepers", updated_at=world.clock.now())
    assert await world.stores.brands.identity(owner, brand.id) == changed
    for unknown in ("brand_unknown", "no id"):
        assert await edit.change(owner, unknown, {"audience": "x"}) is UNKNOWN_BRAND
    assert message_of(await edit.change(owner, brand.id, {"name": ""})) == "name must be 1 to 120 characters long"


async def test_a_site_that_an_operator_has_opened_may_be_named(world: World) -> None:
    brand = await a_brand(world, "Acme")
    owner, address = world.organization.id, {"website_url": "http://wiki.internal:8080/"}
    opened = read_site_hosts("wiki.internal:8080")

    assert isinstance(await BrandEditor(world.stores.brands, world.clock).change(owner, brand.id, address), Refusal)
    allowing = BrandEditor(world.stores.brands, world.clock, opened=opened)
    changed = await allowing.change(owner, brand.id, address)
    assert changed == evolve(brand, is_default=True, **address, updated_at=world.clock.now())
