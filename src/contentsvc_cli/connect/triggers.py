"""``trigger``: event triggers."""

from typing import TYPE_CHECKING, Final, cast

import click

from contentsvc_cli.terminal.completing import connected_repository_ids, trigger_ids
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, show, show_rows
from contentsvc_cli.wiring import accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.content.posts import ContentType
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.refusals import Refusal
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.workflows.triggers import EVENT_TYPES, UNKNOWN_TRIGGER, Trigger, trigger_body

if TYPE_CHECKING:
    from contentsvc_core.usecases.triggers import TriggerChanges

_OUTPUTS: Final = click.Choice([kind.value for kind in ContentType])
_EVENTS: Final = click.Choice(EVENT_TYPES)
_PROVIDERS: Final = click.Choice([provider.slug for provider in PROVIDERS])
_REPOSITORY_ID: Final = click.IntRange(1, MAX_REPOSITORY_ID)


@click.group()
def trigger() -> None:
    """Create, list, change, enable and disable event triggers."""


@trigger.command()
@ORGANIZATION
@click.option(
    "--repository-id",
    "repository_ids",
    required=True,
    multiple=True,
    type=_REPOSITORY_ID,
    shell_complete=connected_repository_ids,
    help="Connected repository to watch. Repeat for several.",
)
@click.option(
    "--event",
    "events",
    multiple=True,
    type=_EVENTS,
    help="Event type that starts a run. Repeat for several.  [default: all]",
)
@click.option("--output", type=_OUTPUTS, default=ContentType.CHANGELOG.value, show_default=True, help="Content type.")
@click.option("--brand", metavar="ID", help="Brand identity of the posts.  [default: the default brand identity]")
@click.option("--auto-publish", is_flag=True, help="Publish posts at once.  [default: keep them as drafts]")
@click.option("--name", default="", help="Name of the trigger.")
@click.option(
    "--provider", type=_PROVIDERS, help="Provider of the repositories.  [default: the provider they are connected at]"
)
@JSON
def create(  # noqa: PLR0913, PLR0917  # one parameter an option
    organization: str,
    repository_ids: tuple[int, ...],
    events: tuple[str, ...],
    output: str,
    brand: str | None,
    name: str,
    provider: str | None,
    *,
    auto_publish: bool,
    as_json: bool,
) -> None:
    """Create a trigger. Each matching event starts a workflow run, which writes a post."""

    async def work(app: Application) -> Trigger:
        owner = await organization_named(app, organization)
        return accepted(
            await app.trigger_editor.create(
                owner.id,
                repository_ids=repository_ids,
                event_types=events,
                output_type=ContentType(output),
                brand_identity_id=brand,
                auto_publish=auto_publish,
                name=name,
                provider=provider,
            )
        )

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
@click.option("--name", help="Name of the trigger.")
@click.option(
    "--repository-id",
    "repository_ids",
    multiple=True,
    type=_REPOSITORY_ID,
    shell_complete=connected_repository_ids,
    help="Connected repository to watch, replacing the current ones. Repeat for several.",
)
@click.option(
    "--event", "events", multiple=True, type=_EVENTS, help="Event type that starts a run. Repeat for several."
)
@click.option("--every-event", is_flag=True, help="All event types start a run.")
@click.option("--output", type=_OUTPUTS, help="Content type.")
@click.option("--brand", metavar="ID", help="Brand identity of the posts, or 'default'.")
@click.option("--auto-publish/--no-auto-publish", default=None, help="Publish posts at once, or keep them as drafts.")
@click.option("--provider", type=_PROVIDERS, help="Provider of the repositories.")
@JSON
def edit(  # noqa: PLR0913, PLR0917  # one parameter an option
    trigger_id: str,
    name: str | None,
    repository_ids: tuple[int, ...],
    events: tuple[str, ...],
    output: str | None,
    brand: str | None,
    provider: str | None,
    *,
    every_event: bool,
    auto_publish: bool | None,
    as_json: bool,
) -> None:
    """Change a trigger. Options that you leave out stay unchanged. The change applies from the next delivery on."""
    if events and every_event:
        message = "use either --event or --every-event"
        raise click.UsageError(message)
    given = {
        "name": name,
        "repository_ids": repository_ids or None,
        "event_types": events if events or every_event else None,
        "output_type": None if output is None else ContentType(output),
        "auto_publish": auto_publish,
        "provider": provider,
    }
    changes = cast("TriggerChanges", {field: value for field, value in given.items() if value is not None})
    if brand is not None:
        changes["brand_identity_id"] = None if brand == "default" else brand
    if not changes:
        message = "there is nothing to change: name at least one option"
        raise click.UsageError(message)

    show(trigger_body(_changed(trigger_id, changes)), as_json=as_json)


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
    changed = _changed(trigger_id, {"enabled": enabled})
    show({"triggerId": trigger_id, "enabled": changed.enabled}, as_json=as_json)


def _changed(trigger_id: str, changes: "TriggerChanges") -> Trigger:
    async def work(app: Application) -> Trigger | Refusal:
        owner = await app.stores.directory.owner_of(trigger_id)
        return UNKNOWN_TRIGGER if owner is None else await app.trigger_editor.change(owner, trigger_id, **changes)

    return accepted(with_app(work), missing=_missing(trigger_id))


def _for_people(found: Trigger) -> dict[str, object]:
    repositories = ", ".join(map(str, found.repository_ids))
    return {**trigger_body(found), "repositories": repositories, "events": list(found.event_types) or "every event"}


def _missing(trigger_id: str) -> str:
    return f"there is no trigger '{trigger_id}'"
