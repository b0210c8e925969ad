"""``endpoint``: targets of outgoing webhooks."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

import click

from contentsvc_cli.terminal.output import JSON, ORGANIZATION, show, show_rows
from contentsvc_cli.wiring import accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.outgoing.endpoints import MAX_OVERLAP, OVERLAP, WebhookEndpoint, endpoint_body
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.text import one_line
from contentsvc_core.usecases.webhook_endpoints import EndpointChanges, NewSecret

_HOUR: Final = timedelta(hours=1)
_EVENT: Final = click.option(
    "--event",
    "events",
    multiple=True,
    type=click.Choice([kind.value for kind in EventType]),
    help="Send this event type. Repeat for several.  [default: all]",
)


@click.group()
def endpoint() -> None:
    """Manage webhook endpoints: other services that receive signed webhooks."""


@endpoint.command()
@click.argument("url")
@ORGANIZATION
@_EVENT
@click.option("--description", default="", help="Description.")
@click.option("--disabled", is_flag=True, help="Create the endpoint disabled.")
@JSON
def create(
    url: str, organization: str, events: tuple[str, ...], description: str, *, disabled: bool, as_json: bool
) -> None:
    """Create an endpoint at URL, and print its signing secret. The secret is shown only once.

    URL must begin with https:// and point to a public host, unless CONTENTSVC_OUTGOING_HOSTS names the host.
    """

    async def work(app: Application) -> NewSecret:
        owner = await organization_named(app, organization)
        return accepted(
            await app.endpoint_editor.create(
                owner.id, url=url, description=description, event_types=_types(events), enabled=not disabled
            )
        )

    made = with_app(work)
    show({**endpoint_body(made.endpoint), "secret": made.secret}, as_json=as_json)


@endpoint.command("list")
@ORGANIZATION
@JSON
def list_endpoints(organization: str, *, as_json: bool) -> None:
    """List an organization's endpoints, oldest first."""

    async def work(app: Application) -> list[WebhookEndpoint]:
        owner = await organization_named(app, organization)
        return list(await app.stores.endpoints.endpoints(owner.id))

    rows = [endpoint_body(found) for found in with_app(work)]
    columns = ("id", "url", "eventTypes", "enabled", "consecutiveFailures", "disabledReason")
    show_rows(rows, columns=columns, as_json=as_json, empty="No endpoints yet.")


@endpoint.command()
@click.argument("endpoint_id")
@click.option("--url", help="New URL.")
@_EVENT
@click.option("--all-events", is_flag=True, help="Send all event types.")
@click.option("--description", help="Description.")
@JSON
def edit(
    endpoint_id: str,
    url: str | None,
    events: tuple[str, ...],
    description: str | None,
    *,
    all_events: bool,
    as_json: bool,
) -> None:
    """Change an endpoint. Options that you leave out stay unchanged. Waiting messages go to the new URL."""
    if events and all_events:
        message = "use either --event or --all-events"
        raise click.UsageError(message)
    changes = EndpointChanges()
    if url is not None:
        changes["url"] = url
    if description is not None:
        changes["description"] = description
    if events or all_events:
        changes["event_types"] = _types(events)
    if not changes:
        message = "there is nothing to change: name an option"
        raise click.UsageError(message)
    show(endpoint_body(_changed(endpoint_id, changes)), as_json=as_json)


@endpoint.command()
@click.argument("endpoint_id")
@JSON
def enable(endpoint_id: str, *, as_json: bool) -> None:
    """Enable an endpoint. Waiting messages are sent."""
    show(endpoint_body(_changed(endpoint_id, EndpointChanges(enabled=True))), as_json=as_json)


@endpoint.command()
@click.argument("endpoint_id")
@JSON
def disable(endpoint_id: str, *, as_json: bool) -> None:
    """Disable an endpoint. It gets no new messages, and waiting messages are kept."""
    show(endpoint_body(_changed(endpoint_id, EndpointChanges(enabled=False))), as_json=as_json)


@endpoint.command("rotate-secret")
@click.argument("endpoint_id")
@click.option(
    "--overlap-hours",
    type=click.IntRange(0, MAX_OVERLAP // _HOUR),
    default=OVERLAP // _HOUR,
    show_default=True,
    help="How long messages are also signed with the old secret; 0 stops at once.",
)
@JSON
def rotate_secret(endpoint_id: str, overlap_hours: int, *, as_json: bool) -> None:
    """Rotate the secret of an endpoint, and print the new one. It is shown only once."""

    async def work(app: Application) -> NewSecret:
        owner = await _owner_of(app, endpoint_id)
        return accepted(await app.endpoint_editor.rotate(owner, endpoint_id, overlap=overlap_hours * _HOUR))

    rotated = with_app(work)
    show({**endpoint_body(rotated.endpoint), "secret": rotated.secret}, as_json=as_json)


@endpoint.command()
@click.argument("endpoint_id")
@JSON
def test(endpoint_id: str, *, as_json: bool) -> None:
    """Send a test message. A running server sends it; see its result in the log."""

    async def work(app: Application) -> str:
        return accepted(await app.endpoint_editor.test(await _owner_of(app, endpoint_id), endpoint_id))

    show({"endpointId": endpoint_id, "messageId": with_app(work)}, as_json=as_json)


@endpoint.command()
@click.argument("endpoint_id")
@JSON
def delete(endpoint_id: str, *, as_json: bool) -> None:
    """Delete an endpoint and its waiting messages. Log entries stay."""

    async def work(app: Application) -> bool:
        return await app.endpoint_editor.remove(await _owner_of(app, endpoint_id), endpoint_id)

    if not with_app(work):
        raise _unknown(endpoint_id)
    show({"id": endpoint_id}, as_json=as_json)


def _changed(endpoint_id: str, changes: EndpointChanges) -> WebhookEndpoint:
    async def work(app: Application) -> WebhookEndpoint:
        return accepted(await app.endpoint_editor.change(await _owner_of(app, endpoint_id), endpoint_id, **changes))

    return with_app(work)


def _types(events: Iterable[str]) -> list[EventType]:
    return [EventType(name) for name in events]


async def _owner_of(app: Application, endpoint_id: str) -> str:
    owner = await app.stores.directory.owner_of(endpoint_id)
    if owner is None:
        raise _unknown(endpoint_id)
    return owner


def _unknown(endpoint_id: str) -> click.ClickException:
    return click.ClickException(f"there is no webhook endpoint '{one_line(endpoint_id, 64)}'")
