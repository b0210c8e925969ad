"""The first page."""

from datetime import timedelta
from uuid import NAMESPACE_URL, uuid5

import pytest
from attrs import evolve
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing, Seen

from contentsvc_core import Scope
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.changes import ChangeChangelog, CreateChangelog
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.organizations import webhook_path
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import switched
from contentsvc_core.usecases.publicize import ChangelogEditor
from contentsvc_core.usecases.triggers import TriggerEditor
from contentsvc_core.workflows.triggers import CreateTrigger, Trigger


async def test_a_new_organization_sees_the_first_steps(world: ApiWorld) -> None:
    organization = await world.operator.create_organization("Empty")
    issued = await world.operator.issue_key(organization)  # type: ignore[arg-type]
    browsing = Browsing(world)

    page = await browsing.sign_in(issued.key)  # type: ignore[union-attr]

    assert page.links["Connect a repository"] == "/dashboard/integrations#connect"
    assert "0 of 5 done" in page.text
    # Empty charts and lists are omitted.
    assert "Last 24 hours" not in page.text


def _steps(page: Seen) -> tuple[list[str], list[str]]:
    """Return the classes of the steps, and the paths of their buttons."""
    steps = [attrs["class"] for tag, attrs in page.elements if tag == "li" and attrs.get("class") in {"done", "open"}]
    return steps, [
        attrs["href"] for tag, attrs in page.elements if tag == "a" and attrs.get("id", "").startswith("step-")
    ]


async def test_the_checklist_follows_the_progress_until_all_is_done(acme: Caller, browsing: Browsing) -> None:
    world, own = acme.world, acme.organization
    steps, buttons = _steps(await browsing.open("/dashboard"))
    assert steps == ["done", "open", "open", "open", "open"]
    integration = acme.connection.integration.id
    paths = [f"/dashboard/integrations/{integration}", *(f"/dashboard/{at}" for at in _AFTER_THE_PING)]
    assert buttons == paths
    assert {(await browsing.open(path)).status for path in paths} == {200}

    unsigned = {"X-Host-Event": "push", "X-Host-Delivery": "d-0"}
    path = webhook_path(acme.connection.integration, acme.repository_id)
    assert (await world.send("POST", path, content=b"{}", headers=unsigned)).status_code == 401
    page = await browsing.open("/dashboard")
    assert "A delivery arrived and was refused." in page.text
    assert page.links["See why"] == "/dashboard/integrations/logs?status=failed"

    # A recorded history, as `init` sends it, does not count as a delivery of the code host.
    await acme.release(str(uuid5(NAMESPACE_URL, "v0.9.0")), "v0.9.0")
    assert _steps(await browsing.open("/dashboard"))[0] == ["done", "open", "open", "open", "open"]
    await acme.release("d-1", "v1.0.0")
    assert _steps(await browsing.open("/dashboard"))[0] == ["done", "done", "open", "open", "open"]

    triggers = TriggerEditor(world.stores.triggers, world.stores.directory, world.clock, world.ids)
    trigger = await triggers.create(own.id, CreateTrigger(repository_ids=[acme.repository_id], auto_publish=True))
    assert isinstance(trigger, Trigger)
    assert _steps(await browsing.open("/dashboard"))[0] == ["done", "done", "done", "open", "open"]
    await world.stores.triggers.change(own.id, trigger.id, switched(enabled=False))
    assert _steps(await browsing.open("/dashboard"))[0] == ["done", "done", "open", "open", "open"]
    await world.stores.triggers.change(own.id, trigger.id, switched(enabled=True))

    await acme.push("d-2", "feat: a lamp")
    await world.perform()
    # A script on the page gets the steps as well.
    part = await browsing.open("/dashboard", headers={"HX-Request": "true"})
    assert _steps(part) == (["done", "done", "done", "done", "open"], ["/dashboard/changelog"])

    # Each of them counts, not only the first one.
    changelogs = ChangelogEditor(world.stores.changelogs, world.clock, world.ids)
    second = await changelogs.create(own, CreateChangelog(slug="doors", title="Doors"))
    assert isinstance(second, PublicChangelog)
    await changelogs.change(own, ChangeChangelog(is_public=True), second)
    page = await browsing.open("/dashboard")
    assert _steps(page) == ([], [])
    assert "done" not in page.text


_AFTER_THE_PING = ("triggers", "posts/write", "changelog")


async def test_a_read_key_sees_the_steps_without_buttons(world: ApiWorld) -> None:
    reader = await world.caller("Reader", Scope.READ)
    browsing = Browsing(world)

    steps, buttons = _steps(await browsing.sign_in(reader.key))

    assert (len(steps), buttons) == (5, [])


async def test_deliveries_are_counted_in_charts_whose_columns_lead_to_the_log(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")
    await acme.push("d-1", "feat: a lamp")
    await acme.release("d-2", "v1.0.0")

    page = await browsing.open("/dashboard")

    assert "3 deliveries in 14 days, 100 % succeeded" in page.text
    assert "Deliveries per hour, UTC" in page.text
    charts = [attrs["aria-label"] for tag, attrs in page.elements if tag == "svg" and "aria-label" in attrs]
    assert charts == [
        "Deliveries by hour: 3 succeeded, 0 failed, 0 pending",
        "Deliveries by day: 3 succeeded, 0 failed, 0 pending",
    ]
    columns = [attrs["href"] for tag, attrs in page.elements if tag == "a" and "before=" in attrs.get("href", "")]
    assert len(columns) == len(charts)
    for column in columns:
        log = await browsing.open(column)
        assert (log.status, log.text.count("main: ")) == (200, 1)


async def test_the_activity_describes_the_event_and_links_to_the_post(
    acme: Caller, world: ApiWorld, browsing: Browsing
) -> None:
    triggers = TriggerEditor(world.stores.triggers, world.stores.directory, world.clock, world.ids)
    created = await triggers.create(acme.organization.id, CreateTrigger(repository_ids=[acme.repository_id]))
    assert isinstance(created, Trigger)
    await acme.push("d-1", "feat: a lamp")
    await world.perform()

    page = await browsing.open("/dashboard")

    name = acme.connection.integration.repositories[0].full_name
    assert f"{name} received 1 commit on main: feat: a lamp" in page.text
    found = await world.stores.posts.page(acme.organization.id, PostQuery(), PageRequest(limit=1))
    assert not isinstance(found, Refusal)
    (post,) = found[0]
    assert page.links[post.title] == f"/dashboard/posts/{post.id}"


async def test_open_problems_come_first_with_the_button_that_fixes_them(
    acme: Caller, world: ApiWorld, browsing: Browsing
) -> None:
    triggers = TriggerEditor(world.stores.triggers, world.stores.directory, world.clock, world.ids)
    await triggers.create(acme.organization.id, CreateTrigger(repository_ids=[acme.repository_id]))
    await acme.push("d-1", "feat: a lamp")
    await world.perform()
    path = webhook_path(acme.connection.integration, acme.repository_id)
    for number in range(3):
        unsigned = {"X-Host-Event": "push", "X-Host-Delivery": f"forged-{number}"}
        assert (await world.send("POST", path, content=b"{}", headers=unsigned)).status_code == 401

    page = await browsing.open("/dashboard")

    name = acme.connection.integration.repositories[0].full_name
    assert f"{name}: 3 of the last 4 deliveries were refused" in page.text
    assert "1 draft waits for you." in page.text
    assert page.text.index("were refused") < page.text.index("1 draft waits for you.")
    cause = await browsing.open(page.links["See the cause"])
    assert (cause.status, cause.heading) == (200, "Invalid webhook signature")
    assert (await browsing.open(page.links["Read the draft"])).path.startswith("/dashboard/posts/post_")

    world.clock.advance(timedelta(days=15))
    await browsing.sign_in(acme.key)
    page = await browsing.open("/dashboard")
    assert f"{name}: nothing received lately." in page.text


@pytest.mark.parametrize(
    ("failures", "enabled", "words"),
    [
        (4, True, ""),
        (5, True, "gets no messages. The last 5 attempts failed."),
        (5, False, ""),
        (0, False, "was disabled. It answered 410."),
    ],
)
async def test_an_endpoint_that_gets_no_messages_needs_attention(
    acme: Caller, browsing: Browsing, failures: int, enabled: bool, words: str
) -> None:
    await acme.push("d-1", "feat: a lamp")
    await acme("POST", "/v1/webhook-endpoints", {"url": "https://acme.example/hook"})
    endpoints = acme.world.stores.endpoints
    (endpoint,) = await endpoints.endpoints(acme.organization.id)
    reason = "It answered 410." if not failures else None
    await endpoints.change(
        acme.organization.id,
        endpoint.id,
        lambda each: evolve(each, failures=failures, enabled=enabled, disabled_reason=reason),
    )

    page = await browsing.open("/dashboard")

    assert (f"The webhook endpoint https://acme.example/hook {words}" in page.text) == bool(words)
    assert ("Open the endpoint" in page.links) == bool(words)


async def test_a_script_gets_the_figures_alone(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")

    page = await browsing.open("/dashboard", headers={"HX-Request": "true"})

    assert not page.heading
    assert "1 delivery in 14 days" in page.text
    # The part is renewed every few seconds, and the focus stays at an element with an id.
    links = [attrs.get("id") for tag, attrs in page.elements if tag == "a" and "href" in attrs]
    assert len(links) > 4
    assert all(links)
    assert len(set(links)) == len(links)


@pytest.mark.parametrize(
    "accept",
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"],
)
async def test_the_root_path_redirects_a_browser_to_the_dashboard(world: ApiWorld, accept: str) -> None:
    answer = await world.send("GET", "/", headers={"Accept": accept})

    assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard")
    assert (answer.headers["vary"], answer.headers["cache-control"]) == ("Accept", "no-store")


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html;q=0.5", ""])
async def test_other_clients_get_404_at_the_root_path(world: ApiWorld, accept: str) -> None:
    answer = await world.send("GET", "/", headers={"Accept": accept} if accept else {})

    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})
