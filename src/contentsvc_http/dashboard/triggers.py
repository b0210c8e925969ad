from typing import Any, Final, final

from attrs import field, frozen
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from contentsvc_core.access.rates import PREVIEWING
from contentsvc_core.commands import read_command
from contentsvc_core.content.style_fields import read_style
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.triggers import provider_of
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.filters import PATTERN_FIELDS, Batch, TriggerOptions, options_fault
from contentsvc_core.workflows.triggers import (
    ANY_SOURCE,
    EVENT_TYPES,
    NAME_LIMIT,
    ChangeTrigger,
    CreateTrigger,
    Trigger,
    TriggerSettings,
)
from contentsvc_http.dashboard.choices import (
    FormSources,
    Option,
    boxes_of,
    connected,
    content_choices,
)
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.session import ROOT, DashboardSession, Forbidden, change, visit
from contentsvc_http.dashboard.style_form import fault_of
from contentsvc_http.dashboard.style_preview import ShownStyle, preview_of_override, shown_override
from contentsvc_http.dashboard.trigger_form import TypedTrigger, changes_to, read_trigger_form, typed_of
from contentsvc_http.dashboard.trigger_preview import TriggerPreview, preview_of
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form
from contentsvc_http.words import BATCHES, CONTENT, EVENTS, PUBLISHES, events_of, filters_of, some_of

_PATH: Final = f"{ROOT}/triggers"
_SECTION: Final = "triggers"
_INVALID: Final = 422
_UNKNOWN: Final = "This trigger is not there (any more)."
_REFUSALS: Final = FormRefusals(
    fields={
        "name": "name",
        "repository_ids": "repositories",
        "provider": "repositories",
        "event_types": "events",
        "brand_identity_id": "brand",
        **{name: name for name in PATTERN_FIELDS},
    },
    labels={"branches": "Branches", "tags": "Tags", "paths": "Changed files", "scopes": "Commit scopes"},
    words={
        RefusalKind.NOT_FOUND: _UNKNOWN,
        RefusalKind.DUPLICATE: "Another trigger does the same already: "
        "for these events of these repositories, it writes this, too.",
        RefusalKind.CONFLICT: "Another change of this trigger was saved at the same time. "
        "Check the form, and save it again.",
    },
)
_READ_ONLY: Final = "This key may only read: sign in with one that has the scope write."


@final
@frozen(kw_only=True)
class _Row:
    trigger: Trigger
    title: str
    repositories: tuple[str, ...] = field(converter=tuple)
    events: str
    filters: tuple[str, ...] = field(converter=tuple)
    output: str
    publishes: str
    brand: str


def trigger_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    trigger_pages = _TriggerPages(dashboard, pages)
    return [*_looking(dashboard, trigger_pages), *_changing(dashboard, trigger_pages)]


def _looking(dashboard: Dashboard, trigger_pages: "_TriggerPages") -> list[HTTPRouteHandler]:
    @get(_PATH, name="dashboard_triggers")
    async def list_triggers(request: Request[Any, Any, Any]) -> Response[Any]:
        return await trigger_pages.listed(await visit(dashboard, request))

    @get(f"{_PATH}/new", name="dashboard_trigger_new")
    async def begin(request: Request[Any, Any, Any]) -> Response[Any]:
        session = await visit(dashboard, request)
        if not session.may_write:
            raise Forbidden(_READ_ONLY)
        return await trigger_pages.edited(session, None, TypedTrigger())

    @get(f"{_PATH}/{{trigger_id:str}}", name="dashboard_trigger")
    async def show(request: Request[Any, Any, Any], trigger_id: FromPath[str]) -> Response[Any]:
        session = await visit(dashboard, request)
        trigger = await trigger_pages.standing(session, trigger_id)
        return await trigger_pages.edited(session, trigger, typed_of(trigger))

    @get(f"{_PATH}/preview", name="dashboard_trigger_preview_left")
    async def leave_preview(request: Request[Any, Any, Any]) -> Response[Any]:
        # A reload of a preview's address has no form data.
        await visit(dashboard, request)
        return go("/triggers")

    return [list_triggers, begin, show, leave_preview]


def _changing(dashboard: Dashboard, trigger_pages: "_TriggerPages") -> list[HTTPRouteHandler]:
    @post(f"{_PATH}/new", name="dashboard_trigger_create")
    async def create(request: Request[Any, Any, Any]) -> Response[Any]:
        return await trigger_pages.create(*await change(dashboard, request))

    @post(f"{_PATH}/preview", name="dashboard_trigger_preview")
    async def preview(request: Request[Any, Any, Any]) -> Response[Any]:
        return await trigger_pages.preview(*await change(dashboard, request))

    @post(f"{_PATH}/{{trigger_id:str}}", name="dashboard_trigger_change")
    async def save(request: Request[Any, Any, Any], trigger_id: FromPath[str]) -> Response[Any]:
        return await trigger_pages.save(*await change(dashboard, request), trigger_id)

    @post(f"{_PATH}/{{trigger_id:str}}/switch", name="dashboard_trigger_switch")
    async def switch(request: Request[Any, Any, Any], trigger_id: FromPath[str]) -> Response[Any]:
        return await trigger_pages.switch(*await change(dashboard, request), trigger_id)

    @post(f"{_PATH}/{{trigger_id:str}}/delete", name="dashboard_trigger_delete")
    async def delete(request: Request[Any, Any, Any], trigger_id: FromPath[str]) -> Response[Any]:
        session, _ = await change(dashboard, request)
        return await trigger_pages.delete(session, trigger_id)

    return [create, preview, save, switch, delete]


@final
class _TriggerPages:
    def __init__(self, dashboard: Dashboard, pages: Pages) -> None:
        self._dashboard = dashboard
        self._pages = pages
        self._counting = Counting(dashboard)
        self._editor = dashboard.app.trigger_editor
        self._directory = dashboard.app.stores.directory

    async def listed(self, session: DashboardSession, *, error: str | None = None) -> Response[Any]:
        has = await connected(self._dashboard, session.organization_id)
        rows = [_row(trigger, has) for trigger in await self._directory.triggers(session.organization_id)]
        shown = {"rows": rows, "connected": bool(has.repository_choices(())), "error": error}
        status = 200 if error is None else _INVALID
        return self._pages.page(session, "triggers.html", shown, title="Triggers", section=_SECTION, status=status)

    async def standing(self, session: DashboardSession, trigger_id: str) -> Trigger:
        trigger = await self._directory.trigger(session.organization_id, trigger_id) if is_own_id(trigger_id) else None
        if trigger is None:
            raise Refused(404, {"error": _UNKNOWN})
        return trigger

    async def edited(
        self,
        session: DashboardSession,
        trigger: Trigger | None,
        typed: TypedTrigger,
        *,
        refused: Refusal | None = None,
        bad_style: Refusal | None = None,
        style_preview: ShownStyle | None = None,
    ) -> Response[Any]:
        fault = fault_of(bad_style) if bad_style else None if refused is None else _REFUSALS.sentence(refused)
        has = await connected(self._dashboard, session.organization_id)
        shown: dict[str, Any] = {
            "trigger": trigger,
            "row": None if trigger is None else _row(trigger, has),
            "typed": typed,
            "preview": await self._previewed(session, typed),
            "is_off": not typed.settings["enabled"],
            "repositories": has.hosted_choices(typed.repositories),
            "brands": has.brand_choices(typed.brand),
            "outputs": content_choices(),
            "boxes": boxes_of(TriggerSettings),
            "batches": [Option(value=batch.value, label=BATCHES[batch]) for batch in Batch],
            "events": [Option(value=kind, label=EVENTS[kind]) for kind in EVENT_TYPES],
            "name_limit": NAME_LIMIT,
            "error": fault,
            "faults": {} if refused is None else _REFUSALS.faults(refused),
            "style": shown_override(session, typed.style, refused=bad_style, preview=style_preview),
        }
        title = "New trigger" if trigger is None else _title(trigger, has)
        status = 200 if fault is None else _INVALID
        return self._pages.page(session, "trigger.html", shown, title=title, section=_SECTION, status=status)

    async def create(self, session: DashboardSession, form: Form) -> Response[Any]:
        typed = read_trigger_form(form)
        if (refused := typed.refused()) is not None:
            return await self.edited(session, None, typed, refused=refused)
        style = read_style(typed.style)
        if isinstance(style, Refusal):
            return await self.edited(session, None, typed, bad_style=style)
        command = read_command(CreateTrigger, typed.wanted(), house_style=style)
        created = (
            command if isinstance(command, Refusal) else await self._editor.create(session.organization_id, command)
        )
        if isinstance(created, Trigger):
            return go(f"/triggers/{created.id}", told="created")
        return await self.edited(session, None, typed, refused=created)

    async def save(self, session: DashboardSession, form: Form, trigger_id: str) -> Response[Any]:
        trigger = await self.standing(session, trigger_id)
        typed = read_trigger_form(form)
        if (refused := typed.refused()) is not None:
            return await self.edited(session, trigger, typed, refused=refused)
        style = read_style(typed.style)
        if isinstance(style, Refusal):
            return await self.edited(session, trigger, typed, bad_style=style)
        styled = {} if style == trigger.house_style else {"house_style": style}
        change = read_command(ChangeTrigger, changes_to(typed, trigger), **styled)
        changed = change
        if not isinstance(change, Refusal):
            changed = await self._editor.change(session.organization_id, trigger.id, change)
        if isinstance(changed, Trigger):
            return go(f"/triggers/{changed.id}", told="saved")
        return await self.edited(session, trigger, typed, refused=changed)

    async def switch(self, session: DashboardSession, form: Form, trigger_id: str) -> Response[Any]:
        enabled = form.text("to") == "on"
        changed = await self._editor.change(session.organization_id, trigger_id, ChangeTrigger(enabled=enabled))
        if isinstance(changed, Trigger):
            return go("/triggers", told="enabled" if enabled else "disabled")
        return await self.listed(session, error=_REFUSALS.sentence(changed))

    async def delete(self, session: DashboardSession, trigger_id: str) -> Response[Any]:
        trigger = await self.standing(session, trigger_id)
        await self._directory.remove_trigger(session.organization_id, trigger.id)
        return go("/triggers", told="deleted")

    async def preview(self, session: DashboardSession, form: Form) -> Response[Any]:
        await self._counting.admit(session, PREVIEWING)
        typed, edits = read_trigger_form(form), form.text("id")
        if session.is_partial:
            preview = await self._previewed(session, typed)
            shown = {"preview": preview, "typed": typed, "is_off": not typed.settings["enabled"], "partial": True}
            return self._pages.part(session, "trigger_preview.html", shown)
        trigger = await self.standing(session, edits) if edits else None
        style = await preview_of_override(self._dashboard, session, form) if typed.style else None
        return await self.edited(session, trigger, typed, style_preview=style)

    async def _previewed(self, session: DashboardSession, typed: TypedTrigger) -> TriggerPreview:
        if len(typed.providers) > 1:
            return TriggerPreview(says="Choose repositories of one provider to see what would have started it.")
        if not typed.providers and not typed.settings["all_repositories"]:
            return TriggerPreview(says="Choose a repository to see what would have started it.")
        if not (typed.every_event or typed.events):
            return TriggerPreview(says="Choose an event to see what would have started it.")
        fields = typed.wanted()
        if (refused := options_fault(fields)) is not None:
            return TriggerPreview(says=_REFUSALS.sentence(refused))
        # As if enabled: the form shows the switch itself.
        trigger = Trigger(
            id="trg_preview",
            organization_id=session.organization_id,
            source_type=source_type(typed.providers[0]) if typed.providers else ANY_SOURCE,
            repository_ids=fields["repository_ids"],
            event_types=fields["event_types"],
            output_type=fields["output_type"],
            options=TriggerOptions(**{name: fields[name] for name in TriggerOptions.__struct_fields__}),
            created_at=self._dashboard.app.clock.now(),
        )
        dashboard = self._dashboard
        return await dashboard.app.shares.heavy(session.organization_id, lambda: preview_of(dashboard, trigger))


def _row(trigger: Trigger, has: FormSources) -> _Row:
    return _Row(
        trigger=trigger,
        title=_title(trigger, has),
        repositories=_repositories(trigger, has),
        events=events_of(trigger),
        filters=filters_of(trigger),
        output=CONTENT[trigger.output_type],
        publishes=PUBLISHES[trigger.post_status],
        brand=has.brand(trigger.brand_identity_id),
    )


def _title(trigger: Trigger, has: FormSources) -> str:
    if trigger.name:
        return trigger.name
    return f"{CONTENT[trigger.output_type]} of {some_of(_repositories(trigger, has))}"


def _repositories(trigger: Trigger, has: FormSources) -> list[str]:
    provider = provider_of(trigger.source_type)
    if trigger.options.all_repositories:
        return ["all repositories" if provider is None else f"all repositories at {provider}"]
    return [has.repository(provider, number) for number in trigger.repository_ids]
