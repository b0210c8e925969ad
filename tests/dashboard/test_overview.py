"""The first page."""

import pytest
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing

HOSTILE = "<img src=x onerror=alert(1)>"


async def test_a_new_organization_is_told_what_to_do_first(world: ApiWorld) -> None:
    organization = await world.operator.create_organization("Empty")
    issued = await world.operator.issue_key(organization)  # type: ignore[arg-type]
    browsing = Browsing(world)

    page = await browsing.sign_in(issued.key)  # type: ignore[union-attr]

    assert "Connect a repository" in page.text


async def test_what_arrived_is_counted_and_listed(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")
    await acme.push("d-1", "feat: a lamp")
    await acme.release("d-2", "v1.0.0")

    page = await browsing.open("/dashboard")

    assert "3 deliveries in 14 days" in page.text
    assert "100 % succeeded" in page.text
    assert "Processed release event" in page.text
    charts = [told["aria-label"] for tag, told in page.elements if tag == "svg" and "aria-label" in told]
    assert charts == [
        "Deliveries by hour: 3 succeeded, 0 failed, 0 pending",
        "Deliveries by day: 3 succeeded, 0 failed, 0 pending",
    ]


async def test_a_script_gets_the_figures_alone(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open("/dashboard", headers={"HX-Request": "true"})

    assert not page.heading
    assert "deliveries in 14 days" in page.text


async def test_nothing_of_another_organization_is_counted(world: ApiWorld, browsing: Browsing) -> None:
    other = await world.caller("Other")
    await other.push("d-1", "feat: theirs")

    page = await browsing.open("/dashboard")

    assert "0 deliveries in 14 days" in page.text


async def test_foreign_words_stay_words(acme: Caller, world: ApiWorld, browsing: Browsing) -> None:
    await world.operator.create_organization(HOSTILE, slug="hostile")
    await acme.push("d-1", f"feat: {HOSTILE}")
    await world.perform()

    page = await browsing.open("/dashboard")

    assert not [told for tag, told in page.elements if tag == "img"]


@pytest.mark.parametrize(
    "accept",
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"],
)
async def test_the_front_door_leads_a_browser_to_the_dashboard(world: ApiWorld, accept: str) -> None:
    answer = await world.send("GET", "/", headers={"Accept": accept})

    assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard")
    assert (answer.headers["vary"], answer.headers["cache-control"]) == ("Accept", "no-store")


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html;q=0.5", ""])
async def test_other_clients_find_nothing_at_the_front_door(world: ApiWorld, accept: str) -> None:
    answer = await world.send("GET", "/", headers={"Accept": accept} if accept else {})

    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})
