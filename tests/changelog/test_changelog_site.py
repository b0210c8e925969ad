"""Public changelogs as sites: readable addresses, labels, search, identity, and several changelogs."""

from typing import Any
from urllib.parse import quote, urlencode

import feedparser
import pytest
from attrs import evolve
from tests.changelog.reader import HOME, Reader, publish, write
from tests.core.test_changelog_facets import png
from tests.dashboard.browsing import Seen

from contentsvc_core.content.public.changelogs import LinkBody, PublicChangelog
from contentsvc_core.content.public.changes import CreateChangelog
from contentsvc_core.content.public.images import ImageKind
from contentsvc_core.usecases.publicize import ChangelogEditor

_LONG = "## Added\n\n" + "\n".join(f"- **beam:** Colour {number}" for number in range(20))


def editor(reader: Reader) -> ChangelogEditor:
    return ChangelogEditor(reader.world.stores.changelogs, reader.world.clock, reader.world.ids)


async def second(reader: Reader, **given: Any) -> PublicChangelog:
    fields: dict[str, Any] = {"slug": "lens", "title": "Lens", "is_public": True, **given}
    command = CreateChangelog(**fields)
    created = await editor(reader).create(reader.acme.organization, command)
    assert isinstance(created, PublicChangelog), created
    return created


async def test_old_addresses_of_a_post_redirect_to_the_present_one_for_ever() -> None:
    reader = await Reader.made()
    post = write(reader.state, reader.acme, "2026-03-01T10:00:00", title="Über die Brücke")
    where = f"http://test{HOME}/2026/03/uber-die-brucke"
    by_id = await reader.get(f"/posts/{post.id}")
    assert (by_id.status_code, by_id.headers["Location"]) == (301, where)
    assert Seen(await reader.get("/2026/03/uber-die-brucke")).heading == "Über die Brücke"

    answer = await reader.acme("PATCH", f"/v1/posts/{post.id}", {"title": "灯塔"})
    assert answer.status_code == 200, answer.text

    present = f"http://test{HOME}/2026/03/{quote('灯塔')}"
    for old in (f"/posts/{post.id}", "/2026/03/uber-die-brucke"):
        answer = await reader.get(old)
        assert (answer.status_code, answer.headers["Location"]) == (301, present)
    page = Seen(await reader.get(f"/2026/03/{quote('灯塔')}"))
    assert (page.status, page.heading) == (200, "灯塔")
    head = {attrs.get("rel"): attrs for tag, attrs in page.elements if tag == "link"}
    assert head["canonical"]["href"] == present
    month = await reader.get("/2026/03")
    assert (month.status_code, month.headers["Location"]) == (301, f"http://test{HOME}/2026-03")


async def test_a_release_is_at_its_tag(reader: Reader) -> None:
    page = Seen(await reader.get("/releases/v1.0.0"))

    assert (page.heading, "31 January 2026" in page.text) == ("A lamp", True)
    assert Seen(await reader.get("/releases/v2.0.0-blog-post")).status == 200


async def test_a_post_leads_to_the_ones_before_and_after(reader: Reader) -> None:
    pages = [Seen(await reader.get(f"/{post.path}")) for post in reader.posts]
    ends = [
        {
            attrs["rel"]: attrs["href"]
            for tag, attrs in page.elements
            if tag == "a" and attrs.get("rel") in {"prev", "next"}
        }
        for page in pages
    ]

    paths = [f"http://test{HOME}/{post.path}" for post in reader.posts]
    assert ends == [{"prev": paths[1]}, {"prev": paths[2], "next": paths[0]}, {"next": paths[1]}]


async def test_labels_lead_to_the_posts_that_have_them_on_pages_and_in_feeds() -> None:
    reader = await Reader.made()
    fix = write(reader.state, reader.acme, "2026-03-01T10:00:00", title="A fix", markdown="## Fixed\n\n- x")
    page = Seen(await reader.get())
    assert page.links["Fixed"] == f"http://test{HOME}?label=fixed"
    # No post has this label.
    for where in ("", "?label=fixed", "?q=fix"):
        assert "Breaking" not in Seen(await reader.get(where)).links

    filtered = await reader.get("?label=fixed")

    found = Seen(filtered)
    assert (found.heading, "A fix" in found.text, "It shines" in found.text) == ("Fixed", True, False)
    assert 'content="noindex, follow"' in filtered.text
    assert "Nothing has this label yet" in (await reader.get("?label=breaking")).text
    (item,) = (await reader.get("/feed.json?label=fixed")).json()["items"]
    assert item["title"] == "A fix"
    library: Any = feedparser
    atom = library.parse((await reader.get("/feed.atom?label=fixed")).content)
    assert [entry.title for entry in atom.entries] == ["A fix"]
    assert atom.feed.title == "Acme's lamps: Fixed"
    assert atom.feed.id != library.parse((await reader.get("/feed.atom")).content).feed.id
    links = {link.rel: link.href for link in atom.feed.links}
    assert links["self"] == f"http://test{HOME}/feed.atom?label=fixed"
    assert links["alternate"] == f"http://test{HOME}?label=fixed"
    # Another part of the list is another page.
    tags = {(await reader.get(where)).headers["ETag"] for where in ("", "?label=fixed", "?label=new", "?q=fix")}
    assert len(tags) == 4
    assert fix.path is not None


async def test_a_search_finds_only_public_posts() -> None:
    reader = await Reader.made()
    write(reader.state, reader.acme, "2026-03-01T10:00:00", title="A lens", markdown="It bends the light.")

    page = Seen(await reader.get("?q=light+bends"))
    assert (page.heading, page.links["A lens"]) == ("Search", f"http://test{HOME}/2026/03/a-lens")
    for words in ("Not+yet", "tweet", "Somebody", "unknownword", "%22"):
        found = Seen(await reader.get(f"?q={words}"))
        assert "No post has all of these words" in found.text
        assert not [post.title for post in (reader.draft, reader.tweet, reader.foreign) if post.title in found.links]
    # A search has no page of its own.
    assert (await reader.get("/search/light bends")).status_code == 404
    hostile = await reader.get("?q=%3Cscript%3Ealert(1)")
    assert "<script>" not in hostile.text
    assert len((await reader.get(f"?q={'x' * 5_000}")).text) < 20_000


async def test_a_search_does_not_disclose_what_the_changelog_omits() -> None:
    reader = await Reader.made()
    markdown = "## Fixed\n\n- A beam ([abc1234](https://x.example/c))\n\n## Contributors\n\nInes Kaya"
    write(reader.state, reader.acme, "2026-03-01T10:00:00", title="A lens", markdown=markdown)

    for words, before, after in (
        *(("beam", True, True), ("fix* beam", True, True), ("beam -lamp", True, True), ("-beam", False, False)),
        *(("kaya", False, True), ("ine*", False, True), ("abc1234", False, True), ("beam -kaya", True, False)),
        # Words of tags and addresses are visible in neither.
        *(("https", False, False), ("beam -href", True, True)),
    ):
        for details, is_found in ((False, before), (True, after)):
            await publish(reader.acme, show_details=details)
            page = Seen(await reader.get(f"?{urlencode({'q': words})}"))
            assert ("A lens" in page.links) is is_found, (words, details)


async def test_a_search_goes_on_where_the_changelog_shows_only_some_posts() -> None:
    reader = await Reader.made(more=30)
    write(reader.state, reader.acme, "2024-01-01T00:00:00", title="A lens", markdown="A lamp. ## x\n\n- **lens:** y")
    state = reader.state
    old = next(post for post in state.posts.values() if post.title == "A lens")
    state.posts[old.id] = evolve(old, source_metadata={"repositories": ["acme/lens"]})
    await second(reader, repositories=("acme/lens",))

    page = Seen(await reader.world.send("GET", "/changelog/lens?q=lamp"))

    assert "A lens" in page.links


async def test_a_long_post_is_folded_in_lists_and_whole_on_its_page() -> None:
    reader = await Reader.made()
    post = write(reader.state, reader.acme, "2026-03-01T10:00:00", title="Colours", markdown=_LONG)

    for where in ("", "/2026-03"):
        text = (await reader.get(where)).text
        assert "<summary>Show all 20 changes</summary>" in text
        assert text.index("Colour 7") < text.index("<summary>") < text.index("Colour 8")
    for where in (f"/{post.path}", "/feed.atom", "/feed.json"):
        text = (await reader.get(where)).text
        assert "Colour 19" in text
        assert "summary>Show all" not in text


async def test_hashes_and_contributors_are_shown_where_the_changelog_wants_them() -> None:
    reader = await Reader.made()
    markdown = "## Fixed\n\n- x ([abc1234](https://x.example/c))\n\n## Contributors\n\nInes Kaya"
    post = write(reader.state, reader.acme, "2026-03-01T10:00:00", markdown=markdown)
    pages = ("", f"/{post.path}", "/feed.json", "/feed.atom")

    for where in pages:
        text = (await reader.get(where)).text
        assert "abc1234" not in text
        assert "Ines Kaya" not in text
    await publish(reader.acme, show_details=True)
    for where in pages:
        text = (await reader.get(where)).text
        assert "abc1234" in text
        assert "Ines Kaya" in text


async def test_a_changelog_has_a_look_of_its_own() -> None:
    reader = await Reader.made()
    current = await publish(
        reader.acme, accent="#ffe600", header_links=(LinkBody("Docs", "https://docs.acme.example/?a=1&b"),)
    )
    plain = await reader.get()
    for kind in ImageKind:
        changed = await editor(reader).set_image(current, kind, png(64, 32))
        assert isinstance(changed, PublicChangelog)

    answer = await reader.get()

    page = Seen(answer)
    assert answer.headers["ETag"] != plain.headers["ETag"]
    assert page.links["Docs"] == "https://docs.acme.example/?a=1&b"
    (logo,) = (attrs["src"] for tag, attrs in page.elements if tag == "img")
    head = {attrs.get("rel") or attrs.get("property") or attrs.get("name"): attrs for _, attrs in page.elements}
    assert head["twitter:card"]["content"] == "summary_large_image"
    for address in (logo, head["icon"]["href"], head["og:image"]["content"]):
        picture = await reader.world.send("GET", address.removeprefix("http://test"))
        assert (picture.status_code, picture.content) == (200, png(64, 32))
        assert (picture.headers["Content-Type"], picture.headers["Cache-Control"]) == (
            "image/png",
            "private, max-age=86400",
        )
        assert "default-src 'none'" in picture.headers["Content-Security-Policy"]
        for known in (picture.headers["ETag"], f'"other", W/{picture.headers["ETag"]}', "*"):
            again = await reader.get(address.removeprefix(f"http://test{HOME}"), If_None_Match=known)
            assert (again.status_code, again.content) == (304, b"")
    accent = next(attrs["href"] for tag, attrs in page.elements if tag == "link" and "accent" in attrs.get("href", ""))
    shades = await reader.world.send("GET", accent)
    assert (shades.status_code, shades.headers["Content-Type"]) == (200, "text/css; charset=utf-8")
    assert "--accent:#ffe600" in shades.text
    for name in ("accent-fff.css", "accent-FFE600.css", "accent-ffe600.css%0a", "style.cs"):
        assert (await reader.world.send("GET", f"/changelog/-/{name}")).status_code == 404
    await publish(reader.acme, is_public=False)
    assert (await reader.world.send("GET", logo.removeprefix("http://test"))).status_code == 404


async def test_each_changelog_shows_its_own_posts_at_its_own_address() -> None:
    reader = await Reader.made()
    lens = write(reader.state, reader.acme, "2026-03-01T10:00:00", title="A lens")
    reader.state.posts[lens.id] = evolve(lens, source_metadata={"repositories": ["acme/lens"]})
    lens = reader.state.posts[lens.id]
    await second(reader, repositories=("acme/lens",))

    page = Seen(await reader.world.send("GET", "/changelog/lens"))
    assert (page.heading, page.links["A lens"]) == ("Lens", f"http://test/changelog/lens/{lens.path}")
    assert "It shines" not in page.text
    # It has no other posts.
    for post in reader.posts:
        for where in (f"/posts/{post.id}", f"/{post.path}"):
            assert (await reader.world.send("GET", f"/changelog/lens{where}")).status_code == 404
    (item,) = (await reader.world.send("GET", "/changelog/lens/feed.json")).json()["items"]
    assert item["url"] == f"http://test/changelog/lens/{lens.path}"
    assert (await reader.world.send("GET", "/changelog/lens/releases")).status_code == 200
    assert "A lens" in (await reader.get()).text


@pytest.mark.parametrize("where", ["", "?label=new", "?q=lamp", "/2026-02", "/releases", "/releases/v1.0.0"])
async def test_pages_load_nothing_from_elsewhere_and_one_script(reader: Reader, where: str) -> None:
    answer = await reader.get(where)

    page = Seen(answer)
    loaded = [
        attrs.get("src") or attrs.get("href", "")
        for tag, attrs in page.elements
        if tag in {"img", "script"} or (tag == "link" and attrs.get("rel") in {"icon", "stylesheet"})
    ]
    assert [each for each in loaded if not each.startswith("/changelog/-/")] == []
    scripts = [attrs["src"] for tag, attrs in page.elements if tag == "script"]
    assert [each.partition("?")[0] for each in scripts] == ["/changelog/-/page.js"]
    assert "script-src 'self';" in answer.headers["Content-Security-Policy"]
    assert "form-action 'self'" in answer.headers["Content-Security-Policy"]
