from collections.abc import Mapping
from typing import Any, Final, final

from attrs import field, frozen
from msgspec import Struct

from contentsvc_core.application import Application
from contentsvc_core.content.house_style import style_body
from contentsvc_core.content.posts import ContentType
from contentsvc_core.events.normalized import Release
from contentsvc_core.ports import Automations
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.triggers import NO_REPOSITORY, SEVERAL_PROVIDERS, faults_of, provider_of
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.filters import PATTERN_FIELDS, Batch, TriggerOptions, options_faults
from contentsvc_core.workflows.triggers import (
    ANY_SOURCE,
    EVENT_TYPES,
    NAME_LIMIT,
    ChangeTrigger,
    CreateTrigger,
    Trigger,
    TriggerSettings,
)
from contentsvc_http.dashboard.choices import FormSources, Option, hosted, named, numbers_of, settings_from, settings_of
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.section import FormSection, TypedForm
from contentsvc_http.dashboard.session import DashboardSession
from contentsvc_http.dashboard.style_form import OVERRIDE
from contentsvc_http.dashboard.trigger_preview import preview_of
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
_NO_EVENT: Final = Refusal(RefusalKind.UNSUITABLE, "choose an event, or all events", "event_types")


@final
@frozen(kw_only=True)
class TypedTrigger(TypedForm):
    """The fields of a form; repositories are in the form of :func:`hosted`."""

    settings: Mapping[str, Any] = field(factory=lambda: settings_of(TriggerSettings()))
    every_event: bool = False
    #: Releases are the default: one post for each push is too much for most readers.
    events: tuple[str, ...] = field(converter=tuple, default=(Release.type,))

    @property
    def providers(self) -> list[str]:
        return list(dict.fromkeys(value.partition(":")[0] for value in self.watched))

    @property
    def has_filters(self) -> bool:
        return not self.settings["pre_releases"] or any(self.settings[name] for name in PATTERN_FIELDS)

    @property
    def watched(self) -> tuple[str, ...]:
        return () if self.settings["all_repositories"] else self.repositories

    def values(self) -> dict[str, Any]:
        """Return the values of the form; the provider is included if all repositories have the same."""
        kinds = () if self.every_event or set(self.events) == set(EVENT_TYPES) else self.events
        numbers = numbers_of(value.partition(":")[2] for value in self.watched)
        return {
            **self.settings,
            **{name: _lines(self.settings[name]) for name in PATTERN_FIELDS},
            "output_type": named(ContentType, self.settings["output_type"]),
            "batch": named(Batch, self.settings["batch"]),
            "repository_ids": tuple(sorted(set(numbers))),
            "event_types": tuple(sorted(set(kinds))),
            "brand_identity_id": self.brand or None,
            "provider": self.providers[0] if len(self.providers) == 1 else None,
        }

    def refused(self) -> list[Refusal]:
        """Return the refusals of choices that only the form can distinguish from others."""
        found = [SEVERAL_PROVIDERS] if len(self.providers) > 1 else []
        return found if self.every_event or self.events else [*found, _NO_EVENT]


def read_trigger_form(form: Form) -> TypedTrigger:
    return TypedTrigger(
        settings=settings_from(form, TriggerSettings),
        repositories=form.texts("repositories"),
        every_event=bool(form.text("every_event")),
        events=[kind for kind in form.texts("events") if kind in EVENT_TYPES],
        brand=form.text("brand"),
        style=OVERRIDE.typed(form),
    )


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for part in text.split("\n") if (line := part.strip()))


def _stored_value(trigger: Trigger, name: str) -> Any:  # noqa: ANN401  # any field
    return getattr(trigger.options if name in TriggerOptions.__struct_fields__ else trigger, name)


def typed_of(trigger: Trigger) -> TypedTrigger:
    provider = provider_of(trigger.source_type) or trigger.source_type
    return TypedTrigger(
        settings=settings_of(
            TriggerSettings(**{name: _stored_value(trigger, name) for name in TriggerSettings.__struct_fields__})
        ),
        repositories=[hosted(provider, number) for number in trigger.repository_ids],
        every_event=not trigger.event_types,
        events=trigger.event_types or EVENT_TYPES,
        brand=trigger.brand_identity_id or "",
        style=style_body(trigger.house_style) or {},
    )


def changes_to(typed: TypedTrigger, trigger: Trigger) -> dict[str, Any]:
    """Return only the changed fields, so that a trigger with a disconnected repository can still be renamed."""
    fields = typed.values()
    provider = fields.pop("provider")
    changes = {name: value for name, value in fields.items() if _stored_value(trigger, name) != value}
    moves = provider is not None and source_type(provider) != trigger.source_type
    if provider is not None and (moves or "repository_ids" in changes):
        changes["provider"] = provider
    return changes


class Triggers(FormSection[Trigger, TypedTrigger]):
    name = "trigger"
    refusals = _REFUSALS
    create = CreateTrigger
    change = ChangeTrigger
    settings = TriggerSettings
    name_limit = NAME_LIMIT
    no_repository = NO_REPOSITORY

    def automations(self, app: Application) -> Automations[Trigger]:
        return app.stores.triggers

    async def apply(self, session: DashboardSession, id_: str | None, command: Struct) -> Trigger | Refusal:
        editor = session.app.trigger_editor
        if isinstance(command, CreateTrigger):
            return await editor.create(session.organization_id, command)
        assert isinstance(command, ChangeTrigger)
        return await editor.change(session.organization_id, id_ or "", command)

    def read(self, form: Form | None, stored: Trigger | None) -> TypedTrigger:
        if form is not None:
            return read_trigger_form(form)
        return TypedTrigger() if stored is None else typed_of(stored)

    def values(self, typed: TypedTrigger, stored: Trigger | None) -> tuple[dict[str, Any], list[Refusal]]:
        fields = typed.values() if stored is None else changes_to(typed, stored)
        return fields, typed.refused() + faults_of(fields)

    def title(self, stored: Trigger, has: FormSources) -> str:
        return _title(stored, has)

    def row(self, session: DashboardSession, stored: Trigger, has: FormSources) -> dict[str, Any]:
        del session
        return {
            "stored": stored,
            "title": _title(stored, has),
            "repositories": _repositories(stored, has),
            "events": events_of(stored),
            "filters": filters_of(stored),
            "output": CONTENT[stored.output_type],
            "publishes": PUBLISHES[stored.post_status],
            "brand": has.brand(stored.brand_identity_id),
        }

    def choices(self, typed: TypedTrigger, has: FormSources) -> dict[str, Any]:
        return {
            "repositories": has.hosted_choices(typed.repositories),
            "batches": [Option(value=batch.value, label=BATCHES[batch]) for batch in Batch],
            "events": [Option(value=kind, label=EVENTS[kind]) for kind in EVENT_TYPES],
        }

    async def previewed(self, session: DashboardSession, stored: Trigger | None, typed: TypedTrigger) -> dict[str, Any]:
        del stored
        return {"preview": await self._matches(session, typed), "is_off": not typed.settings["enabled"]}

    async def _matches(self, session: DashboardSession, typed: TypedTrigger) -> dict[str, Any]:
        if len(typed.providers) > 1:
            return {"message": "Choose repositories of one provider to see what would have started it."}
        if not typed.providers and not typed.settings["all_repositories"]:
            return {"message": "Choose a repository to see what would have started it."}
        if not (typed.every_event or typed.events):
            return {"message": "Choose an event to see what would have started it."}
        fields = typed.values()
        if refused := options_faults(fields):
            return {"message": " ".join(map(_REFUSALS.sentence, refused))}
        # As if enabled: the form shows the switch itself.
        trigger = Trigger(
            id="trg_preview",
            organization_id=session.organization_id,
            source_type=source_type(typed.providers[0]) if typed.providers else ANY_SOURCE,
            repository_ids=fields["repository_ids"],
            event_types=fields["event_types"],
            output_type=fields["output_type"],
            options=TriggerOptions(**{name: fields[name] for name in TriggerOptions.__struct_fields__}),
            created_at=session.app.clock.now(),
        )
        return await session.heavy(lambda: preview_of(session, trigger))


def _title(trigger: Trigger, has: FormSources) -> str:
    if trigger.name:
        return trigger.name
    return f"{CONTENT[trigger.output_type]} of {some_of(_repositories(trigger, has))}"


def _repositories(trigger: Trigger, has: FormSources) -> list[str]:
    provider = provider_of(trigger.source_type)
    if trigger.options.all_repositories:
        return ["all repositories" if provider is None else f"all repositories at {provider}"]
    return [has.repository(provider, number) for number in trigger.repository_ids]
