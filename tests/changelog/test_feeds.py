"""Both feeds in foreign feed readers and validators."""

import importlib
import json
from calendar import timegm
from html import escape
from pathlib import Path
from typing import Any

import feedparser
import jsonfeed
import jsonschema_rs
import pytest
from tests.changelog.reader import HOSTILE, Reader, publish, write

from contentsvc_core.content.public.links import permanent_id

_BASE = "http://test/changelog/acme"
_ADDRESS = {"type": "string", "pattern": "^https?://"}
_TIME = {"type": "string", "format": "date-time"}
#: JSON Feed 1.1, "Top-level" and "Items": required fields, optional fields, and their types.
_JSON_FEED = {
    "type": "object",
    "required": ["version", "title", "items"],
    "additionalProperties": False,
    "properties": {
        "version": {"const": "https://jsonfeed.org/version/1.1"},
        "title": {"type": "string"},
        "home_page_url": _ADDRESS,
        "feed_url": _ADDRESS,
        "description": {"type": "string"},
        "authors": {
            "type": "array",
            "items": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": False,
                "properties": {"name": {"type": "string"}, "url": _ADDRESS, "avatar": _ADDRESS},
            },
        },
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "content_html"],
                "additionalProperties": False,
                "properties": {
                    "id": {"type": "string", "minLength": 1},
                    "url": _ADDRESS,
                    "title": {"type": "string"},
                    "summary": {"type": "string"},
                    "content_html": {"type": "string"},
                    "date_published": _TIME,
                    "date_modified": _TIME,
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    },
}


#: Untyped, because the package has no types.
_XML: Any = importlib.import_module("lxml.etree")


def _grammar() -> Any:
    return _XML.RelaxNG(_XML.parse(Path(__file__).with_name("atom.rng")))


def _parsed(body: bytes) -> Any:
    return _XML.fromstring(body)


async def test_a_feed_reader_reads_the_atom_feed(reader: Reader) -> None:
    answer = await reader.get("/feed.atom")
    library: Any = feedparser
    # With the headers, for the encoding; the library's own sanitizer would remove escaped scripts, too.
    read = library.parse(answer.content, response_headers=dict(answer.headers), sanitize_html=False)

    assert answer.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    assert not read.bozo, read.get("bozo_exception")
    assert (read.version, read.encoding) == ("atom10", "utf-8")
    assert (read.feed.title, read.feed.subtitle, read.feed.link) == ("Acme's lamps", "What shines & why", _BASE)
    assert [entry.link for entry in read.entries] == [f"{_BASE}/{post.path}" for post in reader.posts]
    assert [entry.id for entry in read.entries] == [permanent_id(post.id) for post in reader.posts]
    assert [entry.content[0].value for entry in read.entries] == [
        post.content.strip().replace("\x0b", "\ufffd") for post in reader.posts
    ]
    assert [[tag.term for tag in entry.get("tags", [])] for entry in read.entries] == [
        ["changelog", "new"],
        ["blog post", "v2.0.0"],
        ["changelog", "v1.0.0"],
    ]
    for entry, post in zip(read.entries, reader.posts, strict=True):
        assert post.published_at is not None
        assert timegm(entry.published_parsed) == int(post.published_at.timestamp())
        assert entry.updated_parsed == entry.published_parsed


async def test_a_post_in_two_directions_has_both_on_pages_and_in_feeds() -> None:
    reader = await Reader.made()
    light = "\u0636\u0648\u0621"
    post = write(reader.state, reader.acme, "2026-02-07T10:00:00", markdown=f"A lamp\n\n- {light}\n")
    marked = f'<p>A lamp</p>\n<ul>\n<li dir="auto">{light}</li>\n</ul>'

    assert "dir=" not in post.content
    for path in ("", f"/{post.path}"):
        assert marked in (await reader.get(path)).text
    assert marked in (await reader.get("/feed.json")).json()["items"][0]["content_html"]
    assert escape(marked, quote=False) in (await reader.get("/feed.atom")).text


async def test_the_atom_feed_follows_its_grammar(reader: Reader) -> None:
    grammar, feed = _grammar(), (await reader.get("/feed.atom")).content

    assert grammar.validate(_parsed(feed)), grammar.error_log
    # The check finds real faults.
    for good, bad in ((b"<id>urn:", b"<id>/"), (b"<updated>", b"<updated>x"), (b"title>", b"titel>")):
        assert good in feed
        assert not grammar.validate(_parsed(feed.replace(good, bad)))


async def test_titles_are_text_and_contents_are_html(reader: Reader) -> None:
    atom = {"atom": "http://www.w3.org/2005/Atom"}
    root = _parsed((await reader.get("/feed.atom")).content)
    (first, *_) = root.findall("atom:entry", atom)

    assert first.find("atom:title", atom).text == HOSTILE
    assert first.find("atom:content", atom).attrib == {"type": "html"}
    assert "<script" not in first.find("atom:content", atom).text


async def test_a_feed_reader_reads_the_json_feed(reader: Reader) -> None:
    answer = await reader.get("/feed.json")
    library: Any = jsonfeed
    read = library.Feed.parse_string(answer.text)

    assert answer.headers["Content-Type"] == "application/feed+json"
    assert (read.title, read.description) == ("Acme's lamps", "What shines & why")
    assert (read.home_page_url, read.feed_url) == (_BASE, f"{_BASE}/feed.json")
    assert [(item.id, item.url, item.title, item.content_html) for item in read.items] == [
        (permanent_id(post.id), f"{_BASE}/{post.path}", post.title, post.content) for post in reader.posts
    ]
    assert read.items[2].date_published == "2026-01-31T23:59:59.000Z"
    assert read.items[1].tags == ["blog post", "v2.0.0"]


async def test_the_json_feed_follows_its_schema(reader: Reader) -> None:
    validator: Any = jsonschema_rs.Draft202012Validator(_JSON_FEED, validate_formats=True)
    feed = json.loads((await reader.get("/feed.json")).text)

    assert [error.message for error in validator.iter_errors(feed)] == []
    assert not validator.is_valid(feed | {"version": "1"})
    assert not validator.is_valid(feed | {"items": [feed["items"][0] | {"date_published": "yesterday"}]})


@pytest.mark.parametrize("name", ["feed.atom", "feed.json"])
async def test_feeds_may_be_read_by_scripts_of_other_sites(reader: Reader, name: str) -> None:
    assert (await reader.get(f"/{name}")).headers["Access-Control-Allow-Origin"] == "*"


async def test_a_changelog_without_posts_has_feeds_all_the_same() -> None:
    created = await Reader.made()
    await publish(created.other, slug="empty")
    atom = await created.world.send("GET", "/changelog/empty/feed.atom")
    empty = json.loads((await created.world.send("GET", "/changelog/empty/feed.json")).text)

    assert _grammar().validate(_parsed(atom.content)) is True
    assert [item["title"] for item in empty["items"]] == ["Somebody else's"]
    await publish(created.other, content_types=tuple(type(created.tweet.content_type))[2:3])
    assert json.loads((await created.world.send("GET", "/changelog/empty/feed.json")).text)["items"] == []
    assert _grammar().validate(_parsed((await created.world.send("GET", "/changelog/empty/feed.atom")).content))
