"""``schedule``: runs at fixed times."""

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from contentsvc_cli.terminal.completing import connected_repository_ids
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, show, show_rows
from contentsvc_cli.wiring import accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.plan import ScheduleChanges
from contentsvc_core.workflows.schedules import UNKNOWN_SCHEDULE, Schedule, schedule_body
from contentsvc_core.workflows.slots import Cron, Frequency, cron_fault

_Command = TypeVar("_Command", bound=Callable[..., None])
#: Days of the week, starting with 0 as in crontab.
_DAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
#: The options for days, by the fields of the core. Their types allow valid days only.
_DAY_OPTIONS: Final = {"day_of_week": "--day-of-week", "day_of_month": "--day-of-month"}
_AT: Final = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_OUTPUTS: Final = click.Choice([kind.value for kind in ContentType])
_LOOKBACKS: Final = click.Choice([lookback.value for lookback in Lookback])
_COLUMNS: Final = ("id", "name", "when", "nextRun", "repositories", "outputType", "lookbackWindow", "autoPublish")


def _times(*, required: bool) -> Callable[[_Command], _Command]:
    """Add the options for the times of a schedule; all are optional when a schedule is changed."""
    options = [
        click.option(
            "--frequency",
            required=required,
            type=click.Choice([frequency.value for frequency in Frequency]),
            help="How often the schedule fires.",
        ),
        click.option("--at", required=required, metavar="HH:MM", help="Time of day, in UTC."),
        click.option("--day-of-week", type=click.Choice(_DAYS), help="Day of a weekly schedule."),
        click.option(
            "--day-of-month",
            type=click.IntRange(1, 31),
            help="Day of a monthly schedule. In shorter months, the last day.",
        ),
    ]

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _repository_ids(*, required: bool) -> Callable[[_Command], _Command]:
    return click.option(
        "--repository-id",
        "repository_ids",
        required=required,
        multiple=True,
        type=click.IntRange(1, MAX_REPOSITORY_ID),
        shell_complete=connected_repository_ids,
        help="Connected repository that the schedule covers. Repeat for several.",
    )


@click.group()
def schedule() -> None:
    """Create, list, change, enable and disable schedules."""


@schedule.command()
@ORGANIZATION
@click.option("--name", required=True, help="Name of the schedule.")
@_times(required=True)
@_repository_ids(required=True)
@click.option(
    "--output",
    type=_OUTPUTS,
    default=ContentType.CHANGELOG.value,
    show_default=True,
    help="Content type.",
)
@click.option(
    "--lookback", type=_LOOKBACKS, default=DEFAULT_LOOKBACK.value, show_default=True, help="Time window of each post."
)
@click.option("--brand", metavar="ID", help="Brand identity of the posts.  [default: the default brand identity]")
@click.option("--auto-publish", is_flag=True, help="Publish posts at once.  [default: keep them as drafts]")
@JSON
def create(  # noqa: PLR0913, PLR0917  # one parameter an option
    organization: str,
    name: str,
    frequency: str,
    at: str,
    day_of_week: str | None,
    day_of_month: int | None,
    repository_ids: tuple[int, ...],
    output: str,
    lookback: str,
    brand: str | None,
    *,
    auto_publish: bool,
    as_json: bool,
) -> None:
    """Create a schedule. A server that performs runs fires it."""
    cron = _cron(None, frequency, at, day_of_week, day_of_month)

    async def work(app: Application) -> Schedule:
        owner = await organization_named(app, organization)
        return accepted(
            await app.planner.create(
                owner.id,
                name=name,
                cron=cron,
                repository_ids=repository_ids,
                output_type=ContentType(output),
                brand_identity_id=brand,
                auto_publish=auto_publish,
                lookback=Lookback(lookback),
            )
        )

    _show(with_app(work), as_json=as_json)


@schedule.command("list")
@ORGANIZATION
@JSON
def list_schedules(organization: str, *, as_json: bool) -> None:
    """List an organization's schedules, oldest first, with their next times."""

    async def work(app: Application) -> list[Schedule]:
        owner = await organization_named(app, organization)
        return list(await app.stores.schedules.schedules(owner.id))

    found = with_app(work)
    rows = [schedule_body(each) if as_json else _for_people(each) for each in found]
    optional = ("lookbackWindow", "autoPublish", "outputType")
    show_rows(rows, columns=_COLUMNS, as_json=as_json, empty="No schedules yet.", optional=optional)


@schedule.command()
@click.argument("schedule_id")
@click.option("--name", help="Name of the schedule.")
@_times(required=False)
@_repository_ids(required=False)
@click.option("--output", type=_OUTPUTS, help="Content type.")
@click.option("--lookback", type=_LOOKBACKS, help="Time window of each post.")
@click.option("--brand", metavar="ID", help="Brand identity of the posts; 'default' for the default one.")
@click.option("--auto-publish/--no-auto-publish", default=None, help="Publish posts at once, or keep them as drafts.")
@JSON
def edit(  # noqa: PLR0913, PLR0917  # one parameter an option
    schedule_id: str,
    name: str | None,
    frequency: str | None,
    at: str | None,
    day_of_week: str | None,
    day_of_month: int | None,
    repository_ids: tuple[int, ...],
    output: str | None,
    lookback: str | None,
    brand: str | None,
    *,
    auto_publish: bool | None,
    as_json: bool,
) -> None:
    """Change a schedule. Options that you leave out stay unchanged."""
    changes = ScheduleChanges()
    if name is not None:
        changes["name"] = name
    if repository_ids:
        changes["repository_ids"] = repository_ids
    if output is not None:
        changes["output_type"] = ContentType(output)
    if lookback is not None:
        changes["lookback"] = Lookback(lookback)
    if brand is not None:
        changes["brand_identity_id"] = None if brand == "default" else brand
    if auto_publish is not None:
        changes["auto_publish"] = auto_publish
    times = (frequency, at, day_of_week, day_of_month)
    if not changes and not any(each is not None for each in times):
        message = "there is nothing to change: name at least one option"
        raise click.UsageError(message)

    def change(standing: Schedule) -> ScheduleChanges:
        if any(each is not None for each in times):
            changes["cron"] = _cron(standing.cron, *times)
        return changes

    _show(_changed(schedule_id, change), as_json=as_json)


@schedule.command()
@click.argument("schedule_id")
@JSON
def enable(schedule_id: str, *, as_json: bool) -> None:
    """Enable a schedule. It does not fire for times that have passed."""
    _show(_changed(schedule_id, lambda _: ScheduleChanges(enabled=True)), as_json=as_json)


@schedule.command()
@click.argument("schedule_id")
@JSON
def disable(schedule_id: str, *, as_json: bool) -> None:
    """Disable a schedule. Its waiting runs end as skipped."""
    _show(_changed(schedule_id, lambda _: ScheduleChanges(enabled=False)), as_json=as_json)


@schedule.command()
@click.argument("schedule_id")
@JSON
def delete(schedule_id: str, *, as_json: bool) -> None:
    """Delete a schedule. Its posts stay, and its waiting runs end as skipped."""

    async def work(app: Application) -> bool:
        owner = await app.stores.directory.owner_of(schedule_id)
        return owner is not None and await app.stores.schedules.remove(owner, schedule_id)

    if not with_app(work):
        raise click.ClickException(_missing(schedule_id))
    show({"scheduleId": schedule_id, "deleted": True}, as_json=as_json)


def _changed(schedule_id: str, change: Callable[[Schedule], ScheduleChanges]) -> Schedule:
    async def work(app: Application) -> Schedule | Refusal:
        owner = await app.stores.directory.owner_of(schedule_id)
        standing = None if owner is None else await app.stores.schedules.schedule(owner, schedule_id)
        if owner is None or standing is None:
            return UNKNOWN_SCHEDULE
        return await app.planner.change(owner, schedule_id, **change(standing))

    return accepted(with_app(work), missing=_missing(schedule_id))


def _missing(schedule_id: str) -> str:
    return f"there is no schedule '{schedule_id}'"


def _cron(
    standing: Cron | None, frequency: str | None, at: str | None, day_of_week: str | None, day_of_month: int | None
) -> Cron:
    """Return the times. Absent options keep their values, except a day that the frequency does not use."""
    given: dict[str, Any] = {}
    if standing is not None:
        given = {"frequency": standing.frequency, "hour": standing.hour, "minute": standing.minute}
        if frequency in {None, standing.frequency.value}:
            given |= {"day_of_week": standing.day_of_week, "day_of_month": standing.day_of_month}
    if frequency is not None:
        given["frequency"] = Frequency(frequency)
    if at is not None:
        read = _AT.fullmatch(at)
        if read is None:
            message = f"'{at}' is not a time of the form HH:MM"
            raise click.BadParameter(message, param_hint="--at")
        given |= {"hour": int(read[1]), "minute": int(read[2])}
    if day_of_week is not None:
        given["day_of_week"] = _DAYS.index(day_of_week)
    if day_of_month is not None:
        given["day_of_month"] = day_of_month
    given = {"day_of_week": None, "day_of_month": None, **given}
    refused = cron_fault(**given)
    if refused is not None:
        option = _DAY_OPTIONS.get(refused.field or "")
        has = "needs" if given.get(refused.field or "") is None else "takes no"
        message = f"a {given['frequency'].value} schedule {has} {option}" if option else refused.message()
        raise click.UsageError(message)
    return Cron(**given)


def _show(found: Schedule, *, as_json: bool) -> None:
    show(schedule_body(found) if as_json else _for_people(found), as_json=as_json)


def _for_people(found: Schedule) -> dict[str, Any]:
    cron = found.cron
    days = {
        Frequency.DAILY: "daily",
        Frequency.WEEKLY: f"every {_DAYS[cron.day_of_week or 0].capitalize()}",
        Frequency.MONTHLY: f"monthly, on day {cron.day_of_month}",
    }
    return {
        "id": found.id,
        "name": found.name,
        "when": f"{days[cron.frequency]} at {cron.hour:02}:{cron.minute:02} UTC",
        "nextRun": "never: it is off" if found.due_at is None else f"{found.due_at:%a %Y-%m-%d %H:%M} UTC",
        "repositories": ", ".join(map(str, found.repository_ids)),
        "outputType": found.output_type.value,
        "lookbackWindow": found.lookback.value,
        "autoPublish": "yes" if found.auto_publish else "no",
        "brand": found.brand_identity_id,
    }
