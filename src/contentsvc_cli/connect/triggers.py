from collections.abc import Mapping, Sequence
from typing import Any, Final

import click
import msgspec
from msgspec import Struct, structs, to_builtins

from contentsvc_cli.connect.trying import try_trigger
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.completing import connected_repository_ids
from contentsvc_cli.terminal.options import check_changes, given, options
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, hint, list_output, misused, show, show_rows, wants_json
from contentsvc_cli.wiring import Api, accepted, organization_named, owned, with_app
from contentsvc_core.application import Application
from contentsvc_core.commands import read_command
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.workflows.bodies import TriggerBody
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.filters import PATTERN_FIELDS, TriggerOptions
from contentsvc_core.workflows.triggers import ChangeTrigger, CreateTrigger, Trigger

_PATH: Final = "/v1/event-triggers"

_NAMES: Final = {
    "repository_ids": "--repository-id",
    "event_types": "--event",
    "output_type": "--output",
    "brand_identity_id": "--brand",
    "branches": "--branch",
    "tags": "--tag",
    "paths": "--path",
    "scopes": "--scope",
}
#: The event types of a trigger that is created without any: one post for each push is too much for readers.
_USUAL: Final = ("release",)
_WITHOUT: Final = ("enabled", "house_style")
_OPTIONS: Final = frozenset(info.encode_name for info in structs.fields(TriggerOptions))
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "repository_ids": {"shell_complete": connected_repository_ids},
    "brand_identity_id": {"metavar": "ID"},
    "provider": {"type": click.Choice([provider.slug for provider in PROVIDERS])},
}


#: Filters that leave all events of other types alone, with the event type that they need.
_NEEDED: Final = {"branches": "push", "tags": "release"}
_BOTH: Final = "use either --event or --every-event"
_EVERY_EVENT: Final = click.option("--every-event", is_flag=True, help="All event types start a run.")


@click.group()
def trigger() -> None:
    """Create, list, change, test, enable and disable event triggers."""


trigger.add_command(try_trigger)


@trigger.command()
@ORGANIZATION
@options(CreateTrigger, _NAMES, _MORE, without=_WITHOUT, last=TriggerOptions.__struct_fields__)
@_EVERY_EVENT
@JSON
def create(organization: str, *, every_event: bool, **fields: Any) -> None:  # noqa: ANN401  # one for each field
    """Create a trigger. Each matching event starts a workflow run, which writes a post.

    Without --event, releases start runs. Name repositories, or choose --all-repositories.
    """
    if every_event and fields["event_types"]:
        raise click.UsageError(_BOTH)
    events = () if every_event else fields.pop("event_types") or _USUAL
    if not (fields["repository_ids"] or fields["all_repositories"]):
        misused("a trigger needs a repository: add --repository-id, or --all-repositories")
    _check_filters(fields, events)
    command = accepted(read_command(CreateTrigger, {**given(fields), "event_types": events}))

    async def work(app: Application) -> dict[str, Any]:
        owner = await organization_named(app, organization)
        return _body(accepted(await app.trigger_editor.create(owner.id, command)))

    def remote(api: Api) -> dict[str, Any]:
        return api.send("POST", _PATH, _request(command))["eventTrigger"]

    show(_ordered(with_app(work, remote=remote)))
    hint("contentsvc trigger list")


@trigger.command("list")
@ORGANIZATION
@list_output
def list_triggers(organization: str) -> None:
    """List an organization's triggers, oldest first."""

    async def work(app: Application) -> list[dict[str, Any]]:
        owner = await organization_named(app, organization)
        return [_body(trigger) for trigger in await app.stores.triggers.all_of(owner.id)]

    bodies = [_ordered(body) for body in with_app(work, remote=lambda api: api.all(_PATH, "eventTriggers"))]
    rows = bodies if wants_json() else [_for_people(row) for row in bodies]
    columns = ("id", "name", "repositories", "events", "outputType", "autoPublish", "enabled")
    optional = ("autoPublish", "outputType")
    show_rows(rows, columns=columns, empty="No triggers yet.", optional=optional)


@trigger.command("show")
@click.argument("trigger_id")
@JSON
def show_trigger(trigger_id: str) -> None:
    """Show a trigger."""
    show(_ordered(_read(trigger_id)))


@trigger.command()
@click.argument("trigger_id")
@options(ChangeTrigger, _NAMES, _MORE, without=_WITHOUT, last=TriggerOptions.__struct_fields__)
@_EVERY_EVENT
@click.option(
    "--without",
    "cleared",
    multiple=True,
    type=click.Choice([_NAMES[name].removeprefix("--") for name in PATTERN_FIELDS]),
    help="Remove this filter. Repeat for several.",
)
@JSON
def edit(trigger_id: str, *, every_event: bool, cleared: tuple[str, ...], **fields: Any) -> None:  # noqa: ANN401  # as above
    """Change a trigger. Options that you leave out stay unchanged. The change applies from the next delivery on.

    --brand takes an id, or 'default'.
    """
    changes = given(fields)
    if "event_types" in changes and every_event:
        raise click.UsageError(_BOTH)
    if every_event:
        changes["event_types"] = ()
    changes |= {name: () for name in PATTERN_FIELDS if _NAMES[name].removeprefix("--") in cleared}
    if changes.get("brand_identity_id") == "default":
        changes["brand_identity_id"] = None
    check_changes(changes)
    if any(changes.get(name) for name in _NEEDED):
        wanted = changes.get("event_types")
        _check_filters(changes, _read(trigger_id)["sourceConfig"]["eventTypes"] if wanted is None else wanted)
    show(_ordered(_changed(trigger_id, accepted(read_command(ChangeTrigger, changes)))))


@trigger.command()
@click.argument("trigger_id")
@JSON
def delete(trigger_id: str) -> None:
    """Delete a trigger. Its posts stay, and its waiting runs end as skipped."""
    with_app(
        lambda app: owned(app, "trigger", trigger_id, app.stores.triggers.remove),
        remote=lambda api: api.send("DELETE", f"{_PATH}/{part(trigger_id)}"),
    )
    show({"triggerId": trigger_id, "deleted": True})


@trigger.command()
@click.argument("trigger_id")
@JSON
def enable(trigger_id: str) -> None:
    """Enable a trigger."""
    _switch(trigger_id, enabled=True)


@trigger.command()
@click.argument("trigger_id")
@JSON
def disable(trigger_id: str) -> None:
    """Disable a trigger. Its waiting runs end as skipped."""
    _switch(trigger_id, enabled=False)


def _check_filters(fields: Mapping[str, Any], events: Sequence[str]) -> None:
    for name, event in _NEEDED.items():
        if fields.get(name) and events and event not in events:
            misused(f"{_NAMES[name]} filters only events of the type '{event}': add --event {event}")


def _read(trigger_id: str) -> dict[str, Any]:
    async def work(app: Application) -> dict[str, Any]:
        return _body(await owned(app, "trigger", trigger_id, app.stores.triggers.find))

    return with_app(work, remote=lambda api: api.get(f"{_PATH}/{part(trigger_id)}")["eventTrigger"])


def _switch(trigger_id: str, *, enabled: bool) -> None:
    # The checks of an enabled trigger run again: a repository or brand identity may be missing by now.
    changed = _changed(trigger_id, ChangeTrigger(enabled=enabled))
    show({"triggerId": trigger_id, "enabled": changed["enabled"]})


def _changed(trigger_id: str, change: ChangeTrigger) -> dict[str, Any]:
    async def work(app: Application) -> dict[str, Any]:
        editor = app.trigger_editor
        changed = await owned(app, "trigger", trigger_id, lambda owner, id_: editor.change(owner, id_, change))
        return _body(changed)

    def remote(api: Api) -> dict[str, Any]:
        return api.send("PATCH", f"{_PATH}/{part(trigger_id)}", _request(change))["eventTrigger"]

    return with_app(work, remote=remote)


def _request(command: Struct) -> dict[str, Any]:
    body: dict[str, Any] = to_builtins(command)
    body.pop("houseStyle", None)
    if ids := body.pop("repositoryIds", None):
        body["targets"] = {"repositoryIds": list(map(str, ids))}
    if (events := body.pop("eventTypes", None)) is not None:
        body["sourceConfig"] = {"eventTypes": events}
    if "brandIdentityId" in body:
        body["outputConfig"] = {"brandIdentityId": body.pop("brandIdentityId")}
    if provider := body.pop("provider", None):
        body["sourceType"] = source_type(provider)
    return body


def _ordered(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trigger with its options last, as in the help."""
    return dict(sorted(body.items(), key=lambda item: item[0] in _OPTIONS))


def _for_people(body: Mapping[str, Any]) -> dict[str, object]:
    repositories = "all" if body.get("allRepositories") else ", ".join(body["targets"]["repositoryIds"])
    return {**body, "repositories": repositories, "events": body["sourceConfig"]["eventTypes"] or "every event"}


def _body(trigger: Trigger) -> dict[str, Any]:
    return msgspec.to_builtins(TriggerBody.of(trigger))
