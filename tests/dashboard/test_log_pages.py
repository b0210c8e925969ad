"""The webhook log: list, filters, live updates, and one entry."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from tests.api.world import Caller
from tests.builders import an_entry
from tests.dashboard.browsing import Browsing, Seen

from contentsvc_core.journal import Direction, LogEntry, LogStatus
from contentsvc_core.testing import push_body

LOGS = "/dashboard/integrations/logs"
HOSTILE = "<img src=x onerror=alert(1)>"
SCRIPT = {"HX-Request": "true"}


async def noted(acme: Caller, **fields: Any) -> LogEntry:
    """Write an entry, a moment after the previous one."""
    acme.world.clock.advance(timedelta(milliseconds=1))
    values: dict[str, Any] = {
        "id": acme.world.ids.new_id("log_"),
        "organization_id": acme.organization.id,
        "integration_id": acme.connection.integration.id,
        "title": "Webhook creation",
        "direction": Direction.OUTGOING,
        "status_code": 201,
        "detail": {"operation": "create_hook"},
    }
    entry = an_entry(acme.world.clock.now(), **values | fields)
    await acme.world.stores.journal.append(entry)
    return entry


async def some(acme: Caller, number: int, **fields: Any) -> None:
    for each in range(number):
        await noted(acme, title=f"Delivery {each}", **fields)


def titles(page: Seen) -> list[str]:
    """Return the texts of the first cells of the rows."""
    return [" ".join(row[0].split()) for row in page.rows if len(row) > 1 and row[0] != "Delivery"]


def asking(page: Seen) -> list[str]:
    """Return the addresses that the list polls."""
    return [
        attrs["hx-get"]
        for tag, attrs in page.elements
        if tag in {"tr", "section"} and attrs.get("hx-trigger") == "every 2s"
    ]


def words(cells: Sequence[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in cells]


async def test_deliveries_are_listed_newest_first(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")
    gone = await noted(acme, integration_id="int_gone", status=LogStatus.FAILED, status_code=502, error_message="away")

    page = await browsing.open(LOGS)

    assert page.heading == "Logs"
    head, hidden, failed, processed = page.rows
    assert head == ["Delivery", "Outcome", "Integration", "When"]
    assert hidden == [""]
    assert words(failed) == ["Webhook creation outgoing away", "failed 502", "removed", "just now"]
    assert words(processed) == [
        "main: feat: a lamp push · no trigger matched",
        "processed",
        "acme/lighthouse",
        "just now",
    ]
    assert page.links["Webhook creation"] == f"{LOGS}/{gone.id}"
    assert page.links["acme/lighthouse"] == f"/dashboard/integrations/{acme.connection.integration.id}"


async def test_an_empty_log_is_announced_and_polled(browsing: Browsing) -> None:
    page = await browsing.open(LOGS)

    assert "Nothing arrived yet." in page.text
    assert asking(page) == [f"{LOGS}?after=0_0&rows=0"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["Webhook creation", "Duplicate push delivery", "v1", "main: feat: a lamp"]),
        ({"status": "failed"}, ["Webhook creation"]),
        ({"event": "push"}, ["Duplicate push delivery", "main: feat: a lamp"]),
        ({"text": "D-2"}, ["v1"]),
        ({"outcome": "processed"}, ["v1", "main: feat: a lamp"]),
        ({"since": "2026-01-01T00:00:01.000", "event": "push"}, ["Duplicate push delivery"]),
        ({"since": "2026-01-01T00:00:01.000", "until": "2026-01-01T00:00:02.000"}, ["v1"]),
        ({"integration": "int_gone"}, ["Webhook creation"]),
        ({"integration": "int_gone", "status": "success"}, []),
    ],
)
async def test_filters_are_a_form_and_part_of_the_address(
    acme: Caller, browsing: Browsing, filters: dict[str, str], found: list[str]
) -> None:
    await acme.push("d-1", "feat: a lamp")
    acme.world.clock.advance(timedelta(seconds=1))
    await acme.release("d-2", "v1")
    acme.world.clock.advance(timedelta(seconds=1))
    await acme.push("d-1", "feat: a lamp")
    await noted(acme, integration_id="int_gone", status=LogStatus.FAILED, error_message="gone away")
    page = await browsing.open(LOGS)
    form = page.form(LOGS)

    page = await browsing.send(form, **filters)

    assert page.status == 200
    assert len(titles(page)) == len(found)
    assert all(shown.startswith(title) for shown, title in zip(titles(page), found, strict=True))
    assert {name: value for name, (value,) in page.form(LOGS).fields.items() if value} == filters
    assert bool(asking(page)) == ("until" not in filters)
    if not found:
        assert "No entry matches this filter." in page.text
    # The same for a script, which also makes the browser show an address without empty filters.
    part = await browsing.open(LOGS, params={**dict.fromkeys(form.fields, ""), **filters}, headers=SCRIPT)
    assert not part.heading
    assert titles(part) == titles(page)
    pushed = part.response.headers["hx-push-url"]
    assert titles(await browsing.open(pushed)) == titles(page)
    assert "=&" not in pushed


async def test_an_invalid_filter_is_refused(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")
    for query, words in (
        ("status=lost", "'lost' is not one of success, failed, pending"),
        (f"status={HOSTILE}", "is not one of"),
        ("integration=%00", "is unknown"),
        ("before=x", "start from the newest"),
        ("before=99999999999999999_a", "start from the newest"),
    ):
        page = await browsing.open(f"{LOGS}?{query}")

        assert page.status == 400
        assert words in page.text
        assert titles(page) == []
        assert not asking(page)
        assert not [attrs for tag, attrs in page.elements if tag == "img"]
    for query in ("text=%00", "event=%ED%A0%80", "text=" + "x" * 5000, "event=%25&text=_"):
        assert (await browsing.open(f"{LOGS}?{query}")).status == 200


async def test_older_entries_are_a_page_away_and_none_is_left_out(acme: Caller, browsing: Browsing) -> None:
    await some(acme, 120)

    listed_titles: list[str] = []
    path: str | None = f"{LOGS}?status=success"
    pages = 0
    while path is not None:
        page = await browsing.open(path)
        listed_titles += [title.removesuffix(" outgoing") for title in titles(page)]
        path = page.links.get("Older")
        pages += 1
        # Only the first page has live updates.
        assert bool(asking(page)) == (pages == 1)
        assert page.links.get("Newest") == (None if pages == 1 else f"{LOGS}?status=success")

    assert pages == 3
    assert listed_titles == [f"Delivery {number}" for number in reversed(range(120))]


async def test_new_entries_arrive_with_the_next_poll(acme: Caller, browsing: Browsing) -> None:
    await noted(acme, title="first")
    page = await browsing.open(f"{LOGS}?status=success")
    (address,) = asking(page)

    assert (await browsing.open(address, headers=SCRIPT)).status == 204
    await noted(acme, title="not asked for", status=LogStatus.FAILED)
    assert (await browsing.open(address, headers=SCRIPT)).status == 204
    await noted(acme, title="second")
    await noted(acme, title="third")
    part = await browsing.open(address, headers=SCRIPT)

    assert titles(part) == ["third outgoing", "second outgoing"]
    assert [attrs.get("class") for tag, attrs in part.elements if tag == "tr"] == [None, "new", "new"]
    assert "2 new deliveries at 00:00:00" in part.text
    assert [attrs["hx-swap-oob"] for _, attrs in part.elements if "hx-swap-oob" in attrs] == ["innerHTML:#arrived"]
    (again,) = asking(part)
    assert "status=success" in again
    assert "rows=3" in again
    assert (await browsing.open(again, headers=SCRIPT)).status == 204
    await noted(acme, title="fourth")
    assert "1 new delivery at" in (await browsing.open(again, headers=SCRIPT)).text


@pytest.mark.parametrize(("shown", "received"), [(0, 1), (1, 51), (50, 0)])
async def test_where_more_comes_than_a_page_holds_the_list_is_made_anew(
    acme: Caller, browsing: Browsing, shown: int, received: int
) -> None:
    await some(acme, shown)
    (address,) = asking(await browsing.open(LOGS))
    if not received:
        # A page that was open all day.
        address, received = address.replace("rows=50", "rows=200"), 1
    await some(acme, received)

    part = await browsing.open(address, headers=SCRIPT)

    assert part.response.headers["hx-retarget"] == "#found"
    assert part.response.headers["hx-reswap"] == "innerHTML"
    assert len([row for row in part.rows if len(row) == 4]) - 1 == min(shown + received, 50)
    assert (f"{received} new" if received <= 50 else "more than 50 new deliveries") in part.text
    (again,) = asking(part)
    assert f"rows={min(shown + received, 50)}" in again


async def test_live_updates_can_be_paused(acme: Caller, browsing: Browsing) -> None:
    await noted(acme)
    page = await browsing.open(f"{LOGS}?event=push")
    page = await browsing.open(page.links["Pause"])

    assert page.response.url.query == b"event=push&live=off"
    assert not asking(page)
    assert "Paused" in page.text
    # A filter does not change this.
    page = await browsing.send(page.form(LOGS), event="")
    assert not asking(page)
    page = await browsing.open(page.links["Go on"])
    assert asking(page)


async def test_a_row_that_is_pending_is_asked_for_until_it_has_ended(acme: Caller, browsing: Browsing) -> None:
    entry = await noted(acme, status=LogStatus.PENDING, status_code=None)
    page = await browsing.open(LOGS)
    (address,) = [attrs["hx-get"] for _, attrs in page.elements if attrs.get("hx-trigger") == "every 5s"]

    assert (await browsing.open(address, headers=SCRIPT)).status == 204
    await acme.world.stores.journal.finish(evolve(entry, status=LogStatus.FAILED, error_message="away"))
    part = await browsing.open(address, headers=SCRIPT)

    assert [words(row[:2]) for row in part.rows] == [["Webhook creation outgoing away", "failed"]]
    assert not [attrs for _, attrs in part.elements if "hx-trigger" in attrs]


async def triggered(acme: Caller) -> str:
    """Create a trigger, and a delivery with a post; return the entry's id."""
    await acme("POST", "/v1/event-triggers", {"name": "Each release", "targets": {"repositoryIds": [1]}})
    await acme.release("d-1", "v1.0.0")
    (entry,) = await acme.world.stores.journal.entries(acme.organization.id)
    return entry.id


async def test_an_entry_that_a_trigger_collects_asks_for_no_other_trigger(acme: Caller, browsing: Browsing) -> None:
    body = {"name": "Each day", "targets": {"repositoryIds": [1]}, "batch": "daily"}
    assert (await acme("POST", "/v1/event-triggers", body)).status_code == 201
    await acme.release("d-1", "v1.0.0")
    (entry,) = await acme.world.stores.journal.entries(acme.organization.id)

    row = (await browsing.open(LOGS)).rows[-1]
    page = await browsing.open(f"{LOGS}/{entry.id}")

    assert words(row[:1]) == ["v1.0.0 release · collected by 1 trigger for a later post"]
    assert "No run yet: a trigger collects deliveries for a daily or weekly post." in page.text
    assert "no trigger matches" not in page.text


async def test_a_row_and_its_entry_say_why_no_run_wrote_a_post(acme: Caller, browsing: Browsing) -> None:
    id_ = await triggered(acme)
    (run,) = await acme.world.stores.ledger.runs(acme.organization.id)
    await acme.world.stores.ledger.cancel(acme.organization.id, run.id, "cancelled by the operator")

    row = (await browsing.open(LOGS)).rows[-1]
    answer = await acme("GET", f"/v1/webhook-logs/{id_}")

    assert words(row[:1]) == ["v1.0.0 release · no post: cancelled by the operator"]
    assert answer.json()["explanation"]["noPost"] == "cancelled by the operator"


async def test_an_entry_shows_the_delivery_and_its_effects(acme: Caller, browsing: Browsing) -> None:
    id_ = await triggered(acme)

    page = await browsing.open(f"{LOGS}/{id_}")

    assert page.heading == "v1.0.0"
    assert "<title>v1.0.0 · contentsvc</title>" in page.response.text
    for words in ("processed", "200", "1 workflow run started", "incoming", "d-1", "context record"):
        assert words in page.text
    assert "Release v1.0.0 was published." in page.text
    (run,) = await acme.world.stores.ledger.runs(acme.organization.id)
    assert [" ".join(cell.split()) for cell in page.rows[1]][1:] == ["pending", "Each release", "none"]
    assert f"/dashboard/runs/{run.id}" in page.links.values()
    # A delivery with unfinished runs is polled.
    (led,) = [attrs["hx-get"] for _, attrs in page.elements if attrs.get("hx-trigger") == "every 2s"]
    await acme.world.perform()
    part = await browsing.open(led, headers=SCRIPT)
    assert not part.heading
    assert not [attrs for _, attrs in part.elements if "hx-trigger" in attrs]
    (post,) = await acme.world.stores.posts.posts(acme.organization.id)
    assert part.links[post.title] == f"/dashboard/posts/{post.id}"
    assert [" ".join(cell.split()) for cell in part.rows[1]][1:] == ["completed", "Each release", post.title]


async def test_the_payload_is_marked_on_the_page_and_plain_as_text(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", f"feat: {HOSTILE}\n\n</pre><script>alert(1)</script>")
    (entry,) = await acme.world.stores.journal.entries(acme.organization.id)

    page = await browsing.open(f"{LOGS}/{entry.id}")

    assert {"j-key", "j-text"} <= {attrs.get("class") for tag, attrs in page.elements if tag == "span"}
    assert f"feat: {HOSTILE}" in page.text
    assert not [attrs for tag, attrs in page.elements if tag == "img"]
    assert [attrs.get("src", "inline") for tag, attrs in page.elements if tag == "script"].count("inline") == 0
    raw = await browsing.open(page.links["Payload as text"])
    assert raw.response.headers["content-type"] == "text/plain; charset=utf-8"
    assert raw.response.headers["x-content-type-options"] == "nosniff"
    assert raw.response.json() == entry.payload


async def test_a_large_payload_is_cut_with_a_note(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", *(f"feat: {number} {'x' * 400}" for number in range(400)))
    (entry,) = await acme.world.stores.journal.entries(acme.organization.id)

    page = await browsing.open(f"{LOGS}/{entry.id}")

    assert "These are the first 200,000 of" in page.text
    assert "And 390 more." in page.text
    assert len(page.response.text) < 2_000_000
    raw = await browsing.open(page.links["Show all of them as text"])
    assert raw.response.json() == entry.payload


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"detail": None, "reason": None}, "No payload is kept for this entry."),
        ({"title": HOSTILE, "reason": HOSTILE, "error_message": HOSTILE, "reference_id": '"><img>'}, HOSTILE),
        ({"reason": "tried again at 2026-01-02T03:04:05.678Z"}, "tried again at 2 Jan 2026, 03:04"),
        ({"reason": "it said: 2026-13-99T03:04:05.678Z"}, "it said: 2026-13-99T03:04:05.678Z"),
        ({"reason": "it said: 0000-01-02T03:04:60.678Z"}, "it said: 0000-01-02T03:04:60.678Z"),
        ({"integration_id": "int_gone"}, "Integration removed"),
        ({"direction": Direction.OUTGOING}, "to the code host"),
        ({"detail": {"a": [HOSTILE]}}, "Nothing: only deliveries that are processed start runs."),
    ],
)
async def test_any_entry_can_be_shown(acme: Caller, browsing: Browsing, fields: Mapping[str, Any], words: str) -> None:
    entry = await noted(acme, **fields)

    page = await browsing.open(f"{LOGS}/{entry.id}")

    assert page.status == 200
    assert words in page.text
    assert not [attrs for tag, attrs in page.elements if tag == "img"]
    # It has no event that could be replayed.
    assert [form.action for form in page.forms] == ["/dashboard/sign-out"]
    listed = await browsing.open(LOGS)
    assert not [attrs for tag, attrs in listed.elements if tag == "img"]
    assert (await browsing.open(f"{LOGS}/{entry.id}/raw")).status == (404 if entry.detail is None else 200)


async def test_a_replay_is_one_click_and_leads_to_its_own_entry(acme: Caller, browsing: Browsing) -> None:
    id_ = await triggered(acme)
    acme.world.clock.advance(timedelta(minutes=1))
    page = await browsing.open(f"{LOGS}/{id_}")

    # A double click replays once.
    form = page.form(f"{LOGS}/{id_}/replay")
    page, second = await asyncio.gather(browsing.send(form), browsing.send(form))

    assert page.path == second.path
    newest, _ = await acme.world.stores.journal.entries(acme.organization.id)
    assert page.path == f"{LOGS}/{newest.id}"
    assert newest.id != id_
    assert "The delivery is processed again." in page.text
    assert f"replay of {id_}" in page.text
    assert "1 run" in page.text


async def test_an_entry_that_cannot_be_replayed_shows_the_reason(acme: Caller, browsing: Browsing) -> None:
    id_ = await triggered(acme)
    page = await browsing.open(f"{LOGS}/{id_}")
    form = page.form(f"{LOGS}/{id_}/replay")
    directory, integration = acme.world.stores.directory, acme.connection.integration
    await directory.enable_integration(acme.organization.id, integration.id, enabled=False)

    page = await browsing.send(form)

    assert page.status == 409
    assert "Not replayed. Integration is disabled." in page.text
    assert page.heading == "v1.0.0"


async def test_of_a_payload_that_is_too_large_for_a_page_its_summary_is_shown(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp\n\n" + "x" * 600_000)
    (entry,) = await acme.world.stores.journal.entries(acme.organization.id)

    page = await browsing.open(f"{LOGS}/{entry.id}")

    assert "main: feat: a lamp" in page.text
    assert "too many for this page" in page.text
    assert "xxxxxx" not in page.text
    raw = await browsing.open(page.links["Show all of it as text"])
    assert raw.response.json() == entry.payload


async def test_the_advice_has_names_as_code(acme: Caller, browsing: Browsing) -> None:
    twice = acme.signed(push_body("x", repository_id=acme.repository_id), headers=[(b"X-Host-Event", b"push")])
    await acme.world.receiver.receive(twice)

    page = await browsing.open((await browsing.open(LOGS)).links["Missing webhook header"])

    assert "This integration has the provider codehost" in page.text
    assert "`" not in page.text


async def test_a_refused_delivery_names_the_cause_the_facts_and_similar_ones(acme: Caller, browsing: Browsing) -> None:
    for number in range(3):
        await acme.push(f"bad-{number}", "x", secret="wrong")

    listed = await browsing.open(f"{LOGS}?outcome=refused")
    assert [row[1] for row in listed.rows[1:] if len(row) > 1] == ["refused 401"] * 3
    page = await browsing.open(listed.links["Invalid webhook signature"])

    assert "The signature is well-formed, but made with another secret" in page.text
    assert "present, 64 hex characters" in page.text
    assert "Settings to paste at the code host" in page.text
    assert f"/dashboard/integrations/{acme.connection.integration.id}/rotate" in [form.action for form in page.forms]
    similar = await browsing.open(page.links["2 others like this"])
    assert len(titles(similar)) == 3


async def test_a_filter_is_replayed_in_batches_that_ask_first(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")
    await acme.push("d-2", "feat: a horn")

    listed = await browsing.open(f"{LOGS}?outcome=processed")
    confirmation = await browsing.open(listed.links["Replay these deliveries…"])
    assert "2 deliveries of this filter can be replayed." in confirmation.text
    (form,) = [each for each in confirmation.forms if each.action == f"{LOGS}/replay"]
    acme.world.clock.advance(timedelta(seconds=1))
    done = await browsing.send(form)

    assert "2 replayed, 0 runs started. Complete." in done.text
    assert "2 replayed, 0 runs started. Complete." in (await browsing.send(form)).text
    # No page has counted so far.
    assert "2 replayed, 0 runs started. Complete." in (await browsing.send(form, done="9" * 5000)).text
    assert len(await acme.world.stores.journal.entries(acme.organization.id)) == 4
