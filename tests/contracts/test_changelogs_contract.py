"""``Changelogs``: one of each organization, and what it shows of that organization's posts."""

import asyncio
from datetime import UTC, datetime

import pytest
from attrs import evolve
from contract_values import IDS, Stores, Tenant, a_post, later, tenant

from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.public.changelogs import SLUG_TAKEN, Exposure, PublicChangelog, too_many_slugs
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.places import PublishedPlace
from contentsvc_core.errors import Unstorable
from contentsvc_core.testing import START
from contentsvc_core.workflows.runs import Completion


def of(acme: Tenant, **changes: object) -> PublicChangelog:
    return evolve(PublicChangelog.first(acme.organization, START), **changes)  # pyright: ignore[reportArgumentType]


async def written(acme: Tenant, at: datetime = START, **changes: object) -> Post:
    post = a_post(acme.id, at, **{"status": PostStatus.PUBLISHED, **changes})
    assert await acme.stores.ledger.complete(await acme.taken(), post, once=None) is Completion.COMPLETED
    return post


async def test_a_changelog_reads_back_as_it_was_and_takes_the_place_of_the_one_before(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    assert await changelogs.of(acme.id) is None
    assert await changelogs.named("acme") is None
    first = of(acme, description="öffnen ⚓", product_url="https://acme.example/", is_public=True)
    second = of(acme, slug="lamps", title="Lamps", content_types=(ContentType.BLOG_POST,), updated_at=later(hours=1))

    for changelog in (first, first, second):
        assert await changelogs.save(changelog) is None
        assert await changelogs.of(acme.id) == changelog
        assert await changelogs.named(changelog.slug) == changelog


async def test_a_slug_belongs_to_one_organization(stores: Stores) -> None:
    tenants = [await tenant(stores, f"t-{number}") for number in range(4)]
    saved = await asyncio.gather(*(stores.changelogs.save(of(each, slug="lamps")) for each in tenants))

    assert sorted(saved, key=str) == [SLUG_TAKEN, SLUG_TAKEN, SLUG_TAKEN, None]
    holder, other = tenants[saved.index(None)], tenants[saved.index(SLUG_TAKEN)]
    assert await stores.changelogs.named("lamps") == of(holder, slug="lamps")
    assert await stores.changelogs.of(other.id) is None
    # Nor can it be taken by who has another one.
    assert await stores.changelogs.save(of(other)) is None
    assert await stores.changelogs.save(of(other, slug="lamps", title="Lamps")) == SLUG_TAKEN
    assert await stores.changelogs.of(other.id) == of(other)
    # A slug that was never public is free when it is given up.
    assert await stores.changelogs.save(of(holder)) is None
    assert await stores.changelogs.named("lamps") is None
    assert await stores.changelogs.save(of(other, slug="lamps")) is None


async def test_a_slug_that_was_public_belongs_to_its_organization_for_good(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    zenith = await tenant(acme.stores, "zenith")
    theirs = of(zenith, slug="sky")
    assert await changelogs.save(theirs) is None
    # Public, then off, then under another slug.
    for changes in ({"slug": "secret-launch", "is_public": True}, {"slug": "secret-launch"}, {"slug": "lamps"}):
        assert await changelogs.save(of(acme, **changes)) is None

    assert await changelogs.save(evolve(theirs, slug="secret-launch")) == SLUG_TAKEN
    assert await changelogs.of(zenith.id) == theirs
    # It leads to the changelog as it is now, and can be its address again.
    assert await changelogs.named("secret-launch") == of(acme, slug="lamps")
    assert await changelogs.save(of(acme, slug="secret-launch")) is None


async def test_another_organizations_own_slug_is_never_free(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    zenith = await tenant(acme.stores, "zenith")
    # Whether Acme has a changelog makes no difference.
    for _ in range(2):
        assert await changelogs.save(of(zenith, slug="acme")) == SLUG_TAKEN
        assert await changelogs.save(of(acme, is_public=True)) is None
    # An organization that comes later takes nothing away, on or off, whatever its name.
    assert await changelogs.save(of(zenith, slug="sky", is_public=True)) is None
    sky = await tenant(acme.stores, "sky")
    for slug in ("sky", "night", "sky"):
        assert await changelogs.save(of(zenith, slug=slug)) is None
    assert await changelogs.save(of(sky)) == SLUG_TAKEN


async def test_an_organization_holds_a_bounded_number_of_slugs(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    for slug in ("one", "two", "one"):
        assert await changelogs.save(of(acme, slug=slug, is_public=True), at_most=2) is None
    # What is not public is not held.
    assert await changelogs.save(of(acme, slug="three"), at_most=2) is None
    assert await changelogs.save(of(acme, slug="three", is_public=True), at_most=2) == too_many_slugs(2)
    assert "at most 2" in too_many_slugs(2).reason
    assert await changelogs.of(acme.id) == of(acme, slug="three")
    assert await changelogs.save(of(acme, slug="two", is_public=True), at_most=2) is None


async def test_every_change_of_what_is_or_was_public_is_counted_whatever_the_clock_says(acme: Tenant) -> None:
    changelogs, library = acme.stores.changelogs, acme.stores.posts
    mine, zenith = of(acme, is_public=True), await tenant(acme.stores, "zenith")

    async def counted() -> int:
        found = await changelogs.of(acme.id)
        assert found is not None
        return found.revision

    assert await changelogs.save(mine) is None
    assert await changelogs.save(of(zenith)) is None
    counts = [await counted()]
    # All at one moment, and some at an earlier one.
    draft = await written(acme, status=PostStatus.DRAFT)
    await written(zenith)
    assert await counted() == counts[-1]

    post = await written(acme, later(hours=-1))
    counts.append(await counted())
    published = evolve(draft, status=PostStatus.PUBLISHED, updated_at=later(milliseconds=1))
    edited = evolve(post, title="Other", updated_at=later(hours=-1, milliseconds=1))
    back = evolve(edited, status=PostStatus.DRAFT, updated_at=later(hours=-1, milliseconds=2))
    for seen, changed in ((draft, published), (post, edited), (edited, back)):
        assert await library.change(changed, seen=seen.updated_at)
        counts.append(await counted())
    assert await library.remove(acme.id, post.id)
    counts.append(await counted())
    for changelog in (evolve(mine, title="Lamps"), evolve(mine, is_public=False)):
        assert await changelogs.save(changelog) is None
        counts.append(await counted())
    assert counts == sorted(set(counts))


async def test_what_no_store_can_hold_is_refused(acme: Tenant) -> None:
    for changelog in (of(acme, title="\ud800"), of(acme, organization_id="org_unknown")):
        with pytest.raises(Unstorable):
            await acme.stores.changelogs.save(changelog)
    assert await acme.stores.changelogs.of(acme.id) is None


async def test_what_becomes_public_is_counted_by_repository(acme: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    # Several parts, without hundreds of posts.
    monkeypatch.setattr("contentsvc_adapters.sql.changelogs._PART", 2)
    zenith = await tenant(acme.stores, "zenith")
    mine, changelogs = of(acme), acme.stores.changelogs
    assert await changelogs.exposure(mine) == Exposure(posts=0, repositories={})
    metadata: list[dict[str, object] | None] = [
        {"repositories": ["acme/lighthouse"]},
        {"repositories": ["acme/lighthouse", "acme/foghorn"]},
        {"repositories": ["acme/foghorn", 7, "acme/foghorn"]},
        {"repositories": "none"},
        None,
    ]
    for number, each in enumerate(metadata):
        await written(acme, later(minutes=number // 2), source_metadata=each)
    await written(acme, content_type=ContentType.BLOG_POST, source_metadata=metadata[0])
    await written(acme, content_type=ContentType.TWITTER_POST, source_metadata={"repositories": ["acme/secret"]})
    await written(acme, status=PostStatus.DRAFT, source_metadata={"repositories": ["acme/secret"]})
    await written(zenith, source_metadata={"repositories": ["zenith/star"]})

    exposed = await changelogs.exposure(mine)

    assert exposed == Exposure(posts=6, repositories={"acme/lighthouse": 3, "acme/foghorn": 2})
    assert exposed.repositories == (("acme/foghorn", 2), ("acme/lighthouse", 3))


async def test_only_its_own_published_posts_of_its_types_are_shown(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    shown = await written(acme)
    draft = await written(acme, status=PostStatus.DRAFT)
    tweet = await written(acme, content_type=ContentType.TWITTER_POST)
    theirs = await written(zenith)
    mine, changelogs = of(acme), acme.stores.changelogs

    assert await changelogs.posts(mine, limit=9) == [shown]
    assert await changelogs.post(mine, shown.id) == shown
    for post in (draft, tweet, theirs):
        assert await changelogs.post(mine, post.id) is None
    assert await changelogs.post(mine, "post_unknown") is None
    assert await changelogs.posts(of(zenith), limit=9) == [theirs]
    # Another choice of types shows others.
    both = of(acme, content_types=(ContentType.TWITTER_POST, ContentType.CHANGELOG))
    assert {post.id for post in await changelogs.posts(both, limit=9)} == {shown.id, tweet.id}
    # What is taken back is not shown, and keeps its place when it is published again.
    back = evolve(shown, status=PostStatus.DRAFT, updated_at=later(hours=1))
    assert await acme.stores.posts.change(back, seen=shown.updated_at)
    assert await changelogs.posts(mine, limit=9) == []
    again = evolve(back, status=PostStatus.PUBLISHED, updated_at=later(hours=2))
    assert await acme.stores.posts.change(again, seen=back.updated_at)
    assert await changelogs.posts(mine, limit=9) == [again]
    assert again.published_at == START
    # A draft that is published counts from then on.
    published = evolve(draft, status=PostStatus.PUBLISHED, updated_at=later(hours=3))
    assert await acme.stores.posts.change(published, seen=draft.updated_at)
    assert await changelogs.posts(mine, limit=9) == [published, again]
    assert published.published_at == later(hours=3)


async def test_posts_are_listed_by_when_they_happened_and_read_on_from_a_place(acme: Tenant) -> None:
    # What happened first was written last. Two at each moment, of two types: the ids decide.
    posts = [
        await written(
            acme,
            later(hours=number),
            occurred_at=later(days=-(number // 2)),
            content_type=(ContentType.CHANGELOG, ContentType.BLOG_POST)[number % 2],
            release_tag=f"v{number}" if number % 3 == 0 else None,
        )
        for number in range(7)
    ]
    newest_first = sorted(posts, key=lambda post: (post.occurred_at, post.id), reverse=True)
    mine, changelogs = of(acme), acme.stores.changelogs

    assert await changelogs.posts(mine, limit=9) == newest_first
    assert await changelogs.posts(mine, limit=3) == newest_first[:3]
    for number, post in enumerate(newest_first):
        found = await changelogs.posts(mine, limit=2, before=PublishedPlace.of(post))
        assert found == newest_first[number + 1 : number + 3]
    released = [post for post in newest_first if post.release_tag is not None]
    assert await changelogs.posts(mine, limit=9, released=True) == released
    assert await changelogs.posts(mine, limit=1, released=True, before=PublishedPlace.of(released[0])) == [released[1]]


async def test_months_begin_at_midnight_utc(acme: Tenant) -> None:
    mine, changelogs = of(acme), acme.stores.changelogs
    assert await changelogs.months(mine) == []
    last_ms = datetime(2026, 1, 31, 23, 59, 59, 999_000, tzinfo=UTC)
    january = await written(acme, occurred_at=last_ms)
    february = await written(acme, datetime(2026, 2, 1, tzinfo=UTC))
    long_ago = await written(acme, datetime(2024, 12, 5, 12, tzinfo=UTC), content_type=ContentType.BLOG_POST)
    await written(acme, datetime(2025, 6, 1, tzinfo=UTC), content_type=ContentType.TWITTER_POST)
    await written(acme, datetime(2025, 7, 1, tzinfo=UTC), status=PostStatus.DRAFT)

    assert await changelogs.months(mine) == [Month(2026, 2), Month(2026, 1), Month(2024, 12)]
    for month, posts in {
        Month(2026, 2): [february],
        Month(2026, 1): [january],
        Month(2025, 6): [],
        Month(2024, 12): [long_ago],
    }.items():
        assert await changelogs.posts(mine, limit=9, month=month) == posts
    assert await changelogs.posts(mine, limit=9, month=Month(2026, 1), before=PublishedPlace.of(january)) == []
    assert await changelogs.months(of(acme, content_types=(ContentType.TWITTER_POST,))) == [Month(2025, 6)]


async def test_the_last_change_is_told_whatever_it_was(acme: Tenant) -> None:
    changelogs, library = acme.stores.changelogs, acme.stores.posts
    mine = of(acme)
    assert await changelogs.save(mine) is None
    assert await changelogs.last_change(mine) == START
    # Never published: no reader has seen it.
    await written(acme, later(days=1), status=PostStatus.DRAFT)
    zenith = await tenant(acme.stores, "zenith")
    await written(zenith, later(days=2))
    assert await changelogs.last_change(mine) == START

    post, other = await written(acme, later(hours=1)), await written(acme, later(hours=2))
    assert await changelogs.last_change(mine) == later(hours=2)
    back = evolve(post, status=PostStatus.DRAFT, updated_at=later(hours=3))
    assert await library.change(back, seen=post.updated_at)
    assert await changelogs.last_change(mine) == later(hours=3)
    assert await library.remove(acme.id, other.id, at=later(hours=4))
    standing = await changelogs.of(acme.id)
    assert standing == evolve(mine, updated_at=later(hours=4))
    assert standing is not None
    assert await changelogs.last_change(standing) == later(hours=4)
    # What is gone cannot change, and time does not go back.
    assert not await library.remove(acme.id, other.id, at=later(hours=5))
    assert await library.remove(acme.id, post.id, at=later(hours=3))
    assert await changelogs.of(acme.id) == standing
    assert await changelogs.of(zenith.id) is None


async def test_changes_at_once_are_all_counted(acme: Tenant) -> None:
    changelogs, library = acme.stores.changelogs, acme.stores.posts
    mine = of(acme, is_public=True)
    assert await changelogs.save(mine) is None
    posts = [await written(acme) for _ in range(6)]
    before = await changelogs.of(acme.id)
    assert before is not None

    done = await asyncio.gather(
        *(library.change(evolve(post, title="n", updated_at=later(hours=1)), seen=START) for post in posts),
        *(changelogs.save(evolve(mine, title=f"{number}")) for number in range(4)),
    )

    assert done == [True] * 6 + [None] * 4
    after = await changelogs.of(acme.id)
    assert after is not None
    assert after.revision == before.revision + 10


async def test_a_post_that_was_removed_is_in_no_month(acme: Tenant) -> None:
    post = await written(acme)
    assert await acme.stores.posts.remove(acme.id, post.id, at=later(hours=1))

    assert await acme.stores.changelogs.months(of(acme)) == []
    assert await acme.stores.changelogs.post(of(acme), IDS.mint("post_")) is None
