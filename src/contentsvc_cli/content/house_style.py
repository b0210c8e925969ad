import json
import re
from collections.abc import Callable, Mapping
from typing import IO, Any, Final, TypeAlias, TypeVar, cast

import click

from contentsvc_cli.servers import part
from contentsvc_cli.terminal.options import option_of
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, fail, json_text, misused, show_rows, wants_json
from contentsvc_cli.wiring import Api, accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.content.house_style import HouseStyle, merged_styles, style_body, style_fault
from contentsvc_core.content.style_fields import STYLE_FIELDS, options_body, options_of, read_style, value_in_words
from contentsvc_core.content.style_kinds import Choice, Headings, Sections, Switch, Texts
from contentsvc_core.organizations import Organization
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.schedules import UNKNOWN_SCHEDULE, ChangeSchedule
from contentsvc_core.workflows.triggers import UNKNOWN_TRIGGER, ChangeTrigger

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SINGULAR: Final = {
    "headings": "heading",
    "hidePaths": "hide-path",
    "hideAuthors": "hide-author",
    "foldSections": "fold-section",
    "bots": "bot",
}
_CAPITAL: Final = re.compile(r"(?=[A-Z])")
_TRIGGER: Final = click.option("--trigger", "trigger_id", metavar="ID", help="Use the override of this trigger.")
_Styles: TypeAlias = tuple[HouseStyle | None, HouseStyle | None]
#: The kind and the id of the resource whose override is meant; ``None``: the organization's style.
_Override: TypeAlias = tuple[str, str] | None
#: The path and the name of each kind in ``/v1``.
_OVERRIDING: Final = {"trigger": ("/v1/event-triggers", "eventTrigger"), "schedule": ("/v1/schedules", "schedule")}
_SCHEDULE: Final = click.option("--schedule", "schedule_id", metavar="ID", help="Use the override of this schedule.")


def _field_options(command: _Command) -> _Command:
    for style_field in reversed(STYLE_FIELDS):
        dashed = "-".join(_CAPITAL.split(_SINGULAR.get(style_field.name, style_field.name))).lower()
        more: dict[str, Any] = {}
        match style_field.kind:
            case Switch():
                dashed = f"{dashed}/--no-{dashed}"
                more = {"default": None}
            case Choice():
                more = {"type": click.Choice(style_field.kind.names)}
            case Texts() | Sections():
                more = {"multiple": True, "metavar": "NAME" if isinstance(style_field.kind, Sections) else "TEXT"}
            case Headings():
                more = {"multiple": True, "metavar": "SECTION=TEXT"}
            case _:
                more = {"type": int}
        about = f"{style_field.about} Repeat for several." if more.get("multiple") else style_field.about
        command = click.option(f"--{dashed}", style_field.name, help=about, **more)(command)
    return command


@click.group()
def style() -> None:
    """Show, set and reset the house style: the formatting rules of changelogs.

    Without --trigger and --schedule, it is the organization's style. A trigger's or schedule's style overrides it.
    """


@style.command("show")
@ORGANIZATION
@_TRIGGER
@_SCHEDULE
@JSON
def show_style(organization: str, trigger_id: str | None, schedule_id: str | None) -> None:
    """Show the house style. The fields that are set come first, then the defaults."""
    override = _override_of(trigger_id, schedule_id)

    async def work(app: Application) -> _Styles:
        owner = await organization_named(app, organization)
        return owner.house_style, await _stored_style(app, owner, override)

    def remote(api: Api) -> _Styles:
        owner = _read_stored(api.get("/v1/house-style"))
        return owner, owner if override is None else _read_stored(_on_server(api, override)[1])

    _print(*with_app(work, remote=remote))


@style.command("set")
@ORGANIZATION
@_TRIGGER
@_SCHEDULE
@click.option(
    "--file",
    "file",
    type=click.File(),
    help="JSON file with the complete house style, such as the output of 'style show --json'; '-' for standard input.",
)
@click.option(
    "--unset",
    "unset",
    multiple=True,
    type=click.Choice([style_field.name for style_field in STYLE_FIELDS]),
    metavar="FIELD",
    help="Reset a field, such as hidePaths, to its default. Repeat for several.",
)
@_field_options
@JSON
def set_style(
    organization: str,
    trigger_id: str | None,
    schedule_id: str | None,
    file: IO[str] | None,
    unset: tuple[str, ...],
    **options: Any,  # noqa: ANN401  # one for each field
) -> None:
    """Change the house style. Fields that you do not name stay unchanged. --file replaces the complete style."""
    override = _override_of(trigger_id, schedule_id)
    chosen = {name: value for name, value in options.items() if value not in {None, ()}}
    if file is None and not chosen and not unset:
        misused("nothing to change: add --file or another option")
    if file is not None and (chosen or unset):
        misused("--file replaces the complete style: use it without other options")
    if "headings" in chosen:
        chosen["headings"] = _headings(chosen["headings"])
    chosen = {name: _listed(value) for name, value in chosen.items()}
    combined = None if file is None else _read(file)

    def changed(current: HouseStyle | None) -> HouseStyle | None:
        kept = {name: value for name, value in (style_body(current) or {}).items() if name not in unset}
        read = read_style({**kept, **chosen} if file is None else combined)
        if isinstance(read, Refusal) and file is None:
            misused(read.message(option_of(click.get_current_context().command, read.field)))
        if isinstance(read, Refusal):
            raise click.ClickException(style_fault(read))
        return read

    _change(organization, override, changed)


@style.command()
@ORGANIZATION
@_TRIGGER
@_SCHEDULE
@JSON
def reset(organization: str, trigger_id: str | None, schedule_id: str | None) -> None:
    """Reset the house style to the defaults. An override is removed."""
    _change(organization, _override_of(trigger_id, schedule_id), lambda _: None)


def _change(organization: str, override: _Override, changed: Callable[[HouseStyle | None], HouseStyle | None]) -> None:
    async def work(app: Application) -> _Styles:
        owner = await organization_named(app, organization)
        style = changed(await _stored_style(app, owner, override))
        match override:
            case None:
                await app.stores.directory.set_house_style(owner.id, style)
                return style, style
            case "trigger", id_:
                accepted(await app.trigger_editor.change(owner.id, id_, ChangeTrigger(house_style=style)))
            case _, id_:
                accepted(await app.planner.change(owner.id, id_, ChangeSchedule(house_style=style)))
        return owner.house_style, style

    def remote(api: Api) -> _Styles:
        owner = _read_stored(api.get("/v1/house-style"))
        if override is None:
            style = changed(owner)
            api.send("PUT", "/v1/house-style", {"houseStyle": style_body(style)})
            return style, style
        path, output = _on_server(api, override)
        style = changed(_read_stored(output))
        # With the other output settings: an absent brand identity would be removed.
        api.send("PATCH", path, {"outputConfig": {**output, "houseStyle": style_body(style)}})
        return owner, style

    _print(*with_app(work, remote=remote))


def _on_server(api: Api, override: tuple[str, str]) -> tuple[str, Mapping[str, Any]]:
    kind, id_ = override
    path, name = _OVERRIDING[kind]
    path = f"{path}/{part(id_)}"
    return path, api.get(path)[name].get("outputConfig") or {}


def _read_stored(settings: Mapping[str, Any]) -> HouseStyle | None:
    read = read_style(settings.get("houseStyle"))
    if isinstance(read, Refusal):
        raise click.ClickException(style_fault(read))
    return read


async def _stored_style(app: Application, owner: Organization, override: _Override) -> HouseStyle | None:
    match override:
        case None:
            return owner.house_style
        case "trigger", id_:
            return accepted(await app.stores.triggers.find(owner.id, id_) or UNKNOWN_TRIGGER).house_style
        case _, id_:
            schedule = await app.stores.schedules.find(owner.id, id_)
            return accepted(schedule or UNKNOWN_SCHEDULE, missing=f"there is no schedule '{id_}'").house_style


def _print(organization: HouseStyle | None, style: HouseStyle | None) -> None:
    combined = merged_styles(organization, style)
    effective = options_body(options_of(combined))
    if wants_json():
        click.echo(json_text({"houseStyle": style_body(style), "effective": effective}, indent=2))
        return
    fields, inherited = style_body(style) or {}, style_body(combined) or {}
    rows = [
        {
            "field": name,
            "value": value_in_words(value),
            "from": "set" if name in fields else "organization" if name in inherited else "default",
        }
        for name, value in {**inherited, **effective}.items()
    ]
    show_rows(rows, columns=("field", "value", "from"), empty="")


def _listed(value: Any) -> Any:  # noqa: ANN401  # an option's value
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value


def _headings(texts: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    if any(not sign for _, sign, _ in pairs):
        misused("write a heading as SECTION=TEXT, such as 'added=What is new'")
    return {name.strip(): text for name, _, text in pairs}


def _read(file: IO[str]) -> object:
    try:
        read: Any = json.load(file)
    except (ValueError, RecursionError) as exc:
        fail(f"the file is not valid JSON: {exc}")
    # The output of 'style show --json', which has the effective style beside it.
    whole: Any = cast("Any", read) if isinstance(read, Mapping) else {}
    return whole.get("houseStyle", read)


def _override_of(trigger_id: str | None, schedule_id: str | None) -> _Override:
    if trigger_id is not None and schedule_id is not None:
        misused("name a trigger or a schedule, not both")
    if trigger_id is not None:
        return "trigger", trigger_id
    return None if schedule_id is None else ("schedule", schedule_id)
