"""``/v1/schedules``: runs that start at fixed times."""

from typing import Annotated, Any, Final, Literal

from litestar import Request, Response, delete, get, patch, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.ports import Directory, Schedules
from contentsvc_core.usecases.plan import Planner, ScheduleChanges
from contentsvc_core.workflows.schedules import NAME_LIMIT, UNKNOWN_SCHEDULE
from contentsvc_core.workflows.slots import Cron, Frequency, cron_fault
from contentsvc_http.errors import Refused, accepted, refuse_request, refused
from contentsvc_http.v1.answers import repository_map
from contentsvc_http.v1.bodies import read_body, takes
from contentsvc_http.v1.gate import Gate, errors
from contentsvc_http.v1.output_config import HostedOutputConfig, OutputConfig, output_changes
from contentsvc_http.v1.pages import queried
from contentsvc_http.v1.repository_ids import (
    REPOSITORY_FILTER,
    ConnectedRepository,
    read_repositories,
    read_repository_filter,
)
from contentsvc_http.v1.shapes_schedules import OneScheduleBody, ScheduleListBody, ScheduleRemovedBody

#: Maximum number of repositories of one schedule; more would be a mistake.
_MOST: Final = 100
_TAGS: Final = ["schedules"]
_Name = Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT)]
_Id = Annotated[str, Parameter(description="Id of the schedule.")]


class CronFields(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """When a schedule fires, in UTC. `dayOfWeek` 0 is Sunday. `dayOfMonth` 31 is the last day of every month."""

    frequency: Frequency
    hour: Annotated[int, Meta(ge=0, le=23)]
    minute: Annotated[int, Meta(ge=0, le=59)]
    day_of_week: Annotated[int, Meta(ge=0, le=6)] | None = None
    day_of_month: Annotated[int, Meta(ge=1, le=31)] | None = None


class SourceConfigFields(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """When a schedule fires."""

    cron: CronFields


class TargetFields(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """The repositories that a schedule covers."""

    repository_ids: Annotated[list[ConnectedRepository], Meta(min_length=1, max_length=_MOST)]


class NewSchedule(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """A new schedule."""

    name: _Name
    source_config: SourceConfigFields
    targets: TargetFields
    output_type: ContentType
    source_type: Literal["cron"] = "cron"
    output_config: OutputConfig | None = None
    enabled: bool = True
    auto_publish: bool = False
    lookback_window: Lookback = DEFAULT_LOOKBACK


class HostedNewSchedule(NewSchedule, frozen=True):
    """A new schedule."""

    output_config: HostedOutputConfig | None = None


class ScheduleFields(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """The fields to change. Send at least one."""

    name: _Name | UnsetType = UNSET
    source_type: Literal["cron"] | UnsetType = UNSET
    source_config: SourceConfigFields | UnsetType = UNSET
    targets: TargetFields | UnsetType = UNSET
    output_type: ContentType | UnsetType = UNSET
    output_config: OutputConfig | UnsetType | None = UNSET
    enabled: bool | UnsetType = UNSET
    auto_publish: bool | UnsetType = UNSET
    lookback_window: Lookback | UnsetType = UNSET


class HostedScheduleFields(ScheduleFields, frozen=True):
    """The fields to change. Send at least one."""

    output_config: HostedOutputConfig | UnsetType | None = UNSET


def schedule_routes(gate: Gate, planner: Planner, schedules: Schedules, directory: Directory) -> list[HTTPRouteHandler]:
    """Return the routes of schedules."""
    new, fields = (HostedNewSchedule, HostedScheduleFields) if gate.hosted else (NewSchedule, ScheduleFields)

    @get(
        "/v1/schedules",
        name="list_schedules",
        operation_id="listSchedules",
        summary="List schedules",
        tags=_TAGS,
        operation_class=queried({"repositoryIds": REPOSITORY_FILTER}),
        responses=errors(400),
    )
    async def list_schedules(request: Request[Any, Any, Any]) -> Response[ScheduleListBody]:
        key = await gate.caller(request, Scope.READ)
        chosen = await read_repository_filter(directory, key.organization_id, request)
        found = [
            each
            for each in await schedules.schedules(key.organization_id)
            if chosen is None or not chosen.isdisjoint(each.repository_ids)
        ]
        ids = {number for each in found for number in each.repository_ids}
        names = repository_map(ids, await directory.integrations(key.organization_id))
        bodies = [gate.answers.schedule(each) for each in found]
        return await gate.answer(key, {"schedules": bodies, "repositoryMap": names})

    @post(
        "/v1/schedules",
        status_code=201,
        name="create_schedule",
        operation_id="createSchedule",
        summary="Create a schedule",
        tags=_TAGS,
        operation_class=takes(new),
        responses=errors(400, 409, 413, 415),
    )
    async def create_schedule(request: Request[Any, Any, Any]) -> Response[OneScheduleBody]:
        key = await gate.caller(request, Scope.WRITE)
        body = await read_body(request, new)
        made = await planner.create(
            key.organization_id,
            name=body.name,
            cron=_cron(body.source_config),
            repository_ids=await _repository_ids(directory, key, body.targets),
            output_type=body.output_type,
            **output_changes(body.output_config),
            enabled=body.enabled,
            auto_publish=body.auto_publish,
            lookback=body.lookback_window,
        )
        return await gate.answer(key, {"schedule": gate.answers.schedule(accepted(made))}, status=201)

    @patch(
        "/v1/schedules/{schedule_id:str}",
        name="change_schedule",
        operation_id="updateSchedule",
        summary="Update a schedule",
        tags=_TAGS,
        operation_class=takes(fields),
        responses=errors(400, 404, 409, 413, 415),
    )
    async def change_schedule(request: Request[Any, Any, Any], schedule_id: _Id) -> Response[OneScheduleBody]:
        key = await gate.caller(request, Scope.WRITE)
        changes = await _changes(directory, key, await read_body(request, fields))
        made = await planner.change(key.organization_id, schedule_id, **changes)
        return await gate.answer(key, {"schedule": gate.answers.schedule(accepted(made))})

    @delete(
        "/v1/schedules/{schedule_id:str}",
        status_code=200,
        name="delete_schedule",
        operation_id="deleteSchedule",
        summary="Delete a schedule",
        tags=_TAGS,
        responses=errors(404),
    )
    async def delete_schedule(request: Request[Any, Any, Any], schedule_id: _Id) -> Response[ScheduleRemovedBody]:
        key = await gate.caller(request, Scope.WRITE)
        if not (is_own_id(schedule_id) and await schedules.remove(key.organization_id, schedule_id)):
            raise refused(UNKNOWN_SCHEDULE)
        return await gate.answer(key, {"id": schedule_id})

    return [list_schedules, create_schedule, change_schedule, delete_schedule]


def _cron(fields: SourceConfigFields) -> Cron:
    given = structs.asdict(fields.cron)
    fault = cron_fault(**given)
    if fault is not None:
        refuse_request(f"sourceConfig.cron: {fault.message()}")
    return Cron(**given)


async def _repository_ids(directory: Directory, key: ApiKey, fields: TargetFields) -> tuple[int, ...]:
    chosen = await read_repositories(directory, key.organization_id, "targets.repositoryIds", fields.repository_ids)
    return chosen.ids


async def _changes(directory: Directory, key: ApiKey, fields: ScheduleFields) -> ScheduleChanges:
    changes = ScheduleChanges(**output_changes(fields.output_config, hosted=isinstance(fields, HostedScheduleFields)))
    if fields.name is not UNSET:
        changes["name"] = fields.name
    if fields.source_config is not UNSET:
        changes["cron"] = _cron(fields.source_config)
    if fields.targets is not UNSET:
        changes["repository_ids"] = await _repository_ids(directory, key, fields.targets)
    if fields.output_type is not UNSET:
        changes["output_type"] = fields.output_type
    if fields.enabled is not UNSET:
        changes["enabled"] = fields.enabled
    if fields.auto_publish is not UNSET:
        changes["auto_publish"] = fields.auto_publish
    if fields.lookback_window is not UNSET:
        changes["lookback"] = fields.lookback_window
    if not changes and fields.source_type is UNSET:
        raise Refused(400, {"error": "Invalid request: there is nothing to change"})
    return changes
