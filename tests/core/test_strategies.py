"""The published strategies generate the values that code hosts send."""

from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from random import Random
from typing import Final, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, find, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

from contentsvc_core import (
    PROVIDERS,
    Belonging,
    Delivery,
    Event,
    Fault,
    Filtered,
    HookConfiguration,
    Ignored,
    Processed,
    Provider,
    Push,
    Rejected,
    Release,
    VerifiedDelivery,
    admit,
    decide,
)
from contentsvc_core.strategies import deliveries, delivery_ids, events, foreign_text, pushes
from contentsvc_core.testing import address
from contentsvc_core.webhooks.decision import delivery_id
from contentsvc_core.webhooks.providers.tags import is_version

_Drawn = TypeVar("_Drawn")
_Kind = TypeVar("_Kind")
#: The most examples, enough for each version of Hypothesis: a search ends when each kind was found.
_SETTINGS: Final = settings(max_examples=3000, database=None, phases=[Phase.generate])
#: Not those of the profile: `python -m tests.mutation` shrinks nothing.
_SHRINKING: Final = settings(database=None, phases=[Phase.generate, Phase.shrink])
PUSHES: Final[dict[str, Callable[[Push], bool]]] = {
    "to the default branch": lambda push: push.ref == "refs/heads/main" and bool(push.commits),
    "to another branch": lambda push: push.ref.startswith("refs/heads/") and push.branch != "main",
    "of a tag": lambda push: push.ref.startswith("refs/tags/") and push.branch == push.ref,
    "that deletes": lambda push: not push.commits and push.head_commit is None,
    "without commits": lambda push: not push.commits,
    "of many commits": lambda push: len(push.commits) > 20,
    "with markup": lambda push: any("](" in commit.message for commit in push.commits),
    "of one commit twice": lambda push: len({commit.id for commit in push.commits}) < len(push.commits),
    "with another script": lambda push: any(not commit.message.isascii() for commit in push.commits),
}
RELEASES: Final[dict[str, Callable[[Release], bool]]] = {
    "published": lambda release: release.action == "published",
    "prereleased": lambda release: release.action == "prereleased" and release.prerelease,
    "of a version": lambda release: is_version(release.tag_name),
    "with headings in its notes": lambda release: "## " in (release.body or ""),
}
#: Fields that some code hosts do not send.
PARTIAL: Final[dict[str, Callable[[Event], bool]]] = {
    "a draft": lambda event: isinstance(event, Release) and event.draft,
    "that is cut": lambda event: isinstance(event, Push) and event.is_cut,
    "with its notes": lambda event: isinstance(event, Release) and bool(event.body),
    "without commits, of a branch": lambda event: (
        isinstance(event, Push) and not event.commits and event.head_commit is not None
    ),
    "with a type in its subject": lambda event: (
        isinstance(event, Push) and any(commit.message.startswith("feat") for commit in event.commits)
    ),
}


def seen(event: Event) -> set[str]:
    found = {name for name, holds in PARTIAL.items() if holds(event)}
    match event:
        case Push():
            return found | {name for name, holds in PUSHES.items() if holds(event)}
        case Release():
            return found | {name for name, holds in RELEASES.items() if holds(event)}


def kinds_of(
    strategy: SearchStrategy[_Drawn], kinds: Callable[[_Drawn], set[_Kind]], wanted: Collection[_Kind]
) -> set[_Kind]:
    """Generate values until all ``wanted`` kinds were found; return the found kinds."""
    found = set[_Kind]()

    def is_complete(drawn: _Drawn) -> bool:
        found.update(kinds(drawn))
        return found.issuperset(wanted)

    with suppress(NoSuchExample):
        find(strategy, is_complete, settings=_SETTINGS, random=Random(1))  # noqa: S311  # the same in each run
    return found


def test_events_are_pushes_and_releases_of_each_kind() -> None:
    wanted = PUSHES.keys() | RELEASES.keys() | PARTIAL.keys()

    assert kinds_of(events(), seen, wanted) >= wanted


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.slug)
def test_deliveries_have_each_kind_of_event_and_outcome(provider: Provider) -> None:
    at = address(provider.slug)
    hook = HookConfiguration(
        address=at, enabled=True, secrets=("secret",), repository=Belonging.THIS_INTEGRATION, branch="main", version=1
    )
    outcomes = {each.__name__ for each in (Processed, Filtered, Ignored)}
    outcomes |= {Fault.INVALID_PAYLOAD.name, Fault.REPOSITORY_MISMATCH.name}
    outcomes |= {Fault.INVALID_HEADER.name, Fault.ENCODED_BODY.name, Fault.INVALID_SIGNATURE.name}
    several = {"of several changes"} if provider.slug == "bitbucket" else set[str]()
    wanted = {"of a tag", "that deletes", "prereleased", "that no store can hold"} | outcomes | several

    def kinds(delivery: Delivery) -> set[str]:
        admitted = admit(delivery, hook)
        outcome = decide(admitted) if isinstance(admitted, VerifiedDelivery) else admitted
        found = {"that no store can hold"} if b"\\u0000" in delivery.body else set[str]()
        found |= {outcome.fault.name if isinstance(outcome, Rejected) else type(outcome).__name__}
        if isinstance(outcome, Processed) and outcome.also:
            found.add("of several changes")
        return found | seen(outcome.event) if isinstance(outcome, Processed | Filtered) else found

    assert kinds_of(deliveries(at=at), kinds, wanted) >= wanted


def test_texts_and_ids_have_all_lengths() -> None:
    for strategy, lengths in (
        (foreign_text(max_size=80), {0, 1, 80}),
        (foreign_text(max_size=0), {0}),
        (delivery_ids(), {1, 36, 255}),
    ):
        assert kinds_of(strategy, lambda text: {len(text)}, lengths) >= lengths


@settings(max_examples=60)
@given(st.lists(deliveries(), min_size=6, max_size=6).map(lambda drawn: [delivery_id(each) for each in drawn]))
def test_deliveries_have_different_ids(ids: list[str | None]) -> None:
    assert max(Counter(filter(None, ids)).values(), default=1) == 1


def test_different_deliveries_may_have_one_id() -> None:
    wanted = st.lists(deliveries(ids=st.sampled_from(["a", "b"])), min_size=2, max_size=2)

    def is_found(drawn: list[Delivery]) -> bool:
        first, second = drawn
        return delivery_id(first) == delivery_id(second) == "b" and first.body != second.body

    find(wanted, is_found, settings=_SETTINGS, random=Random(1))  # noqa: S311  # the same in each run


def test_a_push_shrinks_to_new_commits_of_the_default_branch() -> None:
    shrunk = find(pushes(), lambda push: bool(push.commits), settings=_SHRINKING)

    assert (shrunk.ref, [commit.distinct for commit in shrunk.commits]) == ("refs/heads/main", [True])


def test_a_failing_delivery_shrinks_in_few_calls() -> None:
    at, calls = address("bitbucket"), 0
    hook = HookConfiguration(
        address=at, enabled=True, secrets=("secret",), repository=Belonging.THIS_INTEGRATION, version=1
    )

    @seed(1)
    @settings(max_examples=1000, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(deliveries(at=at))
    def nothing_is_filtered(delivery: Delivery) -> None:
        nonlocal calls
        calls += 1
        admitted = admit(delivery, hook)
        assert not isinstance(admitted, VerifiedDelivery) or not isinstance(decide(admitted), Filtered)

    with pytest.raises(AssertionError):
        nothing_is_filtered()

    assert calls < 200
