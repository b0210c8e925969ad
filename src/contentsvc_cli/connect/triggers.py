"""``trigger``: event triggers."""

from collections.abc import Mapping
from typing import Any, Final

import click
from msgspec import Struct

from contentsvc_cli.terminal.completing import connected_repository_ids, trigger_ids
from contentsvc_cli.terminal.options import given, options
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, show, show_rows
from contentsvc_cli.wiring import accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.commands import read_command
from contentsvc_core.refusals import Refusal
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.workflows.triggers import UNKNOWN_TRIGGER, ChangeTrigger, CreateTrigger, Trigger, trigger_body

#: The options whose names differ from the fields of the command, and the fields without an option.
_NAMES: Final = {
    "repository_ids": "--repository-id",
    "event_types": "--event",
    "output_type": "--output",
    "brand_identity_id": "--brand",
}
_WITHOUT: Final = ("enabled", "house_style")
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "repository_ids": {"shell_complete": connected_repository_ids},
    "brand_identity_id": {"metavar": "ID"},
    "provider": {"type": click.Choice([provider.slug for provider in PROVIDERS])},
}


@click.group()
def trigger() -> None:
    """Create, list, change, enable and disable event triggers."""


@trigger.command()
@ORGANIZATION
@options(CreateTrigger, _NAMES, _MORE, without=_WITHOUT)
@JSON
def create(organization: str, *, as_json: bool, **fields: Any) -> None:  # noqa: ANN401  # one for each field
    """Create a trigger. Each matching event starts a workflow run, which writes a post."""
    wanted = accepted(read_command(CreateTrigger, given(fields)))

    async def work(app: Application) -> Trigger:
        owner = await organization_named(app, organization)
        return accepted(await app.trigger_editor.create(owner.id, wanted))

    show(trigger_body(with_app(work)), as_json=as_json)


@trigger.command("list")
@ORGANIZATION
@JSON
def list_triggers(organization: str, *, as_json: bool) -> None:
    """List an organization's triggers, oldest first."""

    async def work(app: Application) -> list[Trigger]:
        owner = await organization_named(app, organization)
        return list(await app.stores.directory.triggers(owner.id))

    found = with_app(work)
    rows = [trigger_body(each) if as_json else _for_people(each) for each in found]
    columns = ("id", "name", "repositories", "events", "outputType", "autoPublish", "enabled")
    optional = ("autoPublish", "outputType")
    show_rows(rows, columns=columns, as_json=as_json, empty="No triggers yet.", optional=optional)


@trigger.command()
@click.argument("trigger_id", shell_complete=trigger_ids)
@options(ChangeTrigger, _NAMES, _MORE, without=_WITHOUT)
@click.option("--every-event", is_flag=True, help="All event types start a run.")
@JSON
def edit(trigger_id: str, *, every_event: bool, as_json: bool, **fields: Any) -> None:  # noqa: ANN401  # as above
    """Change a trigger. Options that you leave out stay unchanged. The change applies from the next delivery on.

    --brand takes an id, or 'default'.
    """
    changes = given(fields)
    if "event_types" in changes and every_event:
        message = "use either --event or --every-event"
        raise click.UsageError(message)
    if every_event:
        changes["event_types"] = ()
    if changes.get("brand_identity_id") == "default":
        changes["brand_identity_id"] = None
    if not changes:
        message = "there is nothing to change: name at least one option"
        raise click.UsageError(message)
    show(trigger_body(_changed(trigger_id, accepted(read_command(ChangeTrigger, changes)))), as_json=as_json)


@trigger.command()
@click.argument("trigger_id", shell_complete=trigger_ids)
@JSON
def delete(trigger_id: str, *, as_json: bool) -> None:
    """Delete a trigger. Its posts stay, and its waiting runs end as skipped."""

    async def work(app: Application) -> bool:
        owner = await app.stores.directory.owner_of(trigger_id)
        return owner is not None and await app.stores.directory.remove_trigger(owner, trigger_id)

    if not with_app(work):
        raise click.ClickException(_missing(trigger_id))
    show({"triggerId": trigger_id, "deleted": True}, as_json=as_json)


@trigger.command()
@click.argument("trigger_id", shell_complete=trigger_ids)
@JSON
def enable(trigger_id: str, *, as_json: bool) -> None:
    """Enable a trigger."""
    _switch(trigger_id, enabled=True, as_json=as_json)


@trigger.command()
@click.argument("trigger_id", shell_complete=trigger_ids)
@JSON
def disable(trigger_id: str, *, as_json: bool) -> None:
    """Disable a trigger. Its waiting runs end as skipped."""
    _switch(trigger_id, enabled=False, as_json=as_json)


def _switch(trigger_id: str, *, enabled: bool, as_json: bool) -> None:
    # The checks of an enabled trigger run again: a repository or brand identity may be missing by now.
    changed = _changed(trigger_id, ChangeTrigger(enabled=enabled))
    show({"triggerId": trigger_id, "enabled": changed.enabled}, as_json=as_json)


def _changed(trigger_id: str, change: Struct) -> Trigger:
    async def work(app: Application) -> Trigger | Refusal:
        owner = await app.stores.directory.owner_of(trigger_id)
        return UNKNOWN_TRIGGER if owner is None else await app.trigger_editor.change(owner, trigger_id, change)

    return accepted(with_app(work), missing=_missing(trigger_id))


def _for_people(found: Trigger) -> dict[str, object]:
    repositories = ", ".join(map(str, found.repository_ids))
    return {**trigger_body(found), "repositories": repositories, "events": list(found.event_types) or "every event"}


def _missing(trigger_id: str) -> str:
    return f"there is no trigger '{trigger_id}'"
