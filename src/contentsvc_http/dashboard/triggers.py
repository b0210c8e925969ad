from collections.abc import Mapping
from typing import Any, Final, final

from attrs import field, frozen

from contentsvc_core.application import Application
from contentsvc_core.content.posts import ContentType
from contentsvc_core.events.normalized import Release
from contentsvc_core.ports import Automations
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.triggers import NO_REPOSITORY, SEVERAL_PROVIDERS, TriggerEditor, faults_of, provider_of
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
from contentsvc_http.dashboard.choices import FormSources, Option, hosted, named, numbers_of, settings_of
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.section import FormSection, TypedForm
from contentsvc_http.dashboard.session import DashboardSession
from contentsvc_http.dashboard.trigger_preview import preview_of
from contentsvc_http.forms import Form
from contentsvc_http.words import BATCHES, CONTENT, EVENTS, events_of, filters_of, some_of

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


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for part in text.split("\n") if (line := part.strip()))


class Triggers(FormSection[Trigger, TypedTrigger]):
    name = "trigger"
    refusals = _REFUSALS
    create = CreateTrigger
    change = ChangeTrigger
    settings = TriggerSettings
    typed = TypedTrigger
    name_limit = NAME_LIMIT
    no_repository = NO_REPOSITORY

    def automations(self, app: Application) -> Automations[Trigger]:
        return app.stores.triggers

    def editor(self, app: Application) -> TriggerEditor:
        return app.trigger_editor

    def typed_in(self, form: Form) -> dict[str, Any]:
        kinds = [kind for kind in form.texts("events") if kind in EVENT_TYPES]
        return {"every_event": bool(form.text("every_event")), "events": kinds}

    def typed_of(self, stored: Trigger) -> dict[str, Any]:
        provider = provider_of(stored.source_type) or stored.source_type
        return {
            "repositories": [hosted(provider, number) for number in stored.repository_ids],
            "every_event": not stored.event_types,
            "events": stored.event_types or EVENT_TYPES,
        }

    def value(self, stored: Trigger, name: str) -> Any:  # noqa: ANN401  # as the base class
        return getattr(stored.options if name in TriggerOptions.__struct_fields__ else stored, name)

    def values(self, typed: TypedTrigger, stored: Trigger | None) -> tuple[dict[str, Any], list[Refusal]]:
        fields = typed.values()
        if stored is not None:
            # A trigger with a disconnected repository can still be renamed.
            provider = fields.pop("provider")
            fields = self.differing(fields, stored)
            moves = provider is not None and source_type(provider) != stored.source_type
            if provider is not None and (moves or "repository_ids" in fields):
                fields["provider"] = provider
        return fields, typed.refused() + faults_of(fields)

    def title(self, stored: Trigger, has: FormSources) -> str:
        return _title(stored, has)

    def cells(self, session: DashboardSession, stored: Trigger, has: FormSources) -> dict[str, Any]:
        del session
        return {
            "repositories": _repositories(stored, has),
            "events": events_of(stored),
            "filters": filters_of(stored),
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
