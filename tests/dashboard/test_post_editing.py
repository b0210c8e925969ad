"""Editing a post: saving, previewing, and concurrent edits."""

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing
from tests.dashboard.contents import posted, stored

POSTS = "/dashboard/posts"


async def test_a_post_is_edited(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme)
    path = f"{POSTS}/{post.id}/edit"
    form = (page := await browsing.open(path)).form(path)
    assert (form.fields["title"], form.fields["markdown"]) == ([post.title], [post.markdown])
    assert page.tree.one(id="preview").text

    # Line ends as browsers send them.
    page = await browsing.send(form, title=" A lamp ", markdown="Brighter\r\n\r\n* than *ever*\r\n")

    assert (page.path, page.tree.one(role="status").text) == (f"{POSTS}/{post.id}", "Saved.")
    changed = await stored(acme, post)
    assert (changed.title, changed.markdown) == ("A lamp", "Brighter\n\n* than *ever*\n")
    assert "<em>ever</em>" in changed.content
    assert changed.status.value == "draft"

    page = await browsing.send((await browsing.open(path)).form(path), then="publish")
    assert "Published." in page.text
    assert (await stored(acme, post)).status.value == "published"


async def test_a_text_with_any_beginning_survives_opening_and_saving(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme)
    path = f"{POSTS}/{post.id}/edit"
    text = "\n\n  </textarea><script>alert(1)</script> &amp; \u0000\n"
    await browsing.send((await browsing.open(path)).form(path), markdown=text)
    before = (await stored(acme, post)).markdown
    assert before == text.replace("\u0000", "\ufffd")

    page = await browsing.open(path)
    await browsing.send(page.form(path))

    assert all(script["src"] for script in page.tree.all("script"))
    assert (await stored(acme, post)).markdown == before


@pytest.mark.parametrize("begins", [True, False], ids=["new", "stored"])
async def test_all_faults_are_named_at_once_and_the_top_of_the_page_leads_to_them(
    acme: Caller, browsing: Browsing, begins: bool
) -> None:
    path = f"{POSTS}/new" if begins else f"{POSTS}/{(await posted(acme)).id}/edit"
    form = (await browsing.open(path)).form(path)
    typed = {"title": "", "markdown": "", "summary": "s" * 201, "publishAt": "yesterday"}
    if begins:
        typed["repository"] = "lamp"

    page = await browsing.send(form, **typed)

    assert page.status == 422
    assert "Nothing was saved" in page.tree.one(role="alert").text
    for field, value in typed.items():
        faulty = page.tree.one(id=field)
        assert faulty["aria-invalid"] == "true"
        assert page.tree.one(id=f"{field}-fault").text
        assert page.form(path).fields[field] == [value]


async def test_the_second_of_two_editors_gets_a_conflict_and_keeps_the_text(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme)
    path = f"{POSTS}/{post.id}/edit"
    own, foreign = await browsing.open(path), await browsing.open(path)
    await browsing.send(foreign.form(path), title="Theirs")

    page = await browsing.send(own.form(path), title="Mine", markdown="my words")

    assert page.status == 409
    assert "not saved" in page.tree.one(role="alert").text
    assert (page.form(path).fields["title"], page.form(path).fields["markdown"]) == (["Mine"], ["my words"])
    assert page.links["Read it in a new tab"] == f"{POSTS}/{post.id}"
    assert page.tree.one("textarea", id="theirs").raw == post.markdown
    assert (await stored(acme, post)).title == "Theirs"

    # The page has shown the conflict: a second submission overwrites.
    assert (await browsing.send(page.form(path))).status == 200
    assert (await stored(acme, post)).title == "Mine"


async def test_an_editor_of_a_deleted_post_keeps_the_text(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme)
    path = f"{POSTS}/{post.id}/edit"
    page = await browsing.open(path)
    await acme("DELETE", f"/v1/posts/{post.id}")

    gone = await browsing.send(page.form(path), markdown="my words")

    assert gone.status == 404
    assert "deleted" in gone.tree.one(role="alert").text
    assert gone.tree.one("textarea", id="markdown").raw == "my words"
    assert [form.buttons for form in gone.forms] == [["Sign out"], []]


async def test_the_preview_equals_the_saved_text_with_and_without_scripts(acme: Caller, browsing: Browsing) -> None:
    post = await posted(acme)
    path = f"{POSTS}/{post.id}/edit"
    evil = "<script>alert(1)</script>"
    markdown = f"a *lamp*\n\n{evil}\n\n[x](javascript:alert(1))"
    sent = {**(await browsing.open(path)).form(path).fields, "title": "Mine", "markdown": markdown}

    part = await browsing.post(f"{POSTS}/preview", sent, headers={"HX-Request": "true"})
    preview = await browsing.post(f"{POSTS}/preview", sent)

    assert not part.tree.all("html")
    assert part.tree.one("em").text == "lamp"
    assert evil in part.text  # as text
    assert not part.tree.all("script")
    assert not part.links
    assert preview.tree.one(id="preview").text == part.tree.text
    assert preview.form(path).fields["title"] == ["Mine"]
    assert await stored(acme, post) == post

    # A block in the other direction is marked, as on the public changelog.
    await acme("PATCH", f"/v1/posts/{post.id}", {"markdown": "a lamp\n\n## \u0636\u0648\u0621"})
    arabic = {**sent, "markdown": "a lamp\n\n## \u0636\u0648\u0621"}
    for page in (
        await browsing.open(f"{POSTS}/{post.id}"),
        await browsing.post(f"{POSTS}/preview", arabic, headers={"HX-Request": "true"}),
    ):
        assert page.tree.one("h2", dir="auto").text == "\u0636\u0648\u0621"

    long = {**sent, "markdown": "x" * 100_001}
    assert "100,000" in (await browsing.post(f"{POSTS}/preview", long, headers={"HX-Request": "true"})).text
