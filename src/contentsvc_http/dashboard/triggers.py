"""Event trigger pages: list, form with a preview of matches, actions."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, final

from attrs import field, frozen
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import structs

from contentsvc_core.access.rates import PREVIEWING
from contentsvc_core.commands import read_command
from contentsvc_core.content.house_style import read_style, style_body
from contentsvc_core.content.posts import ContentType
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.triggers import SEVERAL_PROVIDERS, provider_of
from contentsvc_core.workflows.triggers import (
    EVENT_TYPES,
    NAME_LIMIT,
    ChangeTrigger,
    CreateTrigger,
    Trigger,
    TriggerSettings,
    source_type,
)
from contentsvc_http.dashboard.choices import (
    FormSources,
    Option,
    connected,
    content_choices,
    differing,
    hosted,
    named,
    numbers_of,
)
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.style_form import OVERRIDE, fault_of
from contentsvc_http.dashboard.style_preview import ShownStyle, preview_of_override, shown_override
from contentsvc_http.dashboard.trigger_preview import TriggerPreview, preview_of
from contentsvc_http.dashboard.visits import ROOT, Forbidden, Visit, change, visit
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form
from contentsvc_http.words import CONTENT, EVENTS, events_of, some_of

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
    },
    words={
        RefusalKind.NOT_FOUND: _UNKNOWN,
        RefusalKind.DUPLICATE: "Another trigger does the same already: "
        "for these events of these repositories, it writes this, too.",
        RefusalKind.CONFLICT: "Somebody else has changed this trigger at the same time. "
        "Look at it, and save once more.",
    },
)
#: The inputs of the form whose names differ from the attributes of the core.
_INPUTS: Final = {"output_type": "output", "auto_publish": "publish"}
_READ_ONLY: Final = "This key may only read: sign in with one that has the scope write."


@final
@frozen(kw_only=True)
class _Typed:
    #: The plain fields, by their attributes in the core: texts, and whether a box is ticked.
    settings: Mapping[str, Any] = field(factory=lambda: _settings_of(TriggerSettings()))
    #: In the form of :func:`hosted`.
    repositories: tuple[str, ...] = field(converter=tuple, default=())
    events: tuple[str, ...] = field(converter=tuple, default=EVENT_TYPES)
    brand: str = ""
    #: The override of the house style, as JSON for the core's reader.
    style: Mapping[str, Any] = field(factory=dict[str, Any])

    @property
    def providers(self) -> list[str]:
        return list(dict.fromkeys(value.partition(":")[0] for value in self.repositories))

    def wanted(self) -> dict[str, Any]:
        """Return the values of the form; the provider is included if all repositories have the same."""
        kinds = self.events if set(self.events) != set(EVENT_TYPES) else ()
        numbers = numbers_of(value.partition(":")[2] for value in self.repositories)
        return {
            **self.settings,
            "output_type": named(ContentType, self.settings["output_type"]),
            "repository_ids": tuple(sorted(set(numbers))),
            "event_types": tuple(sorted(set(kinds))),
            "brand_identity_id": self.brand or None,
            "provider": self.providers[0] if len(self.providers) == 1 else None,
        }


@final
@frozen(kw_only=True)
class _Row:
    trigger: Trigger
    title: str
    repositories: tuple[str, ...] = field(converter=tuple)
    events: str
    output: str
    brand: str


def trigger_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    made = _TriggerPages(dashboard, pages)
    return [*_looking(dashboard, made), *_changing(dashboard, made)]


def _looking(dashboard: Dashboard, made: "_TriggerPages") -> list[HTTPRouteHandler]:
    @get(_PATH, name="dashboard_triggers")
    async def list_triggers(request: Request[Any, Any, Any]) -> Response[Any]:
        return await made.listed(await visit(dashboard, request))

    @get(f"{_PATH}/new", name="dashboard_trigger_new")
    async def begin(request: Request[Any, Any, Any]) -> Response[Any]:
        found = await visit(dashboard, request)
        if not found.may_write:
            raise Forbidden(_READ_ONLY)
        return await made.edited(found, None, _Typed())

    @get(f"{_PATH}/{{trigger_id:str}}", name="dashboard_trigger")
    async def show(request: Request[Any, Any, Any], trigger_id: FromPath[str]) -> Response[Any]:
        found = await visit(dashboard, request)
        trigger = await made.standing(found, trigger_id)
        return await made.edited(found, trigger, _typed_of(trigger))

    @get(f"{_PATH}/preview", name="dashboard_trigger_preview_left")
    async def leave_preview(request: Request[Any, Any, Any]) -> Response[Any]:
        # A reload of a preview's address has no form data.
        await visit(dashboard, request)
        return go("/triggers")

    return [list_triggers, begin, show, leave_preview]


def _changing(dashboard: Dashboard, made: "_TriggerPages") -> list[HTTPRouteHandler]:
    @post(f"{_PATH}/new", name="dashboard_trigger_create")
    async def create(request: Request[Any, Any, Any]) -> Response[Any]:
        return await made.create(*await change(dashboard, request))

    @post(f"{_PATH}/preview", name="dashboard_trigger_preview")
    async def preview(request: Request[Any, Any, Any]) -> Response[Any]:
        return await made.preview(*await change(dashboard, request))

    @post(f"{_PATH}/{{trigger_id:str}}", name="dashboard_trigger_change")
    async def save(request: Request[Any, Any, Any], trigger_id: FromPath[str]) -> Response[Any]:
        return await made.save(*await change(dashboard, request), trigger_id)

    @post(f"{_PATH}/{{trigger_id:str}}/switch", name="dashboard_trigger_switch")
    async def switch(request: Request[Any, Any, Any], trigger_id: FromPath[str]) -> Response[Any]:
        return await made.switch(*await change(dashboard, request), trigger_id)

    @post(f"{_PATH}/{{trigger_id:str}}/delete", name="dashboard_trigger_delete")
    async def delete(request: Request[Any, Any, Any], trigger_id: FromPath[str]) -> Response[Any]:
        found, _ = await change(dashboard, request)
        return await made.delete(found, trigger_id)

    return [create, preview, save, switch, delete]


@final
class _TriggerPages:
    def __init__(self, dashboard: Dashboard, pages: Pages) -> None:
        self._dashboard = dashboard
        self._pages = pages
        self._counting = Counting(dashboard)
        self._editor = dashboard.app.trigger_editor
        self._directory = dashboard.app.stores.directory

    async def listed(self, found: Visit, *, error: str | None = None) -> Response[Any]:
        has = await connected(self._dashboard, found.organization_id)
        rows = [_row(each, has) for each in await self._directory.triggers(found.organization_id)]
        shown = {"rows": rows, "connected": bool(has.repository_choices(())), "error": error}
        status = 200 if error is None else _INVALID
        return self._pages.page(found, "triggers.html", shown, title="Triggers", section=_SECTION, status=status)

    async def standing(self, found: Visit, trigger_id: str) -> Trigger:
        trigger = await self._directory.trigger(found.organization_id, trigger_id) if is_own_id(trigger_id) else None
        if trigger is None:
            raise Refused(404, {"error": _UNKNOWN})
        return trigger

    async def edited(
        self,
        found: Visit,
        trigger: Trigger | None,
        typed: _Typed,
        *,
        refused: Refusal | None = None,
        bad_style: Refusal | None = None,
        style_preview: ShownStyle | None = None,
    ) -> Response[Any]:
        told = fault_of(bad_style) if bad_style else None if refused is None else _REFUSALS.sentence(refused)
        has = await connected(self._dashboard, found.organization_id)
        shown: dict[str, Any] = {
            "trigger": trigger,
            "row": None if trigger is None else _row(trigger, has),
            "typed": typed,
            "preview": await self._previewed(found, typed),
            "is_off": not typed.settings["enabled"],
            "repositories": has.hosted_choices(typed.repositories),
            "brands": has.brand_choices(typed.brand),
            "outputs": content_choices(),
            "events": [Option(value=kind, label=EVENTS[kind]) for kind in EVENT_TYPES],
            "name_limit": NAME_LIMIT,
            "error": told,
            "faults": {} if refused is None else _REFUSALS.faults(refused),
            "style": shown_override(found, typed.style, refused=bad_style, preview=style_preview),
        }
        title = "New trigger" if trigger is None else _title(trigger, has)
        status = 200 if told is None else _INVALID
        return self._pages.page(found, "trigger.html", shown, title=title, section=_SECTION, status=status)

    async def create(self, found: Visit, form: Form) -> Response[Any]:
        typed = _typed(form)
        if len(typed.providers) > 1:
            return await self.edited(found, None, typed, refused=SEVERAL_PROVIDERS)
        style = read_style(typed.style)
        if isinstance(style, Refusal):
            return await self.edited(found, None, typed, bad_style=style)
        wanted = read_command(CreateTrigger, typed.wanted(), house_style=style)
        made = wanted if isinstance(wanted, Refusal) else await self._editor.create(found.organization_id, wanted)
        if isinstance(made, Trigger):
            return go(f"/triggers/{made.id}", told="created")
        return await self.edited(found, None, typed, refused=made)

    async def save(self, found: Visit, form: Form, trigger_id: str) -> Response[Any]:
        trigger = await self.standing(found, trigger_id)
        typed = _typed(form)
        if len(typed.providers) > 1:
            return await self.edited(found, trigger, typed, refused=SEVERAL_PROVIDERS)
        style = read_style(typed.style)
        if isinstance(style, Refusal):
            return await self.edited(found, trigger, typed, bad_style=style)
        styled = {} if style == trigger.house_style else {"house_style": style}
        change = read_command(ChangeTrigger, _changes(typed, trigger), **styled)
        made = change
        if not isinstance(change, Refusal):
            made = await self._editor.change(found.organization_id, trigger.id, change)
        if isinstance(made, Trigger):
            return go(f"/triggers/{made.id}", told="saved")
        return await self.edited(found, trigger, typed, refused=made)

    async def switch(self, found: Visit, form: Form, trigger_id: str) -> Response[Any]:
        enabled = form.text("to") == "on"
        made = await self._editor.change(found.organization_id, trigger_id, ChangeTrigger(enabled=enabled))
        if isinstance(made, Trigger):
            return go("/triggers", told="enabled" if enabled else "disabled")
        return await self.listed(found, error=_REFUSALS.sentence(made))

    async def delete(self, found: Visit, trigger_id: str) -> Response[Any]:
        trigger = await self.standing(found, trigger_id)
        await self._directory.remove_trigger(found.organization_id, trigger.id)
        return go("/triggers", told="deleted")

    async def preview(self, found: Visit, form: Form) -> Response[Any]:
        await self._counting.admit(found, PREVIEWING)
        typed, edits = _typed(form), form.text("id")
        if found.is_partial:
            preview = await self._previewed(found, typed)
            shown = {"preview": preview, "is_off": not typed.settings["enabled"], "partial": True}
            return self._pages.part(found, "trigger_preview.html", shown)
        trigger = await self.standing(found, edits) if edits else None
        style = await preview_of_override(self._dashboard, found, form) if typed.style else None
        return await self.edited(found, trigger, typed, style_preview=style)

    async def _previewed(self, found: Visit, typed: _Typed) -> TriggerPreview:
        wanted = typed.wanted()
        if len(typed.providers) > 1:
            return TriggerPreview(says="Choose repositories of one provider to see what would have started it.")
        if not typed.providers:
            return TriggerPreview(says="Choose a repository to see what would have started it.")
        # As if enabled: the form shows the switch itself.
        trigger = Trigger(
            id="trg_preview",
            organization_id=found.organization_id,
            source_type=source_type(typed.providers[0]),
            repository_ids=wanted["repository_ids"],
            event_types=wanted["event_types"],
            output_type=wanted["output_type"],
            created_at=self._dashboard.app.clock.now(),
        )
        dashboard = self._dashboard
        return await dashboard.app.shares.heavy(found.organization_id, lambda: preview_of(dashboard, trigger))


def _typed(form: Form) -> _Typed:
    return _Typed(
        settings={
            each.name: form.is_on(_input(each.name)) if each.default in {True, False} else form.text(_input(each.name))
            for each in structs.fields(TriggerSettings)
        },
        repositories=form.texts("repositories"),
        events=[kind for kind in form.texts("events") if kind in EVENT_TYPES],
        brand=form.text("brand"),
        style=OVERRIDE.typed(form),
    )


def _input(attribute: str) -> str:
    return _INPUTS.get(attribute, attribute)


def _settings_of(source: Trigger | TriggerSettings) -> dict[str, Any]:
    values = {name: getattr(source, name) for name in TriggerSettings.__struct_fields__}
    return {name: value.value if isinstance(value, Enum) else value for name, value in values.items()}


def _typed_of(trigger: Trigger) -> _Typed:
    provider = provider_of(trigger.source_type) or trigger.source_type
    return _Typed(
        settings=_settings_of(trigger),
        repositories=[hosted(provider, number) for number in trigger.repository_ids],
        events=trigger.event_types or EVENT_TYPES,
        brand=trigger.brand_identity_id or "",
        style=style_body(trigger.house_style) or {},
    )


def _changes(typed: _Typed, trigger: Trigger) -> dict[str, Any]:
    """Return only the changed fields, so that a trigger with a disconnected repository can still be renamed."""
    wanted = typed.wanted()
    provider = wanted.pop("provider")
    changes = differing(wanted, trigger)
    moves = provider is not None and source_type(provider) != trigger.source_type
    if provider is not None and (moves or "repository_ids" in changes):
        changes["provider"] = provider
    return changes


def _row(trigger: Trigger, has: FormSources) -> _Row:
    provider = provider_of(trigger.source_type)
    return _Row(
        trigger=trigger,
        title=_title(trigger, has),
        repositories=[has.repository(provider, number) for number in trigger.repository_ids],
        events=events_of(trigger),
        output=CONTENT[trigger.output_type],
        brand=has.brand(trigger.brand_identity_id),
    )


def _title(trigger: Trigger, has: FormSources) -> str:
    """Return a trigger's name, or a description if it has none."""
    if trigger.name:
        return trigger.name
    output, provider = CONTENT[trigger.output_type], provider_of(trigger.source_type)
    return f"{output} of {some_of([has.repository(provider, number) for number in trigger.repository_ids])}"
