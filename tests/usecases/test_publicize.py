"""What an organization's public changelog is called, and whether it is there."""

from datetime import timedelta

import pytest
from attrs import evolve
from tests.usecases.conftest import World

from contentsvc_core import Organization
from contentsvc_core.content.public.changelogs import SLUG_TAKEN, PublicChangelog
from contentsvc_core.content.public.changes import ChangeChangelog
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START
from contentsvc_core.usecases.publicize import ChangelogEditor


@pytest.fixture
def editor(world: World) -> ChangelogEditor:
    return ChangelogEditor(world.stores.changelogs, world.clock, world.ids)


async def test_one_that_was_never_set_up_is_off_and_named_as_the_organization(
    world: World, editor: ChangelogEditor
) -> None:
    world.clock.advance(timedelta(hours=1))

    current = await editor.first(world.organization)

    assert current == PublicChangelog.first(world.organization, START + timedelta(hours=1))
    assert await world.stores.changelogs.of(world.organization.id) is None


async def test_a_change_sets_exactly_the_given_fields(world: World, editor: ChangelogEditor) -> None:
    first = await editor.change(world.organization, ChangeChangelog(title="Lamps", is_public=True))
    world.clock.advance(timedelta(hours=1))
    second = await editor.change(world.organization, ChangeChangelog(description="What is new"))

    assert isinstance(first, PublicChangelog)
    assert (first.title, first.is_public, first.updated_at) == ("Lamps", True, START)
    assert second == evolve(first, description="What is new", updated_at=START + timedelta(hours=1))
    assert await editor.first(world.organization) == second


async def test_a_slug_that_another_one_has_and_a_value_that_cannot_be_change_nothing(
    world: World, editor: ChangelogEditor
) -> None:
    other = await world.operator.create_organization("Tea")
    assert isinstance(other, Organization)
    before = await editor.change(world.organization, ChangeChangelog(slug="lamps"))

    assert await editor.change(other, ChangeChangelog(slug="lamps")) is SLUG_TAKEN
    assert isinstance(await editor.change(world.organization, ChangeChangelog(slug="L")), Refusal)

    assert await editor.first(world.organization) == before
    assert (await editor.first(other)).slug == "tea"
