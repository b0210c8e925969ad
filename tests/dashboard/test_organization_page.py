"""The page of the organization."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing

from contentsvc_core.journal import LogStatus
from contentsvc_core.read_model import LogCount
from contentsvc_http.dashboard.charts import columns, last_days

PAGE = "/dashboard/organization"


async def test_the_time_zone_is_changed_and_times_are_shown_in_it(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(PAGE)
    assert "Times are in UTC" in page.text

    saved = await browsing.send(page.form(PAGE), time_zone="Asia/Tokyo")

    assert "Saved." in saved.text
    assert "Times are in Asia/Tokyo" in saved.text
    found = await acme.world.stores.directory.organization_of(acme.organization.id)
    assert found is not None
    assert found.time_zone == ZoneInfo("Asia/Tokyo")
    local = acme.world.clock.now().astimezone(found.time_zone)
    assert f"{local:%Y-%m-%d %H:%M:%S} Asia/Tokyo" in [attrs.get("title") for _, attrs in saved.elements]
    assert "Asia/Tokyo" in (await browsing.open("/dashboard/schedules/new")).text


async def test_forms_read_times_in_the_zone_and_charts_count_its_days(acme: Caller, browsing: Browsing) -> None:
    await browsing.send((await browsing.open(PAGE)).form(PAGE), time_zone="Asia/Tokyo")
    await acme.push("d-1", "feat: a lamp")
    day = acme.world.clock.now() + timedelta(days=2)

    form = (await browsing.open("/dashboard/posts/new")).form("/dashboard/posts/new")
    await browsing.send(form, title="A lamp", markdown="It shines.", publishAt=f"{day:%Y-%m-%d}T09:00")
    form = (await browsing.open("/dashboard/keys")).form("/dashboard/keys")
    await browsing.send(form, expires=f"{day:%Y-%m-%d}")

    (post,) = await acme.world.stores.posts.posts(acme.organization.id)
    assert post.publish_at == datetime.combine(day.date(), time(0), UTC)
    edited = (await browsing.open(f"/dashboard/posts/{post.id}/edit")).form(f"/dashboard/posts/{post.id}/edit")
    assert edited.fields["publishAt"] == [f"{day:%Y-%m-%d}T09:00"]
    keys = await acme.world.stores.keys.keys(acme.organization.id)
    assert datetime.combine(day.date(), time(15), UTC) in [key.expires_at for key in keys]
    assert "Deliveries per day, Asia/Tokyo" in (await browsing.open("/dashboard")).text


@pytest.mark.parametrize(
    ("now", "hours"),
    [("2026-03-29T12:00", [24, 24, 23]), ("2026-10-25T12:00", [24, 24, 25]), ("2026-06-30T22:00", [24] * 3)],
)
def test_the_days_of_a_chart_are_in_its_zone(now: str, hours: list[int]) -> None:
    at, zone = datetime.fromisoformat(now).replace(tzinfo=UTC), ZoneInfo("Europe/Berlin")
    bounds = last_days(at, 3, zone)
    since = [bounds[0] + each * timedelta(hours=1) for each in range(sum(hours))]
    counts = [LogCount(starts_at=each, integration_id="int_1", status=LogStatus.SUCCESS, number=1) for each in since]

    chart = columns(counts, bounds, zone, label="%d %b")

    assert bounds[-2] <= at < bounds[-1]
    assert [column["number"] for column in chart["columns"]] == hours
    assert chart["columns"][-1]["label"] == f"{at.astimezone(zone):%d %b}"
