"""A signed-in browser, and the faults of its pages."""

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, Literal, Self, final
from urllib.parse import urlsplit

from attrs import field, frozen
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request
from tests.browser.story import Story

#: Where screenshots are kept.
SCREENS: Final = Path(__file__).parents[2] / "build" / "screens"
WIDE: Final = (1280, 900)
NARROW: Final = (390, 844)
Scheme = Literal["light", "dark"]
#: The longest wait, in milliseconds.
_PATIENCE_MS: Final = 20_000
#: The most attempts at a picture, while Chromium answers with this fault.
_TURNS: Final = 3
_NO_PICTURE: Final = "Unable to capture screenshot"
#: A rule of WCAG 2.2 AA that axe leaves out by default: buttons and links are 24 pixels high, or apart.
_RULES: Final = {"rules": {"target-size": {"enabled": True}}}


@final
@frozen(kw_only=True)
class Looking:
    """A signed-in window that records faults of pages."""

    story: Story
    page: Page
    #: Faults: requests to other hosts, violations of the page's policy, failed scripts.
    faults: list[str] = field(factory=list[str])

    @classmethod
    @contextlib.contextmanager
    def at(
        cls,
        story: Story,
        browser: Browser,
        *,
        scheme: Scheme = "light",
        size: tuple[int, int] = WIDE,
        scripts: bool = True,
        signed_in: bool = True,
    ) -> Generator[Self]:
        """Open a window, and sign in; at the end, check that there are no faults."""
        width, height = size
        context = browser.new_context(
            base_url=story.url,
            color_scheme=scheme,
            viewport={"width": width, "height": height},
            java_script_enabled=scripts,
            reduced_motion="reduce",
        )
        context.set_default_timeout(_PATIENCE_MS)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=story.url)
        page = context.new_page()
        created = cls(story=story, page=page)
        # As functions: the library modifies the given object.
        page.on("request", lambda request: created._note_request(request))  # noqa: PLW0108  # as above
        page.on("console", lambda message: created._note_console(message))  # noqa: PLW0108  # as above
        page.on("pageerror", lambda error: created.faults.append(f"a script failed: {error}"))
        try:
            if signed_in:
                created.sign_in(story.key)
            yield created
            assert not created.faults, created.faults
        finally:
            context.close()

    def sign_in(self, key: str) -> None:
        """Sign in by the form."""
        self.page.goto("/dashboard/sign-in")
        self.page.get_by_label("API key").fill(key)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("heading", level=1).wait_for()

    def go(self, path: str) -> None:
        """Open a page of the dashboard."""
        answer = self.page.goto(f"/dashboard{path}")
        assert answer is not None
        assert answer.ok, (path, answer.status)

    def shot(self, name: str, *, whole: bool = True) -> None:
        """Store a picture of the whole page, or of the window."""
        SCREENS.mkdir(parents=True, exist_ok=True)
        for turn in range(_TURNS):
            try:
                self.page.screenshot(path=SCREENS / f"{name}.png", full_page=whole)
            except Error as exc:
                # Chromium fails rarely, on any page.
                if _NO_PICTURE not in exc.message or turn == _TURNS - 1:
                    raise
            else:
                return

    def barriers(self) -> list[str]:
        """Return the accessibility violations that axe finds."""
        # The package has no complete types.
        response: dict[str, Any] = Axe().run(self.page, options=_RULES).response  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        violations: list[dict[str, Any]] = response["violations"]
        return [
            f"{violation['id']}: {violation['help']}: {[node['target'] for node in violation['nodes'][:5]]}"
            for violation in violations
        ]

    def overflows(self) -> bool:
        """Check whether the page is wider than its window, or one of its lists than its card."""
        wide = "each => each.scrollWidth > each.clientWidth"
        return bool(
            self.page.evaluate(f"[document.documentElement, ...document.querySelectorAll('.table')].some({wide})")
        )

    def _note_request(self, request: Request) -> None:
        if (
            not request.url.startswith(("data:", "blob:"))
            and urlsplit(request.url).netloc != urlsplit(self.story.url).netloc
        ):
            self.faults.append(f"a request left the server: {request.url}")

    def _note_console(self, message: ConsoleMessage) -> None:
        # The console also has refusals that a test provokes.
        if message.type == "error" and "status of 4" not in message.text:
            self.faults.append(f"the console says: {message.text}")
