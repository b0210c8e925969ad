"""Schedules in the dashboard."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing, Seen

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import Cron, Frequency

ROOT = "/dashboard/schedules"
#: The clock is at midnight of Thursday, 1 January 2026.
WEEKLY = {"name": "Mondays", "repositories": "1", "frequency": "weekly", "hour": "9", "minute": "30"}


async def schedules(acme: Caller) -> list[Schedule]:
    return list(await acme.world.stores.schedules.all_of(acme.organization.id))


async def made(browsing: Browsing, **fields: Any) -> Seen:
    form = (await browsing.open(f"{ROOT}/new")).form(f"{ROOT}/new")
    return await browsing.send(form, **{**WEEKLY, "day_of_week": "1", **fields})


async def test_a_schedule_is_made_shown_changed_and_deleted(acme: Caller, browsing: Browsing) -> None:
    page = await made(browsing, lookback="last_14_days", output_type="blog_post", auto_publish="yes")

    (schedule,) = await schedules(acme)
    assert (page.path, page.heading) == (f"{ROOT}/{schedule.id}", "Mondays")
    assert schedule.cron == Cron(frequency=Frequency.WEEKLY, hour=9, minute=30, day_of_week=1)
    assert (schedule.lookback, schedule.output_type) == (Lookback.LAST_14_DAYS, ContentType.BLOG_POST)
    assert (schedule.auto_publish, schedule.enabled, schedule.repository_ids) == (True, True, (1,))
    row = (await browsing.open(ROOT)).rows[1]
    assert row[:3] == ["Mondays Every Monday at 09:30 UTC acme/lighthouse", "enabled", "in 4 days Mon 5 Jan, 09:30"]
    assert row[3:5] == ["Blog post about the last 14 days", "at once"]

    page = await browsing.send(
        page.form(page.path), frequency="monthly", day_of_month="31", name="Months", auto_publish=[]
    )
    assert "Saved." in page.text
    (schedule,) = await schedules(acme)
    assert schedule.cron == Cron(frequency=Frequency.MONTHLY, hour=9, minute=30, day_of_month=31)
    assert (schedule.name, schedule.auto_publish) == ("Months", False)
    assert "On day 31 or the last one of every month" in (await browsing.open(ROOT)).text

    page = await browsing.send(page.form(f"{page.path}/delete"))
    assert (page.path, await schedules(acme)) == (ROOT, [])


async def test_the_next_three_firings_are_shown(acme: Caller, browsing: Browsing) -> None:
    page = await made(browsing)

    for day in ("Monday, 5 January 2026, 09:30", "Monday, 12 January", "Monday, 19 January"):
        assert day in page.text
    assert "Monday, 26 January" not in page.text
    assert "about 29 Dec 09:30 to 5 Jan 09:30" in page.text


async def test_one_button_switches_a_schedule_off_and_on(acme: Caller, browsing: Browsing) -> None:
    await made(browsing)
    (schedule,) = await schedules(acme)

    page = await browsing.send((await browsing.open(ROOT)).form(f"{ROOT}/{schedule.id}/switch"))
    assert (page.rows[1][1], page.rows[1][2]) == ("disabled", "none")
    shown = await browsing.open(f"{ROOT}/{schedule.id}")
    assert "The schedule is switched off: it fires at these times once you switch it on." in shown.text
    page = await browsing.send(page.form(f"{ROOT}/{schedule.id}/switch"))
    assert (page.rows[1][1], page.rows[1][2]) == ("enabled", "in 4 days Mon 5 Jan, 09:30")
    assert "Switched on." in page.text

    await browsing.send(page.form(f"{ROOT}/{schedule.id}/switch"))
    await acme.world.stores.directory.remove_integration(acme.organization.id, acme.connection.integration.id)
    page = await browsing.send((await browsing.open(ROOT)).form(f"{ROOT}/{schedule.id}/switch"))
    assert page.status == 422
    assert "Unknown repository: 1 is not connected." in page.text


async def test_a_day_that_does_not_go_with_the_frequency_does_not_count(acme: Caller, browsing: Browsing) -> None:
    await made(browsing, frequency="daily", day_of_week="", day_of_month="99")

    (schedule,) = await schedules(acme)
    assert schedule.cron == Cron(frequency=Frequency.DAILY, hour=9, minute=30)
    assert schedule.due_at == datetime(2026, 1, 1, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize("script", [True, False])
async def test_the_firings_follow_the_form(acme: Caller, browsing: Browsing, script: bool) -> None:
    page = await made(browsing)
    form = page.form(page.path)
    headers = {"HX-Request": "true"} if script else {}

    async def preview(**fields: str) -> Seen:
        return await browsing.post(f"{ROOT}/preview", form.fields | fields, headers=headers)

    page = await preview(frequency="daily", hour="0", minute="5", name="Half typed")
    assert "Thursday, 1 January 2026, 00:05" in page.text
    page = await preview(hour="25", name="Half typed")
    assert "Hour must be from 0 to 23." in page.text
    assert page.status == 200
    assert page.heading == ("" if script else "Mondays")
    if not script:
        assert page.form(form.action).fields["name"] == ["Half typed"]
    assert (await schedules(acme))[0].cron.hour == 9
    assert (await browsing.open(f"{ROOT}/preview")).path == ROOT


async def test_too_many_repositories_are_a_fault_of_the_form(acme: Caller, browsing: Browsing) -> None:
    page = await made(browsing, repositories=[str(number) for number in range(1, 102)])

    assert (page.status, await schedules(acme)) == (422, [])
    assert "A schedule has at most 100 repositories" in page.text
