from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Self, final
from zoneinfo import ZoneInfo

from attrs import field, fields, frozen

from contentsvc_core.application import Application
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback, LookbackWindow, window_at
from contentsvc_core.ports import Automations
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.plan import NO_REPOSITORY, Planner
from contentsvc_core.workflows.schedules import (
    NAME_LIMIT,
    ChangeSchedule,
    CreateSchedule,
    Schedule,
    ScheduleSettings,
    due_from,
)
from contentsvc_core.workflows.slots import Cron, Frequency, cron_fault, next_slot, nominal_time
from contentsvc_http.dashboard.choices import FormSources, Option, named, numbers_of, settings_of
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.section import FormSection, TypedForm
from contentsvc_http.dashboard.session import DashboardSession
from contentsvc_http.forms import Form
from contentsvc_http.words import LOOKBACKS, WEEKDAYS, times_of

_REFUSALS: Final = FormRefusals(
    fields={
        "name": "name",
        "repository_ids": "repositories",
        "brand_identity_id": "brand",
        **{name: name for name in ("hour", "minute", "day_of_week", "day_of_month")},
    },
    labels={"day_of_week": "the day of the week", "day_of_month": "the day of the month"},
    words={
        RefusalKind.NOT_FOUND: "This schedule is not there (any more).",
        RefusalKind.DUPLICATE: "Another schedule does the same already: "
        "it writes this about these repositories at these times, too.",
    },
)
_NEXT: Final = 3
_DIGITS: Final = 2


@final
@frozen(kw_only=True)
class TypedTimes:
    """The fields of a form; the frequency decides which day field is used."""

    frequency: str = Frequency.WEEKLY.value
    hour: str = "09"
    minute: str = "00"
    day_of_week: str = "1"
    day_of_month: str = "1"

    @classmethod
    def of(cls, cron: Cron) -> Self:
        usual = cls()
        return cls(
            frequency=cron.frequency.value,
            hour=f"{cron.hour:02d}",
            minute=f"{cron.minute:02d}",
            day_of_week=usual.day_of_week if cron.day_of_week is None else str(cron.day_of_week),
            day_of_month=usual.day_of_month if cron.day_of_month is None else str(cron.day_of_month),
        )


def read_times(typed: TypedTimes) -> Cron | Refusal:
    """Read times; forms of the dashboard send known frequencies only."""
    frequency = named(Frequency, typed.frequency)
    hour, minute = _number(typed.hour), _number(typed.minute)
    day_of_week = _number(typed.day_of_week) if frequency is Frequency.WEEKLY else None
    day_of_month = _number(typed.day_of_month) if frequency is Frequency.MONTHLY else None
    fault = cron_fault(
        frequency=frequency, hour=hour, minute=minute, day_of_week=day_of_week, day_of_month=day_of_month
    )
    return fault or Cron(
        frequency=frequency, hour=hour, minute=minute, day_of_week=day_of_week, day_of_month=day_of_month
    )


def firings_of(
    cron: Cron, lookback: Lookback, zone: ZoneInfo, *, schedule: Schedule | None, now: datetime
) -> list[tuple[datetime, LookbackWindow]]:
    """Return the next times of a schedule, each with the window that its post reports."""
    if schedule is not None and schedule.due_at is not None and schedule.cron == cron:
        at = schedule.due_at
    else:
        at = due_from(cron, now, zone, last_slot=None if schedule is None else schedule.last_slot)
    firings: list[tuple[datetime, LookbackWindow]] = []
    for _ in range(_NEXT):
        firings.append((at, window_at(lookback, at, zone, local=nominal_time(cron, at, zone))))
        at = next_slot(cron, at, zone)
    return firings


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else -1


@frozen(kw_only=True)
class _Typed(TypedForm):
    settings: Mapping[str, Any] = field(factory=lambda: settings_of(ScheduleSettings(name="")))
    times: TypedTimes = field(factory=TypedTimes)

    def values(self, cron: Cron | Refusal) -> dict[str, Any]:
        return {
            **self.settings,
            "cron": cron,
            "repository_ids": tuple(sorted(set(numbers_of(self.repositories)))),
            "output_type": named(ContentType, self.settings["output_type"]),
            "lookback": named(Lookback, self.settings["lookback"]),
            "brand_identity_id": self.brand or None,
        }


class Schedules(FormSection[Schedule, _Typed]):
    name = "schedule"
    refusals = _REFUSALS
    create = CreateSchedule
    change = ChangeSchedule
    settings = ScheduleSettings
    typed = _Typed
    name_limit = NAME_LIMIT
    no_repository = NO_REPOSITORY

    def automations(self, app: Application) -> Automations[Schedule]:
        return app.stores.schedules

    def editor(self, app: Application) -> Planner:
        return app.planner

    def typed_in(self, form: Form) -> dict[str, Any]:
        return {"times": TypedTimes(**{each.name: form.text(each.name) for each in fields(TypedTimes)})}

    def typed_of(self, stored: Schedule) -> dict[str, Any]:
        return {"repositories": list(map(str, stored.repository_ids)), "times": TypedTimes.of(stored.cron)}

    def values(self, typed: _Typed, stored: Schedule | None) -> tuple[dict[str, Any], list[Refusal]]:
        cron = read_times(typed.times)
        values = typed.values(cron)
        refused = [cron] if isinstance(cron, Refusal) else []
        return values if stored is None else self.differing(values, stored), refused

    def title(self, stored: Schedule, has: FormSources) -> str:
        del has
        return stored.name

    def cells(self, session: DashboardSession, stored: Schedule, has: FormSources) -> dict[str, Any]:
        return {
            "repositories": [has.repository(None, number) for number in stored.repository_ids],
            "times": times_of(stored.cron, session.organization.time_zone),
            "lookback": LOOKBACKS[stored.lookback],
        }

    def choices(self, typed: _Typed, has: FormSources) -> dict[str, Any]:
        return {
            "repositories": has.repository_choices(typed.repositories),
            "lookbacks": [
                Option(value=lookback.value, label=words.capitalize()) for lookback, words in LOOKBACKS.items()
            ],
            "weekdays": [Option(value=str(number), label=name) for number, name in enumerate(WEEKDAYS)],
        }

    async def previewed(self, session: DashboardSession, stored: Schedule | None, typed: _Typed) -> dict[str, Any]:
        cron, lookback = read_times(typed.times), named(Lookback, typed.settings["lookback"])
        if isinstance(cron, Refusal):
            return {"firings": [], "says": _REFUSALS.sentence(cron), "is_off": False}
        zone, now = session.organization.time_zone, session.app.clock.now()
        firings = firings_of(cron, lookback, zone, schedule=stored, now=now)
        return {"firings": firings, "says": "", "is_off": not typed.settings["enabled"]}
