"""``/v1/schedules`` over HTTP."""

from typing import Any

import httpx
import pytest
from msgspec import to_builtins
from tests.api.world import ApiWorld, Caller
from tests.builders import a_brand

from contentsvc_core.workflows.bodies import ScheduleBody

PATH = "/v1/schedules"
DAILY = {"frequency": "daily", "hour": 9, "minute": 0}


def new_body(**fields: Any) -> dict[str, Any]:
    return {
        "name": "Every morning",
        "sourceType": "cron",
        "sourceConfig": {"cron": DAILY},
        "targets": {"repositoryIds": ["1"]},
        "outputType": "changelog",
        **fields,
    }


async def new_schedule(acme: Caller, **fields: Any) -> dict[str, Any]:
    answer = await acme("POST", PATH, new_body(**fields))
    assert answer.status_code == 201, answer.text
    return answer.json()["schedule"]


def outcome(answer: httpx.Response) -> tuple[int, dict[str, Any]]:
    return answer.status_code, answer.json()


async def test_a_schedule_is_made_listed_changed_and_deleted(world: ApiWorld, acme: Caller) -> None:
    schedule = await new_schedule(acme)
    # Ids may be integers or strings of digits, and answers give strings.
    other = await new_schedule(acme, targets={"repositoryIds": [1, "1"]}, lookbackWindow="yesterday", enabled=False)

    (stored, _) = await world.stores.schedules.all_of(acme.organization.id)
    assert schedule == to_builtins(ScheduleBody.of(stored))
    assert schedule.items() >= new_body().items()
    assert (other["targets"], other["nextRunAt"]) == ({"repositoryIds": ["1"]}, None)
    listed = {"schedules": [schedule, other], "repositoryMap": {"1": "acme/lighthouse"}}
    assert outcome(await acme("GET", PATH)) == (200, listed)

    weekly = {"frequency": "weekly", "hour": 0, "minute": 30, "dayOfWeek": 0}
    changes = {
        "name": "Sundays",
        "sourceConfig": {"cron": weekly},
        "targets": {"repositoryIds": [1]},
        "outputType": "blog_post",
        "enabled": True,
        "autoPublish": True,
        "lookbackWindow": "last_14_days",
    }
    status, body = outcome(await acme("PATCH", f"{PATH}/{other['id']}", changes))
    assert status == 200
    assert body["schedule"] == other | changes | {
        "targets": {"repositoryIds": ["1"]},
        "nextRunAt": "2026-01-04T00:30:00.000Z",
    }
    assert outcome(await acme("DELETE", f"{PATH}/{schedule['id']}")) == (200, {"id": schedule["id"]})
    assert outcome(await acme("DELETE", f"{PATH}/{schedule['id']}")) == (404, {"error": "Schedule not found"})
    assert (await acme("GET", PATH)).json()["schedules"] == [body["schedule"]]


def cron(**times: Any) -> dict[str, Any]:
    return {"sourceConfig": {"cron": {**DAILY, **times}}}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"name": "x" * 121}, "Invalid request: name must have at most 120 characters"),
        (cron(hour=24), "Invalid request: sourceConfig.cron.hour must be at most 23"),
        (cron(dayOfWeek=1), "Invalid request: sourceConfig.cron: a daily schedule takes no dayOfWeek"),
        ({"targets": {"repositoryIds": []}}, "Invalid request: targets.repositoryIds must have at least 1 item"),
    ],
)
async def test_a_fault_is_named_and_nothing_is_written(acme: Caller, fields: dict[str, Any], error: str) -> None:
    assert outcome(await acme("POST", PATH, new_body(**fields))) == (400, {"error": error})
    assert (await acme("GET", PATH)).json() == {"schedules": [], "repositoryMap": {}}
    schedule = await new_schedule(acme)
    assert outcome(await acme("PATCH", f"{PATH}/{schedule['id']}", fields)) == (400, {"error": error})
    assert (await acme("GET", PATH)).json()["schedules"] == [schedule]


async def test_required_fields_are_named(acme: Caller) -> None:
    error = "Invalid request: outputType is missing; name is missing; sourceConfig is missing; targets is missing"
    assert outcome(await acme("POST", PATH, {})) == (400, {"error": error})


async def test_a_brand_identity_is_named_and_taken_back(world: ApiWorld, acme: Caller) -> None:
    now = world.clock.now()
    brand = a_brand(now, organization_id=acme.organization.id, name="Keeper")
    await world.stores.brands.add(brand)
    schedule = await new_schedule(acme, outputConfig={"brandIdentityId": "brand_1"})
    assert schedule["outputConfig"] == {"brandIdentityId": "brand_1"}

    for without_brand in (None, {}, {"brandIdentityId": None}):
        answer = await acme("PATCH", f"{PATH}/{schedule['id']}", {"outputConfig": without_brand})
        assert answer.json()["schedule"]["outputConfig"] is None
