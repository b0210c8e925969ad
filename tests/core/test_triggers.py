from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st
from tests.builders import a_trigger
from tests.refusals import existing

from contentsvc_core import Trigger, matching
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.events.normalized import Push
from contentsvc_core.refusals import Refusal, RefusalKind, too_many
from contentsvc_core.testing import START
from contentsvc_core.workflows.automations import Firing, changed_automation, refuse_addition, too_many_repositories
from contentsvc_core.workflows.bodies import TriggerBody
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.filters import Batch
from contentsvc_core.workflows.triggers import DUPLICATE_TRIGGER, EVENT_TYPES, UNKNOWN_TRIGGER, TriggerOptions
from contentsvc_core.zones import DEFAULT_ZONE


def build(
    number: int, organization: str, source: str, enabled: bool, repositories: frozenset[int], events: frozenset[str]
) -> Trigger:
    return a_trigger(
        id=f"trg_{number}",
        organization_id=organization,
        source_type=source,
        enabled=enabled,
        repository_ids=repositories,
        event_types=events,
    )


TRIGGERS = st.builds(
    build,
    st.integers(),
    st.sampled_from(["org_1", "org_2"]),
    st.sampled_from(["codehost_webhook", "github_webhook", "gitlab_webhook"]),
    st.booleans(),
    st.frozensets(st.integers(1, 3)),
    st.frozensets(st.sampled_from(EVENT_TYPES)),
)


def started(triggers: list[Trigger], event: str) -> tuple[Trigger, ...]:
    return matching(
        triggers, organization_id="org_1", source_type="codehost_webhook", repository_id=1, event_type=event
    )


_ONE: Final = frozenset({1})
_NO_TYPE: Final = frozenset[str]()


# One matching trigger, and triggers that fail one condition each: random generation finds them too rarely.
@example(
    [
        build(1, "org_1", "codehost_webhook", True, _ONE, _NO_TYPE),
        build(2, "org_2", "codehost_webhook", True, _ONE, _NO_TYPE),
        build(3, "org_1", "github_webhook", True, _ONE, _NO_TYPE),
        build(4, "org_1", "codehost_webhook", False, _ONE, _NO_TYPE),
        build(5, "org_1", "codehost_webhook", True, frozenset({2}), _NO_TYPE),
        build(6, "org_1", "codehost_webhook", True, _ONE, frozenset({"push"})),
        build(7, "org_1", "codehost_webhook", True, _ONE, frozenset({"release"})),
    ],
    "push",
)
@given(st.lists(TRIGGERS), st.sampled_from(EVENT_TYPES))
def test_a_trigger_matches_when_every_condition_of_the_specification_holds(triggers: list[Trigger], event: str) -> None:
    matched = started(triggers, event)

    for trigger in triggers:
        holds = (
            trigger.organization_id == "org_1"
            and trigger.source_type == "codehost_webhook"
            and trigger.enabled
            and 1 in trigger.repository_ids
            and (trigger.event_types == () or event in trigger.event_types)
        )
        assert (trigger in matched) == holds


TRIGGER: Final = a_trigger(name="Lamps", repository_ids=(8, 1, 8), event_types=("release", "push"))


def test_the_wire_form_has_the_specified_fields() -> None:
    body = {
        "id": "trg_1",
        "organizationId": "org_1",
        "name": "Lamps",
        "sourceType": "codehost_webhook",
        "enabled": True,
        "targets": {"repositoryIds": ["1", "8"]},
        "sourceConfig": {"eventTypes": ["push", "release"]},
        "outputType": "changelog",
        "outputConfig": None,
        "autoPublish": False,
        "createdAt": "2026-01-01T00:00:00.000Z",
    }
    assert msgspec.to_builtins(TriggerBody.of(TRIGGER)) == body
    branded = evolve(TRIGGER, brand_identity_id="brand_1")
    assert msgspec.to_builtins(TriggerBody.of(branded)) == body | {"outputConfig": {"brandIdentityId": "brand_1"}}
    styled = evolve(TRIGGER, house_style=HouseStyle({"tone": "plain"}))
    assert msgspec.to_builtins(TriggerBody.of(styled)) == body | {"outputConfig": {"houseStyle": {"tone": "plain"}}}


def test_an_unknown_event_type_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown event type 'ping': a trigger takes push or release"):
        evolve(TRIGGER, event_types=("push", "ping"))
    with pytest.raises(ValueError, match="'github' matches no delivery: a trigger takes 'github_webhook' or 'any_webh"):
        evolve(TRIGGER, source_type="github")


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"name": "x", "enabled": False, "auto_publish": True, "id": "trg_2"}, True),
        ({"event_types": ()}, True),
        ({"event_types": ("push",)}, False),
        ({"source_type": "github_webhook"}, False),
        ({"repository_ids": (1,)}, False),
        ({"output_type": ContentType.BLOG_POST}, False),
        ({"brand_identity_id": "brand_1"}, False),
    ],
)
def test_two_triggers_are_duplicates_if_they_write_the_same(changes: dict[str, Any], *, same: bool) -> None:
    assert TRIGGER.does_the_same_as(evolve(TRIGGER, **changes)) is same


@pytest.mark.parametrize(("event_types", "reported"), [((), True), (("push",), True), (("release",), False)])
def test_a_trigger_reports_events_of_its_types(event_types: tuple[str, ...], *, reported: bool) -> None:
    push = Push(ref="refs/heads/main", branch="main", commits=(), head_commit=None)
    chosen = evolve(TRIGGER, event_types=event_types)
    assert chosen.reports(push) is reported
    assert not chosen.reports(msgspec.structs.replace(push, off_default=True))


@pytest.mark.parametrize(
    ("at_most", "changes", "refusal"),
    [
        (2, {"event_types": ("push",)}, None),
        (1, {"event_types": ("push",)}, too_many("event triggers", 1)),
        (2, {"name": "x"}, DUPLICATE_TRIGGER),
    ],
)
def test_a_trigger_is_added_up_to_the_limit_unless_another_writes_the_same(
    at_most: int, changes: dict[str, Any], refusal: Refusal | None
) -> None:
    assert refuse_addition([TRIGGER], evolve(TRIGGER, **changes), at_most=at_most) == refusal


@pytest.mark.parametrize(
    ("trigger_id", "changes", "refusal"),
    [
        ("trg_1", {"repository_ids": (7,)}, None),
        ("trg_1", {"event_types": ("push",)}, DUPLICATE_TRIGGER),
        # The third is a duplicate of the first already.
        ("trg_1", {"name": "x"}, None),
        ("trg_9", {}, UNKNOWN_TRIGGER),
    ],
)
def test_a_trigger_is_changed_unless_another_writes_the_same(
    trigger_id: str, changes: dict[str, Any], refusal: Refusal | None
) -> None:
    existing = [TRIGGER, evolve(TRIGGER, id="trg_2", event_types=("push",)), evolve(TRIGGER, id="trg_3")]

    changed = changed_automation(Trigger, existing, trigger_id, lambda current: evolve(current, **changes))

    assert changed == (refusal or evolve(TRIGGER, **changes))


def test_a_batch_covers_all_windows_that_have_ended() -> None:
    day, end = timedelta(days=1), START + timedelta(days=1)
    trigger = evolve(
        build(1, "org_1", "codehost_webhook", True, frozenset({1}), frozenset()),
        options=TriggerOptions(batch=Batch.DAILY),
        since=START + timedelta(hours=9),
        due_at=end,
    )
    sources = [
        Source(provider=name, repository_id=id_, full_name="a/b")
        for name, id_ in (("codehost", 1), ("codehost", 2), ("github", 1))
    ]

    def fired(now: datetime, **changes: Any) -> Firing | None:
        return evolve(trigger, **changes).firing(now, DEFAULT_ZONE, sources=sources, run_id="run_1")

    for now, until, due in (
        (end, end, end + timedelta(minutes=1)),
        (end + 3 * day, end + 3 * day, end + 3 * day + timedelta(minutes=1)),
        (end + 3 * day + timedelta(hours=5), end + 3 * day, end + 3 * day + timedelta(hours=5)),
    ):
        firing = existing(fired(now))
        assert (firing.due_at, firing.slot, firing.next_due_at) == (end, until, until + day)
        assert (firing.run.created_at, firing.run.due_at) == (now, due)
        assert isinstance(firing.run.cause, Generation)
        assert firing.run.cause.window == LookbackWindow(since=START + timedelta(hours=9), until=until)
        assert firing.run.cause.sources == tuple(sources[:1])
    weekly = existing(fired(START + timedelta(days=30), options=TriggerOptions(batch=Batch.WEEKLY)))
    assert weekly.slot == datetime(2026, 1, 26, tzinfo=UTC)
    assert fired(end - timedelta(milliseconds=1)) is None
    assert fired(end, enabled=False) is fired(end, due_at=None) is fired(end, since=None) is None


def test_a_trigger_has_at_most_100_different_repositories() -> None:
    assert too_many_repositories("trigger", [*range(1, 101), 100]) is None

    refused = existing(too_many_repositories("trigger", range(1, 102)))

    assert (refused.kind, refused.field) == (RefusalKind.UNSUITABLE, "repository_ids")
    assert refused.reason == "a trigger has at most 100 repositories: choose fewer"
