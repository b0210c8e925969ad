"""Each page, light and dark, wide and narrow: accessible, not cut off, without requests to other hosts."""

import contextlib
import itertools
import re
from collections.abc import Generator
from typing import Final

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.chromium import ARGUMENTS, chromium
from tests.browser.looking import NARROW, WIDE, Looking, Scheme
from tests.browser.story import Story
from tests.server_process import PATIENCE_S

#: The pages by the name of their picture: the path, and the link of a list.
_PAGES: Final[dict[str, tuple[str, str | None]]] = {
    "overview": ("", None),
    "integrations": ("/integrations", None),
    "integration": ("/integrations", r"/dashboard/integrations/int_[^/]+$"),
    "logs": ("/integrations/logs", None),
    "log-entry": ("/integrations/logs", r"/dashboard/integrations/logs/log_[^/]+$"),
    "endpoints": ("/endpoints", None),
    "endpoint": ("/endpoints", r"/dashboard/endpoints/whe_[^/]+$"),
    "triggers": ("/triggers", None),
    "trigger": ("/triggers", r"/dashboard/triggers/trg_[^/]+$"),
    "new-trigger": ("/triggers/new", None),
    "schedules": ("/schedules", None),
    "new-schedule": ("/schedules/new", None),
    "runs": ("/runs", None),
    "run": ("/runs", r"/dashboard/runs/[^/?]+$"),
    "posts": ("/posts", None),
    "post": ("/posts", r"/dashboard/posts/post_[^/]+$"),
    "edit-post": ("/posts", r"/dashboard/posts/post_[^/]+$"),
    "new-post": ("/posts/new", None),
    "write-post": ("/posts/write", None),
    "schedule": ("/schedules", r"/dashboard/schedules/sch_[^/]+$"),
    "search": ("/search?query=fix", None),
    "record": ("/search?query=fix", r"/dashboard/context/[^/]+$"),
    "brands": ("/brands", None),
    "keys": ("/keys", None),
    "organization": ("/organization", None),
    "changelog-settings": ("/changelog", None),
    "changelog-second": ("/changelog", r"/dashboard/changelogs/[^/]+$"),
    "changelog-preview": ("/changelog/preview", None),
    "house-style": ("/house-style", None),
}
#: The pictures of the documentation, as large as the window: `make pictures` copies them.
_SHOWN: Final = {
    "overview": "dashboard-overview",
    "integration": "dashboard-integration",
    "log-entry": "dashboard-log",
    "post": "dashboard-post",
}
_RAW_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
_SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")
_SIZES: Final = {"wide": WIDE, "narrow": NARROW}


class Windows:
    """Signed-in windows, one for each size and colour scheme, which all pages share."""

    def __init__(self, story: Story, browser: Browser, stack: contextlib.ExitStack) -> None:
        self._story = story
        self._browser = browser
        self._stack = stack
        self._open: dict[tuple[Scheme, str], Looking] = {}

    def at(self, scheme: Scheme, size: str) -> Looking:
        if (scheme, size) not in self._open:
            opened = Looking.at(self._story, self._browser, scheme=scheme, size=_SIZES[size])
            self._open[scheme, size] = self._stack.enter_context(opened)
        return self._open[scheme, size]


@pytest.fixture(scope="module")
def windows(story: Story, browser: Browser) -> Generator[Windows]:
    with contextlib.ExitStack() as stack:
        yield Windows(story, browser, stack)


def link(page: Page, pattern: str) -> str:
    """Return the first link of a page that matches."""
    found = page.eval_on_selector_all("main a", "links => links.map(link => link.getAttribute('href'))")
    match = next((each for each in found if each and re.search(pattern, each)), None)
    assert match is not None, f"no link like {pattern} on {page.url}: {found}"
    return str(match).removeprefix("/dashboard")


@pytest.mark.parametrize(("scheme", "size"), list(itertools.product(_SCHEMES, _SIZES)))
@pytest.mark.parametrize("name", _PAGES)
def test_every_page_is_complete_and_accessible(windows: Windows, name: str, scheme: Scheme, size: str) -> None:
    path, pattern = _PAGES[name]
    looking = windows.at(scheme, size)
    looking.go(path)
    if pattern is not None:
        looking.go(link(looking.page, pattern))
    if name == "edit-post":
        looking.page.get_by_role("link", name="Edit").click()
        # A script loads the preview.
        looking.page.locator(".reading li").first.wait_for()
    if name in {"new-trigger", "new-schedule"}:
        looking.page.locator("summary", has_text="House style").click()
    if name == "new-trigger":
        looking.page.locator("summary", has_text="Filters").click()
    if name in {"house-style", "new-trigger", "new-schedule"}:
        # As in the service.
        looking.page.locator(".reading li").first.wait_for()
    looking.page.get_by_role("heading", level=1).wait_for()
    looking.shot(f"{name}-{scheme}-{size}")
    if name in _SHOWN and (scheme, size) == ("light", "wide"):
        looking.shot(_SHOWN[name], whole=False)
    assert looking.barriers() == []
    assert not looking.overflows()
    # Ids are behind "Details".
    assert not _RAW_ID.search(looking.page.locator("main").inner_text())
    assert looking.faults == []


@pytest.mark.parametrize("scheme", _SCHEMES)
def test_the_sign_in_is_accessible(story: Story, browser: Browser, scheme: Scheme) -> None:
    with Looking.at(story, browser, scheme=scheme, signed_in=False) as looking:
        looking.page.goto("/dashboard")
        looking.page.get_by_label("API key").wait_for()
        looking.shot(f"sign-in-{scheme}-wide")
        assert looking.barriers() == []
        looking.page.get_by_label("API key").fill("csk_wrong")
        looking.page.get_by_role("button", name="Sign in").click()
        looking.page.get_by_role("alert").wait_for()
        assert looking.barriers() == []


@pytest.mark.parametrize("scripts", [True, False])
def test_on_a_phone_the_navigation_is_one_line_that_opens(story: Story, browser: Browser, scripts: bool) -> None:
    with Looking.at(story, browser, size=(320, 640), scripts=scripts) as looking:
        page = looking.page
        # A short page: the header must not fill the remaining room.
        looking.go("/brands")
        header = page.locator("header").bounding_box()
        assert header is not None
        assert header["height"] <= 60
        expect(page.get_by_role("link", name="Runs", exact=True)).to_be_hidden()

        page.get_by_role("button", name="Menu").click()

        if scripts:
            looking.shot("menu-light-narrow", whole=False)
            assert looking.barriers() == []
        assert not looking.overflows()
        page.get_by_role("link", name="Runs", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Runs")


def test_a_phone_with_letters_twice_as_large_shows_every_page_whole(story: Story, browser: Browser) -> None:
    large = ["--blink-settings=defaultFontSize=32,defaultFixedFontSize=26"]
    opened = browser.browser_type.launch(executable_path=chromium(), args=[*ARGUMENTS, *large])
    with contextlib.closing(opened), Looking.at(story, opened, size=NARROW) as looking:
        addresses = [f"/dashboard{path}" for path, link in _PAGES.values() if link is None]
        for address in [*addresses, "/changelog/acme", "/changelog/acme/releases", "/changelog/acme/subscribe"]:
            looking.page.goto(address)
            looking.page.wait_for_load_state()
            assert not looking.overflows(), address


def test_a_post_is_printed_without_the_controls_of_its_page(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser) as looking:
        page = looking.page
        looking.go("/posts")
        looking.go(link(page, r"/dashboard/posts/post_[^/]+$"))
        page.emulate_media(media="print")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(".reading")).to_be_visible()
        expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
        assert page.locator("main").get_by_role("button").count() == 0
        looking.shot("post-print")


def test_a_time_shows_the_local_time_of_its_reader(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser) as looking:
        looking.go("/integrations/logs")
        title = looking.page.locator("td time").first.get_attribute("title") or ""
        # The reader's own time, then the same in UTC.
        assert re.fullmatch(r"\S.+ \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)", title), title
        assert looking.page.evaluate("document.fonts.check('16px Manrope')")


def test_the_documentation_of_the_api_works_under_its_policy(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser, signed_in=False) as looking:
        looking.page.goto("/schema")
        looking.page.locator(".opblock-summary-path", has_text="/v1/posts").first.click()
        # Scripts render the operations; violations of the policy would appear in the console.
        looking.page.locator(".opblock-body").first.wait_for()
        looking.shot("schema-light-wide", whole=False)


def test_a_long_address_keeps_the_other_columns_of_the_log_in_sight(story: Story, browser: Browser) -> None:
    key = {"Authorization": f"Bearer {story.key}"}
    with httpx.Client(base_url=f"{story.url}/v1", headers=key, trust_env=False, timeout=PATIENCE_S) as client:
        sent = {"url": f"https://www.acme.example/{'rebuild' * 20}"}
        created = client.post("/webhook-endpoints", json=sent).raise_for_status()
        client.post(f"{created.headers['Location'].removeprefix('/v1')}/test").raise_for_status()
    for size in _SIZES.values():
        with Looking.at(story, browser, size=size) as looking:
            looking.go("/integrations/logs")
            expect(looking.page.locator("td", has_text="rebuildrebuild").first).to_be_visible()
            assert not looking.overflows()
