"""The rules of removed integrations and brand identities."""

from typing import Any

from tests.builders import a_schedule, a_trigger

from contentsvc_core import Integration, Repository, Schedule, Trigger
from contentsvc_core.testing import START
from contentsvc_core.workflows.removals import (
    Disabled,
    Removal,
    Removed,
    removal_of_brand,
    removal_of_integration,
    removed_body,
)

_GITHUB = Integration(
    id="int_1",
    organization_id="org_1",
    provider="github",
    repositories=tuple(Repository(id=number, full_name=f"acme/{number}", branch=None) for number in (1, 2)),
    created_at=START,
)


def trigger(id_: str, *repository_ids: int, source: str = "github_webhook", **changes: Any) -> Trigger:
    return a_trigger(id=id_, source_type=source, repository_ids=repository_ids, **changes)


def schedule(id_: str, *repository_ids: int, **changes: Any) -> Schedule:
    return a_schedule(id=id_, name=id_, repository_ids=repository_ids, **changes)


def disabled(rule: Removal, triggers: list[Trigger], schedules: list[Schedule]) -> list[str]:
    found = rule(triggers, schedules)
    assert not any(each.enabled for each in (*found.triggers, *found.schedules))
    assert all(each.due_at is None for each in found.schedules)
    assert found.removed.disabled_events == tuple(Disabled(each.id, each.name) for each in found.triggers)
    return [each.id for each in (*found.triggers, *found.schedules)]


def test_an_integration_takes_the_triggers_at_its_provider_and_the_schedules_that_lose_a_repository() -> None:
    triggers = [
        trigger("both", 1, 3),
        trigger("another repository", 3),
        trigger("another provider", 1, source="codehost_webhook"),
        trigger("off", 1, enabled=False),
    ]
    schedules = [
        schedule("lost", 3, 1),
        schedule("connected elsewhere", 2),
        schedule("off", 1, enabled=False, due_at=None),
    ]

    assert disabled(removal_of_integration(_GITHUB, [2, 3]), triggers, schedules) == ["both", "lost"]


def test_a_brand_identity_takes_the_triggers_and_schedules_that_name_it() -> None:
    triggers = [trigger("named", 1, brand_identity_id="brand_1"), trigger("another", 1, brand_identity_id="brand_2")]
    schedules = [schedule("named, too", 1, brand_identity_id="brand_1"), schedule("none", 1)]

    assert disabled(removal_of_brand("brand_1"), triggers, schedules) == ["named", "named, too"]


def test_the_wire_form_names_the_disabled_triggers_and_schedules_in_order() -> None:
    removed = Removed(
        disabled_events=[Disabled("b", ""), Disabled("a", "Each push")], disabled_schedules=[Disabled("c", "Weekly")]
    )
    assert removed.disabled_events == (Disabled("a", "Each push"), Disabled("b", ""))
    assert removed_body(removed) == {"disabledSchedules": ["c"], "disabledEvents": ["a", "b"]}
