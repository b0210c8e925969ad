"""Workflow runs in the dashboard."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.tree import Node

from contentsvc_core.text import has_controls
from contentsvc_core.usecases.schedule import Scheduler
from contentsvc_core.workflows.runs import MAX_KILLS, RunStatus, WorkflowRun

ROOT = "/dashboard/runs"
HOSTILE = "<img src=x onerror=alert(1)>"
SCRIPT = {"HX-Request": "true"}
EXECUTOR = "exe_test"


async def trigger(acme: Caller, name: str = "Letters", **fields: Any) -> str:
    body = {"name": name, "targets": {"repositoryIds": [acme.repository_id]}, **fields}
    answer = await acme("POST", "/v1/event-triggers", body)
    assert answer.status_code == 201, answer.text
    return answer.json()["eventTrigger"]["id"]


async def runs(acme: Caller) -> Sequence[WorkflowRun]:
    return await acme.world.stores.ledger.runs(acme.organization.id)


async def one(acme: Caller) -> WorkflowRun:
    (run,) = await runs(acme)
    return run


async def begun(acme: Caller) -> WorkflowRun:
    """Return the only run, taken."""
    stores = acme.world.stores
    await stores.executors.join(EXECUTOR)
    (taken,) = await stores.ledger.take([(await one(acme)).id], EXECUTOR)
    return taken


def polled(page: Seen, id_: str) -> str | None:
    """Return the address that a part of the page polls."""
    return next(attrs.get("hx-get") for _, attrs in page.elements if attrs.get("id") == id_)


def steps(page: Seen) -> list[str]:
    """Return the kinds of the timeline's steps."""
    kinds = {"good", "bad", "wait"}
    return [attrs["class"] for tag, attrs in page.elements if tag == "li" and attrs.get("class") in kinds]


async def test_runs_are_listed_newest_first_with_their_results(acme: Caller, browsing: Browsing) -> None:
    trigger_id = await trigger(acme)
    await acme.push("d-1", "feat: a lamp")
    await acme.world.perform()
    acme.world.clock.advance(timedelta(minutes=3))
    await acme.release("d-2", "v1.0.0")

    page = await browsing.open(ROOT)

    newest, oldest = page.rows[1:]
    assert newest[0].startswith("Release of acme/lighthouse")
    assert newest[1:] == ["pending", "trigger Letters", "just now", ""]
    assert oldest[0] == "Push to acme/lighthouse main: feat: a lamp"
    assert oldest[1:4] == ["completed", "trigger Letters", "3 min ago"]
    assert oldest[4].endswith("Changelog")
    assert page.links["trigger Letters"] == f"/dashboard/triggers/{trigger_id}"
    run = (await runs(acme))[1]
    assert run.post_id is not None
    title = (await acme("GET", f"/v1/posts/{run.post_id}")).json()["post"]["title"]
    assert page.links[title] == f"/dashboard/posts/{run.post_id}"
    assert (await acme("DELETE", f"/v1/posts/{run.post_id}")).is_success
    assert (await browsing.open(ROOT)).rows[2][4] == "deleted"


async def test_runs_can_be_asked_for_by_state(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    await acme.push("d-1", "feat: a lamp")
    await acme.world.perform()
    await acme.push("d-2", "feat: a lens")

    page = await browsing.open(f"{ROOT}?status=pending")

    assert [row[1] for row in page.rows[1:]] == ["pending"]
    current = [attrs["href"] for _, attrs in page.elements if attrs.get("aria-current") == "page"]
    assert current == [ROOT, f"{ROOT}?status=pending"]
    assert "status=pending" in (polled(page, "runs") or "")
    assert "No run is failed." in (await browsing.open(f"{ROOT}?status=failed")).text
    assert len((await browsing.open(f"{ROOT}?status=pending,completed")).rows) == 3
    assert (await browsing.open(f"{ROOT}?status=asleep")).status == 400


async def test_older_runs_are_behind_the_first_fifty(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    for number in range(52):
        await acme.push(f"d-{number}", f"feat: lamp {number}")

    first = await browsing.open(f"{ROOT}?status=pending")
    older = await browsing.open(first.links["Older runs"])

    assert (len(first.rows), len(older.rows)) == (51, 3)
    assert ("lamp 51" in first.rows[1][0], "lamp 2" in first.rows[50][0]) == (True, True)
    assert ("lamp 1" in older.rows[1][0], "lamp 0" in older.rows[2][0]) == (True, True)
    assert "Older runs" not in older.links
    assert older.links["Newest runs"] == f"{ROOT}?status=pending"
    # Older parts of the list are not polled.
    assert polled(older, "runs") is None
    assert (await browsing.open(f"{ROOT}?before=unknown")).status == 404


async def test_the_list_of_runs_is_polled_for_changes(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    await acme.push("d-1", "feat: a lamp")
    page = await browsing.open(ROOT)
    polled_path = polled(page, "runs")
    assert polled_path is not None

    assert (await browsing.open(polled_path, headers=SCRIPT)).status == 204
    await acme.push("d-2", "feat: a lens")
    part = await browsing.open(polled_path, headers=SCRIPT)
    assert (part.status, part.heading, len(part.rows)) == (200, "", 3)
    # New entries are marked.
    assert [attrs.get("class") for tag, attrs in part.elements if tag == "tr"] == [None, "new", None]
    polled_path = polled(part, "runs")
    assert polled_path is not None
    assert (await browsing.open(polled_path, headers=SCRIPT)).status == 204
    # And ages are updated.
    acme.world.clock.advance(timedelta(minutes=1))
    assert (await browsing.open(polled_path, headers=SCRIPT)).status == 200


async def test_a_run_shows_its_cause_and_its_result(acme: Caller, browsing: Browsing) -> None:
    trigger_id = await trigger(acme)
    await acme.push("d-1", "feat: a lamp", "fix: the lens")
    await acme.world.perform()
    run = await one(acme)
    log_id = (await acme("GET", "/v1/webhook-logs")).json()["logs"][0]["id"]
    post = await acme.world.stores.posts.post(acme.organization.id, run.post_id or "")
    assert post is not None

    page = await browsing.open(f"{ROOT}/{run.id}")

    assert page.heading == "Push to acme/lighthouse"
    # The name of the tab tells it from the other pushes.
    assert "<title>Push to acme/lighthouse: main: fix: the lens and 1 more · contentsvc</title>" in page.response.text
    assert steps(page) == ["good", "good", "good", "good"]
    for attrs in ("Delivery arrived", "Run created", "Started by trigger Letters.", "Post written", "Completed"):
        assert attrs in page.text
    assert page.links["trigger Letters"] == f"/dashboard/triggers/{trigger_id}"
    assert page.links["log entry"] == f"/dashboard/integrations/logs/{log_id}"
    assert page.links[post.title] == f"/dashboard/posts/{post.id}"
    assert "fix: the lens" in page.text
    # It has ended: the page does not poll, and has no actions.
    assert polled(page, "run") is None
    assert [form.action for form in page.forms] == ["/dashboard/sign-out"]

    await acme.world.stores.posts.remove(acme.organization.id, post.id)
    await acme("DELETE", f"/v1/event-triggers/{trigger_id}")
    page = await browsing.open(f"{ROOT}/{run.id}")
    assert "Its post was deleted since" in page.text
    assert "a trigger that was deleted" in page.text


async def test_a_run_that_waits_for_its_next_attempt_shows_reason_and_time(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    await acme.push("d-1", "feat: a lamp")
    taken = await begun(acme)
    page = await browsing.open(f"{ROOT}/{taken.id}")
    assert "Attempt 1 of 8 is under way" in page.text

    due_at = acme.world.clock.now() + timedelta(seconds=30)
    await acme.world.stores.ledger.retry(taken, due_at=due_at, error=f"the writer said {HOSTILE}")
    polled_path = polled(page, "run")
    assert polled_path is not None
    part = await browsing.open(polled_path, headers=SCRIPT)

    assert "1 attempt of 8 failed" in part.text
    assert "Next attempt due in 30 s" in part.text
    assert f"the writer said {HOSTILE}" in part.text
    assert not [attrs for tag, attrs in part.elements if tag == "img"]
    assert steps(part) == ["good", "good", "bad", "wait"]
    polled_path = polled(part, "run")
    assert polled_path is not None
    assert (await browsing.open(polled_path, headers=SCRIPT)).status == 204
    acme.world.clock.advance(timedelta(seconds=5))
    assert "in 25 s" in (await browsing.open(polled_path, headers=SCRIPT)).text


async def test_finished_steps_and_kills_are_shown(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    await acme.push("d-1", "feat: a lamp")
    stores = acme.world.stores
    for _ in range(2):
        await stores.run_state.save(await begun(acme), "write", "written")
        await stores.executors.recover("killed too often", lost={EXECUTOR: 0})

    page = await browsing.open(f"{ROOT}/{(await one(acme)).id}")

    assert "Step “write” finished" in page.text
    assert "Its process was killed 2 times" in page.text
    assert f"It runs alone in its process now. After {MAX_KILLS} of them it fails." in page.text
    assert "killed 2×" in (await browsing.open(ROOT)).text


async def test_a_run_that_failed_is_started_once_more(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    await acme.push("d-1", "feat: a lamp")
    taken = await begun(acme)
    await acme.world.stores.ledger.end(taken, RunStatus.FAILED, "the writer is away")
    page = await browsing.open(f"{ROOT}/{taken.id}")
    assert "the writer is away" in page.text
    assert page.forms[-1].buttons == ["Retry the run"]
    nudged = acme.world.nudged

    page = await browsing.send(page.form(f"{ROOT}/{taken.id}/retry"))

    assert (page.path, acme.world.nudged) == (f"{ROOT}/{taken.id}", nudged + 1)
    assert "The run is started again." in page.text
    assert (await one(acme)).status is RunStatus.PENDING
    # The earlier form, sent again.
    page = await browsing.post(f"{ROOT}/{taken.id}/retry", page.form(f"{ROOT}/{taken.id}/cancel").fields)
    assert page.status == 409
    assert "it has not ended, or has its post" in page.text
    assert acme.world.nudged == nudged + 1


async def test_a_run_that_has_not_ended_is_cancelled(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    await acme.push("d-1", "feat: a lamp")
    run = await one(acme)
    page = await browsing.open(f"{ROOT}/{run.id}")
    form = page.form(f"{ROOT}/{run.id}/cancel")

    page = await browsing.send(form)

    assert "The run is cancelled." in page.text
    assert "cancelled by an operator" in page.text
    assert (await one(acme)).status is RunStatus.CANCELLED
    page = await browsing.send(form)
    assert page.status == 409
    assert "it has ended already" in page.text


async def test_a_run_of_a_schedule_names_it(acme: Caller, browsing: Browsing) -> None:
    world = acme.world
    body = {
        "name": "Mornings",
        "sourceConfig": {"cron": {"frequency": "daily", "hour": 9, "minute": 0}},
        "targets": {"repositoryIds": [acme.repository_id]},
        "outputType": "changelog",
    }
    schedule = (await acme("POST", "/v1/schedules", body)).json()["schedule"]["id"]
    world.clock.advance(timedelta(hours=9))
    faults: list[Exception] = []
    await Scheduler(
        world.stores.schedules,
        world.stores.triggers,
        world.stores.directory,
        world.clock,
        world.ids,
        on_fault=faults.append,
    ).turn()
    assert not faults
    await world.perform()

    page = await browsing.open(f"{ROOT}/{(await one(acme)).id}")

    assert page.heading == "Changelog of acme/lighthouse, the last 7 days"
    assert page.links["schedule Mornings"] == f"/dashboard/schedules/{schedule}"
    for attrs in ("The schedule was due", "About 25 Dec 2025, 09:00 to 1 Jan 2026, 09:00 UTC.", "Skipped", "nothing"):
        assert attrs in page.text


async def test_a_run_of_a_job_shows_the_events_of_the_job(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")
    acme.world.clock.advance(timedelta(seconds=1))
    await acme("POST", "/v1/posts/generate", {"contentType": "blog_post"})
    await acme("POST", "/v1/brand-identities/generate", {"websiteUrl": "https://acme.example/"})
    await acme.world.perform()
    reading, generation = sorted(await runs(acme), key=lambda run: run.status is RunStatus.COMPLETED)

    page = await browsing.open(f"{ROOT}/{generation.id}")
    assert page.heading == "Blog post of acme/lighthouse, the last 7 days"
    for attrs in ("Content was requested", "Reading what has happened in the repositories", "Writing", "Completed"):
        assert attrs in page.text
    page = await browsing.open(f"{ROOT}/{reading.id}")
    assert page.heading == "Brand identity of https://acme.example/"
    assert "websites are not read here" in page.text
    assert "Failed" in page.text


async def test_every_state_has_a_page(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    await acme.push("d-1", "feat: a lamp")
    taken = await begun(acme)

    for status in RunStatus:
        # The run in any state of its work.
        acme.world.stores.ledger._state.put_run(  # type: ignore[attr-defined]
            evolve(taken, status=status, attempts=3, error="so it is", kills=1)
        )
        page = await browsing.open(f"{ROOT}/{taken.id}")
        assert page.status == 200
        assert status.value in page.text
        assert "so it is" in page.text


#: A terminal's escape, a bidirectional override and isolate, and a line that is very long.
HIDDEN = f"feat: a\x1b]0;x\x07b\x9b31m\u202ec\u2066 {'y' * 100_000}"


async def test_pages_show_lines_of_a_push_without_controls_and_cut(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    await acme.push("d-1", f"{HIDDEN}\nmore")
    run = await one(acme)
    log = (await acme("GET", "/v1/webhook-logs")).json()["logs"][0]["id"]

    for path in (ROOT, f"{ROOT}/{run.id}"):
        page = await browsing.open(path)
        assert "feat: a ]0;x b 31m c yyy" in page.text
        assert not has_controls(page.text.replace("\n", ""))
        assert "y" * 200 not in page.text
    page = await browsing.open(f"/dashboard/integrations/logs/{log}")
    assert "feat: a ]0;x b 31m c yyy" in page.text
    assert not has_controls(page.text.replace("\n", ""))


async def test_pages_show_the_notes_of_a_release_without_controls_and_cut(acme: Caller, browsing: Browsing) -> None:
    await trigger(acme)
    await acme.release("d-1", "v1\u202e", body=f"{HIDDEN}\nmore")
    run = await one(acme)

    page = await browsing.open(f"{ROOT}/{run.id}")

    assert "feat: a\\u001b]0;x\\u0007b\\u009b31m\\u202ec\\u2066 yyy" in page.text
    assert not has_controls(page.text.replace("\n", ""))
    assert "y" * 5_000 not in page.text


@pytest.mark.parametrize("path", ["runs/{run}", "triggers/{trigger}", "triggers/new", "schedules/new", "posts/write"])
async def test_a_trail_of_crumbs_ends_with_a_link(acme: Caller, browsing: Browsing, path: str) -> None:
    trigger_id = await trigger(acme)
    await acme.push("d-1", "feat: a lamp")

    page = await browsing.open(f"/dashboard/{path.format(run=(await one(acme)).id, trigger=trigger_id)}")

    crumbs = page.tree.one("nav", class_="crumbs")
    last = crumbs.children[-1]
    assert isinstance(last, Node)
    assert last.tag == "a"


async def test_of_an_event_that_is_too_large_for_a_page_its_summary_is_shown(acme: Caller, browsing: Browsing) -> None:
    await acme("POST", "/v1/event-triggers", {"name": "Each push", "targets": {"repositoryIds": [1]}})
    await acme.push("d-1", "feat: a lamp\n\n" + "x" * 600_000)
    (run,) = await acme.world.stores.ledger.runs(acme.organization.id)

    page = await browsing.open(f"/dashboard/runs/{run.id}")

    assert "main: feat: a lamp" in page.text
    assert "too much for this page" in page.text
    assert "xxxxxx" not in page.text
    assert page.links["Show all of it as text"].endswith("/raw")
