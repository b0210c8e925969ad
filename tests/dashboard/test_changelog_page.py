"""The page of the public changelog."""

from tests.api.world import Caller
from tests.core.test_changelog_facets import png
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.contents import posted

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.changes import ChangeChangelog, CreateChangelog
from contentsvc_core.content.public.images import IMAGE_LIMIT
from contentsvc_core.usecases.publicize import ChangelogEditor

PAGE = "/dashboard/changelog"
EVIL = '"><script>alert(1)</script>'


async def standing(acme: Caller) -> PublicChangelog | None:
    return await acme.world.stores.changelogs.of(acme.organization.id)


async def published(acme: Caller) -> str:
    """Publish the post of a push; return its id."""
    post_id = (await posted(acme, "feat: a lamp")).id
    answer = await acme("PATCH", f"/v1/posts/{post_id}", {"status": "published"})
    assert answer.status_code == 200, answer.text
    return post_id


async def test_it_is_off_until_it_is_switched_on(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(PAGE)
    assert (page.heading, "View" in page.links) == ("Public changelog", False)
    assert await standing(acme) is None
    assert (await acme.world.send("GET", "/changelog/acme")).status_code == 404

    page = await browsing.open(page.links["Switch on…"])
    assert page.heading == "Switch the public changelog on?"
    page = await browsing.send(page.form(f"{PAGE}/switch"))

    assert "Switched on." in page.text
    assert page.links["View"] == "/changelog/acme"
    assert (await acme.world.send("GET", page.links["View"])).status_code == 200
    # No question is left.
    assert (await browsing.open(f"{PAGE}/publish")).path == PAGE
    page = await browsing.send(page.form(f"{PAGE}/switch"))
    assert "Switched off." in page.text
    assert (await acme.world.send("GET", "/changelog/acme")).status_code == 404


async def test_a_post_links_to_the_public_changelogs_that_show_it(acme: Caller, browsing: Browsing) -> None:
    where = f"/dashboard/posts/{await published(acme)}"
    assert "View on the changelog" not in (await browsing.open(where)).links
    editor = ChangelogEditor(acme.world.stores.changelogs, acme.world.clock, acme.world.ids)
    second = await editor.create(acme.organization, CreateChangelog(slug="doors", title="Doors"))
    assert isinstance(second, PublicChangelog)
    for each in (None, second):
        assert isinstance(
            await editor.change(acme.organization, ChangeChangelog(is_public=True), each), PublicChangelog
        )

    page = await browsing.open(where)

    answer = await acme.world.send("GET", page.links["View on the changelog"])
    assert (answer.status_code, Seen(answer).heading) == (200, page.heading)
    assert page.links["Doors"].startswith("/changelog/doors/")


async def test_the_posts_that_become_public_are_shown_and_confirmed_before(acme: Caller, browsing: Browsing) -> None:
    post_id = await published(acme)

    page = await browsing.open(f"{PAGE}/publish")

    assert page.heading == "Make 1 post public?"
    assert "http://127.0.0.1:8000/changelog/acme" in page.text
    assert page.rows[1:] == [["acme/lighthouse", "1"]]
    assert f"/dashboard/posts/{post_id}" in page.links.values()
    assert page.form(f"{PAGE}/switch").buttons == ["Make 1 post public"]
    assert await standing(acme) is None


async def test_a_confirmation_counts_only_for_the_posts_it_showed(acme: Caller, browsing: Browsing) -> None:
    form = (await browsing.open(f"{PAGE}/publish")).form(f"{PAGE}/switch")
    await published(acme)

    page = await browsing.send(form)

    assert page.status == 409
    assert "The posts that become public have changed" in page.text
    assert page.heading == "Make 1 post public?"
    assert await standing(acme) is None
    # A form without the confirmation gets the question.
    page = await browsing.send(form, seen="")
    assert (page.status, "has changed" in page.text) == (409, False)
    assert await standing(acme) is None
    assert "Switched on." in (await browsing.send(page.form(f"{PAGE}/switch"))).text
    assert (await acme.world.send("GET", "/changelog/acme")).status_code == 200


async def test_it_is_set_up_with_a_form(acme: Caller, browsing: Browsing) -> None:
    form = (await browsing.open(PAGE)).form(PAGE)
    assert form.fields["contentTypes"] == ["changelog", "blog_post"]

    page = await browsing.send(
        form,
        title=f"Lamps {EVIL}",
        slug="lamps",
        description="What shines",
        productUrl="https://acme.example/",
        contentTypes=["changelog"],
    )

    assert "Saved." in page.text
    created = await standing(acme)
    assert created is not None
    assert (created.title, created.slug, created.description) == (f"Lamps {EVIL}", "lamps", "What shines")
    assert (created.product_url, created.content_types) == ("https://acme.example/", (ContentType.CHANGELOG,))
    assert not created.is_public
    assert 'src="http://127.0.0.1:8000/changelog/lamps/embed"' in page.text


async def test_a_further_changelog_is_added_furnished_previewed_published_and_deleted(
    acme: Caller, browsing: Browsing
) -> None:
    post_id = await published(acme)
    page = await browsing.open(PAGE)
    page = await browsing.send(page.form("/dashboard/changelogs"), slug="lens", title="Lens")
    assert (page.heading, page.status) == ("Lens", 200)
    at = page.path
    page = await browsing.send(
        page.form(at),
        repositories=["acme/lighthouse"],
        scopes="Beam, api",
        accent="#0B6B63",
        headerLinks="Docs https://docs.example/\nOur status https://status.example/",
        showDetails="on",
    )
    assert "Saved." in page.text
    (lens,) = await acme.world.stores.changelogs.all_of(acme.organization.id)
    assert (lens.repositories, lens.scopes, lens.accent) == (("acme/lighthouse",), ("beam", "api"), "0b6b63")
    assert [(link.label, link.url) for link in lens.header_links] == [
        ("Docs", "https://docs.example/"),
        ("Our status", "https://status.example/"),
    ]
    assert lens.show_details
    # No post has these scopes: the page says so, and names the selection.
    page = await browsing.open(f"{at}/publish")
    assert "Only posts about acme/lighthouse are shown." in page.text
    assert page.heading == "Switch the public changelog on?"
    page = await browsing.send((await browsing.open(at)).form(at), scopes="")
    page = await browsing.open(f"{at}/publish")
    assert page.heading == "Make 1 post public?"
    # The page as readers will see it, for signed-in users only.
    preview = await browsing.open(f"{at}/preview")
    assert (preview.heading, "This is a preview for you alone." in preview.text) == ("Lens", True)
    assert preview.links["Back to the settings"] == at
    assert "no-store" in preview.response.headers["Cache-Control"]
    assert (await acme.world.send("GET", f"{at}/preview")).status_code == 303
    assert (await acme.world.send("GET", "/changelog/lens")).status_code == 404
    page = await browsing.send(page.form(f"{at}/switch"))
    assert "Switched on." in page.text
    assert (await acme.world.send("GET", f"/changelog/lens/posts/{post_id}")).status_code == 301
    # The first changelog is unchanged.
    first = await standing(acme)
    assert first is None
    page = await browsing.send(page.form(f"{at}/delete"))
    assert (page.path, "Deleted." in page.text) == (PAGE, True)
    assert (await browsing.open(at)).status == 404


async def test_pictures_are_uploaded_and_removed(acme: Caller, browsing: Browsing) -> None:
    csrf = (await browsing.open(PAGE)).form(PAGE).fields["csrf"][0]
    where = f"{PAGE}/images"

    async def send(kind: str, content: bytes, **more: str) -> Seen:
        files = {"file": ("logo.png", content, "image/png")} if content else None
        return await browsing.upload(where, {"csrf": csrf, "kind": kind, **more}, files)

    start, end = png(1200, 630)[:-12], png(1200, 630)[-12:]
    assert "Saved." in (await send("card", start.ljust(IMAGE_LIMIT - len(end), b"\0") + end)).text
    assert "Saved." in (await send("card", b"", delete="on")).text
    assert "Saved." in (await send("logo", png(64, 32))).text
    created = await standing(acme)
    assert created is not None
    assert [mark.kind.value for mark in created.images] == ["logo"]
    assert (await browsing.open(f"{where}/logo")).response.content == png(64, 32)
    refused = await send("icon", b"<svg/>")
    assert (refused.status, "The icon must be a PNG, JPEG or WebP picture." in refused.text) == (422, True)
    nothing = await send("card", b"")
    assert (nothing.status, "The card must be a file: choose one." in nothing.text) == (422, True)
    assert "Saved." in (await send("logo", b"", delete="on")).text
    assert (await browsing.open(f"{where}/logo")).status == 404


async def test_all_faults_of_the_form_are_named_at_once(acme: Caller, browsing: Browsing) -> None:
    wrong = {"title": "", "accent": "reddish", "headerLinks": "Docs"}
    page = await browsing.send((await browsing.open(PAGE)).form(PAGE), **wrong)

    faults = {attrs["id"] for tag, attrs in page.elements if tag == "p" and attrs.get("class") == "fault"}
    assert (page.status, faults) == (422, {f"{field}-fault" for field in wrong})


async def test_an_added_changelog_needs_an_address_that_is_free(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.send((await browsing.open(PAGE)).form("/dashboard/changelogs"), slug="A b", title="Kept")

    assert page.status == 422
    assert "The address must be 1 to 63" in page.text
    assert page.form("/dashboard/changelogs").fields["title"] == ["Kept"]
    assert await standing(acme) is None
