from collections.abc import Sequence
from typing import Any, Final, final

from attrs import field, frozen
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct

from contentsvc_core.identifiers import is_own_id
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.triggers import NO_REPOSITORY, provider_of
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
from contentsvc_http.dashboard.choices import FormSources, Option
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.pages import Pages
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.section import FormSection, Row, section_routes
from contentsvc_http.dashboard.session import DashboardSession
from contentsvc_http.dashboard.trigger_form import TypedTrigger, changes_to, read_trigger_form, typed_of
from contentsvc_http.dashboard.trigger_preview import TriggerPreview, preview_of
from contentsvc_http.forms import Form
from contentsvc_http.words import BATCHES, CONTENT, EVENTS, PUBLISHES, events_of, filters_of, some_of

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
        RefusalKind.NOT_FOUND: "This trigger is not there (any more).",
        RefusalKind.DUPLICATE: "Another trigger does the same already: "
        "for these events of these repositories, it writes this, too.",
        RefusalKind.CONFLICT: "Another change of this trigger was saved at the same time. "
        "Check the form, and save it again.",
    },
)


@final
@frozen(kw_only=True)
class _Row(Row):
    stored: Trigger
    events: str
    filters: tuple[str, ...] = field(converter=tuple)
    output: str
    publishes: str
    brand: str


def trigger_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    return section_routes(dashboard, _Triggers(dashboard, pages))


@final
class _Triggers(FormSection[Trigger, TypedTrigger]):
    name = "trigger"
    refusals = _REFUSALS
    create = CreateTrigger
    change = ChangeTrigger
    settings = TriggerSettings
    name_limit = NAME_LIMIT
    no_repository = NO_REPOSITORY

    async def stored(self, organization_id: str) -> Sequence[Trigger]:
        return await self.dashboard.app.stores.directory.triggers(organization_id)

    async def find(self, organization_id: str, id_: str) -> Trigger | None:
        return await self.dashboard.app.stores.directory.trigger(organization_id, id_) if is_own_id(id_) else None

    async def remove(self, organization_id: str, id_: str) -> object:
        return await self.dashboard.app.stores.directory.remove_trigger(organization_id, id_)

    async def apply(self, organization_id: str, id_: str | None, command: Struct) -> Trigger | Refusal:
        editor = self.dashboard.app.trigger_editor
        if isinstance(command, CreateTrigger):
            return await editor.create(organization_id, command)
        return await editor.change(organization_id, id_ or "", command)

    def read(self, form: Form | None, stored: Trigger | None) -> TypedTrigger:
        if form is not None:
            return read_trigger_form(form)
        return TypedTrigger() if stored is None else typed_of(stored)

    def values(self, typed: TypedTrigger, stored: Trigger | None) -> tuple[dict[str, Any], list[Refusal]]:
        fields = typed.values() if stored is None else changes_to(typed, stored)
        pattern = options_fault(fields)
        return fields, typed.refused() + ([] if pattern is None else [pattern])

    def title(self, stored: Trigger, has: FormSources) -> str:
        return _title(stored, has)

    def row(self, session: DashboardSession, stored: Trigger, has: FormSources) -> _Row:
        del session
        return _Row(
            stored=stored,
            title=_title(stored, has),
            repositories=_repositories(stored, has),
            events=events_of(stored),
            filters=filters_of(stored),
            output=CONTENT[stored.output_type],
            publishes=PUBLISHES[stored.post_status],
            brand=has.brand(stored.brand_identity_id),
        )

    def choices(self, typed: TypedTrigger, has: FormSources) -> dict[str, Any]:
        return {
            "repositories": has.hosted_choices(typed.repositories),
            "batches": [Option(value=batch.value, label=BATCHES[batch]) for batch in Batch],
            "events": [Option(value=kind, label=EVENTS[kind]) for kind in EVENT_TYPES],
        }

    async def previewed(self, session: DashboardSession, stored: Trigger | None, typed: TypedTrigger) -> dict[str, Any]:
        del stored
        return {"preview": await self._matches(session, typed), "is_off": not typed.settings["enabled"]}

    async def _matches(self, session: DashboardSession, typed: TypedTrigger) -> TriggerPreview:
        if len(typed.providers) > 1:
            return TriggerPreview(message="Choose repositories of one provider to see what would have started it.")
        if not typed.providers and not typed.settings["all_repositories"]:
            return TriggerPreview(message="Choose a repository to see what would have started it.")
        if not (typed.every_event or typed.events):
            return TriggerPreview(message="Choose an event to see what would have started it.")
        fields = typed.values()
        if (refused := options_fault(fields)) is not None:
            return TriggerPreview(message=_REFUSALS.sentence(refused))
        dashboard = self.dashboard
        # As if enabled: the form shows the switch itself.
        trigger = Trigger(
            id="trg_preview",
            organization_id=session.organization_id,
            source_type=source_type(typed.providers[0]) if typed.providers else ANY_SOURCE,
            repository_ids=fields["repository_ids"],
            event_types=fields["event_types"],
            output_type=fields["output_type"],
            options=TriggerOptions(**{name: fields[name] for name in TriggerOptions.__struct_fields__}),
            created_at=dashboard.app.clock.now(),
        )
        return await dashboard.app.shares.heavy(session.organization_id, lambda: preview_of(dashboard, trigger))


def _title(trigger: Trigger, has: FormSources) -> str:
    if trigger.name:
        return trigger.name
    return f"{CONTENT[trigger.output_type]} of {some_of(_repositories(trigger, has))}"


def _repositories(trigger: Trigger, has: FormSources) -> list[str]:
    provider = provider_of(trigger.source_type)
    if trigger.options.all_repositories:
        return ["all repositories" if provider is None else f"all repositories at {provider}"]
    return [has.repository(provider, number) for number in trigger.repository_ids]
