import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias, TypeVar

import click
from msgspec import to_builtins

from contentsvc_cli.servers import part
from contentsvc_cli.terminal.completing import connected_repository_ids
from contentsvc_cli.terminal.options import check_changes, given, options
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, hint, list_output, misused, show, show_rows, wants_json
from contentsvc_cli.wiring import Api, accepted, organization_named, owned, with_app
from contentsvc_core.application import Application
from contentsvc_core.commands import read_command, values_of
from contentsvc_core.usecases.zones import zone_of
from contentsvc_core.workflows.bodies import ScheduleBody
from contentsvc_core.workflows.schedules import ChangeSchedule, CreateSchedule, Schedule, ScheduleSettings
from contentsvc_core.workflows.slots import Cron, Frequency, cron_body, cron_fault, cron_of
from contentsvc_core.zones import stored_zone

_PATH: Final = "/v1/schedules"

_Command = TypeVar("_Command", bound=Callable[..., None])
#: Days of the week, starting with 0 as in crontab.
_DAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_DAY_OPTIONS: Final = {"day_of_week": "--day-of-week", "day_of_month": "--day-of-month"}
_AT: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_Shown: TypeAlias = tuple[dict[str, Any], str]
_NAMES: Final = {"repository_ids": "--repository-id", "output_type": "--output", "brand_identity_id": "--brand"}
_WITHOUT: Final = ("enabled", "house_style", "cron")
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "repository_ids": {"shell_complete": connected_repository_ids},
    "brand_identity_id": {"metavar": "ID"},
}
_WRITES: Final = ("outputType", "lookbackWindow", "autoPublish")
_COLUMNS: Final = ("id", "name", "when", "nextRun", "repositories", *_WRITES)


def _times(*, required: bool) -> Callable[[_Command], _Command]:
    added = [
        click.option(
            "--frequency",
            required=required,
            type=click.Choice([frequency.value for frequency in Frequency]),
            help="How often the schedule fires.",
        ),
        click.option("--at", required=required, metavar="HH:MM", help="Time of day, in the organization's time zone."),
        click.option("--day-of-week", type=click.Choice(_DAYS), help="Day of a weekly schedule."),
        click.option(
            "--day-of-month",
            type=click.IntRange(1, 31),
            help="Day of a monthly schedule. In shorter months, the last day.",
        ),
    ]

    def add(command: _Command) -> _Command:
        for option in reversed(added):
            command = option(command)
        return command

    return add


@click.group()
def schedule() -> None:
    """Create, list, change, enable and disable schedules."""


@schedule.command()
@ORGANIZATION
@options(CreateSchedule, _NAMES, _MORE, without=_WITHOUT)
@_times(required=True)
@JSON
def create(
    organization: str,
    frequency: str,
    at: str,
    day_of_week: str | None,
    day_of_month: int | None,
    **fields: Any,  # noqa: ANN401  # one for each field
) -> None:
    """Create a schedule. A server that performs runs fires it."""
    cron = _cron(None, frequency, at, day_of_week, day_of_month)
    command = accepted(read_command(CreateSchedule, {**given(fields), "cron": cron}))

    async def work(app: Application) -> _Shown:
        owner = await organization_named(app, organization)
        return _body(accepted(await app.planner.create(owner.id, command))), owner.time_zone.key

    def remote(api: Api) -> _Shown:
        return api.send("POST", _PATH, _request(values_of(command)))["schedule"], _zone_on_server(api)

    _show(*with_app(work, remote=remote))
    hint("contentsvc schedule list")


@schedule.command("list")
@ORGANIZATION
@list_output
def list_schedules(organization: str) -> None:
    """List schedules with their next times, oldest first."""

    async def work(app: Application) -> tuple[list[dict[str, Any]], str]:
        owner = await organization_named(app, organization)
        bodies = [_body(schedule) for schedule in await app.stores.schedules.all_of(owner.id)]
        return bodies, owner.time_zone.key

    listed, zone = with_app(work, remote=lambda api: (api.all(_PATH, "schedules"), _zone_on_server(api)))
    rows = listed if wants_json() else [_for_people(row, zone) for row in listed]
    optional = ("lookbackWindow", "autoPublish", "outputType")
    show_rows(rows, columns=_COLUMNS, empty="No schedules yet.", optional=optional)


@schedule.command("show")
@click.argument("schedule_id")
@JSON
def show_schedule(schedule_id: str) -> None:
    """Show a schedule."""

    async def work(app: Application) -> _Shown:
        stored = await owned(app, "schedule", schedule_id, app.stores.schedules.find)
        return _body(stored), (await zone_of(app.stores.directory, stored.organization_id)).key

    shown = with_app(work, remote=lambda api: (_on_server(api, schedule_id), _zone_on_server(api)))
    _show(*shown)


@schedule.command()
@click.argument("schedule_id")
@options(ChangeSchedule, _NAMES, _MORE, without=_WITHOUT)
@_times(required=False)
@JSON
def edit(
    schedule_id: str,
    frequency: str | None,
    at: str | None,
    day_of_week: str | None,
    day_of_month: int | None,
    **fields: Any,  # noqa: ANN401  # one for each field
) -> None:
    """Change a schedule. Options that you leave out stay unchanged.

    --brand takes an id, or 'default'.
    """
    changes = given(fields)
    if changes.get("brand_identity_id") == "default":
        changes["brand_identity_id"] = None
    times = (frequency, at, day_of_week, day_of_month)
    moves = any(time is not None for time in times)
    check_changes(changes or moves)

    def change(current: Cron) -> ChangeSchedule:
        cron = {"cron": _cron(current, *times)} if moves else {}
        return accepted(read_command(ChangeSchedule, {**changes, **cron}))

    _show(*_changed(schedule_id, change))


@schedule.command()
@click.argument("schedule_id")
@JSON
def enable(schedule_id: str) -> None:
    """Enable a schedule. It does not fire for times that have passed."""
    _show(*_changed(schedule_id, lambda _: ChangeSchedule(enabled=True)))


@schedule.command()
@click.argument("schedule_id")
@JSON
def disable(schedule_id: str) -> None:
    """Disable a schedule. Its waiting runs end as skipped."""
    _show(*_changed(schedule_id, lambda _: ChangeSchedule(enabled=False)))


@schedule.command()
@click.argument("schedule_id")
@JSON
def delete(schedule_id: str) -> None:
    """Delete a schedule. Its posts stay, and its waiting runs end as skipped."""
    with_app(
        lambda app: owned(app, "schedule", schedule_id, app.stores.schedules.remove),
        remote=lambda api: api.send("DELETE", f"{_PATH}/{part(schedule_id)}"),
    )
    show({"scheduleId": schedule_id, "deleted": True})


def _changed(schedule_id: str, change: Callable[[Cron], ChangeSchedule]) -> _Shown:
    async def work(app: Application) -> _Shown:
        stored = await owned(app, "schedule", schedule_id, app.stores.schedules.find)
        changed = accepted(await app.planner.change(stored.organization_id, schedule_id, change(stored.cron)))
        return _body(changed), (await zone_of(app.stores.directory, stored.organization_id)).key

    def remote(api: Api) -> _Shown:
        body = _request(values_of(change(cron_of(_on_server(api, schedule_id)["sourceConfig"]["cron"]))))
        return api.send("PATCH", f"{_PATH}/{part(schedule_id)}", body)["schedule"], _zone_on_server(api)

    return with_app(work, remote=remote)


def _zone_on_server(api: Api) -> str:
    return api.get("/v1/organization")["organization"]["timeZone"]


def _on_server(api: Api, schedule_id: str) -> dict[str, Any]:
    return api.get(f"{_PATH}/{part(schedule_id)}")["schedule"]


def _request(changes: Mapping[str, Any]) -> dict[str, Any]:
    plain = dict(zip(ScheduleSettings.__struct_fields__, ScheduleSettings.__struct_encode_fields__, strict=True))
    body: dict[str, Any] = {
        plain[name]: getattr(value, "value", value) for name, value in changes.items() if name in plain
    }
    if "cron" in changes:
        body["sourceConfig"] = {"cron": cron_body(changes["cron"])}
    if "repository_ids" in changes:
        body["targets"] = {"repositoryIds": list(map(str, changes["repository_ids"]))}
    if "brand_identity_id" in changes:
        body["outputConfig"] = {"brandIdentityId": changes["brand_identity_id"]}
    return body


def _body(schedule: Schedule) -> dict[str, Any]:
    return to_builtins(ScheduleBody.of(schedule))


def _cron(
    current: Cron | None, frequency: str | None, at: str | None, day_of_week: str | None, day_of_month: int | None
) -> Cron:
    times: dict[str, Any] = {}
    if current is not None:
        times = {"frequency": current.frequency, "hour": current.hour, "minute": current.minute}
        if frequency in {None, current.frequency.value}:
            times |= {"day_of_week": current.day_of_week, "day_of_month": current.day_of_month}
    if frequency is not None:
        times["frequency"] = Frequency(frequency)
    if at is not None:
        read = _AT.fullmatch(at)
        if read is None:
            message = f"'{at}' is no time from 00:00 to 23:59"
            raise click.BadParameter(message, param_hint="--at")
        times |= {"hour": int(read[1]), "minute": int(read[2])}
    if day_of_week is not None:
        times["day_of_week"] = _DAYS.index(day_of_week)
    if day_of_month is not None:
        times["day_of_month"] = day_of_month
    times = {"day_of_week": None, "day_of_month": None, **times}
    refused = cron_fault(**times)
    if refused is not None:
        option = _DAY_OPTIONS.get(refused.field or "")
        has = "needs" if times.get(refused.field or "") is None else "takes no"
        misused(f"a {times['frequency'].value} schedule {has} {option}" if option else refused.message())
    return Cron(**times)


def _show(body: Mapping[str, Any], zone: str) -> None:
    show(body if wants_json() else _for_people(body, zone))


def _for_people(body: Mapping[str, Any], zone: str) -> dict[str, Any]:
    cron = cron_of(body["sourceConfig"]["cron"])
    due = body["nextRunAt"] and datetime.fromisoformat(body["nextRunAt"]).astimezone(stored_zone(zone))
    days = {
        Frequency.DAILY: "daily",
        Frequency.WEEKLY: f"every {_DAYS[cron.day_of_week or 0].capitalize()}",
        Frequency.MONTHLY: f"monthly, on day {cron.day_of_month}",
    }
    return {
        "id": body["id"],
        "name": body["name"],
        "when": f"{days[cron.frequency]} at {cron.hour:02}:{cron.minute:02} {zone}",
        "nextRun": f"{due:%a %Y-%m-%d %H:%M}" if due else "never: it is off",
        "repositories": ", ".join(body["targets"]["repositoryIds"]),
        **{name: body[name] for name in _WRITES},
        "brand": body["outputConfig"] and body["outputConfig"].get("brandIdentityId"),
    }
