"""The results of use cases, field by field, and their refusals."""

from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from tests.golden import REPOSITORY, REPOSITORY_ID
from tests.refusals import message_of
from tests.usecases.conftest import World
from tests.usecases.test_generate import only_the_request
from tests.usecases.test_perform import perform_all, pushed
from tests.usecases.test_schedule import Node, move_to, planned, planner
from tests.usecases.test_trigger_changes import a_brand, on_github

from contentsvc_core import (
    ContentType,
    PostStatus,
    Trigger,
)
from contentsvc_core.content.windows import Lookback
from contentsvc_core.usecases.triggers import SEVERAL_PROVIDERS, provider_of
from contentsvc_core.workflows.schedules import ChangeSchedule, Schedule
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import DUPLICATE_TRIGGER, UNKNOWN_TRIGGER, ChangeTrigger, CreateTrigger

_DAILY = Cron(frequency=Frequency.DAILY, hour=9, minute=0)


class TestTriggers:
    async def test_a_trigger_is_made_of_what_is_given_and_changed_field_by_field(self, world: World) -> None:
        brand = await a_brand(world, "Acme")
        owner, edit = world.organization.id, world.triggers
        made = await edit.create(
            owner,
            CreateTrigger(
                repository_ids=[REPOSITORY_ID],
                event_types=["release"],
                output_type=ContentType.BLOG_POST,
                brand_identity_id=brand.id,
                auto_publish=True,
                enabled=False,
                name=" For\nlamps ",
            ),
        )
        assert isinstance(made, Trigger)
        assert made == Trigger(
            id=made.id,
            organization_id=owner,
            name="For lamps",
            source_type="codehost_webhook",
            enabled=False,
            repository_ids=[REPOSITORY_ID],
            event_types=["release"],
            output_type=ContentType.BLOG_POST,
            brand_identity_id=brand.id,
            auto_publish=True,
            created_at=world.clock.now(),
        )
        assert made.id.startswith("trg_")
        changed = await edit.change(
            owner, made.id, ChangeTrigger(name=" Other\nlamps ", event_types=[], brand_identity_id=None)
        )
        assert changed == evolve(made, name="Other lamps", event_types=(), brand_identity_id=None)
        assert await world.stores.directory.trigger(owner, made.id) == changed
        plain = await edit.create(owner, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"]))
        assert isinstance(plain, Trigger)
        assert (plain.output_type, plain.enabled, plain.auto_publish, plain.name) == (
            ContentType.CHANGELOG,
            True,
            False,
            "",
        )
        assert (
            await edit.create(owner, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"]))
            is DUPLICATE_TRIGGER
        )
        for unknown in ("trg_unknown", "no id"):
            assert await edit.change(owner, unknown, ChangeTrigger(enabled=False)) is UNKNOWN_TRIGGER

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ({"name": "x" * 101}, "a trigger's name has at most 100 characters"),
            ({"event_types": ["push", "pi\nng"]}, "unknown event type 'pi ng': push, release"),
            ({"event_types": ["x" * 65]}, f"unknown event type '{'x' * 63}…': push, release"),
            ({"brand_identity_id": "brand_x"}, "Unknown brand identity: 'brand_x'"),
            ({"repository_ids": []}, "a trigger needs a repository"),
            ({"repository_ids": [REPOSITORY_ID, 8]}, "Unknown repository: 8 is not connected"),
            (
                {"repository_ids": [REPOSITORY_ID], "provider": "github"},
                f"Unknown repository: {REPOSITORY_ID} is not connected at github",
            ),
            ({"repository_ids": [REPOSITORY_ID, 2]}, SEVERAL_PROVIDERS.message()),
        ],
    )
    async def test_what_no_trigger_can_be_is_refused(self, world: World, given: dict[str, Any], reason: str) -> None:
        await on_github(world)
        owner, edit = world.organization.id, world.triggers
        whole: dict[str, Any] = {"repository_ids": [REPOSITORY_ID], **given}
        assert message_of(await edit.create(owner, CreateTrigger(**whole))) == reason
        assert message_of(await edit.change(owner, world.trigger.id, ChangeTrigger(**given))) == reason
        assert await world.stores.directory.triggers(owner) == [world.trigger]

    async def test_a_repository_at_two_providers_stays_at_the_one_that_it_was_named_at(self, world: World) -> None:
        await world.operator.connect(
            world.organization, full_name=REPOSITORY, repository_id=REPOSITORY_ID, provider="github", branch=None
        )
        owner, edit = world.organization.id, world.triggers
        unsaid = await edit.create(owner, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"]))
        assert message_of(unsaid) == "the repository is connected at codehost and github: say which provider"
        assert await edit.change(owner, world.trigger.id, ChangeTrigger(enabled=True)) == world.trigger
        moved = await edit.change(owner, world.trigger.id, ChangeTrigger(provider="github"))
        assert moved == evolve(world.trigger, source_type="github_webhook")
        assert await edit.change(owner, world.trigger.id, ChangeTrigger(repository_ids=[REPOSITORY_ID])) == moved
        assert await edit.change(owner, world.trigger.id, ChangeTrigger(name="x" * 100)) == evolve(
            world.trigger, source_type="github_webhook", name="x" * 100
        )
        assert [provider_of(source) for source in ("github_webhook", "codehost_webhook", "cron")] == [
            "github",
            "codehost",
            None,
        ]


class TestSchedules:
    async def test_a_schedule_is_made_of_what_is_given(self, world: World) -> None:
        brand = await a_brand(world, "Acme")
        now = world.clock.now()
        made = await planned(
            world,
            name=" Every\nmorning ",
            output_type=ContentType.TWITTER_POST,
            brand_identity_id=brand.id,
            auto_publish=True,
            lookback=Lookback.YESTERDAY,
        )
        assert made == Schedule(
            id=made.id,
            organization_id=world.organization.id,
            name="Every morning",
            cron=_DAILY,
            repository_ids=[REPOSITORY_ID],
            output_type=ContentType.TWITTER_POST,
            brand_identity_id=brand.id,
            enabled=True,
            auto_publish=True,
            lookback=Lookback.YESTERDAY,
            created_at=now,
            updated_at=now,
            due_at=now.replace(hour=9, second=0, microsecond=0),
        )
        assert made.id.startswith("sch_")
        world.clock.advance(timedelta(minutes=1))
        change = ChangeSchedule(name=" Each\nday ", auto_publish=False)
        changed = await planner(world).change(world.organization.id, made.id, change)
        assert changed == evolve(made, name="Each day", auto_publish=False, updated_at=world.clock.now())

    async def test_what_a_schedule_uses_is_looked_at_when_it_is_switched_on(self, world: World) -> None:
        made = await planned(world, enabled=False)
        owner, plan = world.organization.id, planner(world)
        await world.stores.directory.remove_integration(owner, world.connection.integration.id)
        assert isinstance(await plan.change(owner, made.id, ChangeSchedule(name="Renamed", enabled=False)), Schedule)
        assert message_of(await plan.change(owner, made.id, ChangeSchedule(enabled=True))) == (
            f"Unknown repository: {REPOSITORY_ID} is not connected"
        )

    async def test_one_that_is_deleted_while_it_is_about_to_fire_starts_nothing(self, world: World) -> None:
        await planned(world)
        schedules = world.stores.schedules

        class Gone:
            def __getattr__(self, name: str) -> Any:
                return getattr(schedules, name)

            async def schedule(self, *_: object) -> None:
                return None

        gone: Any = Gone()
        node = Node(world, schedules=gone)
        move_to(world, "2026-01-01T09:00")
        assert (await node.turn(), node.faults) == (0, [])

    async def test_a_run_of_a_schedule_says_so_in_its_post(self, world: World) -> None:
        schedule = await planned(world)
        await pushed(world, "d-1", "feat: a lamp")
        await only_the_request(world)
        move_to(world, "2026-01-01T09:00")
        assert await Node(world).turn() == 1
        await perform_all(world)
        (post,) = await world.stores.posts.posts(world.organization.id)
        run = (await world.stores.ledger.runs(world.organization.id))[0]
        assert post.source_metadata == {
            "scheduleId": schedule.id,
            "runId": run.id,
            "repositories": [REPOSITORY],
            "deliveryIds": ["d-1"],
            "eventTypes": ["push"],
            "writer": "deterministic",
            # The window ended, and its last moment lies before.
            "occurredAt": "2026-01-01T08:59:59.999Z",
        }
        assert post.status is PostStatus.DRAFT
