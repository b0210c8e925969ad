"""Following a changelog in a real browser: the Subscribe page, mails, and the widget on a site with a strict policy."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect
from tests.browser.looking import NARROW, WIDE, Looking, Scheme
from tests.browser.story import Story, running_story
from tests.http_server import StaticSite
from tests.mail_server import MailServer, in_a_thread
from tests.server_process import until

if TYPE_CHECKING:
    from pathlib import Path

_HOME: Final = "/changelog/acme"
_URL: Final = re.compile(r"https?://\S+token=[A-Za-z0-9]+")
#: The policy of another site: only the script and the data of the widget.
_POLICY: Final = (
    "default-src 'none'; script-src {0}; connect-src {0}; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


@pytest.fixture(scope="module")
def mail() -> Generator[MailServer]:
    with in_a_thread() as server:
        yield server


@pytest.fixture(scope="module")
def story(mail: MailServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Story]:
    folder: Path = tmp_path_factory.mktemp("story")
    settings = {"smtp_url": mail.url, "mail_from": "log@acme.example", "mail_every_minutes": "0"}
    with running_story(folder, days=1, **settings) as made:
        yield made


@contextmanager
def _site(policy: str, body: str) -> Generator[str]:
    """Serve another site's page, on an origin of its own."""

    page = f"<!doctype html><html lang=en><title>Shop</title><main><h1>Shop</h1>{body}</main>".encode()
    with StaticSite(page, {"Content-Security-Policy": policy}) as site:
        yield site.url


@contextmanager
def _visiting(browser: Browser, *, storage: bool = True) -> Generator[tuple[Page, list[Any]]]:
    """Open a window that counts violations of a site's policy."""
    with browser.new_context() as context:
        page = context.new_page()
        refused: list[Any] = []

        def note(what: object) -> None:
            refused.append(what)

        exposing: Any = page
        exposing.expose_function("refused", note)
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (event) => refused(event.violatedDirective + ' ' +"
            " event.blockedURI), true)"
        )
        if not storage:
            page.add_init_script(
                "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })"
            )
        page.on("pageerror", lambda fault: refused.append(str(fault)))
        page.on("console", lambda each: refused.append(each.text) if each.type in {"error", "warning"} else None)
        yield page, refused


def _snippet(story: Story, more: str = "") -> str:
    return f'<script src="{story.url}{_HOME}/widget.js" async{more}></script>'


def test_the_widget_works_on_another_origin_with_a_strict_policy(story: Story, browser: Browser) -> None:
    with _site(_POLICY.format(story.url), _snippet(story)) as url, _visiting(browser) as (page, refused):
        page.goto(url)
        button = page.get_by_role("button", name=re.compile(r"^What's new, \d+ unread$"))
        expect(button).to_have_attribute("aria-expanded", "false")
        # The style sheet applies: no inline style was refused.
        assert button.evaluate("(it) => getComputedStyle(it).borderRadius") == "99px"
        button.focus()
        page.keyboard.press("Enter")
        opened = page.get_by_role("button", name="What's new", exact=True)
        expect(opened).to_have_attribute("aria-expanded", "true")
        panel = page.get_by_role("region", name="Acme Lighthouses")
        expect(panel).to_be_focused()
        links = panel.get_by_role("listitem").get_by_role("link")
        assert links.count() > 0
        assert (links.first.get_attribute("href") or "").startswith(f"{story.url}{_HOME}/")
        page.screenshot(path="build/screens/widget.png")
        axe: Any = Axe()
        assert axe.run(page).violations_count == 0
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(opened).to_be_focused()
        # Seen entries stay seen.
        page.reload()
        expect(page.get_by_role("button", name="What's new", exact=True)).to_be_visible()
        opened.click()
        expect(panel).to_be_visible()
        page.get_by_role("heading", name="Shop").click()
        expect(panel).to_be_hidden()
        assert refused == []


def test_the_widget_mounts_at_its_target_and_works_without_storage(story: Story, browser: Browser) -> None:
    snippet = '<p id="news"></p>' + _snippet(story, ' data-target="#news" data-label="News"')
    with _site(_POLICY.format(story.url), snippet) as url, _visiting(browser, storage=False) as (page, refused):
        page.goto(url)
        button = page.locator("#news").get_by_role("button", name=re.compile(r"^News, \d+ unread$"))
        button.click()
        expect(page.get_by_role("region", name="Acme Lighthouses")).to_be_visible()
        assert refused == []


#: Styles of a site that would show in the widget: inherited ones, and such for every element.
_RESET: Final = (
    "<style>* { margin: 0; line-height: 3; text-transform: uppercase; letter-spacing: 1em; opacity: .4 }"
    " body > div { position: static !important; display: none; width: 100% } html { font-size: 40px; color: red }"
    "</style>"
)
_SITE_POLICY: Final = "default-src 'none'; script-src {0}; connect-src {0}; style-src 'unsafe-inline'"


def test_the_styles_of_a_site_do_not_change_the_widget(story: Story, browser: Browser) -> None:
    read = """(it) => ['opacity', 'fontSize', 'lineHeight', 'letterSpacing', 'textTransform', 'color']
        .map((name) => getComputedStyle(it)[name])"""
    found: list[Any] = []
    for styles in ("", _RESET):
        with (
            _site(_SITE_POLICY.format(story.url), styles + _snippet(story)) as url,
            _visiting(browser) as (page, refused),
        ):
            page.goto(url)
            page.get_by_role("button").click()
            panel = page.get_by_role("region", name="Acme Lighthouses")
            expect(panel).to_be_visible()
            host = page.locator("body > div")
            found.append([host.evaluate(read), panel.evaluate(read), page.get_by_role("button").bounding_box()])
            assert refused == []
    assert found[0] == found[1]


def _after_the_other(route: Route) -> None:
    expect(route.request.frame.get_by_role("button", name=re.compile("^Lamps"))).to_be_visible()
    route.continue_()


def test_widgets_of_two_changelogs_are_separate_and_one_changelog_floats_once(story: Story, browser: Browser) -> None:
    second = _snippet(story, ' data-label="Lamps"').replace("acme", "lamps")
    with _site(_POLICY.format(story.url), _snippet(story) * 2 + second) as url, _visiting(browser) as (page, refused):
        # The first changelog is the last to load.
        page.route("**/acme/widget.json", _after_the_other)
        page.goto(url)
        # Each can be clicked, because none covers another one.
        page.get_by_role("button", name=re.compile("^Lamps")).click()
        expect(page.get_by_role("region", name="Lamps for developers")).to_be_visible()
        page.get_by_role("button", name=re.compile("^What's new")).click()
        expect(page.get_by_role("region", name="Acme Lighthouses")).to_be_visible()
        # An open panel is above the other buttons, and the other panel is closed.
        page.get_by_role("region", name="Acme Lighthouses").get_by_role("link").last.click(trial=True)
        expect(page.get_by_role("region", name="Lamps for developers")).to_be_hidden()
        assert page.get_by_role("button").count() == 2
        assert refused == []


@pytest.mark.parametrize("corner", ["left", "center", "right"])
def test_an_open_widget_is_in_sight_wherever_its_button_is(story: Story, browser: Browser, corner: str) -> None:
    snippet = f'<center><p id="news" align="{corner}"></p></center>' + _snippet(story, ' data-target="#news"')
    with _site(_POLICY.format(story.url), snippet) as url, _visiting(browser) as (page, refused):
        page.set_viewport_size({"width": 360, "height": 640})
        page.goto(url)
        page.get_by_role("button").click()
        panel = page.get_by_role("region", name="Acme Lighthouses").bounding_box()
        assert panel is not None
        assert panel["x"] >= 0
        assert panel["x"] + panel["width"] <= 360
        assert refused == []


def test_a_widget_without_posts_says_so(story: Story, browser: Browser) -> None:
    with (
        _site(_POLICY.format(story.url), _snippet(story).replace("acme", "horns")) as url,
        _visiting(browser) as (page, refused),
    ):
        page.goto(url)
        page.get_by_role("button", name="What's new", exact=True).click()
        panel = page.get_by_role("region", name="Horns")
        expect(panel.get_by_text("Nothing has been published yet.")).to_be_visible()
        assert panel.get_by_role("list").count() == 0
        page.screenshot(path="build/screens/widget-empty.png")
        assert refused == []


def test_a_site_that_blocks_the_widget_shows_no_button_and_logs_the_refusal(story: Story, browser: Browser) -> None:
    # Proof that the tests above would fail after a refusal.
    with _site("default-src 'none'", _snippet(story)) as url, _visiting(browser) as (page, refused):
        page.goto(url)
        expect(page.get_by_role("heading", name="Shop")).to_be_visible()
        until(lambda: page.evaluate("1") == 1 and bool(refused), "a refusal")
        assert page.get_by_role("button").count() == 0
        assert any("script-src" in str(each) for each in refused)


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", NARROW)])
def test_the_subscribe_page_is_accessible(
    story: Story, browser: Browser, scheme: Scheme, size: tuple[int, int]
) -> None:
    with Looking.at(story, browser, scheme=scheme, size=size, signed_in=False) as looking:
        looking.page.goto(_HOME)
        looking.page.get_by_role("link", name="Subscribe").first.click()
        looking.page.get_by_role("button", name="Copy the address of the Atom feed").click()
        expect(looking.page.get_by_text("Copied")).to_be_visible()
        assert looking.page.evaluate("navigator.clipboard.readText()") == f"{story.url}{_HOME}/feed.atom"
        assert looking.barriers() == []
        assert not looking.overflows()
        looking.shot(f"changelog-subscribe-{scheme}")


def test_an_address_that_is_none_is_marked_and_can_be_corrected_at_once(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser, scheme="dark", size=NARROW, signed_in=False) as looking:
        page = looking.page
        page.goto(f"{_HOME}/subscribe")
        # Valid for a browser, but not for the service.
        page.get_by_label("Your e-mail address").fill("ann@localhost")
        page.get_by_role("button", name="Subscribe").click()
        field = page.get_by_label("Your e-mail address")
        expect(field).to_have_accessible_description(re.compile("^That is no e-mail address"))
        expect(field).to_have_value("ann@localhost")
        expect(field).to_be_focused()
        assert looking.barriers() == []
        looking.shot("changelog-subscribe-fault")


def test_without_scripts_the_addresses_are_text(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser, scripts=False, signed_in=False) as looking:
        looking.page.goto(f"{_HOME}/subscribe")
        expect(looking.page.get_by_text(f"/feed subscribe {story.url}{_HOME}/feed.atom")).to_be_visible()
        assert looking.page.get_by_role("button", name="Copy").count() == 0


def test_a_reader_subscribes_and_confirms_by_mail(story: Story, browser: Browser, mail: MailServer) -> None:
    with Looking.at(story, browser, signed_in=False) as looking:
        page = looking.page
        page.goto(f"{_HOME}/subscribe")
        page.get_by_label("Your e-mail address").fill("ann@example.org")
        page.get_by_role("button", name="Subscribe").click()
        expect(page.get_by_role("heading", name="Check your mail")).to_be_visible()
        until(lambda: len(mail.mails) == 1, "a confirmation mail")
        page.goto(_link(mail))
        looking.shot("changelog-confirm")
        assert looking.barriers() == []
        page.get_by_role("button", name="Subscribe").click()
        expect(page.get_by_role("heading", name="You are subscribed")).to_be_visible()


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", NARROW)])
def test_a_recipient_of_alerts_confirms_and_leaves(
    story: Story, browser: Browser, mail: MailServer, scheme: Scheme, size: tuple[int, int]
) -> None:
    before, address = len(mail.mails), f"ops-{scheme}@acme.example"
    made: Any = story.installation.command("endpoint", "create", address, "--organization", "acme")
    until(lambda: len(mail.mails) == before + 1, "a confirmation mail")
    with Looking.at(story, browser, scheme=scheme, size=size) as looking:
        page = looking.page
        page.goto(f"/dashboard/endpoints/{made['id']}")
        expect(page.get_by_role("row", name=address)).to_contain_text("unconfirmed")
        expect(page.get_by_role("button", name="Send the confirmation again")).to_be_visible()
        assert looking.barriers() == []
        assert not looking.overflows()
        looking.shot(f"dashboard-endpoint-mail-{scheme}")
        page.goto(_link(mail))
        assert looking.barriers() == []
        assert not looking.overflows()
        looking.shot(f"alerts-confirm-{scheme}")
        page.get_by_role("button", name="Get alerts").click()
        expect(page.get_by_role("heading", name="Your address is confirmed")).to_be_visible()
        page.goto(_link(mail).replace("/confirm?", "/leave?"))
        page.get_by_role("button", name="Remove my address").click()
        expect(page.get_by_role("heading", name="Your address is removed")).to_be_visible()
        assert looking.barriers() == []


def _link(mail: MailServer) -> str:
    found = _URL.search(mail.mails[-1].text)
    assert found is not None
    return found[0]
