"""Editors' actions in the dashboard, in a real browser: writing, saving by keyboard, versions, several posts."""

import json
import re

import pytest
from playwright.sync_api import Page, expect
from tests.browser.looking import Looking
from tests.server_process import until

from contentsvc_cli.start.sample import REPOSITORY_ID
from contentsvc_core.testing import push_body


def check(looking: Looking) -> None:
    assert looking.barriers() == []
    assert not looking.overflows()


def write(looking: Looking, title: str, text: str) -> Page:
    page = looking.page
    looking.go("/posts")
    page.get_by_role("link", name="New post").click()
    page.get_by_label("Title").fill(title)
    page.get_by_label("Text, in Markdown").fill(text)
    return page


def test_a_notice_is_shown_once_and_a_button_shows_that_its_form_is_sent(looking: Looking) -> None:
    page = write(looking, "A text that takes its time", "The lamp *turns*.")
    page.get_by_role("button", name="Save draft").click()
    expect(page.locator("main > .notice")).to_have_text("Created.")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("A text that takes its time")
    expect(page.locator("main > .notice")).to_have_count(0)

    # Without an answer that the browser shows, the page stays.
    page.route("**/publish", lambda route: route.fulfill(status=204))
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("button", name="Publish …")).to_have_attribute("aria-busy", "true")


def test_what_is_done_with_ticked_posts_is_in_sight(looking: Looking) -> None:
    page = looking.page
    looking.go("/posts")
    delete = page.get_by_role("button", name="Delete…")
    expect(delete).not_to_be_in_viewport()
    page.locator("[name=post]").first.check()
    expect(delete).to_be_in_viewport()
    check(looking)


def save_by_keyboard(page: Page) -> None:
    # The key is handled once the deferred scripts of the page have run. A busy machine fills the form before that.
    page.wait_for_load_state()
    page.keyboard.press("Control+s")


def test_a_post_is_written_by_hand_and_copied(looking: Looking) -> None:
    page = write(looking, "The lamp of the harbour", "## New\n\nA **lamp** for the harbour.")
    expect(page.locator("#preview strong", has_text="lamp")).to_be_visible()
    page.get_by_label("Summary").fill("Harbours have a lamp now.")
    page.get_by_label("Improved").check()
    page.get_by_label("Publish at").fill("2999-01-01T08:00")
    check(looking)
    page.get_by_role("button", name="Save draft").click()

    expect(page.get_by_text("Goes public on")).to_be_visible()
    check(looking)
    page.get_by_role("button", name="Copy as plain text").click()
    until(lambda: "A lamp for the harbour." in page.evaluate("navigator.clipboard.readText()"), "the copied text")
    looking.go("/posts")
    cell = page.locator("td[data-label=State]:has(.detail)").first
    state, detail = (cell.locator(each).bounding_box() for each in (".state", ".detail"))
    assert state is not None
    assert detail is not None
    assert abs(state["x"] - detail["x"]) < 1


def test_the_keyboard_saves_and_versions_are_compared(looking: Looking) -> None:
    page = write(looking, "A text with a past", "one\ntwo\nthree")
    save_by_keyboard(page)
    expect(page.get_by_role("status")).to_have_text("Created.")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Text, in Markdown").fill("one\n2\nthree")
    save_by_keyboard(page)
    expect(page.get_by_role("status")).to_have_text("Saved.")

    page.get_by_role("link", name="Versions").click()
    expect(page.locator("pre ins")).to_contain_text("+ 2")
    expect(page.locator("pre del")).to_contain_text("two")
    check(looking)


@pytest.mark.parametrize("notices", ["a save", "a preview", "an error"])
def test_typed_text_outlives_the_session(looking: Looking, notices: str) -> None:
    page = write(looking, "A text that is kept", "The lamp *turns*.")
    page.get_by_label("Improved").check()
    page.get_by_label("Type").select_option(label="LinkedIn post")
    expect(page.locator("#length")).to_have_text("15 of 3,000 characters")
    if notices == "an error":
        page.locator("form.editor [name=csrf]").evaluate("field => { field.value = 'of another session' }")
    else:
        page.context.clear_cookies()
    if notices == "a preview":
        page.get_by_label("Text, in Markdown").fill("The lamp *turns* on.")
    else:
        page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("status")).to_have_text("What you typed is kept in this tab, and comes back in its form.")
    check(looking)

    if notices == "an error":
        page.get_by_role("link", name="Back to the form").click()
    else:
        page.get_by_label("API key").fill(looking.story.key)
        page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("status")).to_have_text("What you typed is back in the form. It is not saved yet.")
    expect(page.get_by_label("Text, in Markdown")).to_have_value(re.compile(r"The lamp \*turns\*"))
    expect(page.get_by_label("Improved")).to_be_checked()
    expect(page.locator("#length")).to_contain_text("of 3,000 characters")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A text that is kept")
    looking.go("/posts/new")
    expect(page.get_by_label("Title")).to_have_value("")


def test_typed_filters_come_back_in_sight_with_their_preview(looking: Looking) -> None:
    page = looking.page
    looking.go("/triggers/new")
    page.get_by_label("Name").fill("Releases of the lamp")
    page.locator("summary", has_text="Filters").click()
    page.get_by_label("Tags of releases").fill("lamp-*")
    page.context.clear_cookies()
    page.get_by_role("button", name="Create the trigger").click()
    page.get_by_label("API key").fill(looking.story.key)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("main > .notice")).to_be_focused()
    expect(page.get_by_label("Tags of releases")).to_be_visible()
    expect(page.get_by_label("Tags of releases")).to_have_value("lamp-*")
    expect(page.locator("#preview .figure")).to_have_text(re.compile("^0 of "))
    check(looking)


def test_typed_text_outlives_a_save_without_an_answer(looking: Looking) -> None:
    page = write(looking, "A text that was sent", "The lamp *turns*.")
    page.context.set_offline(True)
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("button", name="Save draft")).to_have_count(0)
    page.context.set_offline(False)
    looking.faults.clear()
    # The browser's error page has replaced the form.
    page.go_back()
    expect(page.get_by_role("status")).to_have_text("What you typed is kept in this tab, and comes back in its form.")
    page.get_by_role("link", name="New post").click()
    expect(page.get_by_role("status")).to_have_text("What you typed is back in the form. It is not saved yet.")
    expect(page.get_by_label("Title")).to_have_value("A text that was sent")
    check(looking)
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A text that was sent")
    assert page.evaluate("sessionStorage.length") == 0


def test_typed_text_is_kept_from_other_organizations(looking: Looking) -> None:
    page = write(looking, "A text of Acme", "The lamp *turns*.")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save draft").click()
    page.get_by_label("API key").fill(looking.story.stranger)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New post")
    expect(page.get_by_label("Title")).to_have_value("")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_preview_that_is_refused_says_that_it_is_an_old_one(looking: Looking) -> None:
    page = write(looking, "A text", "Ahoy")
    expect(page.locator("#preview")).to_have_text("Ahoy")
    page.route("**/posts/preview", lambda route: route.fulfill(status=429))
    page.get_by_label("Text, in Markdown").fill("Ahoy there")
    expect(page.locator("#preview")).to_contain_text("This preview is not up to date")
    check(looking)
    assert looking.faults == ["the console says: Response Status Error Code 429 from /dashboard/posts/preview"]
    looking.faults.clear()
    page.unroute("**/posts/preview")
    page.get_by_label("Text, in Markdown").fill("Ahoy again")
    expect(page.locator("#preview")).to_have_text("Ahoy again")


def test_ticked_posts_are_deleted_after_a_question(looking: Looking) -> None:
    for number in (1, 2):
        page = write(looking, f"Heap {number}", "Sand.")
        page.get_by_role("button", name="Save draft").click()
    page = looking.page
    looking.go("/posts?query=heap")
    page.get_by_label("Choose Heap 1").check()
    page.get_by_label("Choose Heap 2").check()
    check(looking)
    page.get_by_role("button", name="Delete…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Delete 2 posts?")
    check(looking)
    page.get_by_role("button", name="Delete 2 posts").click()
    expect(page.get_by_text("The posts are deleted.")).to_be_visible()


@pytest.mark.parametrize(("kind", "limit"), [("LinkedIn post", "3,000"), ("Post for X", "280")])
def test_a_post_for_a_network_shows_its_length_while_it_is_typed(looking: Looking, kind: str, limit: str) -> None:
    page = write(looking, "A short word", "Ahoy")
    page.get_by_label("Type").select_option(label=kind)
    page.get_by_label("Text, in Markdown").fill("Ahoy!")
    expect(page.locator("#length")).to_have_text(f"5 of {limit} characters")
    page.get_by_label("Text, in Markdown").fill("Ahoy! " * 600)
    expect(page.locator("#length")).to_contain_text("refuses it, shorten the text")
    check(looking)


def test_a_text_from_right_to_left_and_a_wide_table_read_well_wherever_they_are_shown(looking: Looking) -> None:
    title, words = "المصباح أسرع مرتين (v2.0)", "lighthouses"
    table = "\n".join(["|" + f" {words} |" * 8, "|" + "---|" * 8, "|" + f" {words} |" * 8])
    page = write(looking, title, f"## مضاف\n\nدعم `beam.rotate()` للمطورين.\n\n{table}\n")
    _reads_well(looking, "#preview", words)
    assert _directions(page, "#title", "#markdown") == ["rtl", "rtl"]
    page.get_by_role("button", name="Publish now").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    _reads_well(looking, "article.reading", words)
    looking.go("/posts")
    page.get_by_label(f"Choose {title}").first.check()
    page.get_by_role("button", name="Delete…").click()
    assert _directions(page, ".ids bdi") == ["rtl"]

    page.goto("/changelog/acme")
    page.get_by_role("link", name=title, exact=True).first.click()

    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    _reads_well(looking, ".prose", words)
    assert _directions(page, "h1") == ["rtl"]


def test_a_long_word_pushes_nothing_out_of_sight(looking: Looking) -> None:
    page, word = looking.page, "donaudampfschiff" * 7
    option = "`beam_with_a_long_name`"
    write(looking, word, f"{word}\n\n| {option} | {'wide ' * 9} |\n|---|---|\n| {option} | {'wide' * 40} |\n")
    page.get_by_role("button", name="Publish now").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(word)
    assert _lines(page, "article.reading td code") == 1
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit this post")
    assert not looking.overflows()
    looking.story.deliver("push", json.dumps(push_body(f"feat: {word}", repository_id=REPOSITORY_ID)).encode())
    looking.story.installation.until_runs_ended()
    for path in ("/posts", "/runs"):
        looking.go(path)
        state = page.locator("td[data-label=State] .state").first.bounding_box()
        assert state is not None
        assert state["x"] + state["width"] < page.viewport_size["width"], path  # pyright: ignore[reportOptionalSubscript]
        assert page.locator("td:first-child a").first.evaluate("link => link.offsetWidth") > 80
        assert not looking.overflows(), path
    looking.go("/triggers")
    page.get_by_role("link", name="Changelog", exact=True).click()
    expect(page.get_by_role("link", name=re.compile("main: feat: donau")).first).to_be_visible()
    assert not looking.overflows()

    hit = page.locator(".hit a", has_text=word)

    def is_found() -> bool:
        looking.go(f"/search?query={word}")
        return hit.count() > 0

    until(is_found, "the post in the index")
    assert not looking.overflows()

    for path in ("", f"?q={word}"):
        page.goto(f"/changelog/acme{path}")
        assert not looking.overflows(), path
    page.get_by_role("link", name=word, exact=True).first.click()
    assert _lines(page, ".prose td code") == 1
    assert not looking.overflows()


def _lines(page: Page, selector: str) -> int:
    return int(page.locator(selector).first.evaluate("shown => shown.getClientRects().length"))


def _reads_well(looking: Looking, text: str, words: str) -> None:
    """Check that code reads from left to right, and that no word of the table is broken."""
    page = looking.page
    cell = page.locator(f"{text} td", has_text=words).first
    expect(cell).to_be_visible()
    assert _directions(page, f"{text} h2", f"{text} code") == ["rtl", "ltr"]
    lines = """cell => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return range.getClientRects().length;
    }"""
    assert cell.evaluate(lines) == 1
    assert not looking.overflows()


def _directions(page: Page, *selectors: str) -> list[str]:
    return [page.locator(each).first.evaluate("shown => getComputedStyle(shown).direction") for each in selectors]
