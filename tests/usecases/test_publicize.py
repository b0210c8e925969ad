"""Name, address and visibility of public changelogs."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from tests.core.test_changelog_facets import png
from tests.refusals import accepted, existing, message_of
from tests.usecases.conftest import World

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core import PostStatus
from contentsvc_core.content.editing import CreatePost
from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import SLUG_TAKEN, SLUG_USED, PublicChangelog
from contentsvc_core.content.public.changes import ChangeChangelog, CreateChangelog
from contentsvc_core.content.public.facets import Label
from contentsvc_core.content.public.images import ImageKind
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START
from contentsvc_core.usecases.edit import PostEditor
from contentsvc_core.usecases.publicize import PREVIEW_LENGTH, ChangelogEditor


@pytest.fixture
def editor(world: World) -> ChangelogEditor:
    return ChangelogEditor(world.stores.changelogs, world.clock, world.ids)


async def test_a_slug_that_another_one_has_and_a_value_that_cannot_be_change_nothing(
    world: World, editor: ChangelogEditor
) -> None:
    other = accepted(await world.operator.create_organization("Tea"))
    before = await editor.change(world.organization, ChangeChangelog(slug="lamps"))

    assert await editor.change(other, ChangeChangelog(slug="lamps")) is SLUG_TAKEN
    assert isinstance(await editor.change(world.organization, ChangeChangelog(slug="L")), Refusal)

    assert await editor.first(world.organization) == before
    assert (await editor.first(other)).slug == "tea"


async def test_further_changelogs_are_found_by_their_names_and_removed(world: World, editor: ChangelogEditor) -> None:
    owner = world.organization
    command = CreateChangelog(slug="harbour", title="Harbour", description="Ships")
    created = accepted(await editor.create(owner, command))
    assert created.id.startswith("chl_")
    assert (created.organization_id, created.created_at, created.updated_at) == (owner.id, START, START)
    assert (created.slug, created.title, created.description, created.is_public) == (
        "harbour",
        "Harbour",
        "Ships",
        False,
    )
    assert await editor.create(owner, command) is SLUG_USED

    # The organization's first changelog comes first, before and after its setup.
    first = await editor.first(owner)
    for _ in range(2):
        assert [each.id for each in await editor.all_of(owner)] == [first.id, created.id]
        assert {await editor.find(owner, name) for name in (None, first.id, first.slug)} == {first}
        assert {await editor.find(owner, name) for name in (created.id, "harbour")} == {created}
        assert await editor.find(owner, "unknown") is None
        await editor.change(owner, ChangeChangelog(title=first.title))
    assert await editor.change(owner, ChangeChangelog(title="Port"), created) == evolve(created, title="Port")

    assert message_of(await editor.remove(first)) == ("The first changelog cannot be deleted: hide it")
    assert await editor.remove(created) is None
    assert [each.id for each in await editor.all_of(owner)] == [first.id]


async def test_a_picture_is_stored_with_its_changelog_and_removed(world: World, editor: ChangelogEditor) -> None:
    first = await editor.first(world.organization)
    accepted(await editor.create(world.organization, CreateChangelog(slug="harbour", title="Harbour")))
    content = png(64, 32)

    assert isinstance(await editor.set_image(first, ImageKind.LOGO, b"text"), Refusal)
    assert await world.stores.changelogs.of(world.organization.id) is None
    stored = accepted(await editor.set_image(first, ImageKind.LOGO, content))

    (mark,) = stored.images
    assert (stored.id, mark.kind, mark.width, mark.height) == (first.id, ImageKind.LOGO, 64, 32)
    found = existing(await world.stores.changelogs.image(stored, ImageKind.LOGO))
    assert found.content == content
    removed = accepted(await editor.set_image(stored, ImageKind.LOGO, None))
    assert removed.images == ()
    taken = evolve(first, id="chl_unsaved", slug="harbour")
    assert await editor.set_image(taken, ImageKind.LOGO, content) is SLUG_USED


async def test_a_preview_and_a_page_show_the_newest_posts(world: World, editor: ChangelogEditor) -> None:
    changelog = accepted(await editor.change(world.organization, ChangeChangelog(is_public=True)))
    for number, text in enumerate(["## Breaking changes\n\nIt.", *["## Fixed\n\nIt."] * PREVIEW_LENGTH]):
        post = await PostEditor(world.stores.posts, SafeMarkdown(), world.clock, world.ids).create(
            world.organization.id, CreatePost(title=f"Lamp {number}", markdown=text, status=PostStatus.PUBLISHED)
        )
        assert isinstance(post, Post)
        world.clock.advance(timedelta(days=1))

    exposure, posts = await editor.preview(world.organization)
    assert (exposure.posts, len(posts), posts[0].title) == (PREVIEW_LENGTH + 1, PREVIEW_LENGTH, "Lamp 10")
    other = await editor.create(world.organization, CreateChangelog(slug="harbour", title="B", scopes=("none",)))
    assert isinstance(other, PublicChangelog)
    chosen, none = await editor.preview(world.organization, other)
    assert (chosen.posts, none) == (0, [])
    page, months, labels = await editor.page(changelog, 2, ZoneInfo("UTC"))
    assert ([each.title for each in page], labels) == (["Lamp 10", "Lamp 9"], [Label.FIXED, Label.BREAKING])
    assert [each.written for each in months] == ["2026-01"]
