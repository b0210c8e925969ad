"""A real server with a story in its database, and a real Chromium."""

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.browser.chromium import ARGUMENTS, chromium
from tests.browser.looking import NARROW, WIDE, Looking
from tests.browser.story import Story, running_story
from tests.server_process import PATIENCE_S


# One for each file, so that no picture depends on another file.
@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Generator[Story]:
    with running_story(tmp_path_factory.mktemp("story")) as created:
        yield created


# After the story, which runs an event loop: while a browser is open, there is one already.
@pytest.fixture(scope="module")
def browser(story: Story) -> Generator[Browser]:
    del story
    # For a busy machine.
    expect.set_options(timeout=PATIENCE_S * 1000)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture(params=[("light", WIDE), ("dark", NARROW)], ids=["light-wide", "dark-narrow"])
def looking(story: Story, browser: Browser, request: pytest.FixtureRequest) -> Generator[Looking]:
    """A signed-in browser; takes a picture at the end, and fails the test if the page had a fault."""
    scheme, size = request.param
    with Looking.at(story, browser, scheme=scheme, size=size) as created:
        yield created
        created.shot(f"action-{re.sub('[^a-z]+', '-', request.node.name).strip('-')}")
