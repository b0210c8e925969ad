"""Both feeds of a public changelog as whole documents: feed readers identify entries by their ids."""

import json
from datetime import timedelta
from typing import Any

from attrs import evolve
from tests.core.test_public_changelog import OFF, POST

from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.public.atom import ATOM_TYPE, atom_document
from contentsvc_core.content.public.feeds import Feed, feed_of
from contentsvc_core.content.public.html import PAGE_BUDGET
from contentsvc_core.content.public.json_feed import JSON_FEED_TYPE, json_feed_document
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.testing import START

LINKS = ChangelogLinks(base_url="https://acme.example", slug="acme")
CHANGELOG = evolve(OFF, description="What is new", product_url="https://acme.example/", is_public=True)
LAMP = evolve(
    POST,
    id="post_2",
    title="A lamp & a door",
    content="<h2>New</h2>\n<p>A <strong>lamp</strong>.</p>",
    content_type=ContentType.BLOG_POST,
    published_at=START + timedelta(hours=2),
    occurred_at=START + timedelta(minutes=30),
    release_tag="v1.2.0",
    updated_at=START + timedelta(hours=3),
)
EARLY = evolve(
    LAMP,
    id="post_1",
    title="Early",
    content="<h2>Nothing but a heading</h2>",
    content_type=ContentType.CHANGELOG,
    published_at=START + timedelta(hours=1),
    occurred_at=START,
    release_tag=None,
    # Last changed as a draft: for readers, it is new since its publication.
    updated_at=START,
)

ATOM = """\
<?xml version='1.0' encoding='utf-8'?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>urn:uuid:92176819-065c-598d-8eb2-0c78ab7448c6</id>
  <title>Acme</title>
  <subtitle>What is new</subtitle>
  <updated>2026-01-01T03:00:00.000Z</updated>
  <link rel="self" type="application/atom+xml" href="https://acme.example/changelog/acme/feed.atom" />
  <link rel="alternate" type="text/html" href="https://acme.example/changelog/acme" />
  <author>
    <name>Acme</name>
  </author>
  <generator>contentsvc</generator>
  <entry>
    <id>urn:uuid:9d7ab39c-4631-5ac1-be90-4846197a294c</id>
    <title>A lamp &amp; a door</title>
    <link rel="alternate" type="text/html" href="https://acme.example/changelog/acme/posts/post_2" />
    <published>2026-01-01T00:30:00.000Z</published>
    <updated>2026-01-01T03:00:00.000Z</updated>
    <category term="blog post" />
    <category term="new" />
    <category term="v1.2.0" />
    <summary>A lamp.</summary>
    <content type="html">&lt;h2&gt;New&lt;/h2&gt;
&lt;p&gt;A &lt;strong&gt;lamp&lt;/strong&gt;.&lt;/p&gt;</content>
  </entry>
  <entry>
    <id>urn:uuid:091fd75a-c0a4-5caf-8c94-d5304d777884</id>
    <title>Early</title>
    <link rel="alternate" type="text/html" href="https://acme.example/changelog/acme/posts/post_1" />
    <published>2026-01-01T00:00:00.000Z</published>
    <updated>2026-01-01T01:00:00.000Z</updated>
    <category term="changelog" />
    <content type="html">&lt;h2&gt;Nothing but a heading&lt;/h2&gt;</content>
  </entry>
</feed>
"""


def feed(*posts: Post, **changes: Any) -> Feed:
    return feed_of(
        evolve(CHANGELOG, **changes), posts or (LAMP, EARLY), links=LINKS, updated_at=START + timedelta(minutes=1)
    )


def test_a_feed_has_the_posts_of_its_changelog() -> None:
    hidden = evolve(LAMP, content_type=ContentType.LINKEDIN_POST)
    draft = evolve(LAMP, status=PostStatus.DRAFT, published_at=None)
    withdrawn = evolve(LAMP, status=PostStatus.DRAFT)
    contained = evolve(LAMP, contained_in="post_9")

    # The documents below have all of its fields.
    assert feed(LAMP, hidden, draft, withdrawn, contained, EARLY) == feed(LAMP, EARLY)


def test_a_feed_without_posts_is_as_old_as_its_changelog() -> None:
    empty = feed_of(CHANGELOG, (), links=LINKS, updated_at=START)
    assert (empty.entries, empty.updated_at) == ((), START)


def test_the_atom_document() -> None:
    assert ATOM_TYPE == "application/atom+xml"
    assert atom_document(feed()).decode("utf-8") == ATOM


def test_an_atom_document_has_no_empty_subtitle_and_nothing_that_xml_cannot_hold() -> None:
    document = atom_document(feed(evolve(LAMP, title="a\x00b\ufffe", release_tag="v\x1b"), description="")).decode(
        "utf-8"
    )

    assert "subtitle" not in document
    assert "<title>a\ufffdb\ufffd</title>" in document
    assert '<category term="v\ufffd" />' in document


def test_the_json_feed() -> None:
    assert JSON_FEED_TYPE == "application/feed+json"
    assert json.loads(json_feed_document(feed())) == {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Acme",
        "home_page_url": "https://acme.example/changelog/acme",
        "feed_url": "https://acme.example/changelog/acme/feed.json",
        "description": "What is new",
        "authors": [{"name": "Acme", "url": "https://acme.example/changelog/acme"}],
        "items": [
            {
                "id": "urn:uuid:9d7ab39c-4631-5ac1-be90-4846197a294c",
                "url": "https://acme.example/changelog/acme/posts/post_2",
                "title": "A lamp & a door",
                "content_html": "<h2>New</h2>\n<p>A <strong>lamp</strong>.</p>",
                "summary": "A lamp.",
                "date_published": "2026-01-01T00:30:00.000Z",
                "date_modified": "2026-01-01T03:00:00.000Z",
                "tags": ["blog post", "new", "v1.2.0"],
            },
            {
                "id": "urn:uuid:091fd75a-c0a4-5caf-8c94-d5304d777884",
                "url": "https://acme.example/changelog/acme/posts/post_1",
                "title": "Early",
                "content_html": "<h2>Nothing but a heading</h2>",
                "date_published": "2026-01-01T00:00:00.000Z",
                "date_modified": "2026-01-01T01:00:00.000Z",
                "tags": ["changelog"],
            },
        ],
    }
    assert "description" not in json.loads(json_feed_document(feed(description="")))


def test_a_post_that_is_too_long_for_a_feed_is_cut_and_links_to_the_rest() -> None:
    long = evolve(LAMP, id="post_3", content=f"<p>Oil &amp; {'water ' * (PAGE_BUDGET // 6)}</p>", summary="Oil")
    whole, begun = feed_of(CHANGELOG, [LAMP, long], links=LINKS, updated_at=START).entries

    assert whole.content == LAMP.content
    assert begun.content.startswith("<p>Oil &amp; water water ")
    assert begun.content.endswith(
        'water…</p><p><a href="https://acme.example/changelog/acme/posts/post_3">Read the whole post</a></p>'
    )
    assert (begun.summary, len(begun.content) < 700) == ("Oil", True)
