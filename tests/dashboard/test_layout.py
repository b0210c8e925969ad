"""What every page has in common: where ids are, how times are written, and the way back."""

import re
from typing import Final

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing
from tests.dashboard.contents import posted
from tests.dashboard.tree import Node, tree

_RAW_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|\b(codehost:|d-)\d")


def prime_text(node: Node) -> str:
    """Return the text of a page without what its reader has to open first."""
    return " ".join(
        each if isinstance(each, str) else prime_text(each)
        for each in node.children
        if isinstance(each, str) or each.tag not in {"details", "textarea", "option"}
    )


async def addresses(acme: Caller) -> dict[str, tuple[str, str]]:
    """Make one of each; return where its page is, and its id."""
    stores, own = acme.world.stores, acme.organization.id
    post = await posted(acme)
    await acme("POST", "/v1/event-triggers", {"targets": {"repositoryIds": [acme.repository_id]}})
    times = {"frequency": "weekly", "hour": 9, "minute": 0, "dayOfWeek": 1}
    schedule = {
        "name": "Mondays",
        "sourceConfig": {"cron": times},
        "targets": {"repositoryIds": [acme.repository_id]},
        "outputType": "changelog",
        "lookbackWindow": "last_7_days",
    }
    assert (await acme("POST", "/v1/schedules", schedule)).status_code < 300
    endpoint = {"url": "https://hooks.example.org/in"}
    assert (await acme("POST", "/v1/webhook-endpoints", endpoint)).status_code < 300
    run = (await stores.ledger.runs(own))[0].id
    trigger = (await stores.directory.triggers(own))[0].id
    planned = (await stores.schedules.schedules(own))[0].id
    attributes = (await stores.endpoints.endpoints(own))[0].id
    entry = (await stores.journal.entries(own))[0].id
    integration = acme.connection.integration.id
    return {
        "post": (f"/posts/{post.id}", post.id),
        "run": (f"/runs/{run}", run),
        "trigger": (f"/triggers/{trigger}", trigger),
        "schedule": (f"/schedules/{planned}", planned),
        "integration": (f"/integrations/{integration}", integration),
        "endpoint": (f"/endpoints/{attributes}", attributes),
        "entry": (f"/integrations/logs/{entry}", entry),
    }


@pytest.mark.parametrize("kind", ["post", "run", "trigger", "schedule", "integration", "endpoint", "entry"])
async def test_ids_are_in_the_details_with_a_copy_button(acme: Caller, browsing: Browsing, kind: str) -> None:
    path, id_ = (await addresses(acme))[kind]

    page = await browsing.open(f"/dashboard{path}")

    root = tree(page)
    (details,) = [each for each in root.all("details") if each.all("summary")[0].text == "Details"]
    assert id_ in [button["data-copy"] for button in details.all("button", class_="copy")]
    assert not _RAW_ID.search(prime_text(root.one("main")))


async def test_a_time_is_exact_for_machines_and_the_zone_is_shown_once(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")
    await acme.push("d-2", "feat: another lamp")

    root = tree(await browsing.open("/dashboard/integrations/logs"))

    times = root.one("table").all("time")
    assert [time.text for time in times] == ["just now"] * 2
    assert {time["datetime"] for time in times} == {"2026-01-01T00:00:00.000Z"}
    assert {time["title"] for time in times} == {"2026-01-01 00:00:00 UTC"}
    assert root.one("main").text.count("UTC") == 1


async def test_the_navigation_opens_without_a_script(browsing: Browsing) -> None:
    root = tree(await browsing.open("/dashboard"))

    menu = root.one(id="menu")
    assert "popover" in menu.attributes
    assert root.one("button", class_="menu")["popovertarget"] == "menu"
    assert [each.text for each in menu.all("a")][:2] == ["Overview", "Integrations"]


@pytest.mark.parametrize(
    ("path", "current", "way"),
    [
        ("/nowhere", "Overview", "To the overview"),
        ("/posts/00000000-0000-0000-0000-000000000000", "Posts", "To Posts"),
        ("/integrations/logs/nowhere", "Logs", "To Logs"),
        # An address that takes forms alone.
        ("/posts/bulk", "Posts", "To Posts"),
    ],
)
async def test_an_error_page_has_the_menu_and_a_way_back(browsing: Browsing, path: str, current: str, way: str) -> None:
    page = await browsing.open(f"/dashboard{path}")

    assert page.status >= 400
    assert (await browsing.open(page.links[way])).status == 200
    (marked,) = [attrs["href"] for _, attrs in page.elements if "aria-current" in attrs]
    assert marked == page.links[current]


async def test_a_refused_form_leads_back_to_its_page(browsing: Browsing) -> None:
    form = "/dashboard/triggers/new"
    sent = {"Referer": f"http://test{form}?page=1"}

    refused = await browsing.post(form, {"csrf": "wrong"}, headers=sent)
    too_large = await browsing.post("/dashboard/posts/new", {"markdown": "x" * 10_000_000}, headers=sent)
    elsewhere = await browsing.post(form, {"csrf": "wrong"}, headers={"Referer": "https://else.example/dashboards"})

    assert (refused.status, too_large.status) == (403, 413)
    assert refused.links["Back to the form"] == too_large.links["Back to the form"] == f"{form}?page=1"
    assert "Sign out" in " ".join(form.buttons[0] for form in too_large.forms)
    assert elsewhere.links["To Triggers"] == "/dashboard/triggers"
