"""Common parts of all pages: places of ids, times, faults of forms, and links back."""

import re
from typing import Any, Final

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing
from tests.dashboard.contents import branded, posted
from tests.dashboard.tree import Node

_RAW_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|\b(codehost:|d-)\d")


def prime_text(node: Node) -> str:
    """Return the text of a page without closed details."""
    return " ".join(
        each if isinstance(each, str) else prime_text(each)
        for each in node.children
        if isinstance(each, str) or each.tag not in {"details", "textarea", "option"}
    )


async def addresses(acme: Caller) -> dict[str, tuple[str, str]]:
    """Create an object of each kind; return the address of its page, and its id."""
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
    trigger = (await stores.triggers.all_of(own))[0].id
    planned = (await stores.schedules.all_of(own))[0].id
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

    root = page.tree
    (details,) = [each for each in root.all("details") if each.all("summary")[0].text == "Details"]
    assert id_ in [button["data-copy"] for button in details.all("button", class_="copy")]
    assert not _RAW_ID.search(prime_text(root.one("main")))


async def test_a_time_is_exact_for_machines_and_the_zone_is_shown_once(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")
    await acme.push("d-2", "feat: another lamp")

    root = (await browsing.open("/dashboard/integrations/logs")).tree

    times = root.one("table").all("time")
    assert [time.text for time in times] == ["just now"] * 2
    assert {time["datetime"] for time in times} == {"2026-01-01T00:00:00.000Z"}
    assert {time["title"] for time in times} == {"2026-01-01 00:00:00 UTC"}
    assert root.one("main").text.count("UTC") == 1


@pytest.mark.parametrize(
    ("path", "current", "way"),
    [
        ("/nowhere", "Overview", "To the overview"),
        ("/posts/00000000-0000-0000-0000-000000000000", "Posts", "To Posts"),
        ("/integrations/logs/nowhere", "Logs", "To Logs"),
        # An address for forms only.
        ("/posts/bulk", "Posts", "To Posts"),
        # The page itself, with a query that it does not know.
        ("/runs?status=slow", "Runs", "To Runs"),
    ],
)
async def test_an_error_page_has_the_menu_and_a_way_back(browsing: Browsing, path: str, current: str, way: str) -> None:
    page = await browsing.open(f"/dashboard{path}")

    assert page.status >= 400
    assert (await browsing.open(page.links[way])).status == 200
    (marked,) = [attrs["href"] for _, attrs in page.elements if "aria-current" in attrs]
    assert marked == page.links[current]


@pytest.mark.parametrize(
    ("kind", "way"),
    [("post", "To Posts"), ("trigger", "To Triggers"), ("schedule", "To Schedules"), ("endpoint", "To Webhooks out")],
)
async def test_a_second_click_on_delete_leads_to_the_list(
    acme: Caller, browsing: Browsing, kind: str, way: str
) -> None:
    page = await browsing.open(f"/dashboard{(await addresses(acme))[kind][0]}")
    delete = page.form(f"{page.path}/delete")
    assert "Deleted." in (await browsing.send(delete)).text

    again = await browsing.post(delete.action, delete.fields, headers={"Referer": f"http://test{page.path}"})

    # Not back to the page of the form, which is gone, too.
    assert (again.status, page.path in again.links.values()) == (404, False)
    assert (await browsing.open(again.links[way])).status == 200


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


_TRIGGER: Final[dict[str, Any]] = {
    "name": "Letters",
    "output_type": "blog_post",
    "auto_publish": "yes",
    "enabled": [],
    "events": "push",
    "repositories": "codehost:1",
}
_SCHEDULE: Final[dict[str, Any]] = {
    "name": "Mondays",
    "repositories": "1",
    "frequency": "weekly",
    "hour": "9",
    "minute": "30",
    "day_of_week": "1",
    "lookback": "yesterday",
    "auto_publish": "yes",
    "enabled": [],
}
_ENDPOINT: Final[dict[str, Any]] = {"url": "https://acme.example/hook", "event": ["run.failed"]}
#: The page of the form with its fields; then the faulty value, its field and the message.
_FAULTS: Final[dict[str, tuple[dict[str, Any], list[tuple[dict[str, Any], str, str]]]]] = {
    "triggers/new": (
        _TRIGGER,
        [
            ({"repositories": []}, "repositories", "A trigger needs a repository."),
            ({"paths": "pkg/**\n!"}, "paths", "Changed files has an empty pattern."),
            ({"name": "x" * 101}, "name", "A trigger's name has at most 100 characters."),
            ({"brand": "brand_gone"}, "brand", "Unknown brand identity: 'brand_gone'."),
        ],
    ),
    "schedules/new": (
        _SCHEDULE,
        [
            ({"hour": "24"}, "hour", "Hour must be from 0 to 23."),
            ({"hour": "nine"}, "hour", "Hour must be from 0 to 23."),
            ({"minute": "9999999999999999999999"}, "minute", "Minute must be from 0 to 59."),
            ({"frequency": "monthly", "day_of_month": ""}, "day_of_month", "The day of the month must be from 1"),
            ({"name": ""}, "name", "A schedule needs a name."),
            ({"repositories": []}, "repositories", "A schedule needs a repository."),
            ({"brand": "brand_gone"}, "brand", "Unknown brand identity: 'brand_gone'."),
        ],
    ),
    "brands": (
        {},
        [
            (
                {"websiteUrl": "http://127.0.0.1/"},
                "websiteUrl",
                "The address must be the address of a public site, which '127.0.0.1' is not",
            ),
            ({"websiteUrl": "https://acme.example", "name": "n" * 121}, "name", "The name must be 1 to 120"),
            ({"websiteUrl": "https://acme.example", "name": "KEEPER"}, "name", "Another brand identity has this name."),
        ],
    ),
    "brands/{brand}": (
        {"language": "German"},
        [
            ({"name": " "}, "name", "The name must be 1 to 120 characters long."),
            ({"websiteUrl": "ftp://acme.example"}, "websiteUrl", "The address must begin with http:// or https://."),
            ({"audience": "a" * 2001}, "audience", "The audience must be 1 to 2000 characters long."),
            ({"customInstructions": "a" * 4001}, "customInstructions", "The instructions must be 1 to 4000"),
            ({"toneProfile": "Rude"}, "toneProfile", "Choose a tone."),
        ],
    ),
    "endpoints": (
        _ENDPOINT,
        [
            ({"url": "http://acme.example/"}, "url", "The address must begin with https://."),
            ({"description": "x" * 201}, "description", "The description must have at most 200 characters."),
        ],
    ),
    "changelog": (
        {"title": "Kept"},
        [
            ({"slug": "A b"}, "slug", "The address must be 1 to 63"),
            ({"title": ""}, "title", "The title must have 1 to 100 characters."),
            ({"description": "x" * 301}, "description", "The description must have at most 300 characters."),
            ({"productUrl": "javascript:alert(1)"}, "productUrl", "The website must be an http or https address"),
            ({"contentTypes": []}, "contentTypes", "The choice must name one type of content at least."),
            ({"accent": "reddish"}, "accent", "The colour"),
            ({"headerLinks": "Docs"}, "headerLinks", "The links"),
        ],
    ),
    "house-style": ({"hide": "docs"}, [({"longestPost": "12"}, "longestPost", "Longest post must be a whole number")]),
    "keys": (
        {"name": "Mine"},
        [
            ({"name": "n" * 101}, "name", "A name has at most 100 characters: shorten it."),
            ({"scope": []}, "scope", "Tick what it may do"),
            ({"expires": "2025-12-31"}, "expires", "This day is over"),
            ({"expires": "31.12.2026"}, "expires", "This is no date"),
            ({"expires": "9999-12-31"}, "expires", "This is no date"),
        ],
    ),
    "organization": (
        {},
        [
            ({"time_zone": "Europe/Berlni"}, "time_zone", "The time zone must be an IANA time zone"),
            ({"name": ""}, "name", "The name must have at least 1 character."),
        ],
    ),
}


async def test_an_empty_page_links_to_the_first_step(acme: Caller, browsing: Browsing) -> None:
    for kind in ("trigger", "schedule"):
        page = await browsing.open(f"/dashboard/{kind}s")
        assert page.links[f"Create a {kind}"] == f"/dashboard/{kind}s/new"
    posts = await browsing.open("/dashboard/posts")
    assert "No posts yet" in posts.text
    assert [form.action for form in posts.forms] == ["/dashboard/sign-out"], "there is nothing to filter"
    assert posts.links["New post"] == "/dashboard/posts/new"
    assert posts.links["Write from commits"] == "/dashboard/posts/write"
    assert "No runs yet: a trigger or a schedule starts them." in (await browsing.open("/dashboard/runs")).text
    await acme.world.stores.directory.remove_integration(acme.organization.id, acme.connection.integration.id)
    for path in ("triggers", "schedules", "posts/write"):
        page = await browsing.open(f"/dashboard/{path}")
        assert page.links["Connect a repository"] == "/dashboard/integrations#connect"
    assert "No repository is connected yet" in (await browsing.open("/dashboard/triggers/new")).text


async def _whole(acme: Caller) -> list[object]:
    """Return the objects that the forms create or change."""
    stores, own = acme.world.stores, acme.organization.id
    return [
        *await stores.triggers.all_of(own),
        *await stores.schedules.all_of(own),
        *await stores.brands.identities(own),
        *await stores.endpoints.endpoints(own),
        await stores.changelogs.of(own),
        await stores.directory.organization_of(own),
        [key.prefix for key in await stores.keys.keys(own)],
        *await stores.posts.posts(own),
        *await stores.ledger.runs(own),
    ]


@pytest.mark.parametrize(
    ("where", "typed", "at_fault", "words"),
    [(where, typed | fault, *more) for where, (typed, faults) in _FAULTS.items() for fault, *more in faults],
)
async def test_a_fault_is_shown_at_its_field_and_what_was_typed_stays(
    acme: Caller, browsing: Browsing, where: str, typed: dict[str, Any], at_fault: str, words: str
) -> None:
    await branded(acme)
    brand = await branded(acme, "Keeper")
    path = f"/dashboard/{where.format(brand=brand.id)}"
    before = await _whole(acme)

    page = await browsing.send((await browsing.open(path)).form(path), **typed)

    assert page.status == 422
    (fault,) = [node for node in page.tree.all("p", class_="fault") if node["id"]]
    assert fault["id"] == f"{at_fault}-fault"
    assert fault.text.startswith(words)
    (field,) = [attrs for _, attrs in page.elements if fault["id"] in attrs.get("aria-describedby", "").split()]
    assert field.get("aria-invalid", "true") == "true"
    sent = page.form(path).fields
    # Neither a choice that does not exist nor one of another kind of day can be shown.
    for name in typed.keys() - {"brand", "toneProfile", "day_of_week", "scope"}:
        value = typed[name]
        assert sent.get(name, []) == ([value] if isinstance(value, str) else value), name
    assert await _whole(acme) == before


@pytest.mark.parametrize(
    ("kind", "field", "values"),
    [
        ("trigger", "name", ("Mine", "Theirs")),
        ("schedule", "name", ("Mine", "Theirs")),
        ("endpoint", "description", ("Mine", "Theirs")),
        ("brand", "audience", ("Mine", "Theirs")),
        ("changelog", "title", ("Mine", "Theirs")),
        ("house-style", "longestPost", ("5000", "6000")),
        ("organization", "name", ("Mine", "Theirs")),
    ],
)
async def test_a_form_that_was_opened_before_another_change_is_not_saved_at_once(
    acme: Caller, browsing: Browsing, kind: str, field: str, values: tuple[str, str]
) -> None:
    below = {each: f"/{each}" for each in ("changelog", "house-style", "organization")}
    below["brand"] = f"/brands/{(await branded(acme)).id}"
    path = f"/dashboard{below.get(kind) or (await addresses(acme))[kind][0]}"
    mine, others = values
    form = (await browsing.open(path)).form(path)
    await browsing.send((await browsing.open(path)).form(path), **{field: others})
    if kind in {"trigger", "schedule", "house-style"}:
        # A preview without scripts shows the form again, and forgets nothing of it.
        preview = f"/dashboard/{kind.removesuffix('s')}{'' if kind == 'house-style' else 's'}/preview"
        form = (await browsing.post(preview, {**form.fields, field: mine})).form(path)

    refused = await browsing.send(form, **{field: mine})

    assert (refused.status, "This was saved elsewhere" in refused.text) == (409, True)
    assert refused.form(path).fields[field] == [mine]
    assert (await browsing.open(path)).form(path).fields[field] == [others]
    # Sent again, it overwrites the change that the page has reported.
    assert (await browsing.send(refused.form(path))).status == 200
    assert (await browsing.open(path)).form(path).fields[field] == [mine]
