"""Changing posts and brand identities, with concurrent changes."""

from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
from attrs import evolve
from msgspec import structs
from tests.builders import a_brand as a_brand_value
from tests.refusals import accepted, existing, message_of
from tests.usecases.conftest import Between, World, a_brand
from tests.usecases.test_perform import perform_all, pushed

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core import PostStatus, StoreUnavailable
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import (
    BRAND_NAME_TAKEN,
    LEAVES_NO_DEFAULT_BRAND,
    UNKNOWN_BRAND,
    ChangeBrand,
    CreateBrand,
)
from contentsvc_core.content.editing import POST_CHANGED, UNKNOWN_POST, UNKNOWN_VERSION, ChangePost, CreatePost
from contentsvc_core.content.posts import Label, Post
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.content.site_addresses import read_site_hosts
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.brands import BrandEditor
from contentsvc_core.usecases.edit import BulkAction, PostEditor, Publisher


@pytest.fixture
async def post(world: World) -> Post:
    await pushed(world, "d-1", "feat: a lamp")
    await perform_all(world)
    (post,) = await world.stores.posts.posts(world.organization.id)
    world.clock.advance(timedelta(hours=1))
    return post


def editor(world: World, posts: Any = None) -> PostEditor:
    return PostEditor(posts or world.stores.posts, SafeMarkdown(), world.clock, world.ids)


async def test_a_text_whose_html_is_too_long_is_refused(world: World, post: Post) -> None:
    owner = world.organization.id
    edit = PostEditor(world.stores.posts, SafeMarkdown(limit=100), world.clock, world.ids)

    for refused in (
        await edit.change(owner, post.id, ChangePost(markdown=f"{'>' * 20} x")),
        await edit.create(owner, CreatePost(title="Deep", markdown=f"{'>' * 20} x")),
    ):
        assert isinstance(refused, Refusal)
        assert "becomes more than 2,097,152 characters of HTML" in refused.message()
    assert await world.stores.posts.posts(owner) == [post]


async def test_an_unknown_or_changed_post_is_not_changed(world: World, post: Post) -> None:
    owner, edit = world.organization.id, editor(world)
    for unknown in ("post_unknown", "no id"):
        assert await edit.change(owner, unknown, ChangePost(title="x")) is UNKNOWN_POST
        assert await edit.remove(owner, unknown) is UNKNOWN_POST
    assert await edit.change(owner, post.id, ChangePost(title="x"), if_=lambda _: False) is POST_CHANGED
    assert await edit.remove(owner, post.id, if_=lambda _: False) is POST_CHANGED
    assert await world.stores.posts.post(owner, post.id) == post
    assert await edit.remove(owner, post.id) is None
    assert await world.stores.posts.post(owner, post.id) is None


@pytest.mark.parametrize(("times", "done"), [(1, True), (15, True), (16, False)])
async def test_a_change_is_retried_after_concurrent_changes_a_bounded_number_of_times(
    world: World, post: Post, times: int, *, done: bool
) -> None:
    owner = world.organization.id

    async def beside() -> None:
        await editor(world).change(owner, post.id, ChangePost(title="theirs"))

    changing = Between(world.stores.posts, "change", beside, times=times)
    removing = Between(world.stores.posts, "remove", beside, times=times)
    if done:
        own_value = accepted(await editor(world, changing).change(owner, post.id, ChangePost(status=PostStatus.DRAFT)))
        assert (own_value.title, own_value.status) == ("theirs", PostStatus.DRAFT)
        assert await editor(world, removing).remove(owner, post.id) is None
    else:
        with pytest.raises(StoreUnavailable, match=r"^the post is changed faster than it can be read$"):
            await editor(world, changing).change(owner, post.id, ChangePost(status=PostStatus.DRAFT))
        with pytest.raises(StoreUnavailable, match=r"^the post is changed faster than it can be read$"):
            await editor(world, removing).remove(owner, post.id)
    assert (changing.left, removing.left) == (0, 0)


WANTED: Final = CreatePost(title="Lamps", markdown="*Lamps*", summary="Brighter", labels=(Label.NEW,))


async def test_a_post_is_created_by_hand(world: World) -> None:
    owner, now = world.organization.id, world.clock.now()

    created = accepted(await editor(world).create(owner, WANTED, author="csk_1"))

    assert created.id.startswith("post_")
    assert await world.stores.posts.post(owner, created.id) == created
    assert (created.content, created.status, created.occurred_at) == ("<p><em>Lamps</em></p>\n", PostStatus.DRAFT, now)
    assert (created.is_by_hand, created.summary, created.labels) == (True, "Brighter", (Label.NEW,))
    (version,) = await world.stores.posts.versions(owner, created.id)
    assert (version.text, version.author) == (created.text, "csk_1")
    refused = await editor(world).create(owner, CreatePost(title=" ", markdown="x"))
    assert message_of(refused) == "title must not be blank"
    assert await world.stores.posts.posts(owner) == [created]


async def test_a_scheduled_draft_is_published_once_when_its_time_comes(world: World) -> None:
    owner, stores = world.organization.id, world.stores
    at = world.clock.now() + timedelta(minutes=5)
    created = accepted(await editor(world).create(owner, structs.replace(WANTED, publish_at=iso_ms(at))))
    cancelled = accepted(await editor(world).create(owner, structs.replace(WANTED, publish_at=iso_ms(at))))
    await editor(world).change(owner, cancelled.id, ChangePost(publish_at=None))
    publishers = [Publisher(stores.posts, world.clock, on_fault=_fail) for _ in range(3)]

    assert await publishers[0].turn() == 0
    world.clock.advance(timedelta(minutes=5))
    assert sum([await each.turn() for each in publishers]) == 1

    published = await stores.posts.post(owner, created.id)
    assert published == evolve(
        created, status=PostStatus.PUBLISHED, publish_at=None, updated_at=at, published_at=at, occurred_at=at
    )
    draft = existing(await stores.posts.post(owner, cancelled.id))
    assert draft.status is PostStatus.DRAFT


async def test_a_post_that_an_editor_changes_at_its_time_is_published_in_the_next_turn(world: World) -> None:
    owner = world.organization.id
    at = world.clock.now() + timedelta(minutes=5)
    created = accepted(await editor(world).create(owner, structs.replace(WANTED, publish_at=iso_ms(at))))
    world.clock.advance(timedelta(minutes=5))

    async def beside() -> None:
        await editor(world).change(owner, created.id, ChangePost(title="Beams"))

    between: Any = Between(world.stores.posts, "change", beside, times=1)
    publisher = Publisher(between, world.clock, on_fault=_fail)
    assert [await publisher.turn(), await publisher.turn()] == [0, 1]
    published = existing(await world.stores.posts.post(owner, created.id))
    assert (published.title, published.status) == ("Beams", PostStatus.PUBLISHED)


async def test_a_publisher_stops_for_an_unavailable_store_and_skips_an_unreadable_post(world: World) -> None:
    at = world.clock.now() + timedelta(minutes=5)
    for _ in range(2):
        await editor(world).create(world.organization.id, structs.replace(WANTED, publish_at=iso_ms(at)))
    world.clock.advance(timedelta(minutes=5))

    async def fails(fault: Exception) -> None:
        raise fault

    away = StoreUnavailable("away")
    unavailable: Any = Between(world.stores.posts, "post", partial(fails, away))
    with pytest.raises(StoreUnavailable, match="away"):
        await Publisher(unavailable, world.clock, on_fault=_fail).turn()
    faults: list[Exception] = []
    unreadable: Any = Between(world.stores.posts, "post", partial(fails, ValueError("torn")))
    assert await Publisher(unreadable, world.clock, on_fault=faults.append).turn() == 1
    (fault,) = faults
    assert (type(fault), str(fault.__cause__)) == (UnreadableRow, "torn")


async def test_a_turn_publishes_all_due_posts_whatever_is_unreadable(world: World) -> None:
    owner, at = world.organization.id, iso_ms(world.clock.now() + timedelta(minutes=5))
    for _ in range(Publisher.AT_ONCE + 2):
        await editor(world).create(owner, structs.replace(WANTED, publish_at=at))
    world.clock.advance(timedelta(minutes=5))

    async def fails() -> None:
        message = "torn"
        raise ValueError(message)

    faults: list[Exception] = []
    unreadable: Any = Between(world.stores.posts, "post", fails, times=Publisher.AT_ONCE)
    assert await Publisher(unreadable, world.clock, on_fault=faults.append).turn() == 2
    assert len(faults) == Publisher.AT_ONCE
    assert await Publisher(world.stores.posts, world.clock, on_fault=_fail).turn() == Publisher.AT_ONCE


async def test_a_crowd_of_due_posts_is_published_in_several_turns(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = iso_ms(world.clock.now() + timedelta(minutes=5))
    for _ in range(5):
        await editor(world).create(world.organization.id, structs.replace(WANTED, publish_at=at))
    world.clock.advance(timedelta(minutes=5))
    monkeypatch.setattr(Publisher, "AT_ONCE", 2)
    publisher = Publisher(world.stores.posts, world.clock, on_fault=_fail)

    # Schedules fire between them.
    assert [await publisher.turn() for _ in range(4)] == [2, 2, 1, 0]


def _fail(fault: Exception) -> None:
    raise fault


async def test_a_restored_version_is_a_new_version(world: World, post: Post) -> None:
    owner, edit = world.organization.id, editor(world)
    await edit.change(owner, post.id, ChangePost(title="Beams", markdown="new", summary="Short"), author="csk_1")

    restored = accepted(await edit.restore(owner, post.id, 1, author="csk_2"))

    assert (restored.text, restored.content) == (post.text, post.content)
    kept = accepted(await edit.versions(owner, post.id))
    assert [(each.number, each.author) for each in kept] == [(3, "csk_2"), (2, "csk_1"), (1, None)]
    assert await edit.restore(owner, post.id, 9) is UNKNOWN_VERSION
    assert await edit.restore(owner, "post_unknown", 1) is UNKNOWN_POST
    assert await edit.restore(owner, post.id, 1, if_=lambda _: False) is POST_CHANGED


async def test_a_refused_post_does_not_stop_the_others(world: World, post: Post) -> None:
    owner, edit = world.organization.id, editor(world)
    created = accepted(await edit.create(owner, WANTED))

    assert await edit.chosen(owner, PostQuery(statuses=(PostStatus.DRAFT,))) == ([(created.id, "Lamps")], 1)

    result = await edit.bulk(owner, BulkAction.PUBLISH, [created.id, "post_unknown", post.id, created.id])

    assert (result.done, result.failed) == ((created.id, post.id), (("post_unknown", UNKNOWN_POST),))
    assert {each.status for each in await world.stores.posts.posts(owner)} == {PostStatus.PUBLISHED}
    changed_at = (await world.stores.posts.posts(owner))[0].updated_at
    assert (await edit.bulk(owner, BulkAction.PUBLISH, [created.id])).done == (created.id,)
    assert (await world.stores.posts.posts(owner))[0].updated_at == changed_at
    assert (await edit.bulk(owner, BulkAction.UNPUBLISH, [created.id])).done == (created.id,)
    # So that it stays unpublished.
    await edit.change(owner, created.id, ChangePost(publish_at=iso_ms(world.clock.now() + timedelta(minutes=5))))
    assert (await edit.bulk(owner, BulkAction.UNPUBLISH, [created.id])).done == (created.id,)
    draft = existing(await world.stores.posts.post(owner, created.id))
    assert (draft.status, draft.publish_at) == (PostStatus.DRAFT, None)
    assert (await edit.bulk(owner, BulkAction.DELETE, [created.id, post.id])).done == (created.id, post.id)
    assert await world.stores.posts.posts(owner) == []


async def test_the_first_identity_is_the_default_until_another_one_takes_the_role(world: World) -> None:
    owner, edit = world.organization.id, BrandEditor(world.stores.brands, world.clock, world.ids)

    first = accepted(await edit.create(owner, CreateBrand(name="Acme", website_url="https://acme.example/")))
    second = await edit.create(owner, CreateBrand(name="Harbour", website_url="https://b.example/"))
    third = await edit.create(owner, CreateBrand(name="Buoy", website_url="https://c.example/", is_default=True))

    assert first == a_brand_value(world.clock.now(), id=first.id, organization_id=owner, name="Acme", is_default=True)
    assert first.id.startswith("brand_")
    assert isinstance(second, BrandIdentity)
    assert isinstance(third, BrandIdentity)
    defaults = {each.name: each.is_default for each in await world.stores.brands.identities(owner)}
    assert (first.is_default, second.is_default, third.is_default) == (True, False, True)
    assert defaults == {"Acme": False, "Harbour": False, "Buoy": True}
    assert await edit.create(owner, CreateBrand(name="acme", website_url="https://d.example/")) is BRAND_NAME_TAKEN
    assert await edit.change(owner, third.id, ChangeBrand(is_default=False)) is LEAVES_NO_DEFAULT_BRAND


async def test_a_site_that_an_operator_has_opened_may_be_named(world: World) -> None:
    brand = await a_brand(world, "Acme")
    owner, address = world.organization.id, {"website_url": "http://wiki.internal:8080/"}
    opened = read_site_hosts("wiki.internal:8080")

    change = ChangeBrand(**address)
    guarded = BrandEditor(world.stores.brands, world.clock, world.ids)
    assert isinstance(await guarded.change(owner, brand.id, change), Refusal)
    allowing = BrandEditor(world.stores.brands, world.clock, world.ids, opened=opened)
    changed = await allowing.change(owner, brand.id, change)
    assert changed == evolve(brand, is_default=True, **address, updated_at=world.clock.now())


async def test_an_identity_is_changed_field_by_field(world: World) -> None:
    brand = await a_brand(world, "Acme")
    owner, edit = world.organization.id, BrandEditor(world.stores.brands, world.clock, world.ids)

    changed = await edit.change(owner, brand.id, ChangeBrand(audience="keepers"))

    assert changed == evolve(brand, is_default=True, audience="keepers", updated_at=world.clock.now())
    assert await world.stores.brands.identity(owner, brand.id) == changed
    for unknown in ("brand_unknown", "no id"):
        assert await edit.change(owner, unknown, ChangeBrand(audience="x")) is UNKNOWN_BRAND
    unnamed = await edit.change(owner, brand.id, ChangeBrand(name=""))
    assert message_of(unnamed) == "name must be 1 to 120 characters long"
