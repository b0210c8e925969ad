from datetime import timedelta

import pytest
from tests.golden import REPOSITORY_ID
from tests.performing import performer_over
from tests.usecases.conftest import World

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core import Brief, Draft, PostStatus, Processed, RunStatus, WorkflowRun
from contentsvc_core.content.writing import Silence
from contentsvc_core.ports import ContentWriter, Steps
from contentsvc_core.testing import PlainSteps, push_body, release_body, signed, switched
from contentsvc_core.usecases.perform import Performer
from contentsvc_core.workflows.runs import MAX_ATTEMPTS, retry_delay
from contentsvc_core.workflows.triggers import ChangeTrigger


async def deliver(world: World, event: str, body: dict[str, object], delivery_id: str) -> None:
    outcome = await world.receiver.receive(
        signed(body, at=world.at, secret=world.secret, event=event, delivery_id=delivery_id)
    )
    assert isinstance(outcome, Processed)


async def pushed(world: World, delivery_id: str, *messages: str) -> None:
    await deliver(world, "push", push_body(*messages, repository_id=REPOSITORY_ID), delivery_id)


async def released(
    world: World,
    delivery_id: str,
    tag: str,
    *,
    published_at: str | None,
    action: str = "published",
    prerelease: bool = False,
) -> None:
    body = release_body(
        tag, action=action, repository_id=REPOSITORY_ID, prerelease=prerelease, published_at=published_at
    )
    await deliver(world, "release", body, delivery_id)


async def taken(world: World) -> list[WorkflowRun]:
    await world.stores.executors.join("exe_1")
    due = await world.stores.ledger.pending(world.clock.now(), limit=100, per_organization=100)
    return list(await world.stores.ledger.take([each.id for each in due], "exe_1"))


async def perform_all(world: World, performer: Performer | None = None) -> list[WorkflowRun]:
    """Perform every due run; return all runs, oldest first."""
    performer = performer or world.performer
    while runs := await taken(world):
        for run in runs:
            try:
                await performer.perform(run, PlainSteps())
            except RuntimeError as exc:
                await performer.failed(run, exc)
    return list(reversed(await world.stores.ledger.runs(world.organization.id)))


async def test_a_run_writes_one_post_with_its_source(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp <script>alert(1)</script>")

    (run,) = await perform_all(world)

    (post,) = await world.stores.posts.posts(world.organization.id)
    assert (run.status, run.post_id, run.attempts, run.error) == (RunStatus.COMPLETED, post.id, 1, None)
    assert post.status is PostStatus.PUBLISHED
    assert post.content_type is world.trigger.output_type
    assert "lamp" in post.title
    assert "<script" not in post.content
    assert "&lt;script" in post.content
    assert post.source_metadata == {
        "triggerId": world.trigger.id,
        "runId": run.id,
        "repositories": ["acme/lighthouse"],
        "deliveryIds": ["d-1"],
        "eventTypes": ["push"],
        "writer": "deterministic",
        "occurredAt": "2026-01-01T00:00:00.000Z",
    }


async def test_without_auto_publish_the_post_is_a_draft(world: World) -> None:
    await world.triggers.change(world.organization.id, world.trigger.id, ChangeTrigger(auto_publish=False))
    await pushed(world, "d-1", "feat: a lamp")

    await perform_all(world)

    (post,) = await world.stores.posts.posts(world.organization.id)
    assert post.status is PostStatus.DRAFT


async def test_a_release_contains_the_posts_of_the_pushes_that_it_is_written_from(world: World) -> None:
    await pushed(world, "d-1", "feat: first lamp")
    await released(world, "d-2", "v1", published_at="2025-12-01T00:00:00Z")
    await pushed(world, "d-3", "feat: second lamp")
    await released(world, "d-4", "v2", published_at="2025-12-02T00:00:00Z")
    await pushed(world, "d-5", "feat: third lamp")

    await perform_all(world)

    posts = {
        str((post.source_metadata or {})["deliveryIds"]): post
        for post in await world.stores.posts.posts(world.organization.id)
    }
    one, v1, two, v2, three = [posts[str([f"d-{number}"])] for number in range(1, 6)]
    assert [post.contained_in for post in (one, v1, two, v2, three)] == [v1.id, None, v2.id, None, None]


@pytest.mark.slow("writes or reads very large texts")
async def test_a_release_looks_back_over_many_pushes(world: World) -> None:
    await released(world, "d-0", "v1", published_at="2026-01-01T00:00:00Z")
    for number in range(1, 251):
        await pushed(world, f"p-{number}", f"feat: lamp number {number}")
    await released(world, "d-9", "v2", published_at="2026-01-02T00:00:00Z")

    await perform_all(world)

    posts = await world.stores.posts.posts(world.organization.id)
    (v2,) = [post.markdown for post in posts if "v2" in post.title]
    assert all(f"amp number {number} " in v2 for number in range(1, 251))


async def test_a_final_release_looks_back_past_its_own_prereleases(world: World) -> None:
    await released(world, "d-1", "v1", published_at="2026-01-01T00:00:00Z")
    await pushed(world, "d-2", "feat: early lamp")
    await released(world, "d-3", "v2-rc1", prerelease=True, published_at="2026-01-02T00:00:00Z")
    await pushed(world, "d-4", "feat: late lamp")
    await released(world, "d-5", "v2-rc2", prerelease=True, published_at="2026-01-03T00:00:00Z")
    await released(world, "d-6", "v2", published_at="2026-01-04T00:00:00Z")

    await perform_all(world)

    notes = {post.title: post.markdown for post in await world.stores.posts.posts(world.organization.id)}
    (candidate,) = [markdown for title, markdown in notes.items() if "rc2" in title]
    (final,) = [markdown for title, markdown in notes.items() if "v2" in title and "rc" not in title]
    assert "Late lamp" in candidate
    assert "Early lamp" not in candidate
    assert "Late lamp" in final
    assert "Early lamp" in final


async def test_a_release_that_is_announced_twice_has_one_post(world: World) -> None:
    for delivery_id, action in (("d-1", "published"), ("d-2", "prereleased")):
        await released(
            world, delivery_id, "v1-rc1", action=action, prerelease=True, published_at="2026-01-01T00:00:00Z"
        )

    first, second = await perform_all(world)

    assert (first.status, second.status) == (RunStatus.COMPLETED, RunStatus.SKIPPED)
    assert second.error == "another run has reported this release"
    assert len(await world.stores.posts.posts(world.organization.id)) == 1


async def test_releases_without_a_publication_time_are_exempt_from_that(world: World) -> None:
    await released(world, "d-1", "v1", published_at=None)
    await released(world, "d-2", "v1", published_at=None)

    runs = await perform_all(world)

    assert {run.status for run in runs} == {RunStatus.COMPLETED}
    assert len(await world.stores.posts.posts(world.organization.id)) == 2


async def test_a_run_with_nothing_to_report_is_skipped(world: World) -> None:
    await pushed(world, "d-1", "chore(release): 1.2.3")

    (run,) = await perform_all(world)

    assert (run.status, run.error, run.post_id) == (
        RunStatus.SKIPPED,
        "1 commit that only makes a release: nothing a reader notices",
        None,
    )
    assert await world.stores.posts.posts(world.organization.id) == []


@pytest.mark.parametrize("removed", [False, True])
async def test_a_run_whose_trigger_was_disabled_or_removed_meanwhile_is_skipped(world: World, *, removed: bool) -> None:
    await pushed(world, "d-1", "feat: x")
    if removed:
        await world.stores.triggers.remove(world.organization.id, world.trigger.id)
    else:
        await world.stores.triggers.change(world.organization.id, world.trigger.id, switched(enabled=False))

    (run,) = await perform_all(world)

    assert (run.status, run.error) == (RunStatus.SKIPPED, "the trigger is disabled")


class FailingWriter:
    name = "failing"
    costly = False

    def __init__(self, times: int) -> None:
        self.left = times

    async def write(self, brief: Brief, _steps: Steps) -> Draft:
        if self.left:
            self.left -= 1
            message = "the writer is\nout of ink"
            raise RuntimeError(message)
        return Draft(title="At last", markdown=f"{len(brief.events)}\n")


def performer_with(world: World, writer: ContentWriter) -> Performer:
    return performer_over(world.stores, world.clock, world.ids, writer)


async def test_after_the_last_attempt_a_run_has_failed_with_its_reason(world: World) -> None:
    await pushed(world, "d-1", "feat: x")
    performer = performer_with(world, FailingWriter(times=99))
    for attempt in range(1, MAX_ATTEMPTS + 1):
        await perform_all(world, performer)
        world.clock.advance(retry_delay(attempt) or timedelta(hours=1))

    (run,) = await perform_all(world, performer)
    assert (run.status, run.attempts) == (RunStatus.FAILED, MAX_ATTEMPTS)
    assert run.error == "RuntimeError: the writer is out of ink"
    assert await world.stores.posts.posts(world.organization.id) == []


async def test_a_text_whose_html_is_too_long_is_cut(world: World) -> None:
    notes = "".join(f"line {number}\n\n{'>' * 20}\n\n" for number in range(40))
    body = release_body("v1.0.0", body=notes, repository_id=REPOSITORY_ID)
    await deliver(world, "release", body, "d-1")
    renderer = SafeMarkdown(limit=8_000)

    (run,) = await perform_all(
        world, performer_over(world.stores, world.clock, world.ids, DeterministicWriter(), renderer=renderer)
    )

    (post,) = await world.stores.posts.posts(world.organization.id)
    assert (run.status, run.post_id) == (RunStatus.COMPLETED, post.id)
    assert post.markdown.startswith("line 0\n\n>>>")
    assert post.markdown.endswith("\n\n…\n")
    assert len(post.markdown) < len(notes)
    assert 1_000 < len(post.content) <= 8_000
    assert post.content == SafeMarkdown().html(post.markdown)


async def test_tags_without_end_are_cut_and_stay_different(world: World) -> None:
    for version in ("1.0", "1.1"):
        await released(world, version, f"lamp{'s' * 1_000}@{version}", published_at=None)

    await perform_all(world)

    tags = [post.release_tag or "" for post in await world.stores.posts.posts(world.organization.id)]
    assert {(len(tag), tag[:5], tag[-4:]) for tag in tags} == {(255, "lamps", "@1.0"), (255, "lamps", "@1.1")}


async def test_the_end_of_each_run_is_observed(world: World) -> None:
    ends: list[RunStatus] = []
    performer = performer_over(world.stores, world.clock, world.ids, DeterministicWriter(), ended=ends.append)
    await pushed(world, "d-1", "feat: a lamp")
    await perform_all(world, performer)
    await pushed(world, "d-2", "ci: run")
    await perform_all(world, performer)
    for delivery_id in ("d-3", "d-4"):
        await released(world, delivery_id, "v1", published_at="2026-01-01T00:00:00Z")
    await perform_all(world, performer)
    assert ends == [RunStatus.COMPLETED, RunStatus.SKIPPED, RunStatus.COMPLETED, RunStatus.SKIPPED]


class _Silent:
    """A costly writer that has nothing to say."""

    name = "silent"
    costly = True

    def __init__(self) -> None:
        self.briefs: list[Brief] = []

    async def write(self, brief: Brief, _steps: object) -> Silence:
        self.briefs.append(brief)
        return Silence(reason="nothing to report: all is quiet")


async def test_a_costly_writer_that_declines_is_called_once(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    writer = _Silent()
    (run,) = await perform_all(world, performer_over(world.stores, world.clock, world.ids, writer))
    assert (run.status, run.error, len(writer.briefs)) == (RunStatus.SKIPPED, "nothing to report: all is quiet", 1)
