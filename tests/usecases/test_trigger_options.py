"""Triggers with filters and batches: from a delivery to the post."""

from typing import Any

import pytest
from attrs import evolve
from tests.golden import REPOSITORY_ID
from tests.refusals import accepted, message_of, the_refusal
from tests.usecases.conftest import World
from tests.usecases.test_perform import deliver, perform_all, pushed, released
from tests.usecases.test_schedule import Node, move_to, runs

from contentsvc_core import RunStatus, Trigger
from contentsvc_core.content.style_fields import read_style
from contentsvc_core.content.writing import NOTHING_TO_REPORT
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import address, push_body, signed
from contentsvc_core.usecases.perform import NO_COMMIT
from contentsvc_core.webhooks.outcomes import Filtered, Processed
from contentsvc_core.workflows.causes import Generation
from contentsvc_core.workflows.filters import Batch
from contentsvc_core.workflows.runs import TRIGGER_DISABLED
from contentsvc_core.workflows.triggers import ANY_SOURCE, ChangeTrigger, CreateTrigger


async def changed(world: World, trigger: Trigger | None = None, **fields: Any) -> Trigger:
    found = await world.triggers.change(world.organization.id, (trigger or world.trigger).id, ChangeTrigger(**fields))
    assert isinstance(found, Trigger), found
    return found


async def texts(world: World) -> list[str]:
    return [post.markdown for post in reversed(await world.stores.posts.posts(world.organization.id))]


async def reasons(world: World) -> list[str | None]:
    return [entry.reason for entry in reversed(await world.stores.journal.entries(world.organization.id))]


def with_paths(body: dict[str, Any], *paths: str) -> dict[str, Any]:
    for commit, path in zip(body["commits"], paths, strict=True):
        commit["modified"] = [path]
    return body


async def test_the_log_names_the_filter_when_no_trigger_matched(world: World) -> None:
    await changed(world, paths=("pkg/a/**",), scopes=("!deps",))
    body = push_body("feat: a lamp", repository_id=REPOSITORY_ID)

    await deliver(world, "push", with_paths(body, "pkg/b/lamp.py"), "d-1")
    await pushed(world, "d-2", "chore(deps): a bump")
    await deliver(world, "push", with_paths(body, "pkg/a/lamp.py"), "d-3")

    assert await reasons(world) == [
        "0 workflow runs started; filtered: no trigger matched: path",
        "0 workflow runs started; filtered: no trigger matched: scope",
        "1 workflow run started",
    ]
    assert [run.status for run in await perform_all(world)] == [RunStatus.COMPLETED]


async def test_a_post_is_about_the_commits_of_its_package(world: World) -> None:
    await changed(world, paths=("pkg/a/**",))
    body = push_body("feat: a red lamp", "feat: a blue door", repository_id=REPOSITORY_ID)

    await deliver(world, "push", with_paths(body, "pkg/a/lamp.py", "pkg/b/door.py"), "d-1")
    await released(world, "r-1", "v1.0.0", published_at="2026-01-01T12:00:00Z")
    await perform_all(world)

    assert len(await texts(world)) == 2
    for text in await texts(world):
        assert "red lamp" in text
        assert "blue door" not in text


async def test_a_push_whose_left_out_commits_do_not_match_writes_nothing(world: World) -> None:
    await changed(world, paths=("pkg/a/**",))
    body = with_paths(push_body("feat: a door", repository_id=REPOSITORY_ID), "pkg/b/door.py")
    await deliver(world, "push", body, "d-1")
    trigger = await changed(world, paths=("pkg/b/**",))
    await deliver(world, "push", body, "d-2")

    await changed(world, trigger, paths=("pkg/c/**",))
    (run,) = await perform_all(world)

    # A run uses the filter at its start.
    assert (run.status, run.error) == (RunStatus.SKIPPED, NO_COMMIT)


async def test_a_branch_filter_opens_further_branches(world: World) -> None:
    body = push_body("feat: an old lamp", repository_id=REPOSITORY_ID, branch="release/1.x")
    delivery = signed(body, at=world.at, secret=world.secret, event="push", delivery_id="d-0")
    assert isinstance(await world.receiver.receive(delivery), Filtered)
    main = world.trigger
    side = await world.triggers.create(
        world.organization.id, CreateTrigger(repository_ids=[REPOSITORY_ID], branches=("release/*",))
    )
    assert isinstance(side, Trigger)

    delivery = signed(body, at=world.at, secret=world.secret, event="push", delivery_id="d-1")
    assert isinstance(await world.receiver.receive(delivery), Processed)
    delivery = signed(
        push_body("feat: x", repository_id=REPOSITORY_ID, branch="feature/x"),
        at=world.at,
        secret=world.secret,
        event="push",
        delivery_id="d-2",
    )
    assert isinstance(await world.receiver.receive(delivery), Filtered)
    await pushed(world, "d-3", "feat: a new lamp")
    await released(world, "r-1", "v2.0.0", published_at="2026-01-01T12:00:00Z")
    found = await perform_all(world)

    started = {(run.cause.started_by, run.cause.delivery_id) for run in found if not isinstance(run.cause, Generation)}  # type: ignore[union-attr]
    assert started == {(side.id, "d-1"), (main.id, "d-3"), (main.id, "r-1"), (side.id, "r-1")}
    # A push to another branch belongs to no release.
    assert ["old lamp" in text for text in await texts(world)].count(True) == 1


async def test_a_trigger_for_all_repositories_has_new_ones_too(world: World) -> None:
    trigger = await changed(world, all_repositories=True)
    assert (trigger.repository_ids, trigger.source_type) == ((), ANY_SOURCE)
    found = await world.connected("acme/new", 77, "github")
    hook = await world.stores.deliveries.configuration(
        address("github", world.organization.id, found.integration.id, 77), world.clock.now()
    )
    assert hook is not None
    assert hook.started_by("push") == (trigger,)
    await world.stores.directory.remove_integration(world.organization.id, found.integration.id)
    assert await world.stores.triggers.all_of(world.organization.id) == [trigger]

    one = await changed(world, repository_ids=[REPOSITORY_ID])
    assert (one.options.all_repositories, one.source_type) == (False, "codehost_webhook")


async def test_a_trigger_is_for_all_repositories_or_for_named_ones(world: World) -> None:
    create, organization = world.triggers.create, world.organization.id

    for command, fault in (
        (CreateTrigger(), "needs a repository"),
        (CreateTrigger(repository_ids=[REPOSITORY_ID], all_repositories=True), "together with all repositories"),
    ):
        refused = the_refusal(await create(organization, command))
        assert refused.field == "repository_ids"
        assert fault in message_of(refused)
    await changed(world, all_repositories=True)
    refused = await world.triggers.change(organization, world.trigger.id, ChangeTrigger(all_repositories=False))
    assert isinstance(refused, Refusal)
    kept = accepted(await create(organization, CreateTrigger(all_repositories=True, provider="github")))
    assert kept.source_type == "github_webhook"
    moved = await world.triggers.change(organization, kept.id, ChangeTrigger(provider="gitlab"))
    assert moved == evolve(kept, source_type="gitlab_webhook")


async def test_a_faulty_pattern_names_its_field(world: World) -> None:
    for field in ("branches", "tags", "paths", "scopes"):
        refused = the_refusal(
            await world.triggers.change(world.organization.id, world.trigger.id, ChangeTrigger(**{field: ("ok", "!")}))
        )
        assert (refused.field, "empty pattern" in message_of(refused)) == (field, True)


async def test_a_day_of_events_becomes_one_post(world: World) -> None:
    trigger = await changed(world, batch=Batch.DAILY, scopes=("!deps",), house_style=read_style({"hide": ["api"]}))
    nodes = [Node(world), Node(world)]
    await pushed(world, "d-1", "feat: a lamp")
    await pushed(world, "d-2", "feat: a door", "fix(api): a hinge")
    await pushed(world, "d-3", "chore(deps): a bump")
    assert (await reasons(world))[0] == "0 workflow runs started; collected by 1 trigger for a later post"
    assert await runs(world) == []

    move_to(world, "2026-01-01T23:59:59.999")
    assert [await node.turn() for node in nodes] == [0, 0]
    await pushed(world, "d-4", "feat: a last one")
    move_to(world, "2026-01-02T00:00")
    await pushed(world, "d-5", "feat: the next day")
    assert [await node.turn() for node in nodes] == [1, 0]
    # Deliveries of the day may not be stored yet.
    assert await perform_all(world)
    assert await texts(world) == []
    move_to(world, "2026-01-02T00:01")
    (run,) = await perform_all(world)

    assert (run.status, run.cause.started_by) == (RunStatus.COMPLETED, trigger.id)
    (text,) = await texts(world)
    words = ("lamp", "door", "last one", "hinge", "bump", "next day")
    assert [word for word in words if word in text] == ["lamp", "door", "last one"]
    (post,) = await world.stores.posts.posts(world.organization.id)
    assert post.source_metadata is not None
    assert (post.source_metadata["triggerId"], post.source_metadata["deliveryIds"]) == (
        trigger.id,
        ["d-1", "d-2", "d-4"],
    )


async def test_a_batch_names_only_repositories_with_commits_that_its_filter_chooses(world: World) -> None:
    await world.connected("acme/buoy", 2, "github")
    await changed(world, batch=Batch.DAILY, all_repositories=True, paths=("lamps/*",))
    other = next(
        each
        for each in await world.stores.directory.integrations(world.organization.id)
        if each.id != world.at.integration_id
    )
    (secret,) = await world.stores.directory.secrets(world.organization.id, other.id, world.clock.now())
    at = evolve(world.at, provider="github", integration_id=other.id, repository_id=other.repositories[0].id)
    both = push_body("feat: a lamp", "docs: a path", repository_id=2)
    one = with_paths(push_body("feat: a door", repository_id=REPOSITORY_ID), "doors/a.py")
    sent = signed(with_paths(both, "lamps/a.py", "docs/a.md"), at=at, secret=secret, delivery_id="d-2")
    await deliver(world, "push", one, "d-1")
    await world.receiver.receive(sent)
    move_to(world, "2026-01-02T00:00")
    await Node(world).turn()
    move_to(world, "2026-01-02T00:01")

    (run,) = await perform_all(world)

    assert run.status is RunStatus.COMPLETED
    (text,) = await texts(world)
    assert ("lamp" in text.casefold(), "door" in text, "a path" in text) == (True, False, False)


async def test_events_of_days_without_a_server_are_not_lost(world: World) -> None:
    await changed(world, batch=Batch.DAILY)
    await pushed(world, "d-1", "feat: a lamp")
    move_to(world, "2026-01-02T12:00")
    await pushed(world, "d-2", "feat: a door")
    move_to(world, "2026-01-04T12:00")

    assert await Node(world).turn() == 1
    assert await Node(world).turn() == 0
    await perform_all(world)

    (text,) = await texts(world)
    assert "lamp" in text
    assert "door" in text


@pytest.mark.parametrize(("event_type", "reason"), [("release", NOTHING_TO_REPORT), ("push", TRIGGER_DISABLED)])
async def test_a_window_without_events_or_trigger_writes_nothing(world: World, event_type: str, reason: str) -> None:
    await changed(world, batch=Batch.WEEKLY, event_types=[event_type])
    await pushed(world, "d-1", "feat: a lamp")
    move_to(world, "2026-01-05T00:01")

    assert await Node(world).turn() == 1
    if event_type == "push":
        await world.stores.triggers.remove(world.organization.id, world.trigger.id)
    (run,) = await perform_all(world)

    assert (run.status, run.error, await texts(world)) == (RunStatus.SKIPPED, reason, [])
