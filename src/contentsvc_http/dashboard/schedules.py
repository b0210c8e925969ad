from collections.abc import Mapping
from typing import Any, Final, final
from zoneinfo import ZoneInfo

from attrs import field, frozen
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from contentsvc_core.access.rates import PREVIEWING
from contentsvc_core.commands import read_command
from contentsvc_core.content.house_style import style_body
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.style_fields import read_style
from contentsvc_core.content.windows import Lookback
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.workflows.schedules import (
    NAME_LIMIT,
    ChangeSchedule,
    CreateSchedule,
    Schedule,
    ScheduleSettings,
)
from contentsvc_core.workflows.slots import Cron
from contentsvc_http.dashboard.choices import (
    FormSources,
    Option,
    boxes_of,
    connected,
    content_choices,
    differing,
    named,
    numbers_of,
    settings_from,
    settings_of,
)
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.schedule_times import TypedTimes, firings_of, read_times
from contentsvc_http.dashboard.session import ROOT, DashboardSession, Forbidden, change, visit
from contentsvc_http.dashboard.style_form import OVERRIDE, fault_of
from contentsvc_http.dashboard.style_preview import ShownStyle, preview_of_override, shown_override
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form
from contentsvc_http.words import CONTENT, LOOKBACKS, PUBLISHES, WEEKDAYS, times_of

_PATH: Final = f"{ROOT}/schedules"
_SECTION: Final = "schedules"
_INVALID: Final = 422
_UNKNOWN: Final = "This schedule is not there (any more)."
_REFUSALS: Final = FormRefusals(
    fields={
        "name": "name",
        "repository_ids": "repositories",
        "brand_identity_id": "brand",
        **dict.fromkeys(("hour", "minute", "day_of_week", "day_of_month"), "times"),
    },
    labels={"day_of_week": "the day of the week", "day_of_month": "the day of the month"},
    words={
        RefusalKind.NOT_FOUND: _UNKNOWN,
        RefusalKind.DUPLICATE: "Another schedule does the same already: "
        "it writes this about these repositories at these times, too.",
    },
)
_READ_ONLY: Final = "This key may only read: sign in with one that has the scope write."


@final
@frozen(kw_only=True)
class _Typed:
    #: The plain fields, by their attributes in the core: texts, and whether a box is ticked.
    settings: Mapping[str, Any] = field(factory=lambda: settings_of(ScheduleSettings(name="")))
    repositories: tuple[str, ...] = field(converter=tuple, default=())
    times: TypedTimes = field(factory=TypedTimes)
    brand: str = ""
    #: The override of the house style, as JSON for the core's reader.
    style: Mapping[str, Any] = field(factory=dict[str, Any])

    def wanted(self, cron: Cron) -> dict[str, Any]:
        return {
            **self.settings,
            "cron": cron,
            "repository_ids": tuple(sorted(set(numbers_of(self.repositories)))),
            "output_type": named(ContentType, self.settings["output_type"]),
            "lookback": named(Lookback, self.settings["lookback"]),
            "brand_identity_id": self.brand or None,
        }


@final
@frozen(kw_only=True)
class _Row:
    schedule: Schedule
    repositories: tuple[str, ...] = field(converter=tuple)
    times: str
    lookback: str
    output: str
    publishes: str
    brand: str


def schedule_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    schedule_pages = _SchedulePages(dashboard, pages)
    return [*_looking(dashboard, schedule_pages), *_changing(dashboard, schedule_pages)]


def _looking(dashboard: Dashboard, schedule_pages: "_SchedulePages") -> list[HTTPRouteHandler]:
    @get(_PATH, name="dashboard_schedules")
    async def list_schedules(request: Request[Any, Any, Any]) -> Response[Any]:
        return await schedule_pages.listed(await visit(dashboard, request))

    @get(f"{_PATH}/new", name="dashboard_schedule_new")
    async def begin(request: Request[Any, Any, Any]) -> Response[Any]:
        session = await visit(dashboard, request)
        if not session.may_write:
            raise Forbidden(_READ_ONLY)
        return await schedule_pages.edited(session, None, _Typed())

    @get(f"{_PATH}/{{schedule_id:str}}", name="dashboard_schedule")
    async def show(request: Request[Any, Any, Any], schedule_id: FromPath[str]) -> Response[Any]:
        session = await visit(dashboard, request)
        schedule = await schedule_pages.standing(session, schedule_id)
        return await schedule_pages.edited(session, schedule, _typed_of(schedule))

    @get(f"{_PATH}/preview", name="dashboard_schedule_preview_left")
    async def leave_preview(request: Request[Any, Any, Any]) -> Response[Any]:
        # A reload of a preview's address has no form data.
        await visit(dashboard, request)
        return go("/schedules")

    return [list_schedules, begin, show, leave_preview]


def _changing(dashboard: Dashboard, schedule_pages: "_SchedulePages") -> list[HTTPRouteHandler]:
    @post(f"{_PATH}/new", name="dashboard_schedule_create")
    async def create(request: Request[Any, Any, Any]) -> Response[Any]:
        return await schedule_pages.create(*await change(dashboard, request))

    @post(f"{_PATH}/preview", name="dashboard_schedule_preview")
    async def preview(request: Request[Any, Any, Any]) -> Response[Any]:
        return await schedule_pages.preview(*await change(dashboard, request))

    @post(f"{_PATH}/{{schedule_id:str}}", name="dashboard_schedule_change")
    async def save(request: Request[Any, Any, Any], schedule_id: FromPath[str]) -> Response[Any]:
        return await schedule_pages.save(*await change(dashboard, request), schedule_id)

    @post(f"{_PATH}/{{schedule_id:str}}/switch", name="dashboard_schedule_switch")
    async def switch(request: Request[Any, Any, Any], schedule_id: FromPath[str]) -> Response[Any]:
        return await schedule_pages.switch(*await change(dashboard, request), schedule_id)

    @post(f"{_PATH}/{{schedule_id:str}}/delete", name="dashboard_schedule_delete")
    async def delete(request: Request[Any, Any, Any], schedule_id: FromPath[str]) -> Response[Any]:
        session, _ = await change(dashboard, request)
        return await schedule_pages.delete(session, schedule_id)

    return [create, preview, save, switch, delete]


@final
class _SchedulePages:
    def __init__(self, dashboard: Dashboard, pages: Pages) -> None:
        self._dashboard = dashboard
        self._pages = pages
        self._counting = Counting(dashboard)
        self._planner = dashboard.app.planner
        self._schedules = dashboard.app.stores.schedules

    async def listed(self, session: DashboardSession, *, error: str | None = None) -> Response[Any]:
        has = await connected(self._dashboard, session.organization_id)
        zone = session.organization.time_zone
        rows = [_row(schedule, has, zone) for schedule in await self._schedules.schedules(session.organization_id)]
        shown = {"rows": rows, "connected": bool(has.repository_choices(())), "error": error}
        status = 200 if error is None else _INVALID
        return self._pages.page(session, "schedules.html", shown, title="Schedules", section=_SECTION, status=status)

    async def standing(self, session: DashboardSession, schedule_id: str) -> Schedule:
        mine = session.organization_id
        schedule = await self._schedules.schedule(mine, schedule_id) if is_own_id(schedule_id) else None
        if schedule is None:
            raise Refused(404, {"error": _UNKNOWN})
        return schedule

    async def edited(
        self,
        session: DashboardSession,
        schedule: Schedule | None,
        typed: _Typed,
        *,
        refused: Refusal | None = None,
        bad_style: Refusal | None = None,
        style_preview: ShownStyle | None = None,
    ) -> Response[Any]:
        fault = fault_of(bad_style) if bad_style else None if refused is None else _REFUSALS.sentence(refused)
        has = await connected(self._dashboard, session.organization_id)
        shown: dict[str, Any] = {
            "schedule": schedule,
            "row": None if schedule is None else _row(schedule, has, session.organization.time_zone),
            "typed": typed,
            **self._previewed(session, schedule, typed),
            "repositories": has.repository_choices(typed.repositories),
            "brands": has.brand_choices(typed.brand),
            "outputs": content_choices(),
            "boxes": boxes_of(ScheduleSettings),
            "lookbacks": [
                Option(value=lookback.value, label=words.capitalize()) for lookback, words in LOOKBACKS.items()
            ],
            "weekdays": [Option(value=str(number), label=name) for number, name in enumerate(WEEKDAYS)],
            "name_limit": NAME_LIMIT,
            "error": fault,
            "faults": {} if refused is None else _REFUSALS.faults(refused),
            "style": shown_override(session, typed.style, refused=bad_style, preview=style_preview),
        }
        title = "New schedule" if schedule is None else schedule.name
        status = 200 if fault is None else _INVALID
        return self._pages.page(session, "schedule.html", shown, title=title, section=_SECTION, status=status)

    async def create(self, session: DashboardSession, form: Form) -> Response[Any]:
        typed = _typed(form)
        cron = read_times(typed.times)
        if isinstance(cron, Refusal):
            return await self.edited(session, None, typed, refused=cron)
        style = read_style(typed.style)
        if isinstance(style, Refusal):
            return await self.edited(session, None, typed, bad_style=style)
        command = read_command(CreateSchedule, typed.wanted(cron), house_style=style)
        created = (
            command if isinstance(command, Refusal) else await self._planner.create(session.organization_id, command)
        )
        if isinstance(created, Schedule):
            return go(f"/schedules/{created.id}", told="created")
        return await self.edited(session, None, typed, refused=created)

    async def save(self, session: DashboardSession, form: Form, schedule_id: str) -> Response[Any]:
        schedule = await self.standing(session, schedule_id)
        typed = _typed(form)
        cron = read_times(typed.times)
        if isinstance(cron, Refusal):
            return await self.edited(session, schedule, typed, refused=cron)
        style = read_style(typed.style)
        if isinstance(style, Refusal):
            return await self.edited(session, schedule, typed, bad_style=style)
        styled = {} if style == schedule.house_style else {"house_style": style}
        changed = change = read_command(ChangeSchedule, differing(typed.wanted(cron), schedule), **styled)
        if not isinstance(change, Refusal):
            changed = await self._planner.change(session.organization_id, schedule.id, change)
        if isinstance(changed, Schedule):
            return go(f"/schedules/{changed.id}", told="saved")
        return await self.edited(session, schedule, typed, refused=changed)

    async def switch(self, session: DashboardSession, form: Form, schedule_id: str) -> Response[Any]:
        schedule = await self.standing(session, schedule_id)
        enabled = form.text("to") == "on"
        changed = await self._planner.change(session.organization_id, schedule.id, ChangeSchedule(enabled=enabled))
        if isinstance(changed, Schedule):
            return go("/schedules", told="enabled" if enabled else "disabled")
        return await self.listed(session, error=_REFUSALS.sentence(changed))

    async def delete(self, session: DashboardSession, schedule_id: str) -> Response[Any]:
        schedule = await self.standing(session, schedule_id)
        await self._schedules.remove(session.organization_id, schedule.id)
        return go("/schedules", told="deleted")

    async def preview(self, session: DashboardSession, form: Form) -> Response[Any]:
        await self._counting.admit(session, PREVIEWING)
        edits, typed = form.text("id"), _typed(form)
        schedule = await self.standing(session, edits) if edits else None
        if session.is_partial:
            shown = {**self._previewed(session, schedule, typed), "partial": True}
            return self._pages.part(session, "schedule_preview.html", shown)
        style = await preview_of_override(self._dashboard, session, form) if typed.style else None
        return await self.edited(session, schedule, typed, style_preview=style)

    def _previewed(self, session: DashboardSession, schedule: Schedule | None, typed: _Typed) -> dict[str, Any]:
        cron, lookback = read_times(typed.times), named(Lookback, typed.settings["lookback"])
        if isinstance(cron, Refusal):
            return {"firings": [], "says": _REFUSALS.sentence(cron), "is_off": False}
        firings = firings_of(
            cron, lookback, session.organization.time_zone, schedule=schedule, now=self._dashboard.app.clock.now()
        )
        return {"firings": firings, "says": "", "is_off": not typed.settings["enabled"]}


def _typed(form: Form) -> _Typed:
    return _Typed(
        settings=settings_from(form, ScheduleSettings),
        repositories=form.texts("repositories"),
        times=TypedTimes(
            frequency=form.text("frequency"),
            hour=form.text("hour"),
            minute=form.text("minute"),
            day_of_week=form.text("day_of_week"),
            day_of_month=form.text("day_of_month"),
        ),
        brand=form.text("brand"),
        style=OVERRIDE.typed(form),
    )


def _typed_of(schedule: Schedule) -> _Typed:
    return _Typed(
        settings=settings_of(
            ScheduleSettings(**{name: getattr(schedule, name) for name in ScheduleSettings.__struct_fields__})
        ),
        repositories=[str(number) for number in schedule.repository_ids],
        times=TypedTimes.of(schedule.cron),
        brand=schedule.brand_identity_id or "",
        style=style_body(schedule.house_style) or {},
    )


def _row(schedule: Schedule, has: FormSources, zone: ZoneInfo) -> _Row:
    return _Row(
        schedule=schedule,
        repositories=[has.repository(None, number) for number in schedule.repository_ids],
        times=times_of(schedule.cron, zone),
        lookback=LOOKBACKS[schedule.lookback],
        output=CONTENT[schedule.output_type],
        publishes=PUBLISHES[schedule.post_status],
        brand=has.brand(schedule.brand_identity_id),
    )
