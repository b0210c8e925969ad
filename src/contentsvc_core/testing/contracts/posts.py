"""The contract of :class:`.PostLibrary`: posts are added, changed and removed once, and found by queries."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from attrs import evolve

from contentsvc_core.content.posts import ContentType, Label, Post, PostStatus
from contentsvc_core.content.queries import PostOrder, PostQuery
from contentsvc_core.content.versions import MAX_VERSIONS, PostVersion
from contentsvc_core.errors import Unstorable
from contentsvc_core.lists.pagination import PageRequest, paginate
from contentsvc_core.lists.terms import read_terms
from contentsvc_core.ports import PostLibrary
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing.contracts.trials import Contract, Trial
from contentsvc_core.testing.parts import START
from contentsvc_core.testing.samples import LONG_TEXT
from contentsvc_core.timestamps import is_within

_Trial: TypeAlias = Trial[PostLibrary]

#: The contract of the posts. Each guarantee needs an empty store that knows two organizations.
POSTS: Final = Contract[PostLibrary]()

_HOUR: Final = timedelta(hours=1)
_MOMENT: Final = timedelta(milliseconds=1)


def a_post(trial: Trial[Any], at: datetime = START, **fields: Any) -> Post:  # noqa: ANN401  # fields of a post
    values: dict[str, Any] = {
        "id": trial.new_id("post_"),
        "organization_id": trial.own,
        "title": "What is new",
        "content": "<p>A lamp.</p>",
        "markdown": "A lamp.",
        "content_type": ContentType.CHANGELOG,
        "source_metadata": {"repositories": ["acme/lighthouse"]},
        "status": PostStatus.DRAFT,
        "created_at": at,
        "updated_at": at,
    }
    return Post(**values | fields)


async def _added(trial: _Trial, at: datetime = START, **fields: Any) -> Post:  # noqa: ANN401  # as above
    post = a_post(trial, at, **fields)
    await trial.store.add(post)
    return post


def _published(draft: Post, at: datetime) -> Post:
    times: dict[str, Any] = dict.fromkeys(("updated_at", "published_at", "occurred_at"), at)
    return evolve(draft, status=PostStatus.PUBLISHED, publish_at=None, **times)


@POSTS.guarantee("a post reads back as it was: each field, all characters, UTC times to the millisecond")
async def _reads_back(trial: _Trial) -> None:
    metadata: list[dict[str, object] | None] = [None, {}, {"a": [1, {"b": None, "ü": "⚓"}], "c": True}]
    for number, each in enumerate(metadata):
        at = START + number * _MOMENT
        full = a_post(
            trial,
            at,
            title="öffnen ⚓ 'n' \"m\"",
            content=LONG_TEXT,
            markdown=LONG_TEXT,
            source_metadata=each,
            content_type=list(ContentType)[number],
            updated_at=at + _MOMENT,
            release_tag="v1.0.0",
            occurred_at=at - _HOUR,
            summary="one line",
            labels=(Label.NEW, Label.BREAKING),
            publish_at=at + _HOUR,
        )
        await trial.store.add(full)
        trial.same(await trial.store.post(trial.own, full.id), full)
    published = await _added(trial, status=PostStatus.PUBLISHED)
    trial.same(await trial.store.post(trial.own, published.id), published)


@POSTS.guarantee("ids differ by case")
async def _have_ids(trial: _Trial) -> None:
    post = await _added(trial)
    case = await _added(trial, id=post.id.upper())
    trial.same([await trial.store.post(trial.own, each.id) for each in (post, case)], [post, case])
    trial.same(await trial.store.post(trial.own, "post_unknown"), None)


@POSTS.guarantee("a post is seen, changed and removed in its own organization alone")
async def _belongs(trial: _Trial) -> None:
    store = trial.store
    post, foreign = await _added(trial), await _added(trial, organization_id=trial.foreign)
    trial.same([await store.post(trial.own, each.id) for each in (post, foreign)], [post, None])
    trial.same(await store.post(trial.foreign, foreign.id), foreign)
    trial.same([await store.posts(id_) for id_ in (trial.own, trial.foreign)], [[post], [foreign]])
    trial.same(await store.posts("org_unknown"), [])
    moved = evolve(foreign, organization_id=trial.own, updated_at=START + _HOUR)
    trial.same(await store.change(moved, unchanged_since=foreign.updated_at), expected=False)
    trial.same(await store.remove(trial.own, foreign.id), expected=False)
    trial.same(await store.versions(trial.own, foreign.id), [])
    trial.same(await store.post(trial.foreign, foreign.id), foreign)


@POSTS.guarantee("a post is added once, with its first version; a repeated call undoes no change")
async def _is_added_once(trial: _Trial) -> None:
    store, post = trial.store, a_post(trial, summary="Brighter", labels=(Label.FIXED,))
    await store.add(post, author="csk_1")
    await store.add(post, author="csk_1")
    trial.same(await store.posts(trial.own), [post])
    first = PostVersion(number=1, text=post.text, saved_at=post.updated_at, author="csk_1")
    trial.same(await store.versions(trial.own, post.id), [first])
    changed = evolve(post, title="Changed since", updated_at=START + _HOUR)
    trial.same(await store.change(changed, unchanged_since=post.updated_at), expected=True)
    await store.add(post, author="csk_1")
    trial.same(await store.posts(trial.own), [changed])


@POSTS.guarantee("a post of an unknown organization is Unstorable, and nothing is written")
async def _needs_its_organization(trial: _Trial) -> None:
    await trial.raises(Unstorable, trial.store.add(a_post(trial, organization_id="org_unknown")))
    trial.same(await trial.store.posts("org_unknown"), [])


@POSTS.guarantee("a text that cannot be stored raises Unstorable, and nothing is written")
async def _cannot_be_stored(trial: _Trial) -> None:
    store, post = trial.store, await _added(trial)
    half: dict[str, Any] = {"title": "whole", "summary": "half: \ud800"}
    changed = evolve(post, updated_at=START + _HOUR, **half)
    for call in (
        lambda: store.add(a_post(trial, **half), author="csk_1"),
        lambda: store.change(changed, unchanged_since=post.updated_at),
    ):
        try:
            await call()
        except Unstorable:
            trial.same(await store.posts(trial.own), [post])
        else:  # A store that has all texts keeps them.
            found = await store.posts(trial.own)
            trial.holds(found, holds=any(each.summary == half["summary"] for each in found))
            return
    trial.same([each.number for each in await store.versions(trial.own, post.id)], [1])


@POSTS.guarantee("a change writes the changeable fields of its own post alone")
async def _changes(trial: _Trial) -> None:
    store = trial.store
    post, other = await _added(trial), await _added(trial)
    changed = evolve(
        _published(post, START + _HOUR),
        title="öffnen ⚓",
        content="<p>New.</p>",
        markdown="New.",
        summary="new",
        labels=(Label.FIXED,),
    )
    elsewhere = evolve(changed, content_type=ContentType.BLOG_POST, source_metadata=None, created_at=START - _HOUR)
    trial.same(await store.change(elsewhere, unchanged_since=post.updated_at), expected=True)
    trial.same(await store.post(trial.own, post.id), changed)
    trial.same(await store.post(trial.own, other.id), other)


@POSTS.guarantee("a change is refused if the post is unknown or has changed since, or if the change is not later")
async def _compares_times(trial: _Trial) -> None:
    store, post = trial.store, await _added(trial)
    changed = evolve(post, title="new", updated_at=START + _HOUR)
    for refused, since in (
        (evolve(changed, id="post_unknown"), post.updated_at),
        (changed, post.updated_at + _MOMENT),
        (changed, post.updated_at - _MOMENT),
        (evolve(changed, updated_at=post.updated_at), post.updated_at),
    ):
        trial.same(await store.change(refused, unchanged_since=since), expected=False)
        trial.same(await store.posts(trial.own), [post])
    trial.same(await store.change(changed, unchanged_since=post.updated_at), expected=True)
    late = evolve(post, title="late", updated_at=START + 2 * _HOUR)
    trial.same(await store.change(late, unchanged_since=post.updated_at), expected=False)
    trial.same(await store.posts(trial.own), [changed])


@POSTS.guarantee("of concurrent changes of one version, one is written")
async def _loses_no_update(trial: _Trial) -> None:
    store, post = trial.store, await _added(trial)
    # Half of them write the same: a store cannot tell by its rows which of them has won.
    rivals = [evolve(post, title=f"by {number % 5}", updated_at=START + _MOMENT) for number in range(10)]
    answers = await trial.at_once(*(store.change(rival, unchanged_since=post.updated_at) for rival in rivals))
    trial.holds(answers, holds=answers.count(True) == 1)
    winner = rivals[answers.index(True)]
    trial.same(await store.post(trial.own, post.id), winner)
    versions = await store.versions(trial.own, post.id)
    trial.same([each.text.title for each in versions], [winner.title, post.title])


@POSTS.guarantee("a post is removed once, and only as it was seen")
async def _is_removed_once(trial: _Trial) -> None:
    store = trial.store
    post, other = await _added(trial), await _added(trial, START + _HOUR)
    for since in (post.updated_at + _MOMENT, post.updated_at - _MOMENT):
        trial.same(await store.remove(trial.own, post.id, unchanged_since=since), expected=False)
    trial.same(await store.remove(trial.own, "post_unknown"), expected=False)
    trial.same(await store.posts(trial.own), [other, post])
    removals = (store.remove(trial.own, post.id, unchanged_since=post.updated_at) for _ in range(5))
    trial.same(sorted(await trial.at_once(*removals)), [False] * 4 + [True])
    trial.same(await store.posts(trial.own), [other])
    late = evolve(post, updated_at=START + _HOUR)
    trial.same(await store.change(late, unchanged_since=post.updated_at), expected=False)
    trial.same(await store.remove(trial.own, other.id), expected=True)
    trial.same(await store.posts(trial.own), [])


@POSTS.guarantee("a change of the text adds a version, a removal deletes them all, and the newest 50 are kept")
async def _keeps_versions(trial: _Trial) -> None:
    store, post = trial.store, await _added(trial)
    other = await _added(trial)
    changed = evolve(post, title="new", summary="s", labels=(Label.NEW,), updated_at=START + _HOUR)
    published = _published(changed, START + 2 * _HOUR)
    trial.same(await store.change(changed, unchanged_since=post.updated_at, author="csk_1"), expected=True)
    late = evolve(changed, title="late", updated_at=START + 2 * _HOUR)
    trial.same(await store.change(late, unchanged_since=post.updated_at, author="csk_2"), expected=False)
    # The text stays the same, so there is no version of it.
    trial.same(await store.change(published, unchanged_since=changed.updated_at, author="csk_2"), expected=True)
    first = PostVersion(number=1, text=post.text, saved_at=post.updated_at)
    second = PostVersion(number=2, text=changed.text, saved_at=changed.updated_at, author="csk_1")
    trial.same(await store.versions(trial.own, post.id), [second, first])
    current = published
    for number in range(MAX_VERSIONS):
        following = evolve(current, markdown=str(number), updated_at=current.updated_at + _MOMENT)
        trial.same(await store.change(following, unchanged_since=current.updated_at), expected=True)
        current = following
    numbers = [each.number for each in await store.versions(trial.own, post.id)]
    trial.same(numbers, list(range(MAX_VERSIONS + 2, 2, -1)))
    trial.same(await store.remove(trial.own, post.id), expected=True)
    trial.same(await store.versions(trial.own, post.id), [])
    trial.same([each.number for each in await store.versions(trial.own, other.id)], [1])


@POSTS.guarantee("drafts are due from exactly their time on, the longest waiting first, until they are published")
async def _are_due(trial: _Trial) -> None:
    store = trial.store
    soon = await _added(trial, publish_at=START + 2 * _HOUR)
    foreign = await _added(trial, organization_id=trial.foreign, publish_at=START + _HOUR)
    later = await _added(trial, publish_at=START + 3 * _HOUR)
    await _added(trial)
    await _added(trial, status=PostStatus.PUBLISHED)
    one, two, three = ((post.organization_id, post.id) for post in (foreign, soon, later))
    trial.same(await store.due(foreign.publish_at or START, limit=9), [one])
    trial.same(await store.due(START + _HOUR - _MOMENT, limit=9), [])
    trial.same(await store.due(START + 3 * _HOUR, limit=9), [one, two, three])
    trial.same(await store.due(START + 3 * _HOUR, limit=2), [one, two])
    trial.same([await store.waiting(id_) for id_ in (trial.own, trial.foreign)], [1, 0])
    published = _published(soon, START + 2 * _HOUR)
    calls = (store.change(published, unchanged_since=soon.updated_at) for _ in range(4))
    trial.same(sorted(await trial.at_once(*calls)), [False] * 3 + [True])
    trial.same(await store.post(trial.own, soon.id), published)
    trial.same(await store.due(START + 3 * _HOUR, limit=9), [one, three])


async def _shelf(trial: _Trial) -> list[Post]:
    """Add posts of every kind, several of one time; earlier events have later posts. One is of another organization."""
    posts = [
        await _added(
            trial,
            START + (number // 3) * _HOUR,
            occurred_at=START - (number // 2) * _HOUR,
            status=list(PostStatus)[number % 2],
            content_type=list(ContentType)[number % 5],
            source_metadata={"brandIdentityId": f"brand_{number % 3}"} if number % 4 else None,
        )
        for number in range(12)
    ]
    await _added(trial, organization_id=trial.foreign)
    return posts


def matching(posts: Iterable[Post], query: PostQuery) -> list[Post]:
    def time(post: Post) -> datetime:
        return post.created_at if query.order_by is PostOrder.CREATED_AT else post.occurred_at

    found = [
        post
        for post in posts
        if (not query.statuses or post.status in query.statuses)
        and (not query.content_types or post.content_type in query.content_types)
        and (
            not query.brand_identity_ids
            or (post.source_metadata or {}).get("brandIdentityId") in query.brand_identity_ids
        )
        and is_within(time(post), query.since, query.until)
    ]
    return sorted(found, key=lambda post: (time(post), post.id), reverse=not query.ascending)


async def _check_pages(trial: _Trial, posts: list[Post], *queries: PostQuery) -> None:
    """Check all pages of lists, and the page after the last one."""
    store = trial.store
    for query in queries:
        expected = matching(posts, query)
        for request in (PageRequest(limit=5, page=page) for page in range(1, len(expected) // 5 + 3)):
            found, pagination = await store.page(trial.own, query, request), paginate(request, len(expected))
            if isinstance(pagination, Refusal) or isinstance(found, Refusal):
                trial.same(found, pagination)
            else:
                trial.same(found[0], expected[request.offset : request.offset + request.limit])
                trial.same(found[1], pagination)
        lines, total = await store.chosen(trial.own, query, limit=3)
        trial.same(lines, [(post.id, post.title) for post in expected[:3]])
        trial.same(total, len(expected))


@POSTS.guarantee("posts are listed newest first, and by id if they have one time")
async def _are_listed(trial: _Trial) -> None:
    posts = matching(await _shelf(trial), PostQuery())
    trial.same(await trial.store.posts(trial.own), posts)
    trial.same(await trial.store.posts(trial.own, limit=4), posts[:4])
    trial.same(await trial.store.posts(trial.own, limit=0), [])


@POSTS.guarantee("the pages of a list have each post once, in the order of the query; an empty list has one page")
async def _are_paged(trial: _Trial) -> None:
    await _check_pages(trial, [], PostQuery())
    posts = await _shelf(trial)
    for order in PostOrder:
        await _check_pages(trial, posts, PostQuery(order_by=order), PostQuery(order_by=order, ascending=True))


@POSTS.guarantee("pages and counts have the posts that match all filters of the query, and no other ones")
async def _are_filtered(trial: _Trial) -> None:
    posts = await _shelf(trial)
    await _check_pages(
        trial,
        posts,
        PostQuery(statuses=(PostStatus.PUBLISHED,)),
        PostQuery(content_types=(ContentType.CHANGELOG, ContentType.TWITTER_POST)),
        PostQuery(brand_identity_ids=("brand_1",)),
        PostQuery(brand_identity_ids=("brand_1", "brand_2", "brand_unknown"), statuses=(PostStatus.DRAFT,)),
        PostQuery(brand_identity_ids=("brand_unknown",)),
        PostQuery(since=START + _HOUR, until=START + 3 * _HOUR),
        PostQuery(since=START - 4 * _HOUR, until=START - _HOUR, order_by=PostOrder.OCCURRED_AT, ascending=True),
    )


@POSTS.guarantee("lists and counts follow each change and removal")
async def _follow_changes(trial: _Trial) -> None:
    store, posts = trial.store, await _shelf(trial)
    # The first post becomes public, and moves to the end of the list by the time of events.
    changed = _published(posts[0], START + 9 * _HOUR)
    trial.same(await store.change(changed, unchanged_since=posts[0].updated_at), expected=True)
    trial.same(await store.remove(trial.own, posts[5].id), expected=True)
    now = [changed, *posts[1:5], *posts[6:]]
    order = PostOrder.OCCURRED_AT
    await _check_pages(trial, now, PostQuery(), PostQuery(statuses=(PostStatus.DRAFT,)), PostQuery(order_by=order))


@POSTS.guarantee("posts are found by their labels, repositories in any case, and words")
async def _are_found_by_text(trial: _Trial) -> None:
    store = trial.store
    lamp = await _added(
        trial, title="A lamp", content="<h2>Fixed</h2>", source_metadata={"repositories": ["Acme/Lighthouse"]}
    )
    beam = await _added(
        trial, START + _HOUR, title="A beam", markdown="Wide.", labels=(Label.NEW,), source_metadata=None
    )

    async def found(**filters: Any) -> list[str]:  # noqa: ANN401  # fields of a query
        page = await store.page(trial.own, PostQuery(**filters), PageRequest())
        trial.holds(page, holds=not isinstance(page, Refusal))
        return [] if isinstance(page, Refusal) else [post.id for post in page[0]]

    trial.same(await found(labels=(Label.FIXED,)), [lamp.id])
    trial.same(await found(labels=(Label.NEW, Label.FIXED)), [beam.id, lamp.id])
    trial.same(await found(labels=(Label.NEW,), statuses=(PostStatus.PUBLISHED,)), [])
    trial.same(await found(repositories=("acme/lighthouse",)), [lamp.id])
    trial.same(await found(repositories=("ACME/lighthouse",)), [lamp.id])
    trial.same(await found(repositories=("acme/light",)), [])
    for query, ids in {"lamp": [lamp.id], "a lamp": [lamp.id], "a -lamp": [beam.id], "l*": [lamp.id]}.items():
        trial.same(await found(terms=read_terms(query)), ids)
    secured = evolve(lamp, content="<h2>Security</h2>", updated_at=START + _HOUR)
    trial.same(await store.change(secured, unchanged_since=lamp.updated_at), expected=True)
    trial.same(await found(labels=(Label.SECURITY,)), [lamp.id])
    trial.same(await found(labels=(Label.FIXED,)), [])
