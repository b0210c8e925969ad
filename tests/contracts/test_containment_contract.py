"""``RunLedger`` and ``PostLibrary``: the published post of a release contains the posts of its pushes."""

import asyncio
from collections.abc import Sequence

import pytest
from attrs import evolve
from contract_values import IDS, Stores, Tenant, a_post, later, push, release, take, tenant
from tests.refusals import existing

from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.public.changelogs import Exposure, PublicChangelog
from contentsvc_core.content.public.releases import PostLine
from contentsvc_core.testing import START
from contentsvc_core.workflows.context import custom_id
from contentsvc_core.workflows.runs import Completion, WorkflowRun

BLOG = ContentType.BLOG_POST


async def run_of_push(acme: Tenant) -> tuple[str, WorkflowRun]:
    """Settle a push; return its custom id and a run for it."""
    delivery_id = IDS.new_id("d-")
    settling = await acme.processed(delivery_id, push())
    await acme.stores.deliveries.settle(settling)
    (run,) = await take(acme.stores, [settling.runs[0].id])
    return custom_id("codehost", acme.repository.id, delivery_id), run


def published(acme: Tenant, hours: int = 0, **changes: object) -> Post:
    return a_post(acme.id, START, **{"status": PostStatus.PUBLISHED, "occurred_at": later(hours=hours), **changes})


async def pushed(acme: Tenant, hours: int = 0, **changes: object) -> tuple[str, Post]:
    """Write the post of a push; return the push's custom id and the post."""
    key, run = await run_of_push(acme)
    post = published(acme, hours, **changes)
    assert await acme.stores.ledger.complete(run, post, once=None) is Completion.COMPLETED
    return key, post


async def released(acme: Tenant, pushes: Sequence[str], hours: int = 0, **changes: object) -> Post:
    post = published(acme, hours, **{"release_tag": "v1", **changes})
    run = await acme.taken(release())
    assert await acme.stores.ledger.complete(run, post, once=None, pushes=pushes) is Completion.COMPLETED
    return post


def changelog(acme: Tenant) -> PublicChangelog:
    return PublicChangelog.first(acme.organization, START)


async def listed(acme: Tenant) -> list[str]:
    """Return the ids of the listed posts; check that no other query shows other posts."""
    own, changelogs = changelog(acme), acme.stores.changelogs
    posts = await changelogs.posts(own, limit=99)
    assert all(own.lists(post) for post in posts)
    months = await changelogs.months(own)
    by_month = [post for month in months for post in await changelogs.posts(own, limit=99, month=month)]
    assert by_month == posts
    assert await changelogs.posts(own, limit=99, released=True) == [post for post in posts if post.release_tag]
    return [post.id for post in posts]


async def container(acme: Tenant, post: Post) -> str | None:
    found = existing(await acme.stores.posts.post(acme.id, post.id))
    assert found == evolve(post, contained_in=found.contained_in, updated_at=found.updated_at, status=found.status)
    return found.contained_in


async def moved(acme: Tenant, post: Post, status: PostStatus) -> None:
    current = existing(await acme.stores.posts.post(acme.id, post.id))
    changed = evolve(current, status=status, updated_at=current.updated_at + (later(seconds=1) - START))
    assert await acme.stores.posts.change(changed, unchanged_since=current.updated_at)


async def test_a_release_contains_the_posts_of_its_pushes_which_stay_reachable(acme: Tenant) -> None:
    (one, first), (two, second), (_, after) = [await pushed(acme, hours) for hours in (1, 2, 4)]
    final = await released(acme, [one, two], 3)

    assert await listed(acme) == [after.id, final.id]
    assert [await container(acme, post) for post in (first, second, after, final)] == [final.id, final.id, None, None]
    own, changelogs = changelog(acme), acme.stores.changelogs
    for post in (first, second):
        assert await changelogs.post(own, post.id) == evolve(post, contained_in=final.id)
    assert await changelogs.contained(own, final.id, limit=9) == [PostLine.of(second), PostLine.of(first)]
    assert await changelogs.contained(own, final.id, limit=1) == [PostLine.of(second)]
    assert await changelogs.contained(own, after.id, limit=9) == []
    # All posts are public.
    assert (await changelogs.exposure(own)) == Exposure(posts=4, repositories={"acme/lighthouse": 4})


async def test_the_post_of_a_push_may_be_written_after_its_releases(acme: Tenant) -> None:
    key, run = await run_of_push(acme)
    final = await released(acme, [key, "codehost:1:unknown"])
    late = published(acme)
    assert await acme.stores.ledger.complete(run, late, once=None) is Completion.COMPLETED

    assert await container(acme, late) == final.id
    assert await listed(acme) == [final.id]


async def test_both_written_at_once_are_one_story(acme: Tenant) -> None:
    runs = [await run_of_push(acme) for _ in range(6)]
    releasing = [await acme.taken(release()) for _ in range(2)]
    posts = [published(acme, 1) for _ in runs]
    finals = [published(acme, 2, release_tag=f"v{number}") for number in range(2)]
    keys = [key for key, _ in runs]
    complete = acme.stores.ledger.complete

    await asyncio.gather(
        *(complete(run, post, once=None) for (_, run), post in zip(runs[:3], posts[:3], strict=True)),
        *(complete(run, post, once=None, pushes=keys) for run, post in zip(releasing, finals, strict=True)),
        *(complete(run, post, once=None) for (_, run), post in zip(runs[3:], posts[3:], strict=True)),
    )

    assert [await container(acme, post) for post in posts] == [finals[0].id] * 6


async def test_a_release_that_is_withdrawn_or_deleted_brings_its_pushes_back(acme: Tenant) -> None:
    key, post = await pushed(acme)
    final = await released(acme, [key], 1, status=PostStatus.DRAFT)
    assert await listed(acme) == [post.id]

    await moved(acme, final, PostStatus.PUBLISHED)
    assert await listed(acme) == [final.id]
    await moved(acme, final, PostStatus.DRAFT)
    assert await listed(acme) == [post.id]
    await moved(acme, final, PostStatus.PUBLISHED)
    assert await acme.stores.posts.remove(acme.id, final.id, at=later(days=1))
    assert await listed(acme) == [post.id]
    assert await acme.stores.posts.post(acme.id, post.id) == post
    # A push with a deleted post is contained in no post.
    again = await released(acme, [key], 1)
    assert await acme.stores.posts.remove(acme.id, post.id)
    assert await acme.stores.changelogs.contained(changelog(acme), again.id, limit=9) == []


async def test_of_several_releases_the_earliest_counts(acme: Tenant) -> None:
    key, post = await pushed(acme)
    final = await released(acme, [key], 3)
    candidate = await released(acme, [key], 2)
    assert await container(acme, post) == candidate.id

    assert await acme.stores.posts.remove(acme.id, candidate.id)
    assert await container(acme, post) == final.id
    assert await listed(acme) == [final.id]


async def test_a_draft_is_contained_too(acme: Tenant) -> None:
    key, draft = await pushed(acme, status=PostStatus.DRAFT)
    final = await released(acme, [key], 1)
    await moved(acme, draft, PostStatus.PUBLISHED)

    assert await container(acme, evolve(draft, published_at=later(seconds=1))) == final.id
    assert await listed(acme) == [final.id]


async def test_posts_of_other_types_and_organizations_are_other_stories(stores: Stores) -> None:
    acme, zenith = await tenant(stores), await tenant(stores, "zenith")
    key, run = await run_of_push(acme)
    post = published(acme)
    assert await acme.stores.ledger.complete(run, post, once=None) is Completion.COMPLETED
    foreign = await released(zenith, [key], 1)
    blog = await released(acme, [key], 1, content_type=BLOG)

    assert await listed(acme) == [blog.id, post.id]
    assert await listed(zenith) == [foreign.id]
    # An article about the push is contained in the article about the release.
    other, article = await pushed(acme, content_type=BLOG)
    novel = await released(acme, [other], 2, content_type=BLOG)
    assert await container(acme, article) == novel.id


@pytest.mark.slow("writes or reads very large texts")
@pytest.mark.parametrize("number", [1100])
async def test_a_release_may_contain_many_pushes(acme: Tenant, number: int) -> None:
    key, post = await pushed(acme)
    final = await released(acme, [*(f"codehost:1:{each}" for each in range(number)), key, key], 1)

    assert await container(acme, post) == final.id
    assert await acme.stores.posts.remove(acme.id, final.id)
    assert await container(acme, post) is None
