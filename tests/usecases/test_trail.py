"""Following a delivery: from any of its ids to its results."""

import pytest
from attrs import evolve
from tests.golden import REPOSITORY_ID
from tests.refusals import existing
from tests.usecases.conftest import World
from tests.usecases.test_perform import perform_all, pushed

from contentsvc_core import RunStatus, Trigger
from contentsvc_core.journal import ListedEntry, listed_entry
from contentsvc_core.testing import signed
from contentsvc_core.usecases.trail import DeliveryTrails, RecordTrail
from contentsvc_core.workflows.triggers import CreateTrigger


@pytest.fixture
def trails(world: World) -> DeliveryTrails:
    stores = world.stores
    return DeliveryTrails(stores.read_model, stores.run_lists, stores.contexts, stores.triggers, stores.posts)


async def entries(world: World, trails: DeliveryTrails, named: str) -> list[str]:
    return [f"{each.reference_id} {each.title}" for each in await trails.entries(world.organization.id, named)]


async def test_a_delivery_is_found_by_its_id_its_record_and_each_of_its_entries(
    world: World, trails: DeliveryTrails
) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await pushed(world, "d-10", "feat: a door")
    await world.receiver.receive(signed({}, at=world.at, secret=world.secret, delivery_id="d-1"))
    newest, _, oldest = await world.stores.journal.entries(world.organization.id)

    both = ["d-1 Duplicate push delivery", "d-1 Processed push event"]
    assert await entries(world, trails, "d-1") == both
    assert await entries(world, trails, f"codehost:{REPOSITORY_ID}:d-1") == both
    assert await trails.entries(world.organization.id, oldest.id) == (listed_entry(oldest),)
    assert await trails.entries(world.organization.id, newest.id) == (listed_entry(newest),)
    await pushed(world, "d:1", "feat: a wall")
    assert await entries(world, trails, f"codehost:{REPOSITORY_ID}:d:1") == ["d:1 Processed push event"]
    # A part of an id, another repository, another provider, an unknown entry.
    for other in ("d-", f"codehost:{REPOSITORY_ID + 1}:d-1", f"github:{REPOSITORY_ID}:d-1", "log_nothing"):
        assert await entries(world, trails, other) == []
    assert await trails.entries("org_2", "d-1") == ()
    assert await trails.entries("org_2", oldest.id) == ()


async def test_a_delivery_that_looks_like_an_entry_of_the_log_is_found_too(
    world: World, trails: DeliveryTrails
) -> None:
    await pushed(world, "log_1", "feat: a lamp")

    assert await entries(world, trails, "log_1") == ["log_1 Processed push event"]


async def test_a_delivery_is_found_under_any_number_of_newer_ones(world: World, trails: DeliveryTrails) -> None:
    await pushed(world, "d-first", "feat: a lamp")
    for number in range(60):
        await world.receiver.receive(
            signed({}, at=world.at, secret=world.secret, event="ping", delivery_id=f"p{number}")
        )

    assert await entries(world, trails, "d-first") == ["d-first Processed push event"]


async def processed(world: World, delivery_id: str) -> ListedEntry:
    return next(
        listed_entry(each)
        for each in await world.stores.journal.entries(world.organization.id)
        if each.reference_id == delivery_id
    )


async def test_the_trail_has_the_runs_and_posts_of_a_delivery(world: World, trails: DeliveryTrails) -> None:
    named = await world.triggers.create(
        world.organization.id, CreateTrigger(name="Pushes", repository_ids=[REPOSITORY_ID], event_types=["push"])
    )
    assert isinstance(named, Trigger)
    await pushed(world, "d-1", "feat: a lamp")
    entry = await processed(world, "d-1")

    before = await trails.record_trail(entry)
    runs = await perform_all(world)
    after = await trails.record_trail(entry)
    partly = RecordTrail(
        custom_id="", repository=None, runs=[*before.runs[:1], *after.runs[1:]] if before and after else (), number=2
    )
    assert partly.is_under_way

    (record,) = await world.stores.contexts.records(world.organization.id)
    assert before is not None
    assert after is not None
    assert (before.repository, before.number, before.is_under_way) == (record.repository, 2, True)
    assert (after.custom_id, after.number, after.is_under_way) == (record.custom_id, 2, False)
    assert [(run.status, post) for run, _, post in before.runs] == [(RunStatus.PENDING, None)] * 2
    posts = {post.id: post for post in await world.stores.posts.posts(world.organization.id)}
    assert {run.id: (name, post) for run, name, post in after.runs} == {
        run.id: ("Pushes" if run.cause.started_by == named.id else "changelog for each event", posts[run.post_id or ""])
        for run in runs
    }


async def test_the_trail_of_a_run_without_its_trigger_has_the_rest(world: World, trails: DeliveryTrails) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await perform_all(world)
    await world.stores.triggers.remove(world.organization.id, world.trigger.id)

    led = existing(await trails.record_trail(await processed(world, "d-1")))

    ((_, name, post),) = led.runs
    assert name == ""
    assert post is not None


async def test_an_unprocessed_delivery_has_no_trail(world: World, trails: DeliveryTrails) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await world.receiver.receive(signed({}, at=world.at, secret="wrong", delivery_id="d-2"))
    refused = await processed(world, "d-2")

    assert await trails.record_trail(refused) is None
    assert await trails.record_trail(evolve(await processed(world, "d-1"), reference_id=None)) is None
