from typing import Annotated, Any, Literal, TypedDict

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter
from msgspec import UNSET, Meta, Struct, structs

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.commands import changes_of, values_of
from contentsvc_core.content.posts import ContentType
from contentsvc_core.ports import Directory
from contentsvc_core.workflows.automations import MAX_REPOSITORIES
from contentsvc_core.workflows.bodies import ScheduleBody
from contentsvc_core.workflows.schedules import (
    NAME_LIMIT,
    UNKNOWN_SCHEDULE,
    ChangeSchedule,
    CreateSchedule,
    ScheduleSettings,
)
from contentsvc_core.workflows.slots import Cron, Frequency, cron_fault
from contentsvc_http.errors import accepted, refuse_request, refused
from contentsvc_http.v1.answers import repository_map
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import LOCATED, Operations
from contentsvc_http.v1.output_config import HostedOutputConfig, OutputConfig, output_changes
from contentsvc_http.v1.repository_ids import (
    REPOSITORY_FILTER,
    ConnectedRepository,
    read_repositories,
    read_repository_filter,
)

_Id = Annotated[str, Parameter(description="Id of the schedule.")]


class CronFields(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """When a schedule fires, in the organization's time zone.

    `dayOfWeek` 0 is Sunday. `dayOfMonth` 31 is the last day of every month.
    """

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

    repository_ids: Annotated[list[ConnectedRepository], Meta(min_length=1, max_length=MAX_REPOSITORIES)]


class NewSchedule(ScheduleSettings, rename="camel", frozen=True, kw_only=True):
    """A new schedule."""

    name: Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT)]
    source_config: SourceConfigFields
    targets: TargetFields
    output_type: ContentType  # pyright: ignore[reportGeneralTypeIssues]  # this field alone has no default
    source_type: Literal["cron"] = "cron"
    output_config: OutputConfig | None = None


class HostedNewSchedule(NewSchedule, rename="camel", frozen=True, kw_only=True):
    """A new schedule."""

    output_config: HostedOutputConfig | None = None


class ScheduleListBody(TypedDict):
    """All schedules, oldest first, and the names of their repositories by id."""

    schedules: list[ScheduleBody]
    repositoryMap: dict[str, str]


class OneScheduleBody(TypedDict):
    """One schedule."""

    schedule: ScheduleBody


class ScheduleRemovedBody(TypedDict):
    """The id of the deleted schedule."""

    id: str


def schedule_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "schedules")
    planner, schedules, directory = gate.app.planner, gate.app.stores.schedules, gate.app.stores.directory
    new = HostedNewSchedule if gate.hosted else NewSchedule
    fields = changes_of(new, "ScheduleFields", clears=("output_config",))

    @operation(
        "GET /v1/schedules",
        "listSchedules",
        "List schedules",
        query={"repositoryIds": (list[str], REPOSITORY_FILTER)},
    )
    async def list_schedules(request: Request[Any, Any, Any], key: Caller) -> Response[ScheduleListBody]:
        chosen = await read_repository_filter(directory, key.organization_id, request)
        listed = [
            schedule
            for schedule in await schedules.all_of(key.organization_id)
            if chosen is None or not chosen.isdisjoint(schedule.repository_ids)
        ]
        ids = {number for schedule in listed for number in schedule.repository_ids}
        names = repository_map(ids, await directory.integrations(key.organization_id))
        bodies = [gate.answers.schedule(schedule) for schedule in listed]
        return await gate.answer(key, {"schedules": bodies, "repositoryMap": names})

    @operation("GET /v1/schedules/{schedule_id:str}", "getSchedule", "Get a schedule")
    async def get_schedule(key: Caller, schedule_id: _Id) -> Response[OneScheduleBody]:
        stored = await schedules.find(key.organization_id, schedule_id)
        return await gate.answer(key, {"schedule": gate.answers.schedule(accepted(stored or UNKNOWN_SCHEDULE))})

    @operation(
        "POST /v1/schedules",
        "createSchedule",
        "Create a schedule",
        body=new,
        status=201,
        headers=[LOCATED],
        fails=[409],
    )
    async def create_schedule(key: Caller, command: Sent[NewSchedule]) -> Response[OneScheduleBody]:
        values = await _values(directory, key, command, hosted=False)
        created = accepted(await planner.create(key.organization_id, CreateSchedule(**values)))
        body: OneScheduleBody = {"schedule": gate.answers.schedule(created)}
        return await gate.answer(key, body, location=f"/v1/schedules/{created.id}")

    @operation("PATCH /v1/schedules/{schedule_id:str}", "updateSchedule", "Update a schedule", body=fields, fails=[409])
    async def change_schedule(key: Caller, command: Sent[Struct], schedule_id: _Id) -> Response[OneScheduleBody]:
        changes = await _values(directory, key, command, hosted=gate.hosted)
        changed = await planner.change(key.organization_id, schedule_id, ChangeSchedule(**changes))
        return await gate.answer(key, {"schedule": gate.answers.schedule(accepted(changed))})

    @operation("DELETE /v1/schedules/{schedule_id:str}", "deleteSchedule", "Delete a schedule")
    async def delete_schedule(key: Caller, schedule_id: _Id) -> Response[ScheduleRemovedBody]:
        if not await schedules.remove(key.organization_id, schedule_id):
            raise refused(UNKNOWN_SCHEDULE)
        return await gate.answer(key, {"id": schedule_id})

    return operation.routes


def _cron(fields: SourceConfigFields) -> Cron:
    times = structs.asdict(fields.cron)
    fault = cron_fault(**times)
    if fault is not None:
        refuse_request(f"sourceConfig.cron: {fault.message()}")
    return Cron(**times)


async def _values(directory: Directory, key: ApiKey, body: Struct, *, hosted: bool) -> dict[str, Any]:
    values = values_of(body)
    values.pop("source_type", None)
    source: SourceConfigFields | None = values.pop("source_config", None)
    targets: TargetFields | None = values.pop("targets", None)
    values |= output_changes(values.pop("output_config", UNSET), hosted=hosted)
    if source is not None:
        values["cron"] = _cron(source)
    if targets is not None:
        field = "targets.repositoryIds"
        values["repository_ids"] = (
            await read_repositories(directory, key.organization_id, field, targets.repository_ids)
        ).ids
    return values
