"""``Changelogs``: each organization's changelogs, and the posts that they show."""

import asyncio
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from contract_values import IDS, Stores, Tenant, a_post, later, tenant
from tests.refusals import existing

from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.public.changelogs import (
    MAX_CHANGELOGS,
    SLUG_TAKEN,
    SLUG_USED,
    TOO_MANY_CHANGELOGS,
    Exposure,
    LinkBody,
    PublicChangelog,
    too_many_slugs,
)
from contentsvc_core.content.public.facets import Label
from contentsvc_core.content.public.images import Image, ImageKind, ImageMark
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.releases import PostLine
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

    assert (saved.count(SLUG_TAKEN), saved.count(None)) == (3, 1)
    holder, other = tenants[saved.index(None)], tenants[saved.index(SLUG_TAKEN)]
    assert await stores.changelogs.named("lamps") == of(holder, slug="lamps")
    assert await stores.changelogs.of(other.id) is None
    # An organization with another slug cannot take it either.
    assert await stores.changelogs.save(of(other)) is None
    assert await stores.changelogs.save(of(other, slug="lamps", title="Lamps")) == SLUG_TAKEN
    assert await stores.changelogs.of(other.id) == of(other)
    # A slug that was never public becomes free when its changelog gets another one.
    assert await stores.changelogs.save(of(holder)) is None
    assert await stores.changelogs.named("lamps") is None
    assert await stores.changelogs.save(of(other, slug="lamps")) is None


async def test_a_slug_that_was_public_belongs_to_its_organization_for_good(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    zenith = await tenant(acme.stores, "zenith")
    foreign = of(zenith, slug="sky")
    assert await changelogs.save(foreign) is None
    # Public, then hidden, then with another slug.
    for changes in ({"slug": "secret-launch", "is_public": True}, {"slug": "secret-launch"}, {"slug": "lamps"}):
        assert await changelogs.save(of(acme, **changes)) is None

    assert await changelogs.save(evolve(foreign, slug="secret-launch")) == SLUG_TAKEN
    assert await changelogs.of(zenith.id) == foreign
    # The old slug redirects to the changelog, and can become its slug again.
    assert await changelogs.named("secret-launch") == of(acme, slug="lamps")
    assert await changelogs.save(of(acme, slug="secret-launch")) is None


async def test_another_organizations_own_slug_is_never_free(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    zenith = await tenant(acme.stores, "zenith")
    # The result is the same with and without a changelog of Acme.
    for _ in range(2):
        assert await changelogs.save(of(zenith, slug="acme")) == SLUG_TAKEN
        assert await changelogs.save(of(acme, is_public=True)) is None
    # A later organization takes no slug away, with a public or a hidden changelog.
    assert await changelogs.save(of(zenith, slug="sky", is_public=True)) is None
    sky = await tenant(acme.stores, "sky")
    for slug in ("sky", "night", "sky"):
        assert await changelogs.save(of(zenith, slug=slug)) is None
    assert await changelogs.save(of(sky)) == SLUG_TAKEN


async def test_an_organization_holds_a_bounded_number_of_slugs(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    for slug in ("one", "two", "one"):
        assert await changelogs.save(of(acme, slug=slug, is_public=True), at_most=2) is None
    # A slug that was never public is not reserved.
    assert await changelogs.save(of(acme, slug="three"), at_most=2) is None
    assert await changelogs.save(of(acme, slug="three", is_public=True), at_most=2) == too_many_slugs(2)
    assert "at most 2" in too_many_slugs(2).reason
    assert await changelogs.of(acme.id) == of(acme, slug="three")
    assert await changelogs.save(of(acme, slug="two", is_public=True), at_most=2) is None


async def test_every_change_of_public_content_raises_the_revision_at_any_clock(acme: Tenant) -> None:
    changelogs, library = acme.stores.changelogs, acme.stores.posts
    own, zenith = of(acme, is_public=True), await tenant(acme.stores, "zenith")

    async def counted() -> int:
        found = existing(await changelogs.of(acme.id))
        return found.revision

    assert await changelogs.save(own) is None
    assert await changelogs.save(of(zenith)) is None
    counts = [await counted()]
    # Some posts have an earlier time; all others have the same time.
    draft = await written(acme, status=PostStatus.DRAFT)
    await written(zenith)
    assert await counted() == counts[-1]

    post = await written(acme, later(hours=-1))
    counts.append(await counted())
    published = evolve(draft, status=PostStatus.PUBLISHED, updated_at=later(milliseconds=1))
    edited = evolve(post, title="Other", updated_at=later(hours=-1, milliseconds=1))
    back = evolve(edited, status=PostStatus.DRAFT, updated_at=later(hours=-1, milliseconds=2))
    for before, changed in ((draft, published), (post, edited), (edited, back)):
        assert await library.change(changed, unchanged_since=before.updated_at)
        counts.append(await counted())
    assert await library.remove(acme.id, post.id)
    counts.append(await counted())
    for changelog in (evolve(own, title="Lamps"), evolve(own, is_public=False)):
        assert await changelogs.save(changelog) is None
        counts.append(await counted())
    assert counts == sorted(set(counts))


async def test_unstorable_text_is_refused(acme: Tenant) -> None:
    for changelog in (of(acme, title="\ud800"), of(acme, organization_id="org_unknown")):
        with pytest.raises(Unstorable):
            await acme.stores.changelogs.save(changelog)
    assert await acme.stores.changelogs.of(acme.id) is None


async def test_the_posts_that_become_public_are_counted_by_repository(
    acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Several parts, without hundreds of posts.
    monkeypatch.setattr("contentsvc_adapters.sql.changelogs._PART", 2)
    zenith = await tenant(acme.stores, "zenith")
    own, changelogs = of(acme), acme.stores.changelogs
    assert await changelogs.exposure(own) == Exposure(posts=0, repositories={})
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

    exposed = await changelogs.exposure(own)

    assert exposed == Exposure(posts=6, repositories={"acme/lighthouse": 3, "acme/foghorn": 2})
    assert exposed.repositories == (("acme/foghorn", 2), ("acme/lighthouse", 3))


async def test_only_its_own_published_posts_of_its_types_are_shown(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    shown = await written(acme)
    draft = await written(acme, status=PostStatus.DRAFT)
    tweet = await written(acme, content_type=ContentType.TWITTER_POST)
    foreign = await written(zenith)
    own, changelogs = of(acme), acme.stores.changelogs

    assert await changelogs.posts(own, limit=9) == [shown]
    assert await changelogs.post(own, shown.id) == shown
    for post in (draft, tweet, foreign):
        assert await changelogs.post(own, post.id) is None
    assert await changelogs.post(own, "post_unknown") is None
    assert await changelogs.posts(of(zenith), limit=9) == [foreign]
    # Other content types show other posts.
    both = of(acme, content_types=(ContentType.TWITTER_POST, ContentType.CHANGELOG))
    assert {post.id for post in await changelogs.posts(both, limit=9)} == {shown.id, tweet.id}
    # A withdrawn post is not shown, and keeps its place when it is published again.
    back = evolve(shown, status=PostStatus.DRAFT, updated_at=later(hours=1))
    assert await acme.stores.posts.change(back, unchanged_since=shown.updated_at)
    assert await changelogs.posts(own, limit=9) == []
    again = evolve(back, status=PostStatus.PUBLISHED, updated_at=later(hours=2))
    assert await acme.stores.posts.change(again, unchanged_since=back.updated_at)
    assert await changelogs.posts(own, limit=9) == [again]
    assert again.published_at == START
    # A published draft counts from its publication on.
    published = evolve(draft, status=PostStatus.PUBLISHED, updated_at=later(hours=3))
    assert await acme.stores.posts.change(published, unchanged_since=draft.updated_at)
    assert await changelogs.posts(own, limit=9) == [published, again]
    assert published.published_at == later(hours=3)


async def test_posts_are_listed_by_when_they_happened_and_continue_from_a_cursor(acme: Tenant) -> None:
    # Earlier events have later posts. Two posts of different types have the same time: the ids decide.
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
    own, changelogs = of(acme), acme.stores.changelogs

    assert await changelogs.posts(own, limit=9) == newest_first
    assert await changelogs.posts(own, limit=3) == newest_first[:3]
    for number, post in enumerate(newest_first):
        found = await changelogs.posts(own, limit=2, before=post.cursor)
        assert found == newest_first[number + 1 : number + 3]
    released = [post for post in newest_first if post.release_tag is not None]
    assert await changelogs.posts(own, limit=9, released=True) == released
    assert await changelogs.posts(own, limit=1, released=True, before=released[0].cursor) == [released[1]]


async def test_months_begin_at_midnight_of_their_zone(acme: Tenant) -> None:
    own, changelogs = of(acme), acme.stores.changelogs
    assert await changelogs.months(own) == []
    last_ms = datetime(2026, 1, 31, 23, 59, 59, 999_000, tzinfo=UTC)
    january = await written(acme, occurred_at=last_ms)
    february = await written(acme, datetime(2026, 2, 1, tzinfo=UTC))
    long_ago = await written(acme, datetime(2024, 12, 5, 12, tzinfo=UTC), content_type=ContentType.BLOG_POST)
    await written(acme, datetime(2025, 6, 1, tzinfo=UTC), content_type=ContentType.TWITTER_POST)
    await written(acme, datetime(2025, 7, 1, tzinfo=UTC), status=PostStatus.DRAFT)

    assert await changelogs.months(own) == [Month(2026, 2), Month(2026, 1), Month(2024, 12)]
    for month, posts in {
        Month(2026, 2): [february],
        Month(2026, 1): [january],
        Month(2025, 6): [],
        Month(2024, 12): [long_ago],
    }.items():
        assert await changelogs.posts(own, limit=9, month=month) == posts
    assert await changelogs.posts(own, limit=9, month=Month(2026, 1), before=january.cursor) == []
    assert await changelogs.months(of(acme, content_types=(ContentType.TWITTER_POST,))) == [Month(2025, 6)]
    tokyo = ZoneInfo("Asia/Tokyo")
    assert await changelogs.months(own, tokyo) == [Month(2026, 2), Month(2024, 12)]
    assert await changelogs.posts(own, limit=9, month=Month(2026, 2, tokyo)) == [february, january]
    assert await changelogs.posts(own, limit=9, month=Month(2026, 1, tokyo)) == []


async def test_every_kind_of_public_change_sets_the_last_change(acme: Tenant) -> None:
    changelogs, library = acme.stores.changelogs, acme.stores.posts
    own = of(acme)
    assert await changelogs.save(own) is None
    assert await changelogs.last_change(own) == START
    # Never published, so no reader knows it.
    await written(acme, later(days=1), status=PostStatus.DRAFT)
    zenith = await tenant(acme.stores, "zenith")
    await written(zenith, later(days=2))
    assert await changelogs.last_change(own) == START

    post, other = await written(acme, later(hours=1)), await written(acme, later(hours=2))
    assert await changelogs.last_change(own) == later(hours=2)
    back = evolve(post, status=PostStatus.DRAFT, updated_at=later(hours=3))
    assert await library.change(back, unchanged_since=post.updated_at)
    assert await changelogs.last_change(own) == later(hours=3)
    assert await library.remove(acme.id, other.id, at=later(hours=4))
    current = await changelogs.of(acme.id)
    assert current == evolve(own, updated_at=later(hours=4))
    assert current is not None
    assert await changelogs.last_change(current) == later(hours=4)
    # A deleted post cannot change, and the time of the last change never decreases.
    assert not await library.remove(acme.id, other.id, at=later(hours=5))
    assert await library.remove(acme.id, post.id, at=later(hours=3))
    assert await changelogs.of(acme.id) == current
    assert await changelogs.of(zenith.id) is None


async def test_changes_at_once_are_all_counted(acme: Tenant) -> None:
    changelogs, library = acme.stores.changelogs, acme.stores.posts
    own = of(acme, is_public=True)
    assert await changelogs.save(own) is None
    posts = [await written(acme) for _ in range(6)]
    before = existing(await changelogs.of(acme.id))

    done = await asyncio.gather(
        *(library.change(evolve(post, title="n", updated_at=later(hours=1)), unchanged_since=START) for post in posts),
        *(changelogs.save(evolve(own, title=f"{number}")) for number in range(4)),
    )

    assert done == [True] * 6 + [None] * 4
    after = existing(await changelogs.of(acme.id))
    assert after.revision == before.revision + 10


async def test_a_post_that_was_removed_is_in_no_month(acme: Tenant) -> None:
    post = await written(acme)
    assert await acme.stores.posts.remove(acme.id, post.id, at=later(hours=1))

    assert await acme.stores.changelogs.months(of(acme)) == []
    assert await acme.stores.changelogs.post(of(acme), IDS.new_id("post_")) is None


def another(acme: Tenant, slug: str, **changes: object) -> PublicChangelog:
    return of(acme, id=f"chl_{slug}", slug=slug, title=slug, created_at=later(hours=1), **changes)


async def test_an_organization_has_several_changelogs_each_with_its_slug(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    first = of(acme, is_public=True)
    lens = another(
        acme,
        "lens",
        is_public=True,
        repositories=("acme/lens",),
        scopes=("beam", "api"),
        accent="0b6b63",
        header_links=(LinkBody(label="Docs ⚓", url="https://acme.example/docs"),),
        show_details=True,
    )
    for each in (lens, first):
        assert await changelogs.save(each) is None

    assert await changelogs.of(acme.id) == first
    assert await changelogs.all_of(acme.id) == [first, lens]
    assert await changelogs.named("lens") == lens
    # No changelog takes a current or earlier address of the other one.
    assert await changelogs.save(evolve(lens, slug="acme")) == SLUG_USED
    assert await changelogs.save(evolve(first, slug="lighthouse")) is None
    assert await changelogs.save(evolve(lens, slug="acme")) == SLUG_USED
    assert await changelogs.named("acme") == evolve(first, slug="lighthouse")
    moved = evolve(lens, slug="glass")
    assert await changelogs.save(moved) is None
    assert await changelogs.named("lens") == moved
    # The slug of a deleted changelog redirects nowhere; the organization keeps it for its other changelogs.
    await changelogs.remove(moved)
    assert await changelogs.all_of(acme.id) == [evolve(first, slug="lighthouse")]
    assert await changelogs.named("lens") is None
    zenith = await tenant(acme.stores, "zenith")
    assert await changelogs.save(of(zenith, slug="lens")) == SLUG_TAKEN
    door = another(acme, "door", is_public=True)
    assert await changelogs.save(evolve(door, slug="lens")) is None
    assert await changelogs.save(door) is None
    assert await changelogs.named("lens") == door


async def test_an_organization_has_a_bounded_number_of_changelogs(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    for number in range(MAX_CHANGELOGS):
        assert await changelogs.save(another(acme, f"c-{number}")) is None
    assert await changelogs.save(another(acme, "more")) == TOO_MANY_CHANGELOGS
    assert await changelogs.save(another(acme, "c-1", description="x")) is None


async def test_a_picture_is_kept_beside_its_changelog_and_counts_as_a_change(acme: Tenant) -> None:
    changelogs = acme.stores.changelogs
    created = of(acme)
    mark = ImageMark(kind=ImageKind.LOGO, media_type="image/png", width=64, height=32, digest="0" * 16)
    logo = Image(mark=mark, content=b"\x89PNG\0")
    icon = evolve(logo, mark=evolve(mark, kind=ImageKind.ICON))
    # A changelog that is not set up.
    await changelogs.put_image(created, ImageKind.LOGO, logo, START)
    assert await changelogs.of(acme.id) is None
    assert await changelogs.save(created) is None
    for each in (logo, icon, evolve(logo, content=b"other")):
        await changelogs.put_image(created, each.mark.kind, each, later(hours=1))

    found = existing(await changelogs.of(acme.id))
    assert (found.images, found.revision, found.updated_at) == ((icon.mark, mark), 3, later(hours=1))
    # Other changes do not affect them.
    assert await changelogs.save(of(acme, title="Lamps")) is None
    found = existing(await changelogs.of(acme.id))
    assert (found.title, found.images) == ("Lamps", (icon.mark, mark))
    assert await changelogs.image(found, ImageKind.LOGO) == evolve(logo, content=b"other")
    assert await changelogs.image(found, ImageKind.CARD) is None
    await changelogs.put_image(found, ImageKind.LOGO, None, later(hours=2))
    assert await changelogs.image(evolve(found, images=()), ImageKind.LOGO) is None
    found = existing(await changelogs.of(acme.id))
    assert found.images == (icon.mark,)


async def test_a_changelog_of_some_repositories_or_scopes_shows_their_posts_alone(acme: Tenant) -> None:
    def about(*repositories: str, scope: str = "beam") -> dict[str, object]:
        content = f"<h2>Fixed</h2><ul><li><strong>{scope}:</strong> x</li></ul>"
        return {"source_metadata": {"repositories": list(repositories)}, "content": content}

    lens = await written(acme, START, **about("Acme/lens"))
    both = await written(acme, later(hours=1), **about("acme/lens", "acme/secret"))
    door = await written(acme, later(days=40), **about("acme/door", scope="api"))
    none = await written(acme, later(days=80), source_metadata=None)
    changelogs = acme.stores.changelogs

    async def shown(**changes: object) -> list[Post]:
        return list(await changelogs.posts(of(acme, **changes), limit=9))

    assert await shown() == [none, door, both, lens]
    assert await shown(repositories=("acme/lens",)) == [lens]
    assert await shown(repositories=("acme/lens", "acme/secret")) == [both, lens]
    assert await shown(repositories=("acme/lens", "acme/door")) == [door, lens]
    assert await shown(scopes=("beam",)) == [both, lens]
    assert await shown(scopes=("api", "fog")) == [door]
    assert await shown(repositories=("acme/lens",), scopes=("api",)) == []
    chosen = of(acme, repositories=("acme/lens", "acme/door"))
    assert await changelogs.post(chosen, both.id) is None
    assert await changelogs.months(chosen) == [Month.of(door.occurred_at), Month.of(lens.occurred_at)]
    assert await changelogs.beside(chosen, lens) == (None, PostLine.of(door))
    assert await changelogs.beside(of(acme), both) == (PostLine.of(lens), PostLine.of(door))
    exposed = {"Acme/lens": 1, "acme/door": 1}
    assert await changelogs.exposure(chosen) == Exposure(posts=2, repositories=exposed)
    # An edit changes the words that find a post.
    edited = evolve(lens, content="<h2>Added</h2><ul><li>y</li></ul>", updated_at=later(days=90))
    assert await acme.stores.posts.change(edited, unchanged_since=lens.updated_at)
    assert await shown(scopes=("beam",)) == [both]


async def test_posts_are_listed_by_their_labels(acme: Tenant) -> None:
    fixed = await written(acme, START, content="<h2>Fixed</h2><p>x</p>")
    both = await written(acme, later(hours=1), content="<h2>Fixed</h2><p>x</p><h2>Added</h2>")
    await written(acme, later(hours=2))
    changelogs, all_ = acme.stores.changelogs, of(acme)

    assert await changelogs.posts(all_, limit=9, label=Label.FIXED) == [both, fixed]
    assert await changelogs.posts(all_, limit=1, label=Label.FIXED) == [both]
    assert await changelogs.posts(all_, limit=9, label=Label.NEW) == [both]
    assert await changelogs.posts(all_, limit=9, label=Label.SECURITY) == []
    cursor = both.cursor
    assert await changelogs.posts(all_, limit=9, label=Label.FIXED, before=cursor) == [fixed]


async def test_a_post_has_a_path_from_its_publication_and_keeps_its_old_paths(acme: Tenant) -> None:
    changelogs, posts, all_ = acme.stores.changelogs, acme.stores.posts, of(acme)

    async def path(post: Post) -> str | None:
        found = await posts.post(acme.id, post.id)
        return None if found is None else found.path

    lamp, same = await written(acme, title="A lamp"), await written(acme, title="A  lamp!")
    release = await written(acme, title="A lamp", release_tag="v2.0.0")
    draft = await written(acme, title="A lamp", status=PostStatus.DRAFT)
    month = START.strftime("%Y/%m")
    assert [await path(each) for each in (lamp, same, release, draft)] == [
        *(f"{month}/a-lamp", f"{month}/a-lamp-2", "releases/v2.0.0"),
        None,
    ]
    published = evolve(draft, status=PostStatus.PUBLISHED, published_at=later(hours=1), updated_at=later(hours=1))
    assert await posts.change(published, unchanged_since=draft.updated_at)
    assert await path(draft) == f"{month}/a-lamp-3"
    renamed = evolve(lamp, title="A door", updated_at=later(hours=2))
    assert await posts.change(renamed, unchanged_since=lamp.updated_at)
    assert await path(lamp) == f"{month}/a-door"
    # The old path redirects to the post, and no other post gets it; it can become the post's path again.
    for each in (f"{month}/a-door", f"{month}/a-lamp"):
        found = existing(await changelogs.at_path(all_, each))
        assert found == renamed
        assert found.path == f"{month}/a-door"
    assert await path(await written(acme, title="A lamp")) == f"{month}/a-lamp-4"
    back = evolve(renamed, title="A lamp", updated_at=later(hours=3))
    assert await posts.change(back, unchanged_since=renamed.updated_at)
    assert await path(lamp) == f"{month}/a-lamp"
    assert await changelogs.at_path(all_, "releases/unknown") is None
    # A withdrawn post has no address, and a deleted post frees its paths.
    hidden = evolve(back, status=PostStatus.DRAFT, updated_at=later(hours=4))
    assert await posts.change(hidden, unchanged_since=back.updated_at)
    assert await changelogs.at_path(all_, f"{month}/a-lamp") is None
    assert await posts.remove(acme.id, lamp.id)
    assert await path(await written(acme, title="A door")) == f"{month}/a-door"


async def test_posts_published_at_once_have_different_paths(acme: Tenant) -> None:
    written_ = await asyncio.gather(*(written(acme, title="A lamp") for _ in range(5)))

    found = [await acme.stores.posts.post(acme.id, post.id) for post in written_]
    assert len({post.path for post in found if post is not None}) == 5


async def test_paths_are_each_organizations_own(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    lamp, foreign = await written(acme, title="A lamp"), await written(zenith, title="A lamp")

    path = f"{START:%Y/%m}/a-lamp"
    assert await acme.stores.changelogs.at_path(of(acme), path) == lamp
    assert await acme.stores.changelogs.at_path(of(zenith), path) == foreign
