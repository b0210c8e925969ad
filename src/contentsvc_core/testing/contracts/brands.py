"""The contract of :class:`.BrandIdentities`: unique names, one default, and the effects of a removal."""

from datetime import timedelta
from typing import Any, Final, Protocol, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from attrs import evolve, frozen

from contentsvc_core.content.brand import BrandIdentity, ToneProfile, no_such_brand
from contentsvc_core.content.brand_changes import BRAND_NAME_TAKEN, DELETES_DEFAULT_BRAND, UNKNOWN_BRAND, BrandChange
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback
from contentsvc_core.errors import Unstorable
from contentsvc_core.ports import BrandIdentities, Schedules, Triggers
from contentsvc_core.testing.contracts.trials import Contract, Trial
from contentsvc_core.testing.parts import START
from contentsvc_core.workflows.automations import Automation
from contentsvc_core.workflows.removals import Removed
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import Trigger


class BrandStores(Protocol):
    """The stores that brand identities need: triggers and schedules name them."""

    @property
    def brands(self) -> BrandIdentities: ...
    @property
    def triggers(self) -> Triggers: ...
    @property
    def schedules(self) -> Schedules: ...


_Trial: TypeAlias = Trial[BrandStores]
_Automation = TypeVar("_Automation", bound=Automation)

#: The contract of the brand identities. Each guarantee needs empty stores that know two organizations.
BRANDS: Final = Contract[BrandStores]()

_HOUR: Final = timedelta(hours=1)


def _a_brand(trial: _Trial, name: str = "Lighthouse", **fields: Any) -> BrandIdentity:  # noqa: ANN401  # of a brand
    values: dict[str, Any] = {
        "id": trial.new_id("brand_"),
        "organization_id": trial.own,
        "name": name,
        "website_url": "https://acme.example/",
        "created_at": START,
        "updated_at": START,
    }
    return BrandIdentity(**values | fields)


async def _added(trial: _Trial, name: str = "Lighthouse", **fields: Any) -> BrandIdentity:  # noqa: ANN401  # as above
    brand = await trial.store.brands.add(_a_brand(trial, name, **fields))
    if not isinstance(brand, BrandIdentity):
        trial.fail(f"got {brand}")
    return brand


def _change(**values: Any) -> BrandChange:  # noqa: ANN401  # fields of an identity
    return BrandChange(values=values, at=START + _HOUR)


def _a_trigger(trial: _Trial, repository_id: int, brand_id: str | None, *, enabled: bool = True) -> Trigger:
    return Trigger(
        id=trial.new_id("trg_"),
        organization_id=trial.own,
        source_type="codehost_webhook",
        repository_ids=(repository_id,),
        event_types=(),
        output_type=ContentType.CHANGELOG,
        brand_identity_id=brand_id,
        enabled=enabled,
        created_at=START + timedelta(seconds=repository_id),
    )


def _a_schedule(trial: _Trial, repository_id: int, brand_id: str | None) -> Schedule:
    return Schedule(
        id=trial.new_id("sch_"),
        organization_id=trial.own,
        name="Every morning",
        cron=Cron(frequency=Frequency.DAILY, hour=9, minute=0),
        repository_ids=(repository_id,),
        output_type=ContentType.CHANGELOG,
        lookback=Lookback.YESTERDAY,
        brand_identity_id=brand_id,
        due_at=START + 9 * _HOUR,
        created_at=START + timedelta(seconds=repository_id),
        updated_at=START + timedelta(seconds=repository_id),
    )


@frozen
class _Naming:
    """A change that names another identity."""

    brand_id: str

    def __call__(self, automation: _Automation, _zone: ZoneInfo) -> _Automation:
        return evolve(automation, brand_identity_id=self.brand_id)


@BRANDS.guarantee("an identity reads back as it was, and the first of an organization is its default")
async def _reads_back(trial: _Trial) -> None:
    brands = trial.store.brands
    trial.same(await brands.default(trial.own), None)
    brand = _a_brand(
        trial,
        "Leuchtturm ⚓",
        company_name="Acme & Söhne",
        company_description="two\nlines",
        tone_profile=ToneProfile.CASUAL,
        custom_tone="like the sea",
        custom_instructions="never shout",
        audience="sailors",
        language="German",
    )
    first = evolve(brand, is_default=True)
    trial.same(await brands.add(brand), first)
    second = await _added(trial, "second", is_default=True, created_at=START + _HOUR)
    trial.same(second.is_default, expected=False)
    trial.same(await brands.identity(trial.own, brand.id), first)
    trial.same(await brands.identity(trial.own, "brand_unknown"), None)
    trial.same(await brands.default(trial.own), first)
    trial.same(await brands.identities(trial.own), [first, second])


@BRANDS.guarantee("names are unique in an organization, in any case and any form of Unicode")
async def _have_unique_names(trial: _Trial) -> None:
    brands, first, second = trial.store.brands, await _added(trial, "Straße é"), await _added(trial, "Other")
    for same in ("STRASSE É", "straße e\u0301"):
        trial.same(await brands.add(_a_brand(trial, same)), BRAND_NAME_TAKEN)
        trial.same(await brands.change(trial.own, second.id, _change(name=same)), BRAND_NAME_TAKEN)
    await _added(trial, "Straße é", organization_id=trial.foreign)
    trial.same({each.id for each in await brands.identities(trial.own)}, {first.id, second.id})


@BRANDS.guarantee("of concurrent identities, one has a name, and one is the default")
async def _are_added_at_once(trial: _Trial) -> None:
    brands = trial.store.brands
    rivals = [_a_brand(trial, name) for name in ("Acme", "ACME", "acme", "b", "c", "d")]
    answers = await trial.at_once(*map(brands.add, rivals))
    created = [answer for answer in answers if isinstance(answer, BrandIdentity)]
    trial.same(sorted({each.name.lower() for each in created}), ["acme", "b", "c", "d"])
    stored = await brands.identities(trial.own)
    trial.same({each.id for each in stored}, {each.id for each in created})
    trial.same([each.is_default for each in stored].count(True), 1)


@BRANDS.guarantee("an identity that is added again is returned as it is stored, also after a change")
async def _are_added_once(trial: _Trial) -> None:
    brands, brand = trial.store.brands, await _added(trial)
    changed = await brands.change(trial.own, brand.id, _change(name="Renamed"))
    trial.same(await brands.add(evolve(brand, created_at=START + _HOUR)), changed)
    trial.same(await brands.identities(trial.own), [changed])


@BRANDS.guarantee("an identity of an unknown organization, or with the id of another one's, is Unstorable")
async def _need_their_organization(trial: _Trial) -> None:
    brands, brand = trial.store.brands, await _added(trial)
    await trial.raises(Unstorable, brands.add(evolve(brand, organization_id=trial.foreign)))
    await trial.raises(Unstorable, brands.add(_a_brand(trial, organization_id="org_unknown")))
    trial.same(await brands.identities(trial.foreign), [])


@BRANDS.guarantee("of concurrent changes of an identity, none is lost, and other identities stay as they are")
async def _lose_no_change(trial: _Trial) -> None:
    brands = trial.store.brands
    brand, other = await _added(trial, audience="sailors", language="German"), await _added(trial, "Other")
    values: dict[str, Any] = {"name": "LIGHTHOUSE", "tone_profile": ToneProfile.FORMAL}
    await trial.at_once(
        brands.change(trial.own, brand.id, _change(audience=None)),
        brands.change(trial.own, brand.id, _change(**values)),
    )
    changed = evolve(brand, audience=None, updated_at=START + _HOUR, **values)
    trial.same([await brands.identity(trial.own, each.id) for each in (brand, other)], [changed, other])


@BRANDS.guarantee("an organization has one default at any time, also when several become it at once")
async def _have_one_default(trial: _Trial) -> None:
    brands = trial.store.brands
    created = [await _added(trial, f"brand {number}") for number in range(4)]
    answers = await trial.at_once(*(brands.change(trial.own, each.id, _change(is_default=True)) for each in created))
    trial.holds(answers, holds=all(isinstance(each, BrandIdentity) and each.is_default for each in answers))
    defaults = [each for each in await brands.identities(trial.own) if each.is_default]
    trial.same(defaults, [await brands.default(trial.own)])


@BRANDS.guarantee("nothing of another organization is seen or changed")
async def _are_isolated(trial: _Trial) -> None:
    brands = trial.store.brands
    await _added(trial)
    brand = await _added(trial, "Other")
    trial.same(await brands.identity(trial.foreign, brand.id), None)
    trial.same(await brands.identities(trial.foreign), [])
    trial.same(await brands.default(trial.foreign), None)
    trial.same(await brands.change(trial.foreign, brand.id, _change(is_default=True)), UNKNOWN_BRAND)
    trial.same(await brands.remove(trial.foreign, brand.id), UNKNOWN_BRAND)
    trial.same(await brands.identity(trial.own, brand.id), brand)


@BRANDS.guarantee("a removal disables the triggers and schedules that name the identity, and returns them")
async def _disable_what_names_them(trial: _Trial) -> None:
    brands, triggers, schedules = trial.store.brands, trial.store.triggers, trial.store.schedules
    default, brand = await _added(trial), await _added(trial, "Other", created_at=START + _HOUR)
    named, off = _a_trigger(trial, 1, brand.id), _a_trigger(trial, 2, brand.id, enabled=False)
    others = [_a_trigger(trial, 3, default.id), _a_trigger(trial, 4, None)]
    for trigger in (named, off, *others):
        await triggers.add(trigger)
    scheduled, other = _a_schedule(trial, 1, brand.id), _a_schedule(trial, 2, default.id)
    for schedule in (scheduled, other):
        await schedules.add(schedule)
    removed = await brands.remove(trial.own, brand.id)
    trial.same(removed, Removed(disabled_events=[named], disabled_schedules=[scheduled]))
    trial.same(await brands.identities(trial.own), [default])
    # They keep the id, so that no two of them become equal.
    trial.same(await triggers.all_of(trial.own), [evolve(named, enabled=False), off, *others])
    trial.same(await schedules.all_of(trial.own), [evolve(scheduled, enabled=False, due_at=None), other])


@BRANDS.guarantee("the default identity, or an unknown one, is not removed")
async def _keep_the_default(trial: _Trial) -> None:
    brands, default = trial.store.brands, await _added(trial)
    other = await _added(trial, "Other", created_at=START + _HOUR)
    trial.same(await brands.remove(trial.own, default.id), DELETES_DEFAULT_BRAND)
    trial.same(await brands.identities(trial.own), [default, other])
    await brands.remove(trial.own, other.id)
    trial.same(await brands.remove(trial.own, other.id), UNKNOWN_BRAND)


@BRANDS.guarantee("checks_brand refuses an identity that the organization of the trigger or schedule does not have")
async def _are_checked(trial: _Trial) -> None:
    triggers, schedules = trial.store.triggers, trial.store.schedules
    trigger, schedule = _a_trigger(trial, 1, None), _a_schedule(trial, 1, None)
    default, foreign = await _added(trial), await _added(trial, organization_id=trial.foreign)
    await triggers.add(trigger)
    await schedules.add(schedule)
    for unknown in ("brand_unknown", "no id", foreign.id):
        answers = [
            await triggers.add(_a_trigger(trial, 2, unknown), checks_brand=True),
            await schedules.add(_a_schedule(trial, 2, unknown), checks_brand=True),
            await triggers.change(trial.own, trigger.id, _Naming(unknown), checks_brand=True),
            await schedules.change(trial.own, schedule.id, _Naming(unknown), checks_brand=True),
        ]
        trial.same(answers, [no_such_brand(unknown)] * 4)
    trial.same(await triggers.all_of(trial.own), [trigger])
    trial.same(await schedules.all_of(trial.own), [schedule])
    for known in (default.id, None):
        new, timed = _a_trigger(trial, 3, known), _a_schedule(trial, 3, known)
        trial.same(await triggers.add(new, checks_brand=True), new)
        trial.same(await schedules.add(timed, checks_brand=True), timed)


@BRANDS.guarantee("no enabled trigger or schedule names an identity that is removed at the same time")
async def _are_removed_at_once(trial: _Trial) -> None:
    brands, triggers, schedules = trial.store.brands, trial.store.triggers, trial.store.schedules
    await _added(trial)
    for number in range(4):
        brand, trigger = await _added(trial, f"brand {number}"), _a_trigger(trial, 1 + 2 * number, None)
        schedule = _a_schedule(trial, 1 + number, None)
        await triggers.add(trigger)
        await schedules.add(schedule)
        calls: list[Any] = [
            triggers.change(trial.own, trigger.id, _Naming(brand.id), checks_brand=True),
            schedules.change(trial.own, schedule.id, _Naming(brand.id), checks_brand=True),
            triggers.add(_a_trigger(trial, 2 + 2 * number, brand.id), checks_brand=True),
        ]
        calls.insert(number, brands.remove(trial.own, brand.id))
        answers = await trial.at_once(*calls)
        # The changes that came first are disabled, and the later ones are refused.
        removed, refused = answers[number], answers.count(no_such_brand(brand.id))
        naming = [
            each
            for each in (*await triggers.all_of(trial.own), *await schedules.all_of(trial.own))
            if each.brand_identity_id == brand.id
        ]
        trial.same([each.enabled for each in naming], [False] * (len(calls) - 1 - refused))
        if not isinstance(removed, Removed):
            trial.fail(f"got {removed}")
        disabled = {each.id for each in (*removed.disabled_events, *removed.disabled_schedules)}
        trial.same(disabled, {each.id for each in naming})
