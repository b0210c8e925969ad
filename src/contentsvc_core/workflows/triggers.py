"""Event triggers (specification 2.4) and which of them an event starts (specification 6.4, step 2)."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias, final

from attrs import field, frozen
from msgspec import Meta

from contentsvc_core.commands import Command, changes_of
from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.content.posts import ContentType
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.timestamps import iso_ms

#: The event types that a trigger may name (specification 2.4).
EVENT_TYPES: Final = ("push", "release")


def _ascending_ids(ids: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(ids)))


def _ascending_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _known_event_types(_trigger: object, _attribute: object, value: tuple[str, ...]) -> None:
    unknown = [name for name in value if name not in EVENT_TYPES]
    if unknown:
        message = f"unknown event type {unknown[0]!r}: a trigger takes {' or '.join(EVENT_TYPES)}"
        raise ValueError(message)


@final
@frozen(kw_only=True)
class Trigger:
    """Starts a workflow run for each event that it matches."""

    id: str
    organization_id: str
    #: For people; may be empty.
    name: str = ""
    #: ``<provider>_webhook``.
    source_type: str
    enabled: bool = True
    #: The repositories whose events match, in ascending order.
    repository_ids: tuple[int, ...] = field(converter=_ascending_ids)
    #: The event types that match; empty: all.
    event_types: tuple[str, ...] = field(converter=_ascending_names, validator=_known_event_types)
    #: The content type of its posts.
    output_type: ContentType
    #: The brand identity of its posts; ``None``: the organization's default, if it has one.
    brand_identity_id: str | None = None
    #: True: its posts are published at once; False: they are drafts.
    auto_publish: bool = False
    #: Overrides the organization's house style; ``None``: no override.
    house_style: HouseStyle | None = None
    created_at: datetime

    def does_the_same_as(self, other: "Trigger") -> bool:
        """Check whether two triggers do the same work; an organization has only one of them (decisions, ``/v1``).

        Name, ``enabled`` and ``auto_publish`` do not count: two such triggers would write every post twice. A list of
        all event types equals an empty list.
        """
        return _work(self) == _work(other)


def _work(trigger: Trigger) -> tuple[object, ...]:
    kinds = trigger.event_types or EVENT_TYPES
    return (
        trigger.source_type,
        trigger.repository_ids,
        kinds,
        trigger.output_type,
        trigger.brand_identity_id,
        trigger.house_style,
    )


#: The most triggers of an organization, disabled ones included: one push starts at most this many runs.
MAX_TRIGGERS: Final = 200


UNKNOWN_TRIGGER: Final = Refusal(RefusalKind.NOT_FOUND, "Event trigger not found")
DUPLICATE_TRIGGER: Final = Refusal(RefusalKind.DUPLICATE, "Duplicate event trigger")
#: The trigger was changed concurrently, several times in a row; the client may retry.
TRIGGER_CHANGED: Final = Refusal(RefusalKind.CONFLICT, "Event trigger was changed by somebody else at the same time")


#: The most characters of a trigger's name.
NAME_LIMIT: Final = 100


class TriggerSettings(Command, frozen=True, kw_only=True):
    """The fields of a trigger that have the same form in all drivers."""

    name: Annotated[str, Meta(max_length=NAME_LIMIT, description="Name of the trigger.")] = ""
    output_type: Annotated[ContentType, Meta(description="Content type.")] = ContentType.CHANGELOG
    auto_publish: Annotated[bool, Meta(description="Publish posts at once, or keep them as drafts.")] = False
    enabled: bool = True


@final
class CreateTrigger(TriggerSettings, frozen=True, kw_only=True):
    """Create an event trigger."""

    repository_ids: Annotated[
        Sequence[Annotated[int, Meta(ge=1, le=MAX_REPOSITORY_ID)]],
        Meta(description="Connected repository to watch. Repeat for several."),
    ]
    event_types: Annotated[
        Sequence[Literal["push", "release"]],
        Meta(description="Event type that starts a run. Repeat for several."),
    ] = ()
    brand_identity_id: Annotated[str | None, Meta(description="Brand identity of the posts.")] = None
    #: ``None``: the provider that the repositories are connected at.
    provider: Annotated[str | None, Meta(description="Provider of the repositories.")] = None
    house_style: HouseStyle | None = None


#: Changes fields of an event trigger.
ChangeTrigger = changes_of(CreateTrigger, "ChangeTrigger", clears=("brand_identity_id", "house_style"))

#: Maps the current trigger to the changed one, or refuses the change.
TriggerChange: TypeAlias = Callable[[Trigger], Trigger | Refusal]


def source_type(provider: str) -> str:
    """Return a provider's ``sourceType`` of triggers and ``source`` of context records."""
    return f"{provider}_webhook"


def matching(
    triggers: Iterable[Trigger],
    *,
    organization_id: str,
    source_type: str,
    repository_id: int,
    event_type: str,
) -> tuple[Trigger, ...]:
    """Return the triggers that an event starts, in their given order (specification 6.4, step 2)."""
    found = [
        trigger
        for trigger in triggers
        if trigger.organization_id == organization_id
        and trigger.source_type == source_type
        and trigger.enabled
        and repository_id in trigger.repository_ids
        and (not trigger.event_types or event_type in trigger.event_types)
    ]
    return tuple(found)


def output_config_body(brand_identity_id: str | None, house_style: HouseStyle | None) -> dict[str, Any] | None:
    """Return the wire form of the settings for posts, without empty fields; ``None``: all are empty."""
    given = {"brandIdentityId": brand_identity_id, "houseStyle": style_body(house_style)}
    return {name: value for name, value in given.items() if value is not None} or None


def trigger_body(trigger: Trigger) -> dict[str, Any]:
    """Return a trigger's wire form (specification 2.4, decisions); repository ids are strings in every answer."""
    return {
        "id": trigger.id,
        "organizationId": trigger.organization_id,
        "name": trigger.name,
        "sourceType": trigger.source_type,
        "enabled": trigger.enabled,
        "targets": {"repositoryIds": [str(number) for number in trigger.repository_ids]},
        "sourceConfig": {"eventTypes": list(trigger.event_types)},
        "outputType": trigger.output_type.value,
        "outputConfig": output_config_body(trigger.brand_identity_id, trigger.house_style),
        "autoPublish": trigger.auto_publish,
        "createdAt": iso_ms(trigger.created_at),
    }
