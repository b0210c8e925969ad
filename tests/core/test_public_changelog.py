"""The rules of public changelogs: settings, months, releases, positions, and content within a page."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from tests.builders import a_post
from tests.refusals import accepted, message_of, the_refusal

from contentsvc_core.content.editing import changed_post
from contentsvc_core.content.posts import ContentType, Post, PostStatus, post_body
from contentsvc_core.content.public.changelogs import (
    ChangelogBody,
    Exposure,
    LinkBody,
    PublicChangelog,
    exposure_body,
    public_slugs,
    too_many_slugs,
)
from contentsvc_core.content.public.changes import ChangeChangelog, changed_changelog
from contentsvc_core.content.public.html import directed, excerpt, nested
from contentsvc_core.content.public.images import ImageKind, ImageMark
from contentsvc_core.content.public.links import ChangelogLinks, permanent_id
from contentsvc_core.content.public.months import Month, by_month, by_year, months_between
from contentsvc_core.content.public.releases import by_release
from contentsvc_core.content.public.widget import badge_svg, badge_value, widget_data
from contentsvc_core.lists.cursors import Cursor, read_cursor, written_cursor
from contentsvc_core.organizations import Organization
from contentsvc_core.testing import START
from contentsvc_core.timestamps import iso_ms

ACME = Organization(id="org_1", slug="acme", name="Acme", created_at=START)
OFF = PublicChangelog.first(ACME, START)
POST = a_post(status=PostStatus.PUBLISHED)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def published(id_: str, when: str, **changes: Any) -> Post:
    return evolve(POST, id=id_, occurred_at=at(when), **changes)


def test_the_first_one_is_named_as_the_organization_is_and_off() -> None:
    assert (OFF.slug, OFF.title, OFF.is_public) == ("acme", "Acme", False)
    assert OFF.content_types == (ContentType.CHANGELOG, ContentType.BLOG_POST)
    assert PublicChangelog.first(evolve(ACME, slug=f"{'a' * 62}-b"), START).slug == "a" * 62
    assert PublicChangelog.first(evolve(ACME, slug=f"{'X' * 62}-b"), START).slug == "X" * 62


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("slug", "a"),
        ("slug", "a" * 63),
        ("slug", "a-1"),
        ("title", "ö" * 100),
        ("description", ""),
        ("description", "d" * 300),
        ("product_url", "https://acme.example/"),
        ("product_url", "http://127.0.0.1:8000/x?y=1#z"),
        ("content_types", (ContentType.TWITTER_POST,)),
        ("product_url", None),
        ("repositories", ("acme/lighthouse", "acme/coast/lighthouse")),
        ("product_url", f"https://acme.example/{'x' * 1979}"),
        ("is_public", True),
    ],
)
def test_every_field_can_be_set(attribute: str, value: object) -> None:
    later = START + timedelta(seconds=1)

    assert changed_changelog(OFF, ChangeChangelog(**{attribute: value}), at=later) == evolve(
        OFF, **{attribute: value}, updated_at=later
    )


def test_an_accent_is_read_as_a_colour() -> None:
    set_ = accepted(changed_changelog(OFF, ChangeChangelog(accent=" #0B6B63"), at=START))
    assert set_.accent == "0b6b63"
    assert changed_changelog(set_, ChangeChangelog(accent=" "), at=START) == evolve(set_, accent=None)


@pytest.mark.parametrize(
    ("attribute", "value", "reason"),
    [
        ("slug", "", "slug must be 1 to 63 of a-z, 0-9 and inner hyphens, which '' is not"),
        ("slug", "a" * 64, "slug must be"),
        ("slug", "-a", "slug must be"),
        ("slug", "A", "slug must be"),
        ("slug", "a/b", "slug must be"),
        ("title", " ", "title must have 1 to 100 characters"),
        ("title", "t" * 101, "title must have 1 to 100 characters"),
        ("description", "d" * 301, "description must have at most 300 characters"),
        ("product_url", "javascript:alert(1)", "productUrl must be an http or https address"),
        ("product_url", "https://", "productUrl"),
        ("product_url", "https://a b/", "productUrl"),
        ("product_url", "https://acme.example/a b", "productUrl"),
        ("product_url", "https://acme.example/a\\b", "productUrl"),
        ("product_url", "https://acme.example/\x7f", "productUrl"),
        ("product_url", "https://user@acme.example/", "productUrl"),
        ("product_url", "https://-acme.example/", "productUrl"),
        ("product_url", f"https://acme.example/{'x' * 1980}", "productUrl"),
        ("product_url", "https://acme.example:x/", "productUrl"),
        ("product_url", "https://[::1/", "productUrl"),
        ("product_url", f"https://acme.example/{'x' * 2000}", "productUrl"),
        ("accent", "teal", "accent must be a colour such as #0b6b63"),
        ("content_types", (), "contentTypes must name one type of content at least"),
        ("repositories", ("acme",), "repositories must be owner/name, which 'acme' is not"),
        ("repositories", tuple(f"a/{n}" for n in range(21)), "repositories must be at most 20"),
        ("scopes", (" ",), "scopes must have 1 to 60 characters each"),
    ],
)
def test_invalid_fields_are_refused_by_name(attribute: str, value: object, reason: str) -> None:
    refused = the_refusal(changed_changelog(OFF, ChangeChangelog(**{attribute: value}), at=START))

    assert refused.message().startswith(reason)


def test_header_links_are_lines_with_addresses() -> None:
    links = (LinkBody(" Docs\n", " https://docs.example/ "), LinkBody("d" * 30, "http://a.example"))
    set_ = accepted(changed_changelog(OFF, ChangeChangelog(header_links=links), at=START))
    assert set_.header_links == (
        LinkBody(label="Docs", url="https://docs.example/"),
        LinkBody(label="d" * 30, url="http://a.example"),
    )
    for wrong, reason in (
        ((LinkBody("d" * 31, "https://a.example"),), "headerLinks must have labels of 1 to 30 characters"),
        ((LinkBody("", "https://a.example"),), "headerLinks must have labels of 1 to 30 characters"),
        ((LinkBody("Docs", ""),), "headerLinks must each have an http or https address of at most 2,000 characters"),
        ((LinkBody("Docs", "ftp://a.example"),), "headerLinks must each have an http or https address"),
        (links[:1] * 6, "headerLinks must be at most 5"),
    ):
        assert message_of(changed_changelog(OFF, ChangeChangelog(header_links=wrong), at=START)).startswith(reason)


def test_the_wire_form_of_a_changelog_and_of_what_it_shows() -> None:
    mark = ImageMark(kind=ImageKind.LOGO, media_type="image/png", width=1, height=2, digest="0" * 16)
    link = LinkBody(label="Docs", url="https://d.example")
    facts = evolve(OFF, description="What is new", product_url="https://acme.example/", is_public=True)
    shown = evolve(facts, accent="0b6b63", header_links=(link,), images=(mark, evolve(mark, kind=ImageKind.ICON)))
    assert [each.kind for each in shown.images] == [ImageKind.ICON, ImageKind.LOGO]
    assert shown.image(ImageKind.LOGO) == mark
    body = ChangelogBody.of(shown, url="https://c.example/changelog/acme")
    assert to_builtins(body) == {
        "id": OFF.id,
        "slug": OFF.slug,
        "title": OFF.title,
        "description": "What is new",
        "productUrl": "https://acme.example/",
        "contentTypes": [each.value for each in OFF.content_types],
        "repositories": [],
        "scopes": [],
        "accent": "#0b6b63",
        "headerLinks": [{"label": "Docs", "url": "https://d.example"}],
        "images": {"icon": "0" * 16, "logo": "0" * 16},
        "showDetails": False,
        "isPublic": True,
        "url": "https://c.example/changelog/acme",
    }
    post = a_post(title="Lamps")
    assert exposure_body(Exposure(posts=3, repositories={"acme/x": 2}), [post]) == {
        "posts": 3,
        "repositories": [{"repository": "acme/x", "posts": 2}],
        "newest": [{"id": post.id, "title": "Lamps", "occurredAt": iso_ms(post.occurred_at)}],
    }
    assert message_of(too_many_slugs(4)).endswith("keeps at most 4 of them, for good")
    assert too_many_slugs().field == "slug"


def test_lines_are_lines_and_types_have_one_order() -> None:
    created = changed_changelog(
        OFF,
        ChangeChangelog(
            title=" Lamps\nand\x1b towers ",
            product_url=" ",
            content_types=(ContentType.BLOG_POST, ContentType.CHANGELOG, ContentType.BLOG_POST),
        ),
        at=START - timedelta(days=1),
    )

    assert created == evolve(OFF, title="Lamps and towers")


def test_only_published_posts_of_the_right_kind_are_shown() -> None:
    assert OFF.shows(POST)
    for hidden in (
        evolve(POST, published_at=None, status=PostStatus.DRAFT),
        evolve(POST, organization_id="org_2"),
        evolve(POST, status=PostStatus.DRAFT),
        evolve(POST, content_type=ContentType.LINKEDIN_POST),
    ):
        assert not OFF.shows(hidden)
        assert not OFF.lists(hidden)
    assert OFF.lists(POST)
    # A release replaces the posts that it contains; their addresses stay.
    contained = evolve(POST, contained_in="post_9")
    assert OFF.shows(contained)
    assert not OFF.lists(contained)


def test_slugs_of_public_changelogs_are_reserved() -> None:
    on = evolve(OFF, is_public=True)

    assert public_slugs(None, on) == public_slugs(OFF, on) == {"acme"}
    assert public_slugs(on, evolve(on, slug="tea")) == {"acme", "tea"}
    assert public_slugs(on, evolve(OFF, slug="tea")) == {"acme"}
    assert public_slugs(None, OFF) == set()


def test_the_time_of_the_first_publication_never_changes() -> None:
    def changed(post: Post, status: PostStatus, hours: int) -> Post:
        created = changed_post(post, {"status": status}, content=post.content, at=START + timedelta(hours=hours))
        assert isinstance(created, Post)
        return created

    draft = evolve(POST, status=PostStatus.DRAFT, published_at=None)
    first = changed(draft, PostStatus.PUBLISHED, 1)
    back = changed(first, PostStatus.DRAFT, 2)
    again = changed(back, PostStatus.PUBLISHED, 3)

    assert draft.published_at is None
    assert [each.published_at for each in (first, back, again)] == [START + timedelta(hours=1)] * 3
    # A post that is created as published.
    assert POST.published_at == POST.created_at
    # It is not visible in `/v1`.
    assert list(post_body(first)) == list(post_body(draft))
    assert "publishedAt" not in post_body(first)


def test_a_month_is_read_and_written() -> None:
    month = Month.read("2026-12")

    assert month == Month(2026, 12)
    assert month is not None
    assert (month.written, month.name) == ("2026-12", "December 2026")
    assert (Month.read("1970-01"), Month.read("9998-12")) == (Month(1970, 1), Month(9998, 12))
    assert (month.since, month.until) == (at("2026-12-01"), at("2027-01-01"))
    assert [
        Month.read(text) for text in ("", "2026-00", "2026-13", "2026-1", "26-01", "1969-12", "9999-01", "٢٠٢٦-١٢")
    ] == [None] * 8


_YEARS = (datetime(1970, 1, 2), datetime(9998, 12, 30))  # noqa: DTZ001  # Hypothesis draws the time zones


@given(
    # A local time that a clock change skips does not exist.
    st.datetimes(*_YEARS, timezones=st.timezones(), allow_imaginary=False),
    st.timezones(),
)
def test_every_moment_lies_in_its_month_and_in_no_other(moment: datetime, zone: ZoneInfo) -> None:
    month = Month.of(moment, zone)

    assert month.since <= moment < month.until
    assert Month.read(month.written, zone) == month
    assert month.next.since == month.until
    assert month < month.next


def test_months_between_two_are_all_of_them_newest_first() -> None:
    months = months_between(Month(2025, 11), Month(2026, 2))

    assert months == [Month(2026, 2), Month(2026, 1), Month(2025, 12), Month(2025, 11)]
    assert by_year(months) == [(2026, tuple(months[:2])), (2025, tuple(months[2:]))]
    assert months_between(Month(2026, 2), Month(2026, 1)) == []


def test_posts_are_put_into_their_months() -> None:
    one, two, three = published("c", "2026-02-01"), published("b", "2026-01-31T23:59:59"), published("a", "2026-01-01")

    assert [(each.month, each.posts) for each in by_month([one, two, three])] == [
        (Month(2026, 2), (one,)),
        (Month(2026, 1), (two, three)),
    ]


def test_posts_about_one_release_are_grouped() -> None:
    two = published("c", "2026-02-03", release_tag="v2")
    blog = published("b", "2026-02-02", release_tag="v1", content_type=ContentType.BLOG_POST)
    one = published("a", "2026-02-01", release_tag="v1")
    other = published("d", "2026-01-01", release_tag="v1", source_metadata={"repositories": ["acme/tea"]})
    unknown = [
        published("e", "2026-01-01", release_tag="v1", source_metadata=metadata)
        for metadata in (
            {"repositories": [1]},
            {"repositories": ["acme/tea", "acme/lighthouse"]},
            {"repositories": "acme/tea"},
            {},
            None,
        )
    ]

    found = by_release([two, blog, POST, one, other, *unknown])

    assert [(each.tags, each.repository, [post.id for post in each.posts]) for each in found] == [
        (("v2",), "acme/lighthouse", ["c"]),
        (("v1",), "acme/lighthouse", ["b", "a"]),
        (("v1",), "acme/tea", ["d"]),
        (("v1",), "", ["e"] * 5),
    ]


def test_a_post_cursor_is_read_as_it_was_written() -> None:
    cursor = POST.cursor

    assert read_cursor(written_cursor(cursor)) == cursor
    for text in ("", "_", "1", "x_post_1", "1_", "1_a/b", "999999999999999_post_1", "1_pöst"):
        assert read_cursor(text) is None
    early = evolve(POST, occurred_at=at("2025-12-01"))
    assert early.cursor == Cursor(at=at("2025-12-01"), id="post_1")


def test_addresses() -> None:
    links = ChangelogLinks(base_url="https://acme.example", slug="acme")

    assert links.home == "https://acme.example/changelog/acme"
    assert links.month(Month(2026, 2)) == "https://acme.example/changelog/acme/2026-02"
    assert links.post(POST) == "https://acme.example/changelog/acme/posts/post_1"
    assert links.post(evolve(POST, id="a/b~é")) == "https://acme.example/changelog/acme/posts/a%2Fb~%C3%A9"


def test_the_permanent_id_of_a_post_never_changes() -> None:
    assert permanent_id("post_1") == "urn:uuid:091fd75a-c0a4-5caf-8c94-d5304d777884"


@pytest.mark.parametrize(
    ("content", "under", "expected"),
    [
        ("<h1>A</h1><p>x</p><h3>B</h3><h2>C</h2>", 2, "<h3>A</h3><p>x</p><h4>B</h4><h4>C</h4>"),
        ("<h2>A</h2><h2>B</h2><h1>C</h1><h2>D</h2>", 1, "<h2>A</h2><h2>B</h2><h2>C</h2><h3>D</h3>"),
        ("<h1>A</h1><h2>B</h2><h3>C</h3>", 5, "<h6>A</h6><h6>B</h6><h6>C</h6>"),
        ("<p>&lt;h1&gt;no&lt;/h1&gt;</p>", 1, "<p>&lt;h1&gt;no&lt;/h1&gt;</p>"),
    ],
)
def test_headings_continue_those_around_them(content: str, under: int, expected: str) -> None:
    assert nested(content, under=under) == expected


#: "Light" in Arabic.
LIGHT = "\u0636\u0648\u0621"


@pytest.mark.parametrize(
    ("content", "expected", "alone"),
    [
        ("<p>A &amp; B</p><p>C</p>", "", ""),
        (f"<p>{LIGHT}</p><p>12</p>", "", f'<p dir="auto">{LIGHT}</p><p>12</p>'),
        (f"<p>A</p><p>{LIGHT}</p>", f'<p>A</p><p dir="auto">{LIGHT}</p>', None),
        (f"<h2>{LIGHT}</h2><p>A</p>", f'<h2>{LIGHT}</h2><p dir="auto">A</p>', f'<h2 dir="auto">{LIGHT}</h2><p>A</p>'),
        # A name at the beginning, and code, do not turn a block.
        (f"<p>A {LIGHT}</p><p>{LIGHT} and so on</p>", "", ""),
        (f"<p>{LIGHT}</p><ul><li><code>light</code> {LIGHT}</li></ul>", "", None),
        (f"<p>A</p><ul><li>{LIGHT} <code>light()</code></li></ul>", f'<p>A</p><ul><li dir="auto">{LIGHT} <code>', None),
        # The first letter of an outer block stays outside of elements with a direction of their own.
        (
            f'<p>A</p><ul><li value="1"><p>{LIGHT}</p><p>lights</p></li></ul>',
            f'<p>A</p><ul><li value="1" dir="auto"><p>{LIGHT}</p><p dir="auto">lights</p></li></ul>',
            None,
        ),
        (
            f"<p>A</p><ul><li>{LIGHT}<ul><li>a longer one</li></ul></li></ul>",
            f'<p>A</p><ul><li dir="auto">{LIGHT}<ul><li dir="auto">a longer one</li></ul></li></ul>',
            None,
        ),
    ],
)
def test_a_block_in_the_other_direction_gets_its_own(content: str, expected: str, alone: str | None) -> None:
    """An empty expectation means unchanged content; without ``alone``, feeds have the same content."""
    if alone is not None:
        assert directed(content, is_alone=True) == (alone or content)
    assert directed(content).startswith(expected or content)


def test_an_excerpt_is_a_line_of_text_without_headings() -> None:
    lamp = '<a href="x" title="a > b">lamp</a>'
    html = f"<h2>Added</h2>\n<ul>\n<li><strong>beam</strong>: a &lt;moon&gt; {lamp}.</li><li>More</li></ul>"

    assert excerpt(html) == "beam: a <moon> lamp. More"
    assert excerpt("<p>" + "word " * 999, 20) == "word word word word…"
    commits = '(<a href="x">#7</a>) (<a href="y">0a1b2c3</a>)'
    assert excerpt(f"<ul>\n<li>One {commits}</li>\n<li>Two</li>\n</ul>") == "One. Two"
    assert excerpt("<ul><li>One</li></ul>\n<h2>Fixed</h2>\n<ul><li>Two.</li><li>Three</li></ul>") == "One. Two. Three"
    assert excerpt("<ul><li><strong>api:</strong> refuse it</li><li>Two</li></ul>") == "Refuse it. Two"
    lists = '<p>A list</p>\n<ul>\n<li>One<ol start="2">\n<li>Two</li>\n</ol>\n</li>\n</ul>\n<p><em>An</em> end</p>'
    assert excerpt(lists) == "A list. One. Two. An end"
    assert excerpt("<ul><li>文章です。</li><li>検索</li></ul>") == "文章です。 検索"
    assert excerpt("<p>One</p>\n<blockquote>\n<p>Two</p>\n</blockquote>\n<p>Three</p>") == "One. Three"
    assert excerpt("") == ""
    # An excerpt that would be cut within a tag ends before the tag.
    assert excerpt(f"<p>{'x' * 30} <a href='{'y' * 100}'>z</a></p>", 3) == "xx…"


def test_an_excerpt_looks_at_the_beginning_of_a_long_text_alone() -> None:
    heading = f"<h2>{'x' * 180}</h2>"

    assert excerpt(f"{heading}<p>A lamp</p>", 5) == "A la…"
    assert excerpt(f"{'<h2>x</h2>' * 20}<p>A lamp</p>", 5) == ""


def test_a_widget_has_the_listed_posts_and_a_style_in_the_accent() -> None:
    changelog = evolve(OFF, is_public=True, accent="663399")
    links = ChangelogLinks(base_url="https://acme.example", slug="acme")
    late = at("2026-01-03")
    post = published("post_1", "2026-01-02", title="Beams", published_at=late)
    imported, draft = published("post_2", "2026-01-01"), evolve(post, id="post_3", status=PostStatus.DRAFT)

    data = widget_data(changelog, [post, imported, draft], links)

    style = data.pop("style")
    assert (style.count("#663399"), "ACCENT" in style) == (2, False)
    occurred, url = 1_767_312_000_000, "https://acme.example/changelog/acme/posts"
    day = 86_400_000
    assert data == {
        "title": "Acme",
        "home": "https://acme.example/changelog/acme",
        "posts": [
            {"title": "Beams", "url": f"{url}/post_1", "at": occurred, "published": occurred + day},
            {"title": "A lamp", "url": f"{url}/post_2", "at": occurred - day, "published": occurred - day},
        ],
    }
    assert "#0b6b63" in widget_data(OFF, [], links)["style"]


def test_a_badge_names_the_newest_release_or_the_day_of_the_newest_post() -> None:
    release = published("post_1", "2026-01-02", release_tag="v1.2.0")
    newest = published("post_2", "2026-01-03")

    assert badge_value(release, newest) == "v1.2.0"
    assert badge_value(evolve(release, release_tag="v" * 31), None) == "v" * 29 + "…"
    assert badge_value(newest, newest) == badge_value(None, newest) == "2026-01-03"
    assert badge_value(None, evolve(newest, occurred_at=START), ZoneInfo("Pacific/Niue")) == "2025-12-31"
    assert badge_value(None, None) == "nothing yet"


def test_a_badge_is_as_wide_as_its_texts() -> None:
    drawn = badge_svg(evolve(OFF, accent="663399"), "<v1>").decode()

    assert drawn.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="119" height="20" role="img" ')
    assert 'aria-label="changelog: &lt;v1&gt;"' in drawn
    assert '<rect width="77" height="20" fill="#444"/>' in drawn
    assert '<rect x="77" width="42" height="20" fill="#663399"/>' in drawn
    assert '<text x="7" y="14" textLength="63">changelog</text>' in drawn
    assert '<text x="84" y="14" textLength="28">&lt;v1&gt;</text>' in drawn


def test_each_page_of_a_changelog_has_its_address() -> None:
    links = ChangelogLinks(base_url="https://acme.example", slug="acme")
    pages = {"badge": "badge.svg", "subscribe": "subscribe", "widget": "widget.js", "atom": "feed.atom"}
    pages |= {"releases": "releases", "json_feed": "feed.json", "embed": "embed", "fragment": "embed/fragment"}
    for name, path in pages.items():
        assert getattr(links, name) == f"https://acme.example/changelog/acme/{path}"
        assert getattr(ChangelogLinks(slug="tea"), name) == f"/changelog/tea/{path}"
    assert links.having("a b/c") == "https://acme.example/changelog/acme?q=a%20b%2Fc"
    mark = ImageMark(kind=ImageKind.LOGO, media_type="image/png", width=1, height=1, digest="d1")
    assert links.image(mark) == "https://acme.example/changelog/acme/images/logo?v=d1"
    assert evolve(links, pictures="/preview").image(mark) == "/preview/logo?v=d1"
