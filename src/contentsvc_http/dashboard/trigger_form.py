from collections.abc import Mapping
from typing import Any, Final, final

from attrs import field, frozen

from contentsvc_core.content.house_style import style_body
from contentsvc_core.content.posts import ContentType
from contentsvc_core.events.normalized import Release
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.triggers import SEVERAL_PROVIDERS, provider_of
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.filters import PATTERN_FIELDS, Batch, TriggerOptions
from contentsvc_core.workflows.triggers import EVENT_TYPES, Trigger, TriggerSettings
from contentsvc_http.dashboard.choices import hosted, named, numbers_of, settings_from, settings_of
from contentsvc_http.dashboard.section import TypedForm
from contentsvc_http.dashboard.style_form import OVERRIDE
from contentsvc_http.forms import Form

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
        """Return the refusals of choices that only the form can tell from others."""
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
