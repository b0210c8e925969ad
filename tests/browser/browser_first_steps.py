"""The first minutes in a browser: the link that signs in, and the live checklist."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator, Sequence
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.browser.chromium import ARGUMENTS, chromium
from tests.browser.looking import NARROW, SCREENS, WIDE
from tests.server_process import PATIENCE_S, PLAIN, Hook, Installation, ServerProcess, serving

from contentsvc_cli.develop.recordings import RecordedDelivery
from contentsvc_cli.start.sample import REPOSITORY, REPOSITORY_ID, sample_history
from contentsvc_cli.wiring import accepted, open_app, organization_named, sign_in_link
from contentsvc_core import Scope
from contentsvc_core.content.public.changes import ChangeChangelog
from contentsvc_core.workflows.triggers import CreateTrigger
from contentsvc_http.settings import Settings

_RELEASE: Final[RecordedDelivery] = next(each for each in sample_history() if each.event == "release")


@pytest.fixture
def fresh(tmp_path: Path) -> Generator[tuple[ServerProcess, Hook, Settings]]:
    """A server whose organization has only connected a repository."""
    installation = Installation(tmp_path)
    settings = Settings(database_url=f"sqlite+aiosqlite:///{installation.database}")
    hook = asyncio.run(_connect(settings))
    with serving(installation) as server:
        yield server, hook, settings


async def _connect(settings: Settings) -> Hook:
    async with open_app(settings) as app:
        acme = accepted(await app.operator.create_organization("Acme Lighthouses", slug="acme"))
        created = accepted(
            await app.operator.connect(
                acme, full_name=REPOSITORY, repository_id=REPOSITORY_ID, provider="codehost", branch="main"
            )
        )
        accepted(await app.operator.issue_key(acme, scopes=tuple(Scope)))
        return Hook(
            organization="acme",
            organization_id=acme.id,
            integration_id=created.integration.id,
            repository_id=REPOSITORY_ID,
            secret=created.secret,
        )


async def _link(settings: Settings, port: int) -> str:
    async with open_app(settings) as app:
        (key,) = await app.stores.keys.keys()
        return await sign_in_link(app, key, port)


async def _publish(settings: Settings) -> None:
    async with open_app(settings) as app:
        acme = await organization_named(app, "acme")
        accepted(
            await app.trigger_editor.create(acme.id, CreateTrigger(repository_ids=[REPOSITORY_ID], auto_publish=True))
        )


async def _open_changelog(settings: Settings) -> None:
    async with open_app(settings) as app:
        await app.changelog_editor.change(await organization_named(app, "acme"), ChangeChangelog(is_public=True))


def test_a_link_signs_in_and_the_checklist_follows_by_itself(fresh: tuple[ServerProcess, Hook, Settings]) -> None:
    server, hook, settings = fresh
    link = asyncio.run(_link(settings, server.port))

    def deliver(event: str, delivery: str, body: bytes, *, forged: bool = False) -> None:
        headers = hook.headers(body, delivery, event)
        sent = body + b" " if forged else body
        httpx.post(f"{server.url}{hook.path}", content=sent, headers=headers, trust_env=False, verify=PLAIN)

    # Before the browser, which has an event loop of its own: the user's actions outside of the page.
    happens: tuple[tuple[Callable[[], None], str], ...] = (
        (lambda: deliver("release", "d-0", _RELEASE.body, forged=True), "A delivery arrived and was refused."),
        (lambda: deliver("ping", "d-1", b'{"zen": "Keep it lit."}'), "2 of 5 done"),
        (lambda: server_side(_publish(settings)), "3 of 5 done"),
        (lambda: deliver("release", "d-2", _RELEASE.body), "4 of 5 done"),
    )
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE_S * 1000)
        browser: Browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]}, reduced_motion="reduce")
        page = context.new_page()

        page.goto(link)

        expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
        assert page.url == f"{server.url}/dashboard"
        expect(page.get_by_text("1 of 5 done")).to_be_visible()
        _pictures(browser, context.cookies(), server.url, "checklist-fresh")
        # Without a reload: the page polls.
        page.evaluate("window.stayed = true")
        for happen, shown in happens:
            happen()
            expect(page.get_by_text(shown)).to_be_visible()
        _pictures(browser, context.cookies(), server.url, "checklist-nearly")
        server_side(_open_changelog(settings))
        expect(page.locator(".checklist")).to_have_count(0)
        assert page.evaluate("window.stayed") is True

        browser.close()
    assert "token=" not in server.log()


def server_side(work: Coroutine[Any, Any, None]) -> None:
    """Run work beside the browser's event loop."""
    thread = threading.Thread(target=lambda: asyncio.run(work))
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def _pictures(browser: Browser, cookies: Sequence[Any], url: str, name: str) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        for width, height in (WIDE, NARROW):
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            context.add_cookies(list(cookies))
            page = context.new_page()
            page.goto(f"{url}/dashboard")
            assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
            page.screenshot(path=SCREENS / f"{name}-{scheme}-{width}.png", full_page=True)
            context.close()
