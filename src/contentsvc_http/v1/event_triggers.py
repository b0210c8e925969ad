from typing import Annotated, Any, Final, Literal, TypedDict

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter
from msgspec import UNSET, Meta, Struct

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.commands import changes_of, values_of
from contentsvc_core.ports import Directory
from contentsvc_core.text import one_line
from contentsvc_core.usecases.triggers import provider_of
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.workflows.automations import MAX_REPOSITORIES
from contentsvc_core.workflows.bodies import OneTriggerBody, TriggerListBody
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.triggers import (
    ANY_SOURCE,
    UNKNOWN_TRIGGER,
    ChangeTrigger,
    CreateTrigger,
    Trigger,
    TriggerSettings,
)
from contentsvc_http.errors import accepted, refuse_request, refused
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import LOCATED, Operations
from contentsvc_http.v1.output_config import HostedOutputConfig, OutputConfig, output_changes
from contentsvc_http.v1.repository_ids import (
    REPOSITORY_FILTER,
    ConnectedRepository,
    read_repositories,
    read_repository_filter,
)

_SOURCE_TYPES: Final = [*(source_type(each.slug) for each in PROVIDERS), ANY_SOURCE]
_SOURCE_TYPE: Final = {
    "title": "TriggerSourceType",
    "description": "The code host of an event trigger, or all of them.",
    "enum": _SOURCE_TYPES,
}
_Id = Annotated[str, Parameter(description="Id of the event trigger.")]


class TriggerTargets(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """The repositories that a trigger watches."""

    repository_ids: Annotated[list[ConnectedRepository], Meta(min_length=1, max_length=MAX_REPOSITORIES)]


class TriggerSource(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """The event types that start a run. If the list is empty or absent, every event does."""

    event_types: list[Literal["push", "release"]] = []


class HostedTriggerSource(TriggerSource, frozen=True):
    """The event types that start a run. `ignoreCommitPatterns` must be empty."""

    #: The same as `preReleases` of the trigger.
    include_pre_releases: bool = True
    #: Always empty: commits cannot be excluded by pattern.
    ignore_commit_patterns: list[str] = []


class NewTrigger(TriggerSettings, rename="camel", frozen=True, kw_only=True):
    """A new event trigger."""

    targets: TriggerTargets | None = None
    source_type: Annotated[str, Meta(extra_json_schema=_SOURCE_TYPE)] | None = None
    source_config: TriggerSource | None = None
    output_config: OutputConfig | None = None


class HostedNewTrigger(NewTrigger, rename="camel", frozen=True, kw_only=True):
    """A new event trigger."""

    source_config: HostedTriggerSource | None = None
    output_config: HostedOutputConfig | None = None


class TriggerRemovedBody(TypedDict):
    """The id of the deleted event trigger."""

    id: str


def event_trigger_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "event triggers")
    editor, stores = gate.app.trigger_editor, gate.app.stores
    new = HostedNewTrigger if gate.hosted else NewTrigger
    fields = changes_of(new, "TriggerFields", clears=("output_config",))

    def one(trigger: Trigger) -> OneTriggerBody:
        return {"eventTrigger": gate.answers.event_trigger(trigger)}

    @operation(
        "GET /v1/event-triggers",
        "listEventTriggers",
        "List event triggers",
        query={"repositoryIds": (list[str], REPOSITORY_FILTER)},
    )
    async def list_event_triggers(request: Request[Any, Any, Any], key: Caller) -> Response[TriggerListBody]:
        chosen = await read_repository_filter(stores.directory, key.organization_id, request)
        triggers = [
            trigger
            for trigger in await stores.triggers.all_of(key.organization_id)
            if chosen is None or trigger.options.all_repositories or not chosen.isdisjoint(trigger.repository_ids)
        ]
        integrations = await stores.directory.integrations(key.organization_id)
        return await gate.answer(key, gate.answers.event_triggers(triggers, integrations))

    @operation("GET /v1/event-triggers/{trigger_id:str}", "getEventTrigger", "Get an event trigger")
    async def get_event_trigger(key: Caller, trigger_id: _Id) -> Response[OneTriggerBody]:
        stored = await stores.triggers.find(key.organization_id, trigger_id)
        return await gate.answer(key, one(accepted(stored or UNKNOWN_TRIGGER)))

    @operation(
        "POST /v1/event-triggers",
        "createEventTrigger",
        "Create an event trigger",
        body=new,
        status=201,
        headers=[LOCATED],
        fails=[409],
    )
    async def create_event_trigger(key: Caller, command: Sent[NewTrigger]) -> Response[OneTriggerBody]:
        values = await _values(stores.directory, key, command, hosted=gate.hosted)
        if "repository_ids" not in values and not values["all_repositories"]:
            refuse_request("targets is missing: name repositories, or send allRepositories")
        created = accepted(await editor.create(key.organization_id, CreateTrigger(**values)))
        return await gate.answer(key, one(created), location=f"/v1/event-triggers/{created.id}")

    @operation(
        "PATCH /v1/event-triggers/{trigger_id:str}",
        "updateEventTrigger",
        "Update an event trigger",
        description="The change applies from the next delivery on.",
        body=fields,
        fails=[409],
    )
    async def change_event_trigger(key: Caller, command: Sent[Struct], trigger_id: _Id) -> Response[OneTriggerBody]:
        changes = await _values(stores.directory, key, command, hosted=gate.hosted)
        changed = await editor.change(key.organization_id, trigger_id, ChangeTrigger(**changes))
        return await gate.answer(key, one(accepted(changed)))

    @operation("DELETE /v1/event-triggers/{trigger_id:str}", "deleteEventTrigger", "Delete an event trigger")
    async def delete_event_trigger(key: Caller, trigger_id: _Id) -> Response[TriggerRemovedBody]:
        if not await stores.triggers.remove(key.organization_id, trigger_id):
            raise refused(UNKNOWN_TRIGGER)
        return await gate.answer(key, {"id": trigger_id})

    return operation.routes


async def _values(directory: Directory, key: ApiKey, body: Struct, *, hosted: bool) -> dict[str, Any]:
    values = values_of(body)
    source: TriggerSource | None = values.pop("source_config", None)
    named: str | None = values.pop("source_type", None)
    targets: TriggerTargets | None = values.pop("targets", None)
    values |= output_changes(values.pop("output_config", UNSET), hosted=hosted)
    provider = None if named is None else _provider(named)
    if targets is not None:
        values["repository_ids"], provider = await _repositories(directory, key, targets, provider)
    if provider is not None or named is not None:
        values["provider"] = provider
    if source is not None:
        values["event_types"] = _event_types(source)
        if isinstance(source, HostedTriggerSource):
            values["pre_releases"] = source.include_pre_releases and values.get("pre_releases", True)
    return values


def _provider(source: str) -> str | None:
    if source == ANY_SOURCE:
        return None
    provider = provider_of(source)
    if provider is None:
        sources = ", ".join(_SOURCE_TYPES)
        refuse_request(f"sourceType: '{one_line(source, 64)}' is not one of {sources}")
    return provider


async def _repositories(
    directory: Directory, key: ApiKey, targets: TriggerTargets, provider: str | None
) -> tuple[tuple[int, ...], str | None]:
    field = "targets.repositoryIds"
    chosen = await read_repositories(directory, key.organization_id, field, targets.repository_ids)
    providers = chosen.providers
    if provider is None and len(providers) == 1:
        return chosen.ids, providers.pop()
    if provider is not None and not providers <= {provider}:
        refuse_request(f"{field}: sourceType names the provider {provider}, but an integration has another provider")
    return chosen.ids, provider


def _event_types(source: TriggerSource) -> list[Literal["push", "release"]]:
    if isinstance(source, HostedTriggerSource) and source.ignore_commit_patterns:
        fault = "commits cannot be excluded by pattern here; send an empty list or leave it out"
        refuse_request(f"sourceConfig.ignoreCommitPatterns: {fault}")
    return source.event_types
