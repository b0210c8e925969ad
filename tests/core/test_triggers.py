import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core import Trigger, matching
from contentsvc_core.content.posts import ContentType
from contentsvc_core.testing import START
from contentsvc_core.workflows.bodies import TriggerBody
from contentsvc_core.workflows.triggers import EVENT_TYPES


def build(
    number: int, organization: str, source: str, enabled: bool, repositories: frozenset[int], events: frozenset[str]
) -> Trigger:
    return Trigger(
        id=f"trg_{number}",
        organization_id=organization,
        source_type=source,
        enabled=enabled,
        repository_ids=repositories,
        event_types=events,
        output_type=ContentType.CHANGELOG,
        created_at=START,
    )


TRIGGERS = st.builds(
    build,
    st.integers(),
    st.sampled_from(["org_1", "org_2"]),
    st.sampled_from(["codehost_webhook", "github_webhook", "cron"]),
    st.booleans(),
    st.frozensets(st.integers(1, 3)),
    st.frozensets(st.sampled_from(EVENT_TYPES)),
)


def started(triggers: list[Trigger], event: str) -> tuple[Trigger, ...]:
    return matching(
        triggers, organization_id="org_1", source_type="codehost_webhook", repository_id=1, event_type=event
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


@given(st.lists(TRIGGERS), st.lists(TRIGGERS), st.sampled_from(EVENT_TYPES))
def test_more_triggers_never_take_a_match_away(some: list[Trigger], more: list[Trigger], event: str) -> None:
    assert started(some + more, event) == started(some, event) + started(more, event)


@given(TRIGGERS)
def test_naming_every_event_type_is_the_same_as_naming_none(trigger: Trigger) -> None:
    every = build(1, "org_1", "codehost_webhook", True, frozenset({1}), frozenset(EVENT_TYPES))
    none = build(1, "org_1", "codehost_webhook", True, frozenset({1}), frozenset())

    for event in EVENT_TYPES:
        assert len(started([trigger, every], event)) == len(started([trigger, none], event))


def test_an_unknown_event_type_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown event type 'ping'"):
        build(1, "org_1", "codehost_webhook", True, frozenset({1}), frozenset({"ping"}))


def test_the_wire_form_has_the_specified_fields() -> None:
    body = msgspec.to_builtins(
        TriggerBody.of(build(1, "org_1", "codehost_webhook", True, frozenset({2, 1}), frozenset({"push"})))
    )

    assert body["sourceType"] == "codehost_webhook"
    assert body["targets"] == {"repositoryIds": ["1", "2"]}
    assert body["sourceConfig"] == {"eventTypes": ["push"]}
    assert body["enabled"] is True
