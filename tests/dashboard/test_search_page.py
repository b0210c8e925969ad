"""The search page with marked words, and the page of a record."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing
from tests.dashboard.contents import posted

from contentsvc_core.text import has_controls

SEARCH = "/dashboard/search"


@pytest.fixture
async def busy(acme: Caller) -> Caller:
    await posted(acme, "feat: turn the lamp on at dusk", "chore: sweep")
    await acme.push("d-2", "fix: <b>the</b> door")
    await acme.release("d-3", "v1.2.3")
    return acme


async def test_at_first_nothing_is_asked_for(browsing: Browsing) -> None:
    page = await browsing.open(SEARCH)

    assert page.heading == "Search"
    assert not page.tree.all(class_="hits")
    assert page.tree.one("a", aria_current="page")["href"] == SEARCH


async def test_words_are_found_and_marked(busy: Caller, browsing: Browsing) -> None:
    page = await browsing.open(f"{SEARCH}?query=LAMP+dus*+-door&repository=&eventType=&since=")

    posts, records = page.tree.all(class_="hits")
    (post,) = posts.all("li")
    assert "lamp on at dusk" in post.text
    (record,) = records.all("li")
    assert [mark.text for mark in record.all("mark")] == ["lamp", "dusk"]
    assert record.all("a")[0]["href"].startswith(f"/dashboard/context/codehost%3A{busy.repository_id}%3Ad-0")


async def test_foreign_text_is_escaped(busy: Caller, browsing: Browsing) -> None:
    assert busy
    page = await browsing.open(f"{SEARCH}?query=door")

    (excerpt,) = page.tree.all(class_="excerpt")
    assert "fix: <b>the</b> door" in excerpt.text
    assert [mark.text for mark in excerpt.all("mark")] == ["door"]
    assert not excerpt.all("b")


@pytest.mark.parametrize(
    ("query", "deliveries"),
    [("repository=acme%2FLIGHTHOUSE", 3), ("eventType=release", 1), ("since=2099-01-01", 0), ("query=nothing", 0)],
)
async def test_queries_and_filters_find_the_expected_deliveries(
    busy: Caller, browsing: Browsing, query: str, deliveries: int
) -> None:
    assert busy
    page = await browsing.open(f"{SEARCH}?{query}")

    assert len(page.tree.all(class_="hit")) == deliveries
    assert ("No commit, release or post matches." in page.text) is (deliveries == 0)


async def test_an_invalid_query_is_refused_and_kept_in_the_form(browsing: Browsing) -> None:
    page = await browsing.open(f"{SEARCH}?query=%21%21")

    assert page.status == 400
    assert page.tree.one(role="alert").text == "Invalid query: it has no word, only signs"
    assert page.form(SEARCH).fields["query"] == ["!!"]


async def test_a_record_whole(busy: Caller, browsing: Browsing) -> None:
    page = await browsing.open(f"/dashboard/context/codehost%3A{busy.repository_id}%3Ad-2")

    assert page.heading == "acme/lighthouse: push"
    assert "fix: <b>the</b> door" in page.tree.one("pre").text


async def test_a_record_that_is_too_long_is_cut_with_a_note(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: " + "x" * 30_000)
    page = await browsing.open(f"/dashboard/context/codehost%3A{acme.repository_id}%3Ad-1")

    assert "These are the first 20,000 characters" in page.text
    assert len(page.tree.one("pre").raw) == 20_000


async def test_a_record_shows_its_invisible_characters(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-0", "feat: a\u202eb\u2066c\x9b31m\x1b]0;x\x07")
    page = await browsing.open(f"/dashboard/context/codehost:{acme.repository_id}:d-0")

    assert "feat: a\\u202eb\\u2066c\\u009b31m\\u001b]0;x\\u0007" in page.text
    assert not has_controls(page.text.replace("\n", ""))


async def test_days_of_filters_are_in_the_zone_of_the_organization(busy: Caller, browsing: Browsing) -> None:
    organization = "/dashboard/organization"
    await browsing.send((await browsing.open(organization)).form(organization), time_zone="Pacific/Kiritimati")
    now = busy.world.clock.now()
    there = now.astimezone(ZoneInfo("Pacific/Kiritimati")).date()

    assert len((await browsing.open(f"{SEARCH}?since={there}")).tree.all(class_="hit")) == 3
    assert not (await browsing.open(f"{SEARCH}?since={there + timedelta(days=1)}")).tree.all(class_="hit")
    posts = await browsing.open(f"/dashboard/posts?since={there}")
    assert "lamp on at dusk" in posts.text
    assert "lamp on at dusk" not in (await browsing.open(f"/dashboard/posts?until={there}")).text
