"""Actions in the dashboard, in a real browser with scripts."""

import json
import re
from typing import Final

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect
from tests.browser.looking import NARROW, WIDE, Looking, Scheme
from tests.browser.story import Story
from tests.server_process import until

from contentsvc_cli.develop.recordings import RecordedDelivery
from contentsvc_cli.start.sample import REPOSITORY, sample_history

_PUSH: Final[RecordedDelivery] = next(iter(sample_history()))


def push(message: str) -> bytes:
    """Write a push of one commit."""
    body = json.loads(_PUSH.body)
    body["commits"] = body["commits"][:1]
    body["commits"][0]["message"] = message
    body["head_commit"] = body["commits"][0]
    return json.dumps(body).encode()


def test_a_delivery_appears_by_itself_and_leads_to_a_post_that_is_edited_and_published(looking: Looking) -> None:
    page, story = looking.page, looking.story
    looking.go("/integrations/logs")
    page.get_by_label("Before").fill("2030-01-01T00:00")
    hint = page.get_by_text("New deliveries appear automatically.")
    expect(hint).to_have_count(0)
    page.get_by_role("link", name="Clear").click()
    expect(hint).to_be_visible()
    before = page.locator("tbody tr:visible").count()

    story.deliver("push", push("feat(beam): follow the moon"))

    expect(page.locator("tbody tr.new").first).to_be_visible()
    assert page.locator("tbody tr:visible").count() > before or before >= 50
    page.locator("tbody tr.new a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("main: feat(beam): follow the moon")
    expect(page.get_by_text("feat(beam): follow the moon").first).to_be_visible()
    # The list of results grows while the run is in progress.
    post = page.locator("a[href*='/dashboard/posts/post_']").first
    expect(post).to_be_visible()
    post.click()
    page.get_by_role("button", name="Unpublish").click()
    expect(page.locator(".state", has_text="draft").first).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Title").fill("The beam follows the moon")
    page.get_by_label("Text, in Markdown").fill("## At night\n\nThe beam **follows** the moon.")
    # The preview equals the later post.
    expect(page.locator("strong", has_text="follows")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Save and publish|^Save, and publish")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The beam follows the moon")
    expect(page.locator(".state", has_text="published").first).to_be_visible()
    page.get_by_role("button", name="Copy as Markdown").click()
    until(lambda: page.evaluate("navigator.clipboard.readText()").startswith("## At night"), "the copied text")


def test_a_house_style_is_previewed_while_it_is_typed(looking: Looking) -> None:
    page = looking.page
    looking.go("/house-style")
    preview = page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("Tune the horn")

    page.get_by_label(re.compile("^Sections, kinds and scopes to leave out")).fill("fog")
    expect(preview).not_to_contain_text("Tune the horn")
    page.get_by_label("Longest post").fill("12")
    expect(preview).to_contain_text("Longest post must be a whole number from 1,000 to 100,000.")


def test_an_override_is_previewed_in_the_form_of_a_schedule(looking: Looking) -> None:
    page = looking.page
    looking.go("/schedules")
    page.locator("main a[href*='/schedules/sch_']").first.click()
    preview = page.get_by_role("region", name="House style: preview")
    expect(preview).to_contain_text("Open “House style”")
    page.locator("summary", has_text="House style").click()
    expect(preview).to_contain_text("Tune the horn")

    page.get_by_label(re.compile("^Sections, kinds and scopes to leave out")).fill("fog")
    expect(preview).not_to_contain_text("Tune the horn")
    page.get_by_label("Emoji in headings").select_option("yes")
    expect(preview).to_contain_text("✨")
    page.get_by_label("Longest post").fill("12")
    expect(preview).to_contain_text("Longest post must be a whole number from 1,000 to 100,000.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Longest post")).to_have_attribute("aria-invalid", "true")
    assert looking.barriers() == []


def test_a_trigger_is_previewed_made_and_deleted_after_a_question(looking: Looking) -> None:
    page = looking.page
    looking.go("/triggers/new")
    page.get_by_label("Name").fill("Releases for investors")
    page.get_by_role("checkbox", name=re.compile("lighthouse")).check()
    page.get_by_role("checkbox", name=re.compile("Releases")).check()
    expect(page.get_by_text(re.compile(r"\d+ of ")).first).to_be_visible()
    page.get_by_label("Writes").select_option("investor_update")
    # The preview follows the filters, and says why a delivery was left out.
    page.get_by_role("radio", name="All events").check()
    expect(page.get_by_role("checkbox", name=re.compile("Releases"))).to_be_hidden()
    page.locator("summary", has_text="Filters").click()
    page.get_by_label("Branches of pushes").fill("release/*")
    page.get_by_label("Tags of releases").fill("nothing@*")
    page.get_by_label("How often").select_option("daily")
    expect(page.get_by_text("branch main does not match release/*").first).to_be_visible()
    expect(page.get_by_text("one run for each day")).to_be_visible()
    # A bad pattern is named, and all typed values stay.
    page.get_by_label("Changed files").fill("/src/**")
    page.get_by_role("button", name="Create the trigger").click()
    expect(page.get_by_label("Changed files")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Branches of pushes")).to_have_value("release/*")
    assert looking.barriers() == []
    page.get_by_label("Changed files").fill("")
    page.get_by_label("Tags of releases").fill("!*-rc*")
    page.get_by_role("button", name="Create the trigger").click()

    expect(page.get_by_role("status").first).to_contain_text("Created.")
    # A script asks first.
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name=re.compile("Delete")).click()
    expect(page.get_by_role("link", name="Releases for investors")).to_have_count(0)


def test_a_new_schedule_shows_its_next_run(looking: Looking) -> None:
    page = looking.page
    looking.go("/schedules/new")
    page.get_by_label("Name").fill("Monthly")
    page.get_by_role("radio", name=re.compile("every month")).check()
    page.get_by_role("checkbox", name=re.compile("lighthouse")).check()
    expect(page.get_by_text(re.compile(r"\d{4}, \d{2}:\d{2}$")).first).to_be_visible()


def test_a_key_and_its_button_fit_a_small_phone(looking: Looking) -> None:
    page = looking.page
    looking.go("/keys")
    page.get_by_label("Name").fill("L" * 60)
    page.get_by_role("button", name="Issue a key").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your new key")
    page.set_viewport_size({"width": 360, "height": 740})
    looking.go("/keys")
    expect(page.get_by_text("L" * 60).first).to_be_visible()
    assert page.locator(".table").first.evaluate("table => table.scrollWidth <= table.clientWidth")


def test_a_requested_post_appears_when_it_is_written(looking: Looking) -> None:
    page = looking.page
    looking.go("/posts/write")
    page.get_by_role("checkbox", name=re.compile("lighthouse")).check()
    page.get_by_role("button", name="Write the post").click()

    post = page.locator("main a[href*='/dashboard/posts/post_']").first
    expect(post).to_be_visible()
    post.click()
    expect(page.locator(".reading")).to_be_visible()


def test_it_can_be_used_by_keyboard(looking: Looking) -> None:
    page = looking.page
    looking.go("")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_after_an_action_the_keyboard_goes_on_where_its_result_is(looking: Looking) -> None:
    page = looking.page
    looking.go("/triggers/new")
    page.get_by_role("checkbox", name="Releases").press("Space")
    # The only repository is ticked.
    page.locator("[name=repositories]").press("Space")
    page.get_by_role("button", name="Create the trigger").press("Enter")
    # The first of two faulty fields.
    expect(page.locator(".fault")).to_have_count(2)
    expect(page.locator("[name=all_repositories]").first).to_be_focused()
    looking.go("/schedules/new")
    page.get_by_label("Name").fill("Too late")
    page.get_by_label("at the hour").fill("24")
    page.locator("form#schedule").evaluate("form => { form.noValidate = true }")
    page.get_by_role("button", name="Create the schedule").press("Enter")
    expect(page.get_by_label("at the hour")).to_be_focused()
    expect(page.get_by_label("at the hour")).to_have_accessible_description("Hour must be from 0 to 23.")

    looking.go("/triggers")
    page.get_by_role("button", name=re.compile("^Switch off")).first.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("Switched off.")
    expect(page.locator("tr:target")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("tr:target a")).to_be_focused()
    page.get_by_role("button", name=re.compile("^Switch on")).first.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("Switched on.")
    looking.go("/house-style")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_role("status").first).to_be_focused()


def test_a_part_that_is_renewed_keeps_the_focus(looking: Looking) -> None:
    page = looking.page
    looking.go("")
    focused = page.locator(".chart a").last
    focused.evaluate("(it) => { it.focus(); it.dataset.old = 'yes' }")
    expect(focused).to_be_focused()
    expect(page.locator("[data-old]")).to_have_count(0)
    expect(page.locator(".chart a").last).to_be_focused()


def test_the_focus_in_a_chart_is_drawn_around_its_column(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser) as looking:
        page = looking.page
        looking.go("")
        page.get_by_role("link", name="1 failed").or_(page.locator("#all-failed")).first.press("Tab")
        column = page.locator(".chart a:focus-visible")
        expect(column).to_have_css("outline-style", "none")
        expect(column.locator(".ghost")).to_have_css("vector-effect", "non-scaling-stroke")
        expect(column.locator(".ghost")).not_to_have_css("stroke", "none")
        looking.shot("focus-in-chart")


def _questions(page: Page, *, stays: bool) -> list[str]:
    """Record and answer each question of the page at leaving."""
    questions: list[str] = []

    def answer(dialog: Dialog) -> None:
        questions.append(dialog.type)
        if stays:
            dialog.dismiss()
        else:
            dialog.accept()

    page.on("dialog", answer)
    return questions


def test_the_editor_asks_before_unsaved_text_is_lost(story: Story, browser: Browser) -> None:
    with Looking.at(story, browser) as looking:
        page = looking.page
        looking.go("/posts")
        page.locator("tbody a[href*='/dashboard/posts/post_']").first.click()
        page.get_by_role("link", name="Edit").click()
        questions = _questions(page, stays=True)
        expect(page).to_have_url(re.compile("/edit$"))
        editor = page.url
        # Without typed text, there is no question.
        page.get_by_role("link", name="Overview").click()
        expect(page).to_have_url(re.compile("/dashboard$"))
        page.goto(editor)
        page.get_by_label("Title").fill("The lamp keeps what you typed")
        page.get_by_role("link", name="Overview").click()
        expect(page.get_by_label("Title")).to_have_value("The lamp keeps what you typed")
        # Another form of the page loses the text as well.
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Title")).to_have_value("The lamp keeps what you typed")
        until(lambda: page.evaluate("1") == 1 and len(questions) == 2, "a question for each attempt")
        assert page.url == editor
        # A save that is refused keeps the text, and it is still not saved.
        page.get_by_label("Title").fill("x" * 200)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#title-fault")).to_be_visible()
        # The guard is a deferred script.
        page.wait_for_load_state()
        page.get_by_role("link", name="Overview").click()
        expect(page.get_by_label("Title")).to_have_value("x" * 200)
        until(lambda: page.evaluate("1") == 1 and len(questions) == 3, "a question for each attempt")
        page.get_by_label("Title").fill("The lamp keeps what you typed")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("The lamp keeps what you typed")
        page.get_by_role("link", name="Overview").click()
        expect(page).to_have_url(re.compile("/dashboard$"))
        assert questions == ["beforeunload"] * 3


@pytest.mark.parametrize(("path", "label"), [("/changelog", "Description"), ("/triggers/new", "Name")])
def test_unsaved_text_can_be_let_go(story: Story, browser: Browser, path: str, label: str) -> None:
    with Looking.at(story, browser) as looking:
        page = looking.page
        looking.go(path)
        questions = _questions(page, stays=False)
        page.get_by_label(label).fill("What shines.")
        page.get_by_role("link", name="Overview").click()
        expect(page).to_have_url(re.compile("/dashboard$"))
        assert questions == ["beforeunload"]


def test_the_posts_that_become_public_are_shown_before_a_changelog_is_enabled(looking: Looking) -> None:
    page = looking.page
    looking.go("/changelog")
    page.get_by_role("button", name="Switch off").click()
    expect(page.get_by_role("status").first).to_have_text("Switched off.")
    page.get_by_role("link", name="Switch on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"Make \d+ posts public\?"))
    expect(page.get_by_role("cell", name=REPOSITORY)).to_be_visible()
    assert looking.barriers() == []
    assert not looking.overflows()
    looking.shot(f"changelog-publish-{page.viewport_size and page.viewport_size['width']}")
    page.get_by_role("button", name=re.compile("^Make .* public$")).click()
    expect(page.get_by_role("status").first).to_have_text("Switched on.")


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", NARROW)])
def test_a_failed_delivery_leads_in_two_clicks_to_its_cause_and_the_button_that_mends_it(
    story: Story, browser: Browser, scheme: Scheme, size: tuple[int, int]
) -> None:
    for number in range(3):
        assert story.deliver("push", push(f"feat: forged {number}"), forged=True).status_code == 401

    with Looking.at(story, browser, scheme=scheme, size=size) as looking:
        page = looking.page
        looking.go("")
        # The first click, from the overview.
        page.get_by_role("link", name="See the cause").first.click()
        expect(page.get_by_role("heading", name="Cause")).to_be_visible()
        expect(page.get_by_text("present, 64 hex characters")).to_be_visible()
        expect(page.get_by_role("link", name=re.compile("like this$"))).to_be_visible()
        assert looking.barriers() == []
        assert not looking.overflows()
        looking.shot(f"refused-{scheme}")
        expect(page.get_by_role("button", name="Rotate the secret")).to_be_visible()

        looking.go("/integrations/logs?outcome=refused")
        expect(page.locator(".state", has_text="refused").first).to_be_visible()
        assert looking.barriers() == []
        assert not looking.overflows()
