"""``PostLibrary``: finding, changing and removing one post."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from contract_values import IDS, Stores, Tenant, a_post, later, release, take, tenant

from contentsvc_core.content.posts import ContentType, Label, Post, PostStatus
from contentsvc_core.content.queries import PostOrder, PostQuery
from contentsvc_core.content.versions import MAX_VERSIONS, PostVersion
from contentsvc_core.errors import Unstorable
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.lists.terms import read_terms
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.runs import ALREADY_REPORTED, Completion, RunStatus, WorkflowRun


async def written(acme: Tenant, **changes: object) -> Post:
    post = a_post(acme.id, **changes)  # pyright: ignore[reportArgumentType]
    assert await acme.stores.ledger.complete(await acme.taken(), post, once=None) is Completion.COMPLETED
    return post


async def test_a_post_is_found_where_it_belongs(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    post = await written(acme)

    assert await acme.stores.posts.post(acme.id, post.id) == post
    assert await acme.stores.posts.post(zenith.id, post.id) is None
    assert await acme.stores.posts.post(acme.id, "post_unknown") is None


async def test_a_change_writes_exactly_the_changeable_fields(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    post, other = await written(acme), await written(acme)
    changed = evolve(
        post,
        title="öffnen ⚓",
        content="<p>New.</p>",
        markdown="New.",
        status=PostStatus.PUBLISHED,
        updated_at=later(hours=1),
    )
    change = acme.stores.posts.change

    assert not await change(evolve(changed, organization_id=zenith.id), unchanged_since=post.updated_at)
    assert not await change(evolve(changed, id="post_unknown"), unchanged_since=post.updated_at)
    assert not await change(changed, unchanged_since=later(seconds=1))
    # Two versions never have the same time.
    assert not await change(evolve(changed, updated_at=post.updated_at), unchanged_since=post.updated_at)
    assert await acme.stores.posts.post(acme.id, post.id) == post
    elsewhere = evolve(changed, content_type=ContentType.BLOG_POST, source_metadata=None, created_at=later(days=9))
    assert await change(elsewhere, unchanged_since=post.updated_at)
    assert await acme.stores.posts.post(acme.id, post.id) == changed
    assert await acme.stores.posts.post(acme.id, other.id) == other
    # The change is based on an older version.
    assert not await change(evolve(changed, title="late", updated_at=later(hours=2)), unchanged_since=post.updated_at)
    with pytest.raises(Unstorable):
        await change(evolve(changed, title="\ud800", updated_at=later(hours=2)), unchanged_since=changed.updated_at)
    assert await acme.stores.posts.post(acme.id, post.id) == changed


async def test_of_changes_of_one_version_one_is_written(acme: Tenant) -> None:
    post = await written(acme)
    # Half of the posts have the same title and time, but belong to another organization.
    rivals = [
        evolve(post, title=f"by {number % 5}", updated_at=post.updated_at + timedelta(milliseconds=1))
        for number in range(10)
    ]

    answers = await asyncio.gather(
        *(acme.stores.posts.change(rival, unchanged_since=post.updated_at) for rival in rivals)
    )

    assert answers.count(True) == 1
    assert await acme.stores.posts.post(acme.id, post.id) == rivals[answers.index(True)]


async def test_a_post_is_removed_once_and_only_as_it_was_seen(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    post, other = await written(acme), await written(acme, at=later(hours=1))
    remove = acme.stores.posts.remove

    assert not await remove(zenith.id, post.id)
    assert not await remove(acme.id, post.id, unchanged_since=later(seconds=1))
    assert not await remove(acme.id, "post_unknown")
    assert await acme.stores.posts.posts(acme.id) == [other, post]
    answers = await asyncio.gather(*(remove(acme.id, post.id, unchanged_since=post.updated_at) for _ in range(5)))
    assert sorted(answers) == [False] * 4 + [True]
    assert await remove(acme.id, other.id)
    assert await acme.stores.posts.posts(acme.id) == []
    assert not await acme.stores.posts.change(evolve(post, updated_at=later(hours=2)), unchanged_since=post.updated_at)
    # The ends of the runs stay.
    ended = {(run.status, run.post_id) for run in await acme.stores.ledger.runs(acme.id) if run.post_id}
    assert ended == {(RunStatus.COMPLETED, post.id), (RunStatus.COMPLETED, other.id)}


async def test_a_post_without_a_run_is_stored_once_with_its_first_version(acme: Tenant) -> None:
    library = acme.stores.posts
    post = a_post(acme.id, summary="Brighter", labels=(Label.FIXED, Label.NEW), publish_at=later(hours=2))
    await library.add(post, author="csk_1")
    await library.add(post, author="csk_1")

    assert await library.posts(acme.id) == [post]
    assert list(await library.versions(acme.id, post.id)) == [
        PostVersion(number=1, text=post.text, saved_at=post.updated_at, author="csk_1")
    ]
    # A repeated call that arrives late undoes no change.
    changed = evolve(post, title="Changed since", updated_at=later(hours=1))
    assert await library.change(changed, unchanged_since=post.updated_at)
    await library.add(post, author="csk_1")
    assert await library.posts(acme.id) == [changed]
    with pytest.raises(Unstorable):
        await library.add(a_post("org_unknown"))
    with pytest.raises(Unstorable):
        await library.add(a_post(acme.id, summary="\ud800"))


async def test_a_change_of_the_text_keeps_the_text_before_it(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    library, post = acme.stores.posts, await written(acme)
    assert list(await library.versions(acme.id, post.id)) == []
    first = evolve(post, title="new", summary="s", labels=(Label.NEW,), updated_at=later(hours=1))
    published = evolve(first, status=PostStatus.PUBLISHED, updated_at=later(hours=2))
    assert await library.change(first, unchanged_since=post.updated_at, author="csk_1")
    assert not await library.change(evolve(first, title="late"), unchanged_since=post.updated_at, author="csk_2")
    assert await library.change(published, unchanged_since=first.updated_at, author="csk_2")

    assert list(await library.versions(acme.id, post.id)) == [
        PostVersion(number=2, text=first.text, saved_at=first.updated_at, author="csk_1"),
        PostVersion(number=1, text=post.text, saved_at=post.updated_at),
    ]
    assert list(await library.versions(zenith.id, post.id)) == []
    for number in range(MAX_VERSIONS):
        changed = evolve(published, markdown=str(number), updated_at=later(hours=3 + number))
        assert await library.change(changed, unchanged_since=published.updated_at)
        published = changed
    assert [each.number for each in await library.versions(acme.id, post.id)] == list(range(MAX_VERSIONS + 2, 2, -1))
    assert await library.remove(acme.id, post.id)
    assert list(await library.versions(acme.id, post.id)) == []


async def test_drafts_are_due_at_their_time(acme: Tenant) -> None:
    zenith, library = await tenant(acme.stores, "zenith"), acme.stores.posts
    soon = a_post(acme.id, publish_at=later(hours=1))
    later_on = a_post(acme.id, publish_at=later(hours=2))
    foreign = a_post(zenith.id, publish_at=later(minutes=30))
    for post in (soon, later_on, foreign, a_post(acme.id), a_post(acme.id, status=PostStatus.PUBLISHED)):
        await library.add(post)

    assert await library.due(later(minutes=29), limit=9) == []
    assert await library.due(later(hours=1), limit=9) == [(zenith.id, foreign.id), (acme.id, soon.id)]
    assert await library.due(later(hours=2), limit=1) == [(zenith.id, foreign.id)]
    assert (await library.waiting(acme.id), await library.waiting(zenith.id)) == (1, 0)
    published = evolve(
        soon,
        status=PostStatus.PUBLISHED,
        publish_at=None,
        updated_at=later(hours=1),
        published_at=later(hours=1),
        occurred_at=later(hours=1),
    )
    rivals = await asyncio.gather(*(library.change(published, unchanged_since=soon.updated_at) for _ in range(4)))
    assert rivals.count(True) == 1
    assert await library.post(acme.id, soon.id) == published
    assert await library.due(later(hours=2), limit=9) == [(zenith.id, foreign.id), (acme.id, later_on.id)]


async def test_posts_are_found_by_label_repository_words_and_time(acme: Tenant) -> None:
    library = acme.stores.posts
    lamp = a_post(
        acme.id,
        at=later(hours=1),
        title="A lamp",
        content="<h2>Fixed</h2>",
        source_metadata={"repositories": ["Acme/Lighthouse"]},
    )
    beam = a_post(
        acme.id, at=later(hours=2), title="A beam", markdown="Wide.", labels=(Label.NEW,), source_metadata=None
    )
    for post in (lamp, beam):
        await library.add(post)

    async def found(**filters: Any) -> list[str]:
        query = PostQuery(**filters)
        page = await library.page(acme.id, query, PageRequest())
        assert not isinstance(page, Refusal)
        lines, total = await library.chosen(acme.id, query, limit=1)
        assert total == page[1].total_items == len(page[0])
        assert list(lines) == [(post.id, post.title) for post in page[0]][:1]
        return [post.id for post in page[0]]

    terms = read_terms("lamp")
    assert not isinstance(terms, Refusal)
    assert await found(labels=(Label.FIXED,)) == [lamp.id]
    assert await found(labels=(Label.NEW, Label.FIXED)) == [beam.id, lamp.id]
    assert await found(repositories=("acme/lighthouse",)) == [lamp.id]
    assert await found(repositories=("acme/light",)) == []
    assert await found(terms=terms) == [lamp.id]
    assert await found(since=later(hours=2)) == [beam.id]
    assert await found(until=later(hours=2), ascending=True) == [lamp.id]
    assert await found(labels=(Label.NEW,), statuses=(PostStatus.PUBLISHED,)) == []
    # A change of the text of a draft changes its labels.
    assert await library.change(
        evolve(lamp, content="<h2>Security</h2>", updated_at=later(hours=3)), unchanged_since=lamp.updated_at
    )
    assert await found(labels=(Label.SECURITY,)) == [lamp.id]
    page = await library.page(acme.id, PostQuery(labels=(Label.NEW,)), PageRequest(page=2))
    assert isinstance(page, Refusal)


async def both_taken(acme: Tenant, delivery_id: str) -> list[WorkflowRun]:
    settling = await acme.processed(delivery_id, release())
    await acme.stores.deliveries.settle(settling)
    return await take(acme.stores, [run.id for run in settling.runs])


async def test_the_release_of_a_removed_post_stays_reported(stores: Stores) -> None:
    acme, zenith = await tenant(stores), await tenant(stores, "zenith")
    complete = stores.ledger.complete
    first, second = await both_taken(acme, "d-1")
    post = a_post(acme.id)
    assert await complete(first, post, once="v1") is Completion.COMPLETED
    assert await stores.posts.remove(acme.id, post.id)

    # Its own run has ended; another run finds the release reported.
    assert await complete(first, post, once="v1") is Completion.GONE
    assert await complete(second, a_post(acme.id), once="v1") is Completion.ALREADY_REPORTED
    assert await stores.posts.posts(acme.id) == []
    (skipped,) = [run for run in await stores.ledger.runs(acme.id) if run.id == second.id]
    assert (skipped.status, skipped.error, skipped.post_id) == (RunStatus.SKIPPED, ALREADY_REPORTED, None)
    # Posts without a key may be written, and so may another organization's.
    third, fourth = await both_taken(acme, "d-2")
    assert await complete(third, a_post(acme.id), once=None) is Completion.COMPLETED
    assert await complete(fourth, a_post(acme.id), once="v2") is Completion.COMPLETED
    foreign, _ = await both_taken(zenith, "d-1")
    assert await complete(foreign, a_post(zenith.id), once="v1") is Completion.COMPLETED


async def test_a_removal_and_a_report_at_once_leave_no_post(acme: Tenant) -> None:
    runs = [run for number in range(4) for run in await both_taken(acme, f"d-{number}")]
    post = a_post(acme.id)
    assert await acme.stores.ledger.complete(runs[0], post, once="v1") is Completion.COMPLETED

    answers = await asyncio.gather(
        acme.stores.posts.remove(acme.id, post.id),
        *(acme.stores.ledger.complete(run, a_post(acme.id), once="v1") for run in runs[1:]),
    )

    assert answers == [True, *[Completion.ALREADY_REPORTED] * 7]
    assert await acme.stores.posts.posts(acme.id) == []


async def test_posts_are_paged_by_when_they_happened(acme: Tenant) -> None:
    # Earlier events have later posts; for two posts of the same time, the ids decide.
    posts = [
        await written(
            acme,
            at=later(hours=number),
            occurred_at=later(days=-(number // 2)),
            content_type=(ContentType.CHANGELOG, ContentType.BLOG_POST)[number % 2],
        )
        for number in range(7)
    ]
    earliest_first = sorted(posts, key=lambda post: (post.occurred_at, post.id))

    async def found(page: int = 1, **asked: object) -> list[Post]:
        query = PostQuery(order_by=PostOrder.OCCURRED_AT, **asked)  # pyright: ignore[reportArgumentType]
        page_found = await acme.stores.posts.page(acme.id, query, PageRequest(limit=3, page=page))
        assert not isinstance(page_found, Refusal)
        return list(page_found[0])

    assert await found() == earliest_first[:3:-1]
    assert [post for page in (1, 2, 3) for post in await found(page, ascending=True)] == earliest_first
    blogs = [post for post in earliest_first if post.content_type is ContentType.BLOG_POST]
    assert await found(ascending=True, content_types=[ContentType.BLOG_POST]) == blogs
    # A post without events gets another position when it is published.
    changed = evolve(posts[0], title="Other", updated_at=later(days=9), occurred_at=later(days=8))
    assert await acme.stores.posts.change(changed, unchanged_since=posts[0].updated_at)
    assert (await found())[0] == changed


async def test_posts_are_paged_by_brand_identity(acme: Tenant) -> None:
    brands = (IDS.new_id("brand_"), IDS.new_id("brand_"))
    posts = [
        await written(
            acme,
            at=later(hours=number),
            source_metadata={"brandIdentityId": brands[number % 2]} if number < 4 else None,
            status=PostStatus.PUBLISHED if number == 1 else PostStatus.DRAFT,
        )
        for number in range(5)
    ]

    async def found(*ids: str, statuses: tuple[PostStatus, ...] = ()) -> list[Post]:
        query = PostQuery(brand_identity_ids=ids, statuses=statuses, ascending=True)
        page = await acme.stores.posts.page(acme.id, query, PageRequest())
        assert not isinstance(page, Refusal)
        assert page[1].total_items == len(page[0])
        return list(page[0])

    assert await found() == posts
    assert await found(brands[0]) == posts[:4:2]
    assert await found(*brands) == posts[:4]
    assert await found(brands[1], statuses=(PostStatus.PUBLISHED,)) == [posts[1]]
    assert await found("brand_unknown") == []
