"""Releases of several packages on one commit: one post, also after faults of the runs."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from tests.builders import a_record, a_release
from tests.golden import REPOSITORY_ID
from tests.refusals import accepted
from tests.usecases.conftest import World
from tests.usecases.test_perform import deliver, perform_all, taken
from tests.usecases.test_replays import replayer

from contentsvc_core import ContentType, Post, RunStatus, WorkflowRun
from contentsvc_core.content.public.releases import tags_of
from contentsvc_core.events.normalized import Author, Commit, Event, Push, Release
from contentsvc_core.testing import PlainSteps, push_body, release_body
from contentsvc_core.usecases import briefs
from contentsvc_core.usecases.release_history import ReleaseHistory
from contentsvc_core.workflows.causes import Delivered
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.packages import PACKAGE_DELAY
from contentsvc_core.workflows.runs import ALREADY_REPORTED, Completion
from contentsvc_core.workflows.triggers import CreateTrigger

PUBLISHED = "2026-01-02T00:00:00Z"


async def pushed(world: World, delivery_id: str, changes: dict[str, list[str]]) -> None:
    """Push a commit for each message, with the files that it touches."""
    body: dict[str, Any] = push_body(*changes, repository_id=REPOSITORY_ID)
    for commit in body["commits"]:
        commit["modified"] = changes[commit["message"]]
    await deliver(world, "push", body, delivery_id)


async def released(world: World, *tags: str, notes: str | None = None, commit: str = "main") -> None:
    """Publish releases, a second apart; the delivery has the id of the tag."""
    for tag in tags:
        body = release_body(tag, repository_id=REPOSITORY_ID, published_at=PUBLISHED, body=notes)
        body["release"]["target_commitish"] = commit
        await deliver(world, "release", body, f"d-{tag}")
        world.clock.advance(timedelta(seconds=1))


async def waited(world: World) -> list[WorkflowRun]:
    """Perform the due runs after the releases' delay."""
    world.clock.advance(PACKAGE_DELAY)
    return await perform_all(world)


async def posts(world: World) -> list[Post]:
    """Return the posts of releases, oldest first."""
    found = await world.stores.posts.posts(world.organization.id)
    return [post for post in reversed(found) if post.release_tag is not None]


@pytest.fixture
async def monorepo(world: World) -> World:
    """Create a repository with four packages, each with one release."""
    await pushed(world, "p-0", {"feat: first cli": ["packages/cli/a.ts"], "feat: first api": ["packages/api/a.ts"]})
    await released(world, "@acme/cli@1.0.0", "@acme/api@1.0.0", "@acme/web@1.0.0", "@acme/docs@1.0.0")
    await waited(world)
    return world


async def test_releases_of_one_commit_are_one_post_with_a_section_for_each_package(monorepo: World) -> None:
    await pushed(
        monorepo,
        "p-1",
        {
            "feat: draw a lamp": ["packages/cli/lamp.ts", "pnpm-lock.yaml"],
            "fix(api): close the socket": ["packages/api/socket.ts"],
            "feat: read one file": ["packages/cli/read.ts", "packages/api/read.ts"],
            "feat: run on one more system": ["build.rs"],
        },
    )
    await released(monorepo, "@acme/api@1.0.1", "@acme/web@1.0.1", "@acme/cli@2.0.0")

    runs = await waited(monorepo)

    first, post = await posts(monorepo)
    assert first.release_tag == "@acme/api@1.0.0"
    assert post.title.startswith("cli 2.0.0, api 1.0.1 and web 1.0.1: draw a lamp, ")
    headings = [line for line in post.markdown.splitlines() if line.startswith("#")]
    assert headings == [
        "## [cli 2.0.0](https://codehost.example/acme/lighthouse/releases/tag/%40acme/cli%402.0.0)",
        "### Added",
        "## [api 1.0.1](https://codehost.example/acme/lighthouse/releases/tag/%40acme/api%401.0.1)",
        "### Fixed",
        "## Across packages",
        "### Added",
        "## Contributors",
    ]
    cli, rest = post.markdown.split("## [api 1.0.1]")
    api, common = rest.split("## Across packages")
    assert "Draw a lamp" in cli
    assert "Close the socket" in api
    assert "**api:**" not in api
    assert "Read one file" in common
    assert "Run on one more system" in common
    assert "Also released, without changes of their own: [web 1.0.1]" in common
    assert "compare/%40acme%2Fcli%401.0.0...%40acme%2Fcli%402.0.0" in cli
    assert "compare/%40acme%2Fapi%401.0.0...%40acme%2Fapi%401.0.1" in api
    assert [(run.status, run.post_id) for run in runs[-3:]] == [
        (RunStatus.SKIPPED, None),
        (RunStatus.SKIPPED, None),
        (RunStatus.COMPLETED, post.id),
    ]
    assert runs[-3].error == f"reported together with @acme/cli@2.0.0 by run {runs[-1].id}"


async def test_a_tag_without_a_package_is_not_waited_for(world: World) -> None:
    await released(world, "v1.2.3")
    (run,) = await perform_all(world)
    assert run.status is RunStatus.COMPLETED
    assert run.due_at == run.created_at


async def test_a_release_of_one_package_reports_only_its_own_changes(monorepo: World) -> None:
    await pushed(
        monorepo, "p-1", {"feat: draw a lamp": ["packages/cli/lamp.ts"], "feat: serve a lamp": ["packages/api/lamp.ts"]}
    )
    await released(monorepo, "@acme/api@1.1.0")
    await waited(monorepo)
    await pushed(monorepo, "p-2", {"fix: light it": ["packages/cli/light.ts"], "fix: find the linker": ["build.rs"]})
    await released(monorepo, "@acme/cli@1.1.0")
    await waited(monorepo)

    _, api, cli = await posts(monorepo)
    assert "Serve a lamp" in api.markdown
    assert "Draw a lamp" not in api.markdown
    assert "compare/%40acme%2Fapi%401.0.0...%40acme%2Fapi%401.1.0" in api.markdown
    # The window of a package begins at its own previous release, not at releases of other packages.
    assert "Draw a lamp" in cli.markdown
    assert "Light it" in cli.markdown
    assert "Find the linker" in cli.markdown
    assert "Serve a lamp" not in cli.markdown
    assert "compare/%40acme%2Fcli%401.0.0...%40acme%2Fcli%401.1.0" in cli.markdown
    assert "releaseTags" not in (cli.source_metadata or {})


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        # Authors write the changelog of each package; a tool writes them from fragments; only another package has one.
        (["cli/CHANGELOG.md", "cli/a.ts", "web/CHANGELOG.md", "web/a.ts"], ["Draw a lamp", "Note it"]),
        (["cli/CHANGELOG.md", "cli/a.ts", "web/CHANGELOG.md", "web/a.ts", ".changeset/a.md"], ["Show a lamp"]),
        (["web/CHANGELOG.md", "web/a.ts", "cli/a.ts"], ["Show a lamp"]),
        (["cli/CHANGELOG.md", "web/CHANGELOG.md", "web/a.ts", "cli-web/a.ts"], ["Show a lamp"]),
    ],
)
async def test_a_package_with_a_changelog_of_its_own_waits_for_its_first_release(
    world: World, notes: list[str], expected: list[str]
) -> None:
    changes = {"feat: draw a lamp": ["cli/lamp.ts"], "feat: show a lamp": ["web/lamp.ts"], "feat: note it": notes}
    await pushed(world, "p-1", changes)
    await released(world, "cli@1.0.0")
    await waited(world)

    (post,) = await posts(world)
    assert all(text in post.markdown for text in expected)
    assert ("Show a lamp" in post.markdown) is ("Show a lamp" in expected)


async def test_a_push_is_contained_in_a_release_that_reports_all_of_it(monorepo: World) -> None:
    await pushed(monorepo, "p-1", {"feat: draw a lamp": ["packages/cli/lamp.ts"]})
    await pushed(
        monorepo, "p-2", {"feat: dim a lamp": ["packages/cli/dim.ts"], "feat: serve a lamp": ["packages/api/s.ts"]}
    )
    await released(monorepo, "@acme/cli@1.1.0")
    await waited(monorepo)

    found = await monorepo.stores.posts.posts(monorepo.organization.id)
    by_delivery = {str((post.source_metadata or {})["deliveryIds"]): post for post in found}
    assert by_delivery["['p-1']"].contained_in == by_delivery["['d-@acme/cli@1.1.0']"].id
    assert by_delivery["['p-2']"].contained_in is None


async def test_notes_of_packages_precede_commits_and_dependent_releases_share_a_line(world: World) -> None:
    await released(
        world, "@acme/cli@2.0.0", notes="### Major Changes\n\n- #12 1234abc Thanks @ada! - Drop the old lamp"
    )
    follows = "### Patch Changes\n\n- Updated dependencies [1234abc]\n  - @acme/cli@2.0.0"
    await released(world, "@acme/api@1.0.1", "@acme/web@1.0.1", notes=follows)
    await waited(world)

    (post,) = await posts(world)
    assert post.title == "cli 2.0.0, api 1.0.1 and web 1.0.1: drop the old lamp"
    assert "### Major Changes" in post.markdown
    assert "Updated dependencies" not in post.markdown
    assert "own: [api 1.0.1]" in post.markdown


async def test_late_releases_have_a_post_of_their_own(monorepo: World) -> None:
    await released(monorepo, "@acme/cli@2.0.0", "@acme/api@1.0.1")
    await waited(monorepo)
    await released(monorepo, "@acme/web@1.0.1", "@acme/docs@1.0.1")
    await waited(monorepo)

    assert [tags_of(post) for post in await posts(monorepo)][1:] == [
        ("@acme/cli@2.0.0", "@acme/api@1.0.1"),
        ("@acme/docs@1.0.1", "@acme/web@1.0.1"),
    ]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ("a@1.0.0:c" + 45 * " +" + " b@1.0.0:c", "a@1.0.0 b@1.0.0"),
        # Without a package or a publication time, a release does not wait, and other releases do not wait for it.
        ("a@1.0.0 v1.0.0", "a@1.0.0 | v1.0.0"),
        ("v1.0.0 a@1.0.0", "a@1.0.0 | v1.0.0"),
        ("a@1.0.0 b@1.0.0?", "a@1.0.0 | b@1.0.0"),
        ("b@1.0.0? a@1.0.0", "a@1.0.0 | b@1.0.0"),
    ],
)
async def test_releases_share_a_post_by_their_commit_and_time(world: World, history: str, expected: str) -> None:
    for index, step in enumerate(history.split()):
        if step == "+":
            await pushed(world, f"p-{index}", {f"feat: lamp {index}": []})
        else:
            tag, _, commit = step.rstrip("?").partition(":")
            at = None if step.endswith("?") else PUBLISHED
            body = release_body(tag, repository_id=REPOSITORY_ID, published_at=at)
            body["release"]["target_commitish"] = commit * 40 or "main"
            await deliver(world, "release", body, f"d-{index}")
    await waited(world)

    assert " | ".join(sorted(" ".join(tags_of(post)) for post in await posts(world))) == expected


async def test_a_release_from_before_the_trigger_is_not_reported_with_it(world: World) -> None:
    await released(world, "a@1.0.0")
    await world.triggers.create(
        world.organization.id,
        CreateTrigger(repository_ids=[REPOSITORY_ID], output_type=ContentType.BLOG_POST, auto_publish=True),
    )
    await released(world, "b@1.0.0", notes="- Draw a lamp")
    await waited(world)

    reported = {post.content_type: tags_of(post) for post in await posts(world)}
    assert reported == {world.trigger.output_type: ("a@1.0.0", "b@1.0.0"), ContentType.BLOG_POST: ("b@1.0.0",)}


async def test_a_redelivery_after_a_day_reports_its_own_release(world: World) -> None:
    await released(world, "a@1.0.0", "b@1.0.0")
    for run in await world.stores.ledger.runs(world.organization.id):
        assert await world.stores.ledger.cancel(world.organization.id, run.id, "not now")
    # After the claims of their delivery ids have ended.
    world.clock.advance(timedelta(days=2))
    await released(world, "a@1.0.0", "b@1.0.0")
    world.clock.advance(PACKAGE_DELAY)
    for run in reversed(await taken(world)):
        await world.performer.perform(run, PlainSteps())

    assert sorted(tags_of(post) for post in await posts(world)) == [("a@1.0.0",), ("b@1.0.0",)]


@pytest.mark.slow("writes or reads very large texts")
async def test_an_imported_history_is_reported_commit_by_commit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        await pushed(world, f"p-{number}", {f"feat: lamp {number}": ["packages/cli/lamp.ts"]})
        for name in ("cli", "api"):
            body = release_body(f"{name}@1.{number}.0", repository_id=REPOSITORY_ID, published_at=PUBLISHED)
            await deliver(world, "release", body, f"{name}-{number}")
            world.clock.advance(timedelta(milliseconds=1))
    read = 0
    within = world.stores.contexts.within

    async def counted(*args: Any, **more: Any) -> tuple[Sequence[ContextRecord], int]:
        nonlocal read
        found, left_out = await within(*args, **more)
        read += len(found) + left_out
        return found, left_out

    monkeypatch.setattr(world.stores.contexts, "within", counted)
    await waited(world)

    reported = {tags_of(post) for post in await posts(world)}
    assert reported == {(f"api@1.{number}.0", f"cli@1.{number}.0") for number in range(60)}
    # Each run reads its neighbours, and not all deliveries of the same minute.
    assert read < 120 * 10


async def test_each_trigger_writes_its_own_post(monorepo: World) -> None:
    other = await monorepo.triggers.create(
        monorepo.organization.id,
        CreateTrigger(repository_ids=[REPOSITORY_ID], output_type=ContentType.BLOG_POST, auto_publish=True),
    )
    await pushed(monorepo, "p-1", {"feat: draw a lamp": ["packages/cli/lamp.ts"]})
    await released(monorepo, "@acme/api@1.0.1", "@acme/cli@2.0.0")
    await waited(monorepo)

    reporting = [post for post in await posts(monorepo) if "@acme/cli@2.0.0" in tags_of(post)]
    assert {post.content_type for post in reporting} == {monorepo.trigger.output_type, ContentType.BLOG_POST}
    assert {tags_of(post) for post in reporting} == {("@acme/cli@2.0.0", "@acme/api@1.0.1")}
    blog = next(post for post in reporting if post.content_type is ContentType.BLOG_POST)
    assert "cli 2.0.0 and api 1.0.1" in blog.markdown
    assert getattr(other, "id", None) == (blog.source_metadata or {})["triggerId"]


async def test_a_release_announced_or_delivered_twice_is_reported_once(monorepo: World) -> None:
    await released(monorepo, "@acme/cli@2.0.0", "@acme/api@1.0.1")
    body = release_body("@acme/cli@2.0.0", action="prereleased", repository_id=REPOSITORY_ID, published_at=PUBLISHED)
    await deliver(monorepo, "release", body, "d-again")
    await waited(monorepo)
    # After the claim of its delivery id has ended.
    monorepo.clock.advance(timedelta(days=2))
    await released(monorepo, "@acme/api@1.0.1")
    redelivered = await waited(monorepo)

    assert [tags_of(post) for post in await posts(monorepo)][1:] == [("@acme/cli@2.0.0", "@acme/api@1.0.1")]
    assert (redelivered[-1].status, redelivered[-1].error) == (RunStatus.SKIPPED, ALREADY_REPORTED)


async def test_a_reported_release_is_not_repeated_beside_new_ones(monorepo: World) -> None:
    body = release_body("@acme/cli@1.0.0", repository_id=REPOSITORY_ID, published_at=PUBLISHED)
    await deliver(monorepo, "release", body, "d-by-hand")
    await released(monorepo, "@acme/api@1.1.0")
    runs = await waited(monorepo)

    assert [run.status for run in runs[-2:]] == [RunStatus.SKIPPED, RunStatus.COMPLETED]
    assert tags_of((await posts(monorepo))[-1]) == ("@acme/api@1.1.0",)


async def test_a_killed_process_loses_no_release_and_repeats_none(monorepo: World) -> None:
    await released(monorepo, "@acme/cli@2.0.0", "@acme/api@1.0.1", "@acme/web@1.0.1")
    monorepo.clock.advance(PACKAGE_DELAY)
    runs = await taken(monorepo)
    # Two runs were performed before the process was killed: the last one, with the post about all releases, is left.
    for run in runs[:2]:
        await monorepo.performer.perform(run, PlainSteps())
    assert len(await posts(monorepo)) == 1
    await monorepo.stores.executors.recover("killed", lost={"exe_1": 0})
    await perform_all(monorepo)

    assert [tags_of(post) for post in await posts(monorepo)][1:] == [
        ("@acme/cli@2.0.0", "@acme/api@1.0.1", "@acme/web@1.0.1")
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
async def test_all_releases_are_reported_once_in_any_order_of_runs(monorepo: World, order: tuple[int, ...]) -> None:
    await released(monorepo, "@acme/cli@2.0.0", "@acme/api@1.0.1", "@acme/web@1.0.1")
    monorepo.clock.advance(PACKAGE_DELAY)
    runs = await taken(monorepo)
    for index in order:
        await monorepo.performer.perform(runs[index], PlainSteps())

    reported = [tag for post in (await posts(monorepo))[1:] for tag in tags_of(post)]
    assert sorted(reported) == ["@acme/api@1.0.1", "@acme/cli@2.0.0", "@acme/web@1.0.1"]


async def test_the_restart_of_a_failed_run_of_several_releases_reports_all_of_them(monorepo: World) -> None:
    await released(monorepo, "@acme/cli@2.0.0", "@acme/api@1.0.1")
    monorepo.clock.advance(PACKAGE_DELAY)
    first, last = await taken(monorepo)
    await monorepo.performer.perform(first, PlainSteps())
    await monorepo.stores.ledger.end(last, RunStatus.FAILED, "the writer is away")
    assert await monorepo.stores.ledger.restart(monorepo.organization.id, last.id, due_at=monorepo.clock.now())
    await perform_all(monorepo)

    assert tags_of((await posts(monorepo))[-1]) == ("@acme/cli@2.0.0", "@acme/api@1.0.1")


@pytest.mark.parametrize(
    ("tags", "cancelled", "expected"),
    [
        (["@acme/cli@2.0.0", "@acme/api@1.0.1", "@acme/web@1.0.1"], slice(2), ("@acme/cli@2.0.0",)),
        # Earlier than the previous release of the same package.
        (
            ["@acme/api@1.1.0", "@acme/cli@2.0.0", "@acme/cli@2.0.1"],
            slice(1, 2),
            ("@acme/api@1.1.0", "@acme/cli@2.0.1"),
        ),
    ],
)
async def test_the_release_of_a_cancelled_run_is_not_reported(
    monorepo: World, monkeypatch: pytest.MonkeyPatch, tags: list[str], cancelled: slice, expected: tuple[str, ...]
) -> None:
    monkeypatch.setattr(briefs, "_STEP", 1)
    await released(monorepo, *tags)
    ledger = monorepo.stores.ledger
    # Newest first.
    for run in (await ledger.runs(monorepo.organization.id))[cancelled]:
        assert await ledger.cancel(monorepo.organization.id, run.id, "not now")
    await waited(monorepo)

    assert [tags_of(post) for post in await posts(monorepo)][1:] == [expected]


async def test_a_replay_reports_its_own_release_at_once(monorepo: World) -> None:
    await released(monorepo, "@acme/cli@2.0.0", "@acme/api@1.0.1")
    await waited(monorepo)
    entries = await monorepo.stores.journal.entries(monorepo.organization.id)
    entry = next(each for each in entries if each.reference_id == "d-@acme/api@1.0.1")
    accepted(await replayer(monorepo).replay(monorepo.organization.id, entry.id))
    await perform_all(monorepo)

    assert [tags_of(post) for post in await posts(monorepo)][1:] == [
        ("@acme/cli@2.0.0", "@acme/api@1.0.1"),
        ("@acme/api@1.0.1",),
    ]


async def test_a_release_reported_meanwhile_is_omitted_from_the_next_attempt(
    monorepo: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, complete = monorepo.stores.ledger, monorepo.stores.ledger.complete
    await released(monorepo, "@acme/cli@2.0.0", "@acme/api@1.0.1")
    monorepo.clock.advance(PACKAGE_DELAY)
    first, last = await taken(monorepo)

    async def overtaken(run: WorkflowRun, post: Post, **more: Any) -> Completion:
        monkeypatch.undo()
        assert isinstance(first.cause, Delivered)
        alone = evolve(post, id=monorepo.ids.new_id("post_"), release_tag="@acme/cli@2.0.0", source_metadata=None)
        assert await complete(first, alone, once=first.cause.once_key) is Completion.COMPLETED
        return await complete(run, post, **more)

    monkeypatch.setattr(ledger, "complete", overtaken)
    with pytest.raises(RuntimeError, match="meanwhile") as raised:
        await monorepo.performer.perform(last, PlainSteps())
    await monorepo.performer.failed(last, raised.value)
    monorepo.clock.advance(timedelta(minutes=1))
    await perform_all(monorepo)

    assert [tags_of(post) for post in await posts(monorepo)][1:] == [("@acme/cli@2.0.0",), ("@acme/api@1.0.1",)]


def a_history(text: str) -> list[Event]:
    """Return the events of a text: ``+a lens/b`` pushes two commits, one of no package; ``lens@1.0.0?`` is a beta."""

    def a_commit(name: str) -> Commit:
        package, _, short = name.rpartition("/")
        paths = (f"packages/{package}/{short}.ts",) if package else ()
        return Commit(
            id=f"{name:0>40}", message=name, author=Author(name="", email=""), timestamp="", url="", modified=paths
        )

    events: list[Event] = []
    for each in text.replace(" & ", " | ").split(" | "):
        if each[0] in "+~":
            commits = tuple(map(a_commit, each[1:].split()))
            branch = Push(ref="", branch="", commits=commits, head_commit=None, off_default=each[0] == "~")
            events.append(branch)
        else:
            events.append(a_release(each.rstrip("?"), prerelease=each.endswith("?")))
    return events


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v1 | +a | +b | v2", "v2 since v1: a; b / whole: 1 2"),
        ("+a | v1", "v1 since None: a / whole: 0"),
        ("v1 | +a | ~x | v2? | +b | v3", "v3 since v1: a; b / whole: 1 4"),
        ("v1 | +a | v2? | +b | v3?", "v3 since v2: b / whole: 3"),
        # The same tag again, and releases of packages beside others. Commits without files belong to those before them.
        ("v1 | +a | v2 | +b | v2", "v2 since v1: a; b / whole: 1 3"),
        ("v1 | +a | lens@1.0.0 | +b | v2", "v2 since v1: a; b / whole: 1 3"),
        (
            "lens@1.0.0 | +lens/a c | beam@1.0.0 | +lens/b beam/d | lens@1.1.0",
            "lens@1.1.0 since lens@1.0.0: lens/a c; lens/b / whole: 1",
        ),
        ("v1 | +a | v2 | +lens/b c | beam@1.0.0 | +d | lens@1.0.0", "lens@1.0.0 since None: lens/b c; d / whole: 3 5"),
        ("v1 | +lens/a b | lens@1.0.0 | +lens/c | v2", "v2 since v1: b / whole: "),
        # Several packages on one commit: the largest version step first.
        (
            "lens@1.0.0 | beam@1.0.0 | +lens/a | +beam/b c | lens@1.0.1 & beam@1.1.0",
            "beam@1.1.0 since beam@1.0.0, lens@1.0.1 since lens@1.0.0: lens/a; beam/b c / whole: 2 3",
        ),
        (
            "lens@1.0.0 | lens@1.1.0? | +lens/a docs/b | pot@1.0.0 | lens@1.1.0 & pot@2.0.0 & beam@2.1.0?",
            "pot@2.0.0 since pot@1.0.0, lens@1.1.0 since lens@1.0.0, beam@2.1.0 since None: lens/a / whole: 2",
        ),
        (
            "+lens/a | lens@2.0.0? & pot@3.0.0 & beam@1.0.0",
            "beam@1.0.0 since None, pot@3.0.0 since None, lens@2.0.0 since None: lens/a / whole: 0",
        ),
        (
            "+lens/a | lens@1.0.0+7 & beam@1.1.0 & cup@1.0.1",
            "lens@1.0.0+7 since None, beam@1.1.0 since None, cup@1.0.1 since None: lens/a / whole: 0",
        ),
        (
            "+lens/a | cup@2.0.0-b & Pot@1.0.1 & b@1.0.1 & b@1.0.2",
            "cup@2.0.0-b since None, b@1.0.1 since None, b@1.0.2 since None, Pot@1.0.1 since None: lens/a / whole: 0",
        ),
    ],
)
def test_a_release_reports_what_came_since_the_one_before(text: str, expected: str) -> None:
    events = a_history(text)
    last = events[-1]
    assert isinstance(last, Release)
    records = [a_record(event, delivery_id=str(index)) for index, event in enumerate(events)]
    first = len(records) - 1 - text.count(" & ")
    with_it = {record.delivery_id: getattr(record.event, "tag_name", "") for record in records[first:-1]}

    history = ReleaseHistory(last, with_it)
    for record in reversed(records[:-1]):
        history.add(record)

    brief = history.brief("acme/lighthouse")
    assert len(brief.packages) != 1
    since = [f"{each.release.tag_name} since {each.previous_tag}" for each in brief.packages]
    since = since or [f"{each.tag_name} since {brief.previous_tag}" for each in brief.announced]
    pushes = [" ".join(commit.message for commit in event.commits) for event in brief.events if isinstance(event, Push)]
    contained = " ".join(each.rpartition(":")[2] for each in history.contained)
    assert f"{', '.join(since)}: {'; '.join(pushes)} / whole: {contained}" == expected
    assert not history.is_missing
