"""The public changelog in a real browser: accessible, light and dark, wide and narrow, in print and in a frame."""

import re
from collections.abc import Generator
from typing import Final

import httpx
import pytest
from playwright.sync_api import Browser, expect
from tests.browser.looking import WIDE, Looking, Scheme
from tests.browser.story import Story
from tests.server_process import PATIENCE_S

from contentsvc_cli.start.sample import REPOSITORY
from contentsvc_core.content.public.links import ROOT

_HOME: Final = "/changelog/acme"
#: The pages by the name of their picture: the path, or the link on the front page.
_PAGES: Final = {
    "home": "",
    "month": r"/changelog/acme/\d{4}-\d\d$",
    "releases": "/releases",
    "post": r"/changelog/acme/(?:releases|\d{4}/\d\d)/\S+$",
    "label": "?label=fixed",
    "search": "?q=beam",
    "no-result": "?q=zeppelin",
    "second": "/changelog/lamps",
    "empty": "/changelog/horns",
    "embed": "/embed",
    "missing": "/posts/post_unknown",
}
#: The narrowest phones, in pixels.
_SIZES: Final = {"wide": WIDE, "narrow": (320, 640)}


@pytest.fixture(params=[(scheme, size) for scheme in ("light", "dark") for size in _SIZES], ids="-".join)
def window(story: Story, browser: Browser, request: pytest.FixtureRequest) -> Generator[tuple[Looking, str]]:
    scheme: Scheme
    scheme, size = request.param
    with Looking.at(story, browser, scheme=scheme, size=_SIZES[size], signed_in=False) as created:
        yield created, f"{scheme}-{size}"


def test_every_page_is_accessible(window: tuple[Looking, str]) -> None:
    looking, name = window
    for page, where in _PAGES.items():
        looking.page.goto(_HOME if "\\" in where else where if where.startswith(ROOT) else f"{_HOME}{where}")
        if "\\" in where:
            links = [link.get_attribute("href") or "" for link in looking.page.locator("a").all()]
            looking.page.goto(next(link for link in links if re.search(where, link)))
        expect(looking.page.locator("h1")).to_have_count(1)
        looking.shot(f"changelog-{page}-{name}")
        if (page, name) in {("home", "light-wide"), ("home", "dark-wide")}:
            # The pictures of the documentation, as large as the window.
            looking.shot("public-changelog" if name == "light-wide" else "public-changelog-dark", whole=False)
        assert looking.barriers() == []
        assert not looking.overflows()
        assert looking.page.evaluate("document.cookie") == ""


def test_on_a_phone_the_header_is_one_line_that_opens_without_a_script(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser, size=_SIZES["narrow"], scripts=False, signed_in=False) as looking:
        page = looking.page
        page.goto(_HOME)
        header = page.locator("header.top").bounding_box()
        assert header is not None
        assert header["height"] <= 64
        expect(page.get_by_role("link", name="Releases")).to_be_hidden()

        page.get_by_role("button", name="Menu").click()

        assert not looking.overflows()
        page.get_by_role("link", name="Releases").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Releases")


def test_on_a_phone_all_labels_are_in_sight(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser, size=_SIZES["narrow"], signed_in=False) as looking:
        looking.page.goto(f"{_HOME}?label=breaking")
        links = looking.page.get_by_role("navigation", name="Labels").get_by_role("link").all()
        assert len(links) > 5
        for each in links:
            box = each.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 320


@pytest.mark.parametrize("scripts", [True, False])
def test_a_time_has_its_hour_in_the_title_and_a_script_adds_the_local_one(
    story: Story, browser: Browser, *, scripts: bool
) -> None:
    with Looking.at(story, browser, scripts=scripts, signed_in=False) as looking:
        looking.page.goto(_HOME)
        title = looking.page.locator("time").first.get_attribute("title")

        assert title is not None
        assert re.fullmatch(r".* [AP]M \(.*, \d\d:\d\d UTC\)" if scripts else r"[^(]*, \d\d:\d\d UTC", title)


@pytest.mark.parametrize(("where", "one"), [("", "article"), ("/releases", "li.post"), ("/embed", "li.entry")])
def test_a_post_that_reads_from_right_to_left_has_its_date_on_the_right(
    story: Story, browser: Browser, where: str, one: str
) -> None:
    with Looking.at(story, browser, signed_in=False) as looking:
        looking.page.goto(f"{_HOME}{where}")
        post = looking.page.locator(one).first
        right = "getBoundingClientRect().right"
        to_the_right = f"post => post.{right} - post.querySelector('time').{right}"
        assert post.evaluate(to_the_right) > 1

        # "Light" in Arabic.
        post.locator(".title a").first.evaluate("link => { link.textContent = '\\u0636\\u0648\\u0621' }")

        assert post.evaluate(to_the_right) < 1


def test_it_can_be_printed_and_read_in_a_frame(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser, signed_in=False) as looking:
        looking.page.goto(_HOME)
        looking.page.emulate_media(media="print")
        expect(looking.page.locator(".top nav")).to_be_hidden()
        looking.shot("changelog-home-print")
        looking.page.emulate_media(media="screen")
        # In a page on another origin.
        looking.page.route(
            "**/frame.html",
            lambda route: route.fulfill(
                content_type="text/html",
                body=f'<iframe src="{story.url}{_HOME}/embed" width=400 height=420></iframe>'
                f'<iframe src="{story.url}{_HOME}" width=400 height=420></iframe>',
            ),
        )
        looking.page.goto("/frame.html")
        framed, refused = looking.page.locator("iframe").all()
        expect(framed.content_frame.locator("li.entry")).to_have_count(5)
        expect(refused.content_frame.locator("article")).to_have_count(0)
        # The browser logs the reason.
        looking.faults[:] = [fault for fault in looking.faults if "frame-ancestors" not in fault]


#: A table of many columns, and a very long line.
_WIDE: Final = (
    f"| {' | '.join(['Setting'] * 9)} |\n|{'---|' * 9}\n| {' | '.join(['`beam_rotation_speed_maximum`'] * 9)} |\n\n"
    f"```\n{'x' * 300}\n```\n"
)


@pytest.mark.parametrize("size", _SIZES)
def test_wide_tables_and_lines_are_reached_by_keyboard_and_printed_whole(
    story: Story, browser: Browser, size: str
) -> None:
    body = {"title": f"Wide things, {size}", "markdown": _WIDE, "repository": REPOSITORY, "status": "published"}
    headers = {"Authorization": f"Bearer {story.key}"}
    made = httpx.post(f"{story.url}/v1/posts", json=body, headers=headers, trust_env=False, timeout=PATIENCE_S)
    assert made.status_code == 201, made.text
    with Looking.at(story, browser, size=_SIZES[size]) as looking:
        page = looking.page
        for path in (f"/dashboard/posts/{made.json()['post']['id']}", _HOME):
            page.goto(path)
            if path == _HOME:
                page.get_by_role("link", name=body["title"], exact=True).click()
            expect(page.get_by_role("heading", level=1)).to_have_text(body["title"])
            expect(page.locator("table[tabindex]").first).to_be_visible()
            assert looking.barriers() == []
            assert not looking.overflows()
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 700, "height": 990})
        assert page.locator("table").evaluate("(it) => it.scrollWidth <= it.clientWidth")
        assert not looking.overflows()
        expect(page.get_by_role("navigation", name="More posts")).to_be_hidden()
        looking.shot(f"changelog-wide-print-{size}")
