"""``/v1/house-style``, and the house style in the bodies of triggers and schedules."""

from typing import Any

import pytest
from tests.api.world import Caller
from tests.core.test_house_style import WHOLE

PATH = "/v1/house-style"
SCHEDULE = {
    "name": "Weekly",
    "sourceConfig": {"cron": {"frequency": "daily", "hour": 1, "minute": 2}},
    "targets": {"repositoryIds": ["1"]},
    "outputType": "changelog",
}
TRIGGER = {"targets": {"repositoryIds": ["1"]}}


async def test_it_is_read_set_whole_and_reset(acme: Caller) -> None:
    first = (await acme("GET", PATH)).json()
    assert first["houseStyle"] is None
    assert first["effective"]["contributors"] is True

    answer = await acme("PUT", PATH, {"houseStyle": WHOLE})
    assert answer.status_code == 200, answer.text
    assert answer.json()["houseStyle"] == WHOLE
    assert answer.json()["effective"] == {name: value for name, value in WHOLE.items() if name != "audience"} | {
        "hide": ["api", "docs"],
        "hideAuthors": ["kettle"],
    }
    assert (await acme("GET", PATH)).json() == answer.json()

    changed = (await acme("PUT", PATH, {"houseStyle": {"audience": "public"}})).json()
    assert changed["houseStyle"] == {"audience": "public"}
    assert changed["effective"]["contributors"] is False
    assert (await acme("PUT", PATH, {"houseStyle": None})).json() == first
    assert (await acme("GET", PATH)).json() == first


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({}, "houseStyle is missing"),
        ({"houseStyle": {}, "more": 1}, "more is an unknown field"),
        ({"houseStyle": []}, "houseStyle must be an object or null"),
        ({"houseStyle": {"links": "no"}}, "houseStyle.links must be true or false"),
    ],
)
async def test_a_bad_value_is_refused_by_name(acme: Caller, body: Any, fault: str) -> None:
    answer = await acme("PUT", PATH, body)

    assert (answer.status_code, answer.json()) == (400, {"error": f"Invalid request: {fault}"})
    assert (await acme("GET", PATH)).json()["houseStyle"] is None


@pytest.mark.parametrize(
    ("path", "name", "body"), [("/v1/event-triggers", "eventTrigger", TRIGGER), ("/v1/schedules", "schedule", SCHEDULE)]
)
async def test_a_trigger_and_a_schedule_may_differ(acme: Caller, path: str, name: str, body: dict[str, Any]) -> None:
    plain = (await acme("POST", path, body)).json()[name]
    assert plain["outputConfig"] is None
    answer = await acme("POST", path, body | {"outputConfig": {"houseStyle": WHOLE}})
    assert answer.status_code == 201, answer.text
    created = answer.json()[name]
    assert created["outputConfig"] == {"houseStyle": WHOLE}
    one = f"{path}/{created['id']}"

    # A missing field stays, null deletes the override.
    kept = (await acme("PATCH", one, {"outputConfig": {"brandIdentityId": None}})).json()[name]
    assert kept["outputConfig"] == {"houseStyle": WHOLE}
    less = (await acme("PATCH", one, {"outputConfig": {"houseStyle": {"links": False}}})).json()[name]
    assert less["outputConfig"] == {"houseStyle": {"links": False}}
    # Without it, the trigger would equal the first one.
    assert (await acme("PATCH", one, {"outputConfig": {"houseStyle": None}})).status_code == 409
    await acme("DELETE", f"{path}/{plain['id']}")
    assert (await acme("PATCH", one, {"outputConfig": {"houseStyle": None}})).json()[name]["outputConfig"] is None
    refused = await acme("PATCH", one, {"outputConfig": {"houseStyle": {"hide": "docs"}}})
    assert (refused.status_code, refused.json()) == (
        400,
        {"error": "Invalid request: outputConfig.houseStyle.hide must be a list of texts"},
    )
