"""Pages during an outage of the database: their advice, the kept texts, and the return."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, expect
from tests.browser.looking import Looking
from tests.browser.story import Story
from tests.postgres import PrivateServer
from tests.server_process import prepare, serving


@pytest.fixture(scope="module")
def database() -> Generator[PrivateServer]:
    with PrivateServer(durable=False) as server:
        yield server


@pytest.fixture(scope="module")
def story(database: PrivateServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Story]:
    prepared = prepare(tmp_path_factory.mktemp("story"), database_url=database.url)
    scopes = ("--scope", "read", "--scope", "write")
    key = prepared.installation.command("key", "issue", "--organization", "acme", *scopes)["key"]
    with serving(prepared.installation) as server:
        yield Story(server=server, installation=prepared.installation, hook=prepared.hook, key=key, stranger="")


def test_pages_say_what_to_do_and_come_back(story: Story, database: PrivateServer, browser: Browser) -> None:
    with Looking.at(story, browser) as looking:
        page, live, public = looking.page, looking.page.context.new_page(), looking.page.context.new_page()
        live.goto("/dashboard/integrations/logs")
        looking.go("/posts/new")
        page.get_by_label("Title").fill("A text that is kept")
        page.get_by_label("Text, in Markdown").fill("Ahoy")
        expect(page.locator("#preview")).to_have_text("Ahoy")

        database.stop()
        page.get_by_label("Text, in Markdown").fill("Ahoy there")
        expect(page.locator("#preview")).to_contain_text("This preview is not up to date")
        page.get_by_role("button", name="Save draft").click()
        expect(page.get_by_role("status")).to_contain_text("What you typed is kept in this tab")
        expect(page.get_by_text("Wait a moment, then try again.")).to_be_visible()
        assert looking.barriers() == []
        # The live list stays, with a notice.
        expect(live.get_by_role("status").filter(has_text="This page is not up to date")).to_be_visible()
        live.goto("/dashboard/runs?status=completed")
        expect(live.get_by_role("heading", level=1)).to_have_text("Not available now")
        public.goto("/changelog/acme")
        expect(public.get_by_text("Wait a minute, then load this page again.")).to_be_visible()
        live.screenshot(path="build/screens/outage.png")

        database.start()
        live.get_by_role("link", name="Try again").click()
        expect(live.get_by_role("heading", level=1)).to_have_text("Runs")
        assert live.url.endswith("/runs?status=completed")
        page.get_by_role("link", name="Back to the form").click()
        expect(page.get_by_label("Title")).to_have_value("A text that is kept")
        page.get_by_role("button", name="Save draft").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("A text that is kept")
        looking.faults[:] = [fault for fault in looking.faults if "503" not in fault]


def test_a_live_page_says_that_it_is_old_until_the_next_answer(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser) as looking:
        page = looking.page
        looking.go("")
        stale = page.get_by_role("status").filter(has_text="This page is not up to date")
        page.context.set_offline(True)
        expect(stale).to_be_visible()
        assert looking.barriers() == []
        page.context.set_offline(False)
        expect(stale).to_have_count(0)
        looking.faults[:] = [fault for fault in looking.faults if "a request left" in fault]
