"""The contract of :data:`.Triggers`: unique, limited in number, changed one after the other, fired once."""

from datetime import timedelta
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

from attrs import evolve, frozen

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.errors import Unstorable
from contentsvc_core.ports import Triggers
from contentsvc_core.refusals import too_many
from contentsvc_core.testing.contracts.trials import Contract, Trial
from contentsvc_core.testing.parts import START
from contentsvc_core.workflows.automations import DueAutomation, Firing
from contentsvc_core.workflows.causes import Source
from contentsvc_core.workflows.filters import Batch, TriggerOptions
from contentsvc_core.workflows.triggers import ANY_SOURCE, DUPLICATE_TRIGGER, UNKNOWN_TRIGGER, Trigger, collecting
from contentsvc_core.zones import DEFAULT_ZONE

_Trial: TypeAlias = Trial[Triggers]

#: The contract of the triggers. Each guarantee needs an empty store that knows two organizations, with their time zone
#: UTC, and no brand identities.
TRIGGERS: Final = Contract[Triggers]()

_HOUR: Final = timedelta(hours=1)
_MOMENT: Final = timedelta(milliseconds=1)
_SOURCE: Final = Source(provider="codehost", repository_id=1, full_name="acme/lighthouse")
_OPTIONS: Final = TriggerOptions(
    all_repositories=True,
    branches=("release/*", "!release/0.x"),
    tags=("öffnen@*",),
    paths=("pkg/**", "a*" * 100),
    scopes=("api",),
    pre_releases=False,
    batch=Batch.WEEKLY,
)


@frozen
class _Changed:
    """A change that sets a field of a trigger, or adds to its repositories."""

    field: str
    value: Any

    def __call__(self, trigger: Trigger, _zone: ZoneInfo) -> Trigger:
        adds = self.field == "repository_ids"
        return evolve(trigger, **{self.field: (*trigger.repository_ids, self.value) if adds else self.value})


def _a_trigger(trial: _Trial, repository_id: int = 1, **fields: Any) -> Trigger:  # noqa: ANN401  # of a trigger
    values: dict[str, Any] = {
        "id": trial.new_id("trg_"),
        "organization_id": trial.own,
        "source_type": "codehost_webhook",
        "repository_ids": (repository_id,),
        "event_types": (),
        "output_type": ContentType.CHANGELOG,
        "created_at": START,
    }
    return Trigger(**values | fields)


async def _added(trial: _Trial, repository_id: int = 1, **fields: Any) -> Trigger:  # noqa: ANN401  # as above
    trigger = _a_trigger(trial, repository_id, **fields)
    trial.same(await trial.store.add(trigger), trigger)
    return trigger


@TRIGGERS.guarantee("a trigger reads back as it was, with all options")
async def _reads_back(trial: _Trial) -> None:
    rich = await _added(
        trial,
        name="öffnen ⚓",
        source_type=ANY_SOURCE,
        repository_ids=(7, 2**63 - 1),
        event_types=("push", "release"),
        output_type=ContentType.TWITTER_POST,
        auto_publish=True,
        options=_OPTIONS,
        house_style=HouseStyle({"links": False}),
        since=START,
        due_at=START + 2 * _HOUR,
        created_at=START + _MOMENT,
    )
    trial.same(await trial.store.find(trial.own, rich.id), rich)


@TRIGGERS.guarantee("triggers are listed oldest first, and belong to one organization")
async def _are_listed(trial: _Trial) -> None:
    store = trial.store
    late, early = await _added(trial, 1, created_at=START + _HOUR), await _added(trial, 2)
    foreign = await _added(trial, 1, organization_id=trial.foreign)
    trial.same(await store.all_of(trial.own), [early, late])
    trial.same(await store.all_of(trial.foreign), [foreign])
    for id_ in (foreign.id, "trg_unknown"):
        trial.same(await store.find(trial.own, id_), None)
        trial.same(await store.change(trial.own, id_, _Changed("name", "new")), UNKNOWN_TRIGGER)
        trial.same(await store.remove(trial.own, id_), expected=False)
    trial.same(await store.all_of(trial.foreign), [foreign])


@TRIGGERS.guarantee("of concurrent triggers that do the same, one is stored; the others are refused")
async def _are_unique(trial: _Trial) -> None:
    store, pattern = trial.store, _a_trigger(trial)
    rivals = [
        evolve(pattern, id=f"{pattern.id}-{number}", name=f"{number}", enabled=number % 2 == 0, auto_publish=not number)
        for number in range(8)
    ]
    answers = await trial.at_once(*map(store.add, rivals))
    winners = [each for each in answers if each != DUPLICATE_TRIGGER]
    trial.holds(answers, holds=len(winners) == 1)
    trial.same(await store.all_of(trial.own), winners)
    await _added(trial, 1, organization_id=trial.foreign)


@TRIGGERS.guarantee("a repeated addition changes nothing, and returns the trigger")
async def _are_added_once(trial: _Trial) -> None:
    store, trigger = trial.store, await _added(trial)
    trial.same(await store.add(trigger), trigger)
    changed = await store.change(trial.own, trigger.id, _Changed("name", "new"))
    trial.same(await store.add(trigger), changed)
    trial.same(await store.all_of(trial.own), [evolve(trigger, name="new")])


@TRIGGERS.guarantee("concurrent additions keep the most triggers of an organization")
async def _are_limited(trial: _Trial) -> None:
    store = trial.store
    rivals = [_a_trigger(trial, number) for number in range(1, 6)]
    answers = await trial.at_once(*(store.add(rival, at_most=2) for rival in rivals))
    trial.same(sorted(map(str, answers))[:3], [str(too_many("event triggers", 2))] * 3)
    winners = [each for each in answers if isinstance(each, Trigger)]
    trial.same({each.id for each in await store.all_of(trial.own)}, {each.id for each in winners})
    # A repetition does not count, and another organization has a limit of its own.
    trial.same(await store.add(winners[0], at_most=2), winners[0])
    foreign = _a_trigger(trial, organization_id=trial.foreign)
    trial.same(await store.add(foreign, at_most=2), foreign)


@TRIGGERS.guarantee("a change applies to the stored trigger alone, and is returned; a refused one writes nothing")
async def _are_changed(trial: _Trial) -> None:
    store = trial.store
    one, two = await _added(trial, 1), await _added(trial, 2)
    changed = evolve(one, name="new", enabled=False, repository_ids=(7, 2**63 - 1), event_types=("release",))

    def change(_trigger: Trigger, _zone: ZoneInfo) -> Trigger:
        return changed

    trial.same(await store.change(trial.own, one.id, change), changed)
    trial.same(await store.find(trial.own, one.id), changed)
    trial.same(await store.change(trial.own, two.id, lambda _, _zone: UNKNOWN_TRIGGER), UNKNOWN_TRIGGER)
    trial.same(await store.all_of(trial.own), [changed, two])


@TRIGGERS.guarantee("a trigger does not become a duplicate of another one by a change")
async def _stay_unique(trial: _Trial) -> None:
    store = trial.store
    one, two = await _added(trial, 1), await _added(trial, 2)

    def doubling(trigger: Trigger, _zone: ZoneInfo) -> Trigger:
        return evolve(trigger, name="x", repository_ids=one.repository_ids)

    trial.same(await store.change(trial.own, two.id, doubling), DUPLICATE_TRIGGER)
    trial.same(await store.all_of(trial.own), [one, two])


@TRIGGERS.guarantee("of concurrent changes of a trigger, none is lost")
async def _lose_no_change(trial: _Trial) -> None:
    store, trigger = trial.store, await _added(trial)
    numbers = range(10, 20)
    await trial.at_once(
        *(store.change(trial.own, trigger.id, _Changed("repository_ids", number)) for number in numbers)
    )
    trial.same(await store.find(trial.own, trigger.id), evolve(trigger, repository_ids=(1, *numbers)))


@TRIGGERS.guarantee("a text that cannot be stored raises Unstorable, and nothing is written")
async def _cannot_be_stored(trial: _Trial) -> None:
    store, trigger = trial.store, await _added(trial)
    try:
        await store.change(trial.own, trigger.id, _Changed("name", "half: \ud800"))
    except Unstorable:
        trial.same(await store.find(trial.own, trigger.id), trigger)


@TRIGGERS.guarantee("a trigger is removed once, and another one may do the same then")
async def _are_removed(trial: _Trial) -> None:
    store = trial.store
    one, two = await _added(trial, 1), await _added(trial, 2)
    removals = [store.remove(trial.own, one.id) for _ in range(5)]
    trial.same(sorted(await trial.at_once(*removals)), [False] * 4 + [True])
    trial.same(await store.all_of(trial.own), [two])
    trial.same(await store.change(trial.own, one.id, _Changed("name", "new")), UNKNOWN_TRIGGER)
    await _added(trial, 1)


async def _batching(trial: _Trial, batch: Batch, repository_id: int) -> Trigger:
    pattern = _a_trigger(trial, repository_id, options=TriggerOptions(batch=batch))
    trigger = collecting(pattern, START, DEFAULT_ZONE)
    trial.same(await trial.store.add(trigger), trigger)
    return trigger


def _due(trigger: Trigger) -> DueAutomation:
    assert trigger.due_at is not None
    return DueAutomation(id=trigger.id, organization_id=trigger.organization_id, due_at=trigger.due_at)


def _firing(trial: _Trial, trigger: Trigger) -> Firing:
    at = _due(trigger).due_at
    firing = trigger.firing(at, DEFAULT_ZONE, sources=[_SOURCE], run_id=trial.new_id(""))
    assert firing is not None
    return firing


@TRIGGERS.guarantee("a trigger is due from exactly the end of its window on, the longest waiting first")
async def _are_due(trial: _Trial) -> None:
    store = trial.store
    weekly, daily = await _batching(trial, Batch.WEEKLY, 1), await _batching(trial, Batch.DAILY, 2)
    await _added(trial, 3)
    one, two = _due(daily), _due(weekly)
    trial.same(await store.due(one.due_at - _MOMENT, limit=9), [])
    trial.same(await store.due(one.due_at, limit=9), [one])
    trial.same(await store.due(two.due_at, limit=9), [one, two])
    trial.same(await store.due(two.due_at, limit=1), [one])
    trial.same(await store.due(two.due_at, limit=9, after=one), [two])
    trial.same(await store.due(two.due_at, limit=9, after=two), [])


@TRIGGERS.guarantee("of concurrent firings of a window, one succeeds; repeated, it succeeds again and changes nothing")
async def _fire_once(trial: _Trial) -> None:
    store, daily = trial.store, await _batching(trial, Batch.DAILY, 1)
    rivals = [_firing(trial, daily) for _ in range(8)]
    fired = await trial.at_once(*map(store.fire, rivals))
    trial.holds(fired, holds=fired.count(True) == 1)
    end = _due(daily).due_at
    after = evolve(daily, since=end, due_at=end + timedelta(days=1))
    trial.same(await store.find(trial.own, daily.id), after)
    winner = rivals[fired.index(True)]
    trial.same(await store.fire(winner), expected=True)
    trial.same(await store.find(trial.own, daily.id), after)
    trial.same(await store.due(end, limit=9), [])


@TRIGGERS.guarantee("a disabled or deleted trigger does not fire")
async def _do_not_fire(trial: _Trial) -> None:
    store = trial.store
    one, two = await _batching(trial, Batch.DAILY, 1), await _batching(trial, Batch.DAILY, 2)
    await store.change(trial.own, one.id, _Changed("enabled", value=False))
    await store.remove(trial.own, two.id)
    trial.same([await store.fire(_firing(trial, each)) for each in (one, two)], [False, False])
    trial.same(await store.due(_due(one).due_at, limit=9), [])
