from collections.abc import Mapping, Sequence
from typing import Any, Final, final
from zoneinfo import ZoneInfo

from attrs import evolve, frozen
from msgspec import structs

from contentsvc_core.commands import values_of
from contentsvc_core.ports import Clock, Directory, IdSource, Triggers
from contentsvc_core.refusals import FIELD, Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.workflows.automations import in_known_zone, too_many_repositories
from contentsvc_core.workflows.causes import source_type, unknown_repository
from contentsvc_core.workflows.filters import NO_OPTIONS, TriggerOptions, options_faults
from contentsvc_core.workflows.triggers import (
    ANY_SOURCE,
    EVENT_TYPES,
    NAME_LIMIT,
    TRIGGER_CHANGED,
    UNKNOWN_TRIGGER,
    ChangeTrigger,
    CreateTrigger,
    Trigger,
    collecting,
)

SEVERAL_PROVIDERS: Final = Refusal(
    RefusalKind.UNSUITABLE,
    "the repositories are connected at different providers: a trigger is one provider's",
    "repository_ids",
)
NO_REPOSITORY: Final = Refusal(RefusalKind.UNSUITABLE, "a trigger needs a repository", "repository_ids")
#: The most attempts of a change under concurrent changes of the trigger's repositories.
_TURNS: Final = 5


@final
@frozen(eq=False, repr=False)
class TriggerEditor:
    """Creates and changes triggers; each change applies from the next delivery on."""

    _triggers: Triggers
    _directory: Directory
    _clock: Clock
    _ids: IdSource

    async def create(self, organization_id: str, command: CreateTrigger) -> Trigger | Refusal:
        """Create a trigger; the provider is that of the repositories, unless it is given."""
        values = values_of(command)
        if (refused := _refused(values)) is not None:
            return refused
        provider: str | None = values.pop("provider")
        if command.all_repositories:
            source = ANY_SOURCE if provider is None else source_type(provider)
        else:
            source = await self._source(organization_id, command.repository_ids, provider=provider)
        if isinstance(source, Refusal):
            return source
        now = self._clock.now()
        trigger = Trigger(
            id=self._ids.new_id("trg_"),
            organization_id=organization_id,
            source_type=source,
            created_at=now,
            **_fields(values, NO_OPTIONS),
        )
        return await self._triggers.add(
            trigger, timed=lambda new, zone: in_known_zone(collecting(new, now, zone), zone), checks_brand=True
        )

    async def change(self, organization_id: str, trigger_id: str, change: ChangeTrigger) -> Trigger | Refusal:
        """Change a trigger by a ``ChangeTrigger``. Enabling checks all: a removal may have disabled the trigger."""
        changes = values_of(change)
        for _ in range(_TURNS):
            current = await self._triggers.find(organization_id, trigger_id)
            if current is None:
                return UNKNOWN_TRIGGER
            answer = await self._change(current, changes)
            if answer is not TRIGGER_CHANGED:
                return answer
        return TRIGGER_CHANGED

    async def _change(self, current: Trigger, changes: Mapping[str, Any]) -> Trigger | Refusal:
        organization_id = current.organization_id
        if (refused := _refused(changes)) is not None:
            return refused
        changes = dict(changes)
        names_provider = "provider" in changes
        provider: str | None = changes.pop("provider", None)
        watches_all = changes.get("all_repositories", current.options.all_repositories)
        if changes.get("all_repositories"):
            changes["repository_ids"] = ()
        elif "repository_ids" in changes:
            watches_all = changes["all_repositories"] = False
        looked_at: tuple[str, tuple[int, ...]] | None = None
        source: str | None = None
        if watches_all:
            if names_provider or not current.options.all_repositories:
                source = ANY_SOURCE if provider is None else source_type(provider)
        elif provider is not None or "all_repositories" in changes or changes.get("enabled"):
            found = await self._source(
                organization_id,
                changes.get("repository_ids", current.repository_ids),
                provider=provider,
                usually=current.source_type,
            )
            if isinstance(found, Refusal):
                return found
            source, looked_at = found, (current.source_type, current.repository_ids)
        now = self._clock.now()

        def change(trigger: Trigger, zone: ZoneInfo) -> Trigger | Refusal:
            # The provider was determined from both: other repositories may have another provider.
            if looked_at not in {None, (trigger.source_type, trigger.repository_ids)}:
                return TRIGGER_CHANGED
            moved = {} if source is None else {"source_type": source}
            changed = evolve(trigger, **_fields(changes, trigger.options), **moved)
            return in_known_zone(collecting(changed, now, zone, was=trigger), zone, was=trigger)

        checks_brand = "brand_identity_id" in changes or changes.get("enabled", False)
        return await self._triggers.change(organization_id, current.id, change, checks_brand=checks_brand)

    async def _source(
        self, organization_id: str, repository_ids: Sequence[int], *, provider: str | None, usually: str | None = None
    ) -> str | Refusal:
        # A repository that is removed concurrently starts no runs any more, so that the trigger stays valid.
        if not repository_ids:
            return NO_REPOSITORY
        connected = {
            (integration.provider, repository.id)
            for integration in await self._directory.integrations(organization_id)
            for repository in integration.repositories
        }
        slugs = [each.slug for each in PROVIDERS if provider in {None, each.slug}]
        for id_ in repository_ids:
            if not any((slug, id_) in connected for slug in slugs):
                where = "" if provider is None else f" at {provider}"
                return unknown_repository(id_, where)
        able = [slug for slug in slugs if all((slug, id_) in connected for id_ in repository_ids)]
        if not able:
            return SEVERAL_PROVIDERS
        if len(able) > 1:
            usual = [slug for slug in able if source_type(slug) == usually]
            if not usual:
                sources = " or ".join(map(source_type, able))
                fault = f"the repository is connected at {' and '.join(able)}: choose a provider (sourceType {sources})"
                return Refusal(RefusalKind.UNSUITABLE, fault, "provider")
            return source_type(usual[0])
        return source_type(able[0])


def _refused(fields: Mapping[str, Any]) -> Refusal | None:
    if fields.get("all_repositories") and fields.get("repository_ids"):
        fault = f"{FIELD} cannot be named together with all repositories"
        return Refusal(RefusalKind.UNSUITABLE, fault, "repository_ids")
    return next(iter(faults_of(fields)), None)


def faults_of(fields: Mapping[str, Any]) -> list[Refusal]:
    """Return the refusals of all fields of a command that need no store."""
    faults = options_faults(fields)
    name: str = fields.get("name", "")
    if len(name) > NAME_LIMIT:
        faults.append(Refusal(RefusalKind.INVALID, f"a trigger's name has at most {NAME_LIMIT} characters", "name"))
    if (excess := too_many_repositories("trigger", fields.get("repository_ids", ()))) is not None:
        faults.append(excess)
    kinds: Sequence[str] = fields.get("event_types", ())
    if (unknown := next((kind for kind in kinds if kind not in EVENT_TYPES), None)) is not None:
        fault = f"unknown event type '{one_line(unknown, 64)}': {', '.join(EVENT_TYPES)}"
        faults.append(Refusal(RefusalKind.INVALID, fault, "event_types"))
    return faults


def _fields(values: Mapping[str, Any], options: TriggerOptions) -> dict[str, Any]:
    fields = {name: one_line(value, NAME_LIMIT) if name == "name" else value for name, value in values.items()}
    changed = {name: fields.pop(name) for name in TriggerOptions.__struct_fields__ if name in fields}
    return {**fields, "options": structs.replace(options, **changed)}


def provider_of(source: str) -> str | None:
    return next((each.slug for each in PROVIDERS if source_type(each.slug) == source), None)
