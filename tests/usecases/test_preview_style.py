"""Previews of house styles."""

import asyncio
from typing import Final

from tests.refusals import accepted, existing
from tests.usecases.conftest import World
from tests.usecases.test_perform import perform_all, pushed, released

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.style_fields import read_style
from contentsvc_core.content.writing import Draft
from contentsvc_core.usecases.briefs import Briefs
from contentsvc_core.usecases.preview_style import StylePreviews
from contentsvc_core.workflows.triggers import ChangeTrigger

_HIDES: Final = ChangelogOptions(hidden=frozenset({"api"}))


def previews(world: World) -> StylePreviews:
    stores = world.stores
    return StylePreviews(Briefs(stores.contexts, stores.brands), stores.search, asyncio.to_thread)


async def test_pushes_are_previewed_until_there_is_a_release(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await pushed(world, "d-2", "fix(api): the lens")
    await pushed(world, "d-3", "feat: a door")

    shown = await previews(world).write(world.organization.id, ChangelogOptions())
    hidden = await previews(world).write(world.organization.id, _HIDES)

    assert await previews(world).write(world.organization.id, ChangelogOptions(), repository="acme/else") is None
    assert shown is not None
    assert hidden is not None
    assert (shown.repository, shown.release_tag, shown.pushes) == ("acme/lighthouse", None, 3)
    assert isinstance(shown.written, Draft)
    assert isinstance(hidden.written, Draft)
    assert shown.written.markdown.index("lamp") < shown.written.markdown.index("door")
    assert "lens" in shown.written.markdown
    assert "lens" not in hidden.written.markdown

    await released(world, "d-4", "v1", published_at="2026-11-22T08:00:00Z")
    release = existing(await previews(world).write(world.organization.id, ChangelogOptions()))

    assert isinstance(release.written, Draft)
    assert (release.release_tag, release.pushes) == ("v1", 3)
    assert "lamp" in release.written.markdown


def style(**fields: object) -> HouseStyle:
    return existing(accepted(read_style(fields)))


async def test_a_run_writes_in_the_style_of_the_organization_and_its_trigger(world: World) -> None:
    directory, own = world.stores.directory, world.organization.id
    await directory.set_house_style(own, style(hide=["api"]))
    await pushed(world, "d-1", "feat: a lamp", "fix(api): the lens")
    await perform_all(world)
    await world.triggers.change(own, world.trigger.id, ChangeTrigger(house_style=style(hide=["ui"])))
    await pushed(world, "d-2", "feat(ui): a door", "fix(api): the hinge")
    await perform_all(world)

    second, first = await world.stores.posts.posts(own)

    assert ("lamp" in first.markdown, "lens" in first.markdown) == (True, False)
    assert ("door" in second.markdown, "hinge" in second.markdown) == (False, True)
