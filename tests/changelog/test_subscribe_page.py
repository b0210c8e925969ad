"""The Subscribe page, the widget and the badge, without a browser."""

import importlib
from typing import Any

from attrs import evolve
from tests.changelog.reader import HOME, Reader, publish
from tests.dashboard.browsing import Seen

from contentsvc_core.content.public.widget import badge_svg
from contentsvc_http.changelog.routes import SCRIPT

_XML: Any = importlib.import_module("lxml.etree")


async def test_the_subscribe_page_names_every_address_as_text(reader: Reader) -> None:
    page = Seen(await reader.get("/subscribe"))

    assert (page.status, page.heading) == (200, "Subscribe")
    for text in ("/feed.atom", "/feed subscribe http://test/changelog/acme/feed.atom", "/feed.json"):
        assert text in page.text
    # Without an SMTP server, there is no form.
    assert not [tag for tag, _ in page.elements if tag == "form"]
    assert Seen(await reader.get()).links["Subscribe"] == f"http://test{HOME}/subscribe"


async def test_the_script_is_small_and_is_not_sent_twice(reader: Reader) -> None:
    first = await reader.get("/widget.js")

    assert len(first.content) < 4_000
    assert first.content == SCRIPT
    assert first.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert first.headers["Access-Control-Allow-Origin"] == "*"
    assert (await reader.get("/widget.js", If_None_Match=first.headers["ETag"])).status_code == 304


async def test_the_widget_reads_only_the_listed_posts(reader: Reader) -> None:
    answer = await reader.get("/widget.json")
    feed = answer.json()

    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert [post["title"] for post in feed["posts"]] == [post.title for post in reader.posts]
    assert feed["title"] == "Acme's lamps"
    assert feed["posts"][0]["url"].startswith(f"http://test{HOME}/")


async def test_the_badge_names_the_newest_release(reader: Reader) -> None:
    answer = await reader.get("/badge.svg")
    drawn = _XML.fromstring(answer.content)

    assert answer.headers["Content-Type"].startswith("image/svg+xml")
    assert drawn.get("aria-label") == "changelog: v2.0.0"
    assert (await reader.get("/badge.svg", If_None_Match=answer.headers["ETag"])).status_code == 304


async def test_a_reader_leaves_although_the_service_sends_no_mail_any_more(reader: Reader) -> None:
    left = [await reader.get("/subscribe/leave?token=x", method=method) for method in ("GET", "POST")]

    assert [answer.status_code for answer in left] == [200, 200]
    assert (await reader.get("/subscribe/confirm?token=x")).status_code == 404


async def test_a_changelog_that_is_off_has_none_of_them() -> None:
    reader = await Reader.made()
    await publish(reader.acme, is_public=False)
    for path in ("/subscribe", "/widget.js", "/widget.json", "/badge.svg"):
        assert (await reader.get(path)).status_code == 404


def test_the_accent_is_that_of_the_changelog(reader: Reader) -> None:
    changelog = next(iter(reader.state.changelogs.values()))

    assert b'fill="#663399"' in badge_svg(evolve(changelog, accent="663399"), "v1")
