"""``trigger``: what an event starts."""

import click

from contentsvc_cli.output import JSON, ORGANIZATION, show, show_rows
from contentsvc_cli.wiring import Desk, accepted, at_desk
from contentsvc_core.content.posts import ContentType
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.workflows.triggers import EVENT_TYPES, Trigger, trigger_body

#: What can be written today.
_OUTPUTS = (ContentType.CHANGELOG.value,)


@click.group()
def trigger() -> None:
    """Create, list and switch event triggers."""


@trigger.command()
@ORGANIZATION
@click.option(
    "--repository-id",
    "repository_ids",
    required=True,
    multiple=True,
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    help="A connected repository that it applies to; may be repeated.",
)
@click.option(
    "--event",
    "events",
    multiple=True,
    type=click.Choice(EVENT_TYPES),
    help="What starts it; may be repeated.  [default: every event]",
)
@click.option("--output", type=click.Choice(_OUTPUTS), default=_OUTPUTS[0], show_default=True, help="What is written.")
@click.option("--auto-publish", is_flag=True, help="Publish at once.  [default: posts are drafts]")
@click.option("--name", default="", help="For people.")
@click.option(
    "--provider",
    type=click.Choice([provider.slug for provider in PROVIDERS]),
    help="Whose repositories.  [default: where they are connected]",
)
@JSON
def create(  # one parameter an option
    organization: str,
    repository_ids: tuple[int, ...],
    events: tuple[str, ...],
    output: str,
    name: str,
    provider: str | None,
    *,
    auto_publish: bool,
    as_json: bool,
) -> None:
    """Create a trigger: each event that it matches starts a workflow run, which writes a post."""

    async def work(desk: Desk) -> Trigger:
        owner = await desk.organization(organization)
        return accepted(
            await desk.operator.create_trigger(
                owner,
                repository_ids=repository_ids,
                event_types=events,
                output_type=ContentType(output),
                auto_publish=auto_publish,
                name=name,
                provider=provider,
            )
        )

    show(trigger_body(at_desk(work)), as_json=as_json)


@trigger.command("list")
@ORGANIZATION
@JSON
def list_triggers(organization: str, *, as_json: bool) -> None:
    """List an organization's triggers, oldest first."""

    async def work(desk: Desk) -> list[Trigger]:
        owner = await desk.organization(organization)
        return list(await desk.stores.directory.triggers(owner.id))

    rows = [trigger_body(found) for found in at_desk(work)]
    columns = ("id", "name", "sourceType", "targets", "sourceConfig", "outputType", "autoPublish", "enabled")
    show_rows(rows, columns=columns, as_json=as_json, empty="No triggers yet.")


@trigger.command()
@click.argument("trigger_id")
@JSON
def enable(trigger_id: str, *, as_json: bool) -> None:
    """Switch a trigger on."""
    _switch(trigger_id, enabled=True, as_json=as_json)


@trigger.command()
@click.argument("trigger_id")
@JSON
def disable(trigger_id: str, *, as_json: bool) -> None:
    """Switch a trigger off: nothing starts it any more, and runs that wait end as skipped."""
    _switch(trigger_id, enabled=False, as_json=as_json)


def _switch(trigger_id: str, *, enabled: bool, as_json: bool) -> None:
    async def work(desk: Desk) -> bool:
        owner = await desk.stores.directory.owner_of(trigger_id)
        return owner is not None and await desk.stores.directory.enable_trigger(owner, trigger_id, enabled=enabled)

    if not at_desk(work):
        message = f"there is no trigger '{trigger_id}'"
        raise click.ClickException(message)
    show({"triggerId": trigger_id, "enabled": enabled}, as_json=as_json)
