from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec.structs import replace as evolve_event
from tests.builders import a_trigger
from tests.golden import delivered
from tests.refusals import existing

from contentsvc_core import (
    Belonging,
    Claim,
    Delivery,
    Duplicate,
    Fault,
    Filtered,
    HookConfiguration,
    Pong,
    Processed,
    Push,
    Rejected,
    Settlement,
    VerifiedDelivery,
    admit,
    decide,
    settlement,
)
from contentsvc_core import strategies as ours
from contentsvc_core.journal import LogStatus
from contentsvc_core.testing import START, CountingIds, address, push_body, release_body, signed
from contentsvc_core.webhooks.settlement import claim_is_held
from contentsvc_core.workflows.filters import Batch, TriggerOptions
from contentsvc_core.workflows.globs import MatchingBudget
from contentsvc_core.workflows.triggers import Trigger

AT = address()


def trigger(number: int, *event_types: str) -> Trigger:
    return a_trigger(id=f"trg_{number}", event_types=event_types)


HOOK = HookConfiguration(
    address=AT,
    enabled=True,
    secrets=("secret",),
    repository=Belonging.THIS_INTEGRATION,
    triggers=(trigger(1), trigger(2, "push"), trigger(3, "release")),
    version=7,
)


def settled(delivery: Delivery, hook: HookConfiguration = HOOK, note: str = "") -> Settlement:
    admission = admit(delivery, hook)
    outcome = decide(admission) if isinstance(admission, VerifiedDelivery) else admission
    return existing(settlement(outcome, hook, at=START, new_id=CountingIds().new_id, note=note))


def test_a_processed_delivery_takes_the_claim_and_leaves_everything_at_once() -> None:
    made = settled(signed(push_body("feat: x"), at=AT, secret="secret", delivery_id="d-1"))

    assert made.claim is Claim.TAKE
    assert made.key == HOOK.claim_key("d-1")
    assert made.version == 7
    assert made.context is not None
    assert made.context.custom_id == "codehost:1:d-1"
    assert [run.cause.started_by for run in made.runs] == ["trg_1", "trg_2"]
    assert {(delivered(run).delivery_id, delivered(run).replayed) for run in made.runs} == {("d-1", False)}
    assert made.log.status is LogStatus.SUCCESS
    assert made.log.reason == "2 workflow runs started"


def test_a_time_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="a point in time needs a time zone"):
        settlement(Pong(delivery_id="d-1"), HOOK, at=START.replace(tzinfo=None), new_id=CountingIds().new_id)


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("push", push_body("x", branch="dev")),
        ("release", release_body(draft=True)),
        ("ping", {}),
        ("issues", {}),
        ("push", b"{"),
        ("push", push_body("x", repository_id=2)),
    ],
)
def test_a_delivery_without_effects_checks_the_claim_and_does_not_take_it(
    event: str, body: bytes | dict[str, object]
) -> None:
    made = settled(signed(body, at=AT, secret="secret", event=event))

    assert made.claim is Claim.CHECK
    assert made.key is not None
    assert made.context is None
    assert made.runs == ()


@pytest.mark.parametrize(
    "hook",
    [
        evolve(HOOK, secrets=("other",)),
        evolve(HOOK, enabled=False),
        evolve(HOOK, repository=Belonging.UNKNOWN),
        evolve(HOOK, repository=Belonging.ANOTHER_INTEGRATION),
    ],
)
def test_a_delivery_refused_before_the_duplicate_check_ignores_the_claim(hook: HookConfiguration) -> None:
    made = settled(signed(push_body("x"), at=AT, secret="secret"), hook)

    assert made.claim is Claim.NONE
    assert made.key is None
    assert made.log.payload is None
    assert made.log.status is LogStatus.FAILED


@pytest.mark.parametrize("fault", [Fault.INVALID_PARAMETERS, Fault.INTEGRATION_NOT_FOUND])
def test_a_delivery_to_an_unknown_integration_stores_nothing(fault: Fault) -> None:
    refused = Rejected(fault=fault, error="no")

    assert settlement(refused, HOOK, at=START, new_id=CountingIds().new_id) is None


def test_the_entry_of_a_duplicate_has_the_same_id_and_reports_the_duplicate() -> None:
    made = settled(signed(push_body("feat: x"), at=AT, secret="secret"))
    entry = made.duplicate_log

    assert entry.id == made.log.id
    assert entry.title == "Duplicate push delivery"
    assert entry.payload == {"event": "push", "duplicate": True}
    assert (entry.status, entry.status_code, entry.error_message) == (LogStatus.SUCCESS, Duplicate.status, None)
    assert entry.reason == "already processed less than 24 hours ago"


@pytest.mark.parametrize(
    ("event", "body", "kind", "title", "reason"),
    [
        ("push", push_body("x"), "push", "Processed push event", "2 workflow runs started"),
        ("push", push_body("x", branch="dev"), "push", "Filtered push event", None),
        ("issues", {}, "issues", "Ignored issues event", "the event type is not supported"),
        ("ping", {}, "ping", "Webhook ping received", None),
        ("push", b"", "push", "Invalid webhook payload", None),
    ],
)
def test_the_entry_names_the_event_and_why_it_ended_so(
    event: str, body: bytes | dict[str, object], kind: str, title: str, reason: str | None
) -> None:
    delivery = signed(body, at=AT, secret="secret", event=event, delivery_id="d-1")
    made = settled(delivery)
    outcome = decide(_verified(delivery))
    if isinstance(outcome, Filtered):
        reason = outcome.reason
    if isinstance(outcome, Rejected):
        reason = outcome.error

    assert (made.outcome.kind, made.log.title, made.log.reason) == (kind, title, reason)
    assert (made.at, made.log.created_at, made.log.reference_id) == (START, START, "d-1")
    assert (made.organization_id, made.log.organization_id, made.log.integration_id) == ("org_1", "org_1", "int_1")
    assert (made.log.repository_id, made.log.integration_type) == (1, "codehost")
    assert made.log.id.startswith("log_")


def test_a_note_without_a_reason_is_the_whole_reason() -> None:
    ping = signed({}, at=AT, secret="secret", event="ping")

    assert settled(ping, note="told").log.reason == "told"
    assert settled(ping, note="").log.reason is None


def test_stored_records_name_their_delivery() -> None:
    delivery = signed(push_body("feat: x"), at=AT, secret="secret", delivery_id="d-1")
    outcome = decide(_verified(delivery))
    assert isinstance(outcome, Processed)
    first, again = (
        settlement(
            outcome,
            HOOK,
            at=START,
            new_id=CountingIds().new_id,
            replayed=replayed,
            event_json="{}" if replayed else None,
        )
        for replayed in (False, True)
    )

    assert first is not None
    assert again is not None
    for made, replayed in ((first, False), (again, True)):
        assert made.context is not None
        assert made.context.id.startswith("ctx_")
        assert (made.context.organization_id, made.context.provider) == ("org_1", "codehost")
        assert (made.context.repository_id, made.context.repository) == (1, "acme/lighthouse")
        assert (made.context.event, made.context.created_at) == (outcome.event, START)
        for run in made.runs:
            assert (run.organization_id, run.created_at, run.due_at) == ("org_1", START, START)
            # The ids of runs have no prefix.
            assert run.id.startswith("0")
            cause = delivered(run)
            assert (cause.provider, cause.repository_id, cause.repository) == ("codehost", 1, "acme/lighthouse")
            assert (cause.event, cause.replayed) == (outcome.event, replayed)
    assert (first.event_json, again.event_json) == (None, "{}")


def test_a_duplicate_was_never_decided_and_leaves_nothing_of_its_own() -> None:
    duplicate = Duplicate(kind="push", delivery_id="d-1")

    assert settlement(duplicate, HOOK, at=START, new_id=CountingIds().new_id) is None


def test_a_refusal_of_a_delivery_that_names_no_id_has_no_key() -> None:
    refused = Rejected(fault=Fault.INVALID_PAYLOAD, error="no", unless_duplicate=True)
    made = existing(settlement(refused, HOOK, at=START, new_id=CountingIds().new_id))

    assert (made.claim, made.key, made.log.reference_id) == (Claim.CHECK, None, None)
    assert made.duplicate.outcome == Duplicate(kind="", delivery_id="")
    assert (made.note, made.replayed, made.log.reason) == ("", False, "no")


@pytest.mark.parametrize(("age_ms", "held"), [(0, True), (86_399_999, True), (86_400_000, False), (86_400_001, False)])
def test_a_claim_is_free_again_exactly_after_24_hours(age_ms: int, held: bool) -> None:
    assert claim_is_held(START, START + timedelta(milliseconds=age_ms)) is held


def test_a_clock_that_was_stepped_back_frees_no_claim() -> None:
    assert claim_is_held(START, START - timedelta(hours=1))


def key(organization_id: str, integration_id: str, repository_id: int, delivery_id: str) -> bytes:
    at = address("codehost", organization_id, integration_id, repository_id)
    return evolve(HOOK, address=at).claim_key(delivery_id)


# Keys that differ in one part: random generation does not find them.
@example(
    [
        ("org_1", "int_1", 1, "d-1"),
        ("org_2", "int_1", 1, "d-1"),
        ("org_1", "int_2", 1, "d-1"),
        ("org_1", "int_1", 2, "d-1"),
        ("org_1", "int_1", 1, "d-2"),
    ]
)
@given(st.lists(st.tuples(st.text(), st.text(), st.integers(1), ours.delivery_ids()), unique=True, min_size=2))
def test_every_part_of_a_key_counts(parts: list[tuple[str, str, int, str]]) -> None:
    keys = {key(*each) for each in parts}

    assert len(keys) == len(parts)
    assert {len(each) for each in keys} == {16}


def test_a_key_is_the_same_in_every_version() -> None:
    # Claims of the last 24 hours are stored by this key: another form would release all of them.
    assert key("org_1", "int_1", 1, "d-1").hex() == "140ec942e427dc21fcbde3c0ebce86a0"


def test_neighbouring_parts_of_a_key_cannot_be_mixed_up() -> None:
    assert key("a", "bc", 1, "2") != key("ab", "c", 12, "")


@given(ours.deliveries(at=AT))
def test_every_id_of_a_settlement_is_minted_and_none_is_derived(delivery: Delivery) -> None:
    ids = CountingIds()
    assume(isinstance(admit(delivery, HOOK), VerifiedDelivery))
    outcome = decide(_verified(delivery))
    first = existing(settlement(outcome, HOOK, at=START, new_id=ids.new_id))
    second = existing(settlement(outcome, HOOK, at=START, new_id=ids.new_id))

    minted = [[made.log.id, *(run.id for run in made.runs)] for made in (first, second)]
    assert not set(minted[0]) & set(minted[1])


def _verified(delivery: Delivery) -> VerifiedDelivery:
    admission = admit(delivery, HOOK)
    assert isinstance(admission, VerifiedDelivery)
    return admission


def _filtering(number: int, **options: Any) -> Trigger:
    return evolve(trigger(number), options=TriggerOptions(**options))


@pytest.mark.parametrize(
    ("triggers", "replayed", "started", "reason"),
    [
        (
            (_filtering(1, batch=Batch.DAILY), _filtering(2, batch=Batch.WEEKLY), trigger(3)),
            False,
            ["trg_3"],
            "1 workflow run started; collected by 2 triggers for a later post; x",
        ),
        (
            (_filtering(1, batch=Batch.DAILY), _filtering(2, scopes=("beam",))),
            False,
            [],
            "0 workflow runs started; collected by 1 trigger for a later post; x",
        ),
        ((_filtering(1, batch=Batch.DAILY),), True, ["trg_1"], "1 workflow run started; x"),
        (
            (_filtering(1, scopes=("beam",)), _filtering(2, branches=("next",)), _filtering(3, scopes=("horn",))),
            False,
            [],
            "0 workflow runs started; filtered: no trigger matched: scope, branch; x",
        ),
        ((_filtering(1, scopes=("beam",)), trigger(2)), False, ["trg_2"], "1 workflow run started; x"),
        ((), False, [], "0 workflow runs started; x"),
        # A trigger for other events filters nothing.
        (
            (evolve(trigger(1, "release"), options=TriggerOptions(tags=("v*",))),),
            False,
            [],
            "0 workflow runs started; x",
        ),
    ],
)
def test_filters_and_windows_decide_which_triggers_start_a_run(
    triggers: tuple[Trigger, ...], replayed: bool, started: list[str], reason: str
) -> None:
    hook = evolve(HOOK, triggers=triggers)
    outcome = settled(signed(push_body("feat(lamp): x"), at=AT, secret="secret"), hook).outcome
    made = existing(settlement(outcome, hook, at=START, new_id=CountingIds().new_id, note="x", replayed=replayed))

    assert [run.cause.started_by for run in made.runs] == started
    assert made.log.reason == reason


def test_triggers_without_branches_do_not_start_a_run_for_another_branch() -> None:
    # The decision used an older configuration, in which a trigger named the branch.
    outcome = settled(signed(push_body("feat: x"), at=AT, secret="secret")).outcome
    assert isinstance(outcome, Processed)
    assert isinstance(outcome.event, Push)
    other = evolve_event(outcome, event=evolve_event(outcome.event, off_default=True))
    made = existing(settlement(other, HOOK, at=START, new_id=CountingIds().new_id))

    assert (made.runs, made.log.reason) == ((), "0 workflow runs started; filtered: no trigger matched: branch")


def test_the_triggers_of_an_event_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contentsvc_core.webhooks.settlement.MatchingBudget", lambda: MatchingBudget(remaining=1))
    hook = evolve(HOOK, triggers=(_filtering(1, scopes=("beam",)), _filtering(2, scopes=("horn",))))
    made = settled(signed(push_body("feat(lamp): x"), at=AT, secret="secret"), hook)

    # No budget is left for the second trigger, so its run applies the filter.
    assert [run.cause.started_by for run in made.runs] == ["trg_2"]


@pytest.mark.parametrize(
    ("event", "body", "reason"),
    [
        ("push", push_body("x", branch="next"), None),
        ("push", push_body(branch="next"), "refs/heads/next is not the default branch (main)"),
        ("push", {**push_body("x"), "ref": "refs/tags/v1"}, "refs/tags/v1 is not the default branch (main)"),
        ("push", push_body("x", branch="dev"), "refs/heads/dev is not the default branch (main)"),
        ("push", push_body(), "the push contains no commits"),
        ("release", release_body("v1", action="deleted"), "the action 'deleted' is not processed"),
        ("release", release_body("v1", draft=True), "the release is a draft"),
    ],
)
def test_triggers_that_name_branches_open_them_to_pushes_of_commits_alone(
    event: str, body: dict[str, object], reason: str | None
) -> None:
    hook = evolve(HOOK, triggers=(_filtering(1, branches=("next",)), _filtering(2, branches=("refs/**",))))
    outcome = settled(signed(body, at=AT, secret="secret", event=event), hook).outcome

    assert isinstance(outcome, Processed if reason is None else Filtered)
    assert (outcome.reason if isinstance(outcome, Filtered) else None) == reason
