"""The pages of public changelogs: content, visibility, and caching."""

import re
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from tests.api.world import ApiWorld
from tests.changelog.reader import HOME, HOSTILE, Reader, publish, write
from tests.dashboard.browsing import Seen

from contentsvc_core.content.posts import PostStatus
from contentsvc_http.changelog.routes import PAGE_LENGTH
from contentsvc_http.settings import Settings

_PATHS = (
    *("", "/2026-02", "/releases", "/{path}", "/embed", "/embed/fragment", "/feed.atom", "/feed.json"),
    "?before=1770000000000_post_1",
)


def path(reader: Reader, pattern: str) -> str:
    return pattern.format(path=reader.posts[0].path)


async def test_the_front_page_shows_the_newest_by_months_with_links_to_all_of_it(reader: Reader) -> None:
    page = Seen(await reader.get())

    assert (page.status, page.heading) == (200, "Acme's lamps")
    assert [text for text in ("February 2026", "January 2026", "v2.0.0", "Blog post") if text not in page.text] == []
    assert page.links[HOSTILE].endswith(f"{HOME}/{reader.posts[0].path}")
    links = set(page.links.values())
    base = f"http://test{HOME}"
    paths = ("", "/releases", "/2026-02", "/2026-01", "/feed.atom", "/feed.json")
    assert {f"{base}{each}" for each in paths} | {"https://acme.example/"} <= links
    times = [attrs for tag, attrs in page.elements if tag == "time"]
    assert times
    assert [attrs for attrs in times if not (attrs["title"].endswith(" UTC") and attrs["datetime"].endswith("Z"))] == []
    head = {attrs.get("rel") or attrs.get("property") or attrs.get("name"): attrs for _, attrs in page.elements}
    assert head["canonical"]["href"] == head["og:url"]["content"] == base
    assert head["og:title"]["content"] == "Acme's lamps"
    assert head["description"]["content"] == "What shines & why"
    assert {attrs["type"] for tag, attrs in page.elements if attrs.get("rel") == "alternate" and tag == "link"} == {
        "application/atom+xml",
        "application/feed+json",
    }


async def test_a_month_a_post_and_the_releases_have_pages_of_their_own(reader: Reader) -> None:
    february, january = Seen(await reader.get("/2026-02")), Seen(await reader.get("/2026-01"))
    post, releases = Seen(await reader.get(f"/{reader.posts[2].path}")), Seen(await reader.get("/releases"))

    assert (february.heading, january.heading) == ("February 2026", "January 2026")
    assert "It shines" in january.text
    assert "It shines" not in february.text
    assert "← January 2026" in february.links
    assert "February 2026 →" in january.links
    assert post.heading == "A lamp"
    assert "31 January 2026" in post.text
    assert releases.heading == "Releases"
    assert "v2.0.0" in releases.text
    assert reader.posts[0].title not in releases.text


async def test_days_and_months_are_in_the_zone_of_the_organization(reader: Reader) -> None:
    before = {each: await reader.get(each) for each in ("", "/2026-02", f"/{reader.posts[2].path}", "/feed.atom")}
    directory, own = reader.world.stores.directory, reader.acme.organization.id
    await directory.change(own, reader.world.clock.now(), time_zone=ZoneInfo("Pacific/Kiritimati"))

    tags = {each: {"if_none_match": answer.headers["ETag"]} for each, answer in before.items()}
    after = {each: await reader.get(each, **tags[each]) for each in before}

    assert [answer.status_code for answer in after.values()] == [200] * 4
    assert "1 February 2026" in Seen(after[f"/{reader.posts[2].path}"]).text
    assert "It shines" in Seen(after["/2026-02"]).text
    assert "It shines" not in Seen(before["/2026-02"]).text
    assert after["/feed.atom"].text == before["/feed.atom"].text


async def test_other_posts_are_nowhere(reader: Reader) -> None:
    for pattern in _PATHS:
        text = (await reader.get(path(reader, pattern))).text
        assert not [post.title for post in (reader.draft, reader.tweet, reader.foreign) if post.title in text]
    for hidden in (reader.draft, reader.tweet, reader.foreign):
        assert (await reader.get(f"/posts/{hidden.id}")).status_code == 404


async def test_foreign_words_do_nothing(reader: Reader) -> None:
    for pattern in _PATHS:
        if pattern == "/feed.json":
            # There, a title is unchanged plain text.
            continue
        answer = await reader.get(path(reader, pattern))
        assert "<script>alert" not in answer.text
        policy = answer.headers.get("Content-Security-Policy", "")
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_only_the_page_for_frames_may_be_put_into_one(reader: Reader) -> None:
    for pattern in ("", "/2026-02", "/releases", "/{path}", "/embed/fragment", "/nowhere"):
        policy = (await reader.get(path(reader, pattern))).headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
    framed = await reader.get("/embed")
    assert "frame-ancestors *" in framed.headers["Content-Security-Policy"]
    assert {attrs["target"] for tag, attrs in Seen(framed).elements if tag == "a"} == {"_blank"}


async def test_a_fragment_is_a_part_of_a_page_with_whole_addresses(reader: Reader) -> None:
    fragment = await reader.get("/embed/fragment")

    assert fragment.text.startswith("<section")
    assert fragment.headers["Access-Control-Allow-Origin"] == "*"
    assert all(link.startswith("http://test/") for link in Seen(fragment).links.values())
    # Also without a stylesheet, the version is a separate word.
    assert '</time></bdi> <bdi class="badge release">' in fragment.text


@pytest.mark.parametrize("pattern", _PATHS)
async def test_a_cached_page_is_not_sent_again(reader: Reader, pattern: str) -> None:
    where = path(reader, pattern)
    first = await reader.get(where)
    tag, modified = first.headers["ETag"], first.headers["Last-Modified"]

    assert first.status_code == 200
    assert first.headers["Cache-Control"] == "private, max-age=60"
    assert (await reader.get(where)).content == first.content
    for headers in (
        {"If_None_Match": tag},
        {"If_None_Match": f'"x", W/{tag}'},
        {"If_None_Match": "*"},
        {"If_Modified_Since": modified},
    ):
        again = await reader.get(where, **headers)
        assert (again.status_code, again.content) == (304, b"")
        assert (again.headers["ETag"], again.headers["Cache-Control"]) == (tag, "private, max-age=60")
    for headers in (
        {"If_None_Match": '"x"'},
        {"If_None_Match": "malformed"},
        # RFC 9110, section 13.1.3: the entity tag has precedence.
        {"If_None_Match": '"x"', "If_Modified_Since": modified},
        {"If_Modified_Since": "Mon, 01 Jan 2035 00:00:00 GMT"},
    ):
        assert (await reader.get(where, **headers)).status_code == 200
    head = await reader.get(where, method="HEAD")
    assert (head.status_code, head.headers["ETag"]) == (200, tag)
    assert head.headers["Content-Type"] == first.headers["Content-Type"]


@pytest.mark.parametrize(
    "where",
    [
        *("/2026-13", "/2020-01", "/nowhere", "/posts/post_unknown", "/posts/a%20b", "/a/b/c", "?before=x", "?label=x"),
        *("/releases/unknown", "/2026/02/unknown", "/2026/13", "/images/logo", "/images/x", f"/2026/02/{'x' * 300}"),
        *("/2026-02?before=x", "/releases?before=1_a/b"),
    ],
)
async def test_an_unknown_page_is_404_and_is_not_cached(reader: Reader, where: str) -> None:
    answer = await reader.get(where)

    assert (answer.status_code, Seen(answer).heading) == (404, "Page not found")
    # The page of the error belongs to the changelog, and leads back to it.
    assert Seen(answer).links["See all posts"].endswith(HOME)
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("where", ["/posts", "/releases/a/b", "/embed/x", "/subscribe/x/y", "/feed.atom/x"])
async def test_where_no_page_could_be_people_read_so(reader: Reader, where: str) -> None:
    answer = await reader.get(where)

    assert (answer.status_code, Seen(answer).heading) == (404, "Page not found")
    assert answer.headers["Cache-Control"] == "no-store"


async def test_off_and_unknown_look_the_same(reader: Reader) -> None:
    off = await reader.world.send("GET", "/changelog/zenith")
    unknown = [await reader.world.send("GET", f"/changelog/{slug}") for slug in ("unknown", "A", "-", "a" * 64, "%00")]

    for answer in unknown:
        assert (answer.status_code, answer.content) == (404, off.content)
        headers, expected = dict(answer.headers), dict(off.headers)
        del headers["x-request-id"], expected["x-request-id"]
        assert headers == expected
    assert (await reader.get("", method="POST")).status_code == 405


async def test_enabling_unpublishing_and_deleting_are_visible_at_once() -> None:
    created = await Reader.made()
    shown = created.posts[0]
    first = await created.get()

    async def changed(word: str) -> str:
        for name, kept in (("If_None_Match", "ETag"), ("If_Modified_Since", "Last-Modified")):
            answer = await created.get("", **{name: first.headers[kept]})
            assert (answer.status_code, word in answer.text) == (200, False)
        return (await created.get()).headers["Last-Modified"]

    created.world.clock.advance(timedelta(days=99))
    answer = await created.acme("PATCH", f"/v1/posts/{shown.id}", {"status": PostStatus.DRAFT.value})
    assert answer.status_code == 200
    taken_back = await changed(shown.id)
    assert taken_back != first.headers["Last-Modified"]
    created.world.clock.advance(timedelta(seconds=2))
    assert (await created.acme("DELETE", f"/v1/posts/{created.posts[1].id}")).status_code < 300
    assert await changed(created.posts[1].id) not in {taken_back, first.headers["Last-Modified"]}
    await publish(created.acme, is_public=False)
    assert (await created.get()).status_code == 404
    await publish(created.acme, slug="lamps")
    assert (await created.world.send("GET", "/changelog/lamps")).status_code == 200
    assert (await created.get()).headers["Location"] == "http://test/changelog/lamps"


async def test_a_release_replaces_its_pushes_in_lists_and_both_link_to_each_other() -> None:
    created = await Reader.made()
    push = write(created.state, created.acme, "2026-01-30T00:00", title="A lens")
    final = write(created.state, created.acme, "2026-02-01T00:00", title="Lighthouse 2.1", release_tag="v2.1.0")
    created.state.posts[push.id] = evolve(push, contained_in=final.id)

    for pattern in ("", "/2026-01", "/2026-02", "/embed", "/embed/fragment", "/feed.atom", "/feed.json"):
        assert "A lens" not in (await created.get(pattern)).text
    page, release = Seen(await created.get(f"/{push.path}")), Seen(await created.get(f"/{final.path}"))
    assert (page.status, page.heading) == (200, "A lens")
    assert page.links["Lighthouse 2.1"].endswith(f"{HOME}/{final.path}")
    assert release.links["A lens"].endswith(f"{HOME}/{push.path}")
    assert "Pushes in this release" in release.text
    assert "Pushes in this release" not in page.text


@pytest.mark.parametrize("pattern", _PATHS)
async def test_a_slug_that_was_public_leads_to_the_present_one_while_it_is_on(pattern: str) -> None:
    created = await Reader.made()
    where = path(created, pattern)
    await publish(created.acme, slug="lamps")
    old = await created.get(where)

    assert (old.status_code, old.content) == (301, b"")
    assert old.headers["Location"] == f"http://test/changelog/lamps{where}"
    # The changelog may go back to its old slug, and scripts of other sites follow to the new one.
    assert old.headers["Cache-Control"] == "private, max-age=60"
    assert old.headers["Access-Control-Allow-Origin"] == "*"
    assert (await created.world.send("GET", f"/changelog/lamps{where}")).status_code == 200
    hostile = await created.get("/posts/%0d%0aX:%20y?before=%0d%0a<b>")
    assert hostile.headers["Location"] == "http://test/changelog/lamps/posts/%0D%0AX%3A%20y?before=%0d%0a%3Cb%3E"
    await publish(created.acme, is_public=False)
    off, unknown = await created.get(where), await created.world.send("GET", f"/changelog/unknown{where}")
    assert (off.status_code, off.content) == (unknown.status_code, unknown.content) == (404, unknown.content)
    # After its return, the old slug is the current one.
    await publish(created.acme, slug="acme", is_public=True)
    assert (await created.get(where)).status_code == 200


@pytest.mark.slow("writes or reads very large texts")
async def test_posts_that_would_make_a_page_large_are_shown_with_their_beginning() -> None:
    created = await Reader.made()
    state = created.state
    large = f"<p>Begins so.</p>{'<p>&lt;x&gt;</p>' * 12_000}"
    posts = [write(state, created.acme, f"2026-03-{day:02}T00:00:00", title=f"Day {day}") for day in range(1, 6)]
    for post in posts[1:]:
        state.posts[post.id] = evolve(post, content=large)

    for where in ("", "/2026-03"):
        page = Seen(await created.get(where))
        # The newest is whole, the next ones are too much, and the small one still fits.
        assert page.text.count("Begins so.") == 4
        assert len(page.response.content) < 400_000
        expected = {f"Read the whole post : Day {day}" for day in (2, 3, 4)}
        assert {text for text in page.links if text.startswith("Read")} == expected
        assert page.links["Read the whole post : Day 2"].endswith(f"/{posts[1].path}")
        assert "A lamp." in page.text
    assert len((await created.get(f"/{posts[1].path}")).content) > len(large)
    items = (await created.get("/feed.json")).json()["items"]
    assert items[0]["content_html"] == large
    assert items[1]["content_html"].startswith("<p>Begins so. &lt;x&gt; &lt;x&gt;")
    link = f'<p><a href="http://test{HOME}/{posts[3].path}">Read the whole post</a></p>'
    assert items[1]["content_html"].endswith(link)
    assert len((await created.get("/feed.atom")).content) < 600_000


async def test_a_long_list_goes_on_behind_its_last_post() -> None:
    created = await Reader.made(more=2 * PAGE_LENGTH + 5)
    listed: list[str] = []
    where: str | None = ""
    pages = 0
    while where is not None:
        page = Seen(await created.get(where))
        links = [attrs["href"] for tag, attrs in page.elements if tag == "a"]
        posts = [link for link in links if re.search(r"/(?:releases|20\d\d/\d\d)/", link)]
        assert len(posts) <= PAGE_LENGTH
        listed += posts
        pages += 1
        link = page.links.get("Older posts →")
        where = None if link is None else link.partition(HOME)[2]
    assert pages == 3
    assert len(listed) == len(set(listed)) == 2 * PAGE_LENGTH + 5 + len(created.posts)


async def test_addresses_begin_with_the_one_that_is_set() -> None:
    created = await Reader.made(Settings(base_url="https://changes.acme.example/"))
    answer = await created.get("", Host="evil.example")
    page = answer.text

    assert 'rel="canonical" href="https://changes.acme.example/changelog/acme"' in page
    assert "evil" not in page
    # Equal for all readers: shared caches may store it.
    assert answer.headers["Cache-Control"] == "public, max-age=60"
    assert (await created.get("/feed.atom")).headers["Cache-Control"] == "public, max-age=60"
    await publish(created.acme, slug="lamps")
    moved = await created.get("", Host="evil.example")
    assert moved.headers["Location"] == "https://changes.acme.example/changelog/lamps"
    assert moved.headers["Cache-Control"] == "public, max-age=60"


async def test_a_page_loads_its_files_below_the_path_that_a_proxy_removes() -> None:
    created = await Reader.made(Settings(base_url="https://acme.example/hooks"))
    await publish(created.acme, accent="#0a6b4a")

    for where in ("", "/embed", "/subscribe/leave?token=x", "/../unknown"):
        page = (await created.get(where)).text
        files = re.findall(r'(?:href|src)="([^"]*/changelog/-/[^"]*)"', page)
        assert len(files) >= 2
        assert all(file.startswith("/hooks/changelog/-/") for file in files)


async def test_without_a_base_url_addresses_use_the_host_of_the_request(reader: Reader) -> None:
    assert 'href="http://acme.example:8000/changelog/acme"' in (await reader.get("", Host="acme.example:8000")).text
    assert "evil" not in (await reader.get("", Host='evil"><x')).text
    # A page with a URL from one client's Host is only for that client's cache.
    for where in ("", "/feed.atom", "/feed.json", "/embed", "/embed/fragment", "/releases"):
        assert (await reader.get(where)).headers["Cache-Control"] == "private, max-age=60"


async def test_options_lists_the_methods_of_a_page_without_an_empty_header(reader: Reader) -> None:
    answer = await reader.get(method="OPTIONS")

    assert (answer.status_code, answer.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")
    assert "Cache-Control" not in answer.headers


async def test_the_files_of_the_pages_exist(reader: Reader) -> None:
    page = Seen(await reader.get())
    files = [
        attrs["href"] for tag, attrs in page.elements if tag == "link" and attrs["href"].startswith("/changelog/-/")
    ]

    assert len(files) == 3
    for file in files:
        answer = await reader.world.send("GET", file)
        assert (answer.status_code, answer.headers["X-Content-Type-Options"]) == (200, "nosniff")
    assert (await reader.world.send("GET", "/changelog/-/x.css")).status_code == 404


async def test_a_service_without_changelogs_set_up_has_none() -> None:
    assert (await ApiWorld().send("GET", "/changelog/acme")).status_code == 404
