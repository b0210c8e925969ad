from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import click
import msgspec

from contentsvc_cli.servers import part
from contentsvc_cli.terminal.options import check_changes, given, options
from contentsvc_cli.terminal.output import (
    JSON,
    ORGANIZATION,
    hint,
    list_output,
    misused,
    say,
    show,
    show_rows,
    wants_json,
)
from contentsvc_cli.wiring import Api, accepted, organization_named, owned, with_app
from contentsvc_core.application import Application
from contentsvc_core.commands import read_command
from contentsvc_core.outgoing.endpoints import MAX_OVERLAP, OVERLAP, ChangeEndpoint, CreateEndpoint, WebhookEndpoint
from contentsvc_core.outgoing.recipients import RecipientStatus
from contentsvc_core.usecases.consents import confirmations_body
from contentsvc_core.usecases.webhook_endpoints import NewSecret

_PATH: Final = "/v1/webhook-endpoints"
_KIND: Final = "webhook endpoint"
_HOUR: Final = timedelta(hours=1)
_NAMES: Final = {"event_types": "--event"}
#: The target is an argument, and ``--disabled`` is the opposite of the field.
_WITHOUT: Final = ("url", "enabled")


@click.group()
def endpoint() -> None:
    """Manage webhook endpoints: your services, chats and e-mail addresses that get messages."""


@endpoint.command()
@click.argument("url")
@ORGANIZATION
@options(CreateEndpoint, _NAMES, {}, without=_WITHOUT)
@click.option("--disabled", is_flag=True, help="Create the endpoint disabled.")
@JSON
def create(url: str, organization: str, *, disabled: bool, **fields: Any) -> None:  # noqa: ANN401  # one for each field
    """Create an endpoint at URL. Without --event, it receives all event types.

    URL must begin with https:// and point to a public host, unless CONTENTSVC_OUTGOING_HOSTS names the host. Addresses
    of Slack, Discord and Microsoft Teams are recognized. For e-mail, use mailto: and up to ten addresses, separated by
    commas. The signing secret of the format 'standard' is shown only once.
    """
    command = accepted(read_command(CreateEndpoint, {"url": url, "enabled": not disabled, **given(fields)}))

    async def work(app: Application) -> dict[str, Any]:
        owner = await organization_named(app, organization)
        return await _with_secret(app, accepted(await app.endpoint_editor.create(owner.id, command)))

    created = with_app(work, remote=lambda api: _flat(api.send("POST", _PATH, msgspec.to_builtins(command))))
    _show(created)
    if created.get("recipients") and created["enabled"]:
        click.echo("Each address gets a mail with a link, and gets messages once it is confirmed.", err=True)
        return
    hint("contentsvc endpoint test", created["id"])


@endpoint.command("list")
@ORGANIZATION
@list_output
def list_endpoints(organization: str) -> None:
    """List an organization's endpoints, oldest first."""

    async def work(app: Application) -> list[dict[str, Any]]:
        owner = await organization_named(app, organization)
        bodies = await app.consents.bodies(owner.id, await app.stores.endpoints.endpoints(owner.id))
        return msgspec.to_builtins(bodies)

    rows = with_app(work, remote=lambda api: api.all(_PATH, "webhookEndpoints"))
    columns = ("id", "url", "format", "eventTypes", "enabled", "confirmed", "consecutiveFailures", "disabledReason")
    shown = rows if wants_json() else [{**row, "confirmed": _confirmed(row)} for row in rows]
    show_rows(shown, columns=columns, empty="No endpoints yet.")


@endpoint.command("show")
@click.argument("endpoint_id")
@JSON
def show_endpoint(endpoint_id: str) -> None:
    """Show an endpoint."""

    async def work(app: Application) -> dict[str, Any]:
        return await _body(app, await owned(app, _KIND, endpoint_id, app.stores.endpoints.endpoint))

    body = with_app(work, remote=lambda api: api.get(f"{_PATH}/{part(endpoint_id)}")["webhookEndpoint"])
    _show(body)


@endpoint.command()
@click.argument("endpoint_id")
@options(ChangeEndpoint, _NAMES, {}, without=("enabled",))
@click.option("--all-events", is_flag=True, help="Send all event types.")
@JSON
def edit(endpoint_id: str, *, all_events: bool, **fields: Any) -> None:  # noqa: ANN401  # as above
    """Change an endpoint. Options that you leave out stay unchanged. Waiting messages go to the new URL."""
    changes = given(fields)
    if "event_types" in changes and all_events:
        misused("use either --event or --all-events")
    if all_events:
        changes["event_types"] = ()
    check_changes(changes)
    _show(_changed(endpoint_id, changes))


@endpoint.command()
@click.argument("endpoint_id")
@JSON
def enable(endpoint_id: str) -> None:
    """Enable an endpoint. Waiting messages are sent."""
    _show(_changed(endpoint_id, {"enabled": True}))


@endpoint.command()
@click.argument("endpoint_id")
@JSON
def disable(endpoint_id: str) -> None:
    """Disable an endpoint. It gets no new messages, and waiting messages are kept."""
    _show(_changed(endpoint_id, {"enabled": False}))


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
def rotate_secret(endpoint_id: str, overlap_hours: int) -> None:
    """Rotate the secret of an endpoint, and print the new one. It is shown only once."""

    async def work(app: Application) -> dict[str, Any]:
        rotate, overlap = app.endpoint_editor.rotate, overlap_hours * _HOUR
        rotated = await owned(app, _KIND, endpoint_id, lambda owner, id_: rotate(owner, id_, overlap=overlap))
        return await _with_secret(app, rotated)

    def remote(api: Api) -> dict[str, Any]:
        path = f"{_PATH}/{part(endpoint_id)}/rotate-secret"
        return _flat(api.send("POST", path, {"overlapHours": overlap_hours}))

    _show(with_app(work, remote=remote))


@endpoint.command()
@click.argument("endpoint_id")
@JSON
def test(endpoint_id: str) -> None:
    """Send a test message. A running server sends it; see its result in the log."""
    sent: str = with_app(
        lambda app: owned(app, _KIND, endpoint_id, app.endpoint_editor.test),
        remote=lambda api: api.send("POST", f"{_PATH}/{part(endpoint_id)}/test")["messageId"],
    )
    show({"endpointId": endpoint_id, "messageId": sent})
    hint("contentsvc log list")


@endpoint.command()
@click.argument("endpoint_id")
@JSON
def confirm(endpoint_id: str) -> None:
    """Send the confirmation mail again.

    An address gets one mail an hour. An organization sends 20 a day. The exit code is 1 if no address was asked.
    """

    async def work(app: Application) -> Mapping[str, Any]:
        return confirmations_body(await owned(app, _KIND, endpoint_id, app.endpoint_editor.ask))

    body = with_app(work, remote=lambda api: api.send("POST", f"{_PATH}/{part(endpoint_id)}/confirmations"))
    for each in () if wants_json() else body["notAsked"]:
        say(f"{each['address']} was not asked: {each['reason']}", err=True)
    show(body if wants_json() else {"asked": ", ".join(body["asked"]) or "no address"})
    if not body["asked"]:
        raise SystemExit(1)


@endpoint.command()
@click.argument("endpoint_id")
@JSON
def delete(endpoint_id: str) -> None:
    """Delete an endpoint and its waiting messages. Log entries stay."""
    with_app(
        lambda app: owned(app, _KIND, endpoint_id, app.endpoint_editor.remove),
        remote=lambda api: api.send("DELETE", f"{_PATH}/{part(endpoint_id)}"),
    )
    show({"id": endpoint_id})


def _changed(endpoint_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    change = accepted(read_command(ChangeEndpoint, changes))

    async def work(app: Application) -> dict[str, Any]:
        editor = app.endpoint_editor
        changed = await owned(app, _KIND, endpoint_id, lambda owner, id_: editor.change(owner, id_, change))
        return await _body(app, changed)

    def remote(api: Api) -> dict[str, Any]:
        return api.send("PATCH", f"{_PATH}/{part(endpoint_id)}", msgspec.to_builtins(change))["webhookEndpoint"]

    return with_app(work, remote=remote)


async def _with_secret(app: Application, created: NewSecret) -> dict[str, Any]:
    secret = {"secret": created.secret} if created.endpoint.is_signed else {}
    return {**await _body(app, created.endpoint), **secret}


async def _body(app: Application, endpoint: WebhookEndpoint) -> dict[str, Any]:
    return msgspec.to_builtins(await app.consents.body(endpoint))


def _show(body: dict[str, Any]) -> None:
    if wants_json():
        show(body)
        return
    recipients = ", ".join(f"{each['address']} ({each['status']})" for each in body.get("recipients", ()))
    lines = {name: value for name, value in body.items() if name != "recipients"}
    show({**lines, **({"recipients": recipients} if recipients else {})})


def _confirmed(body: Mapping[str, Any]) -> str:
    statuses = [each["status"] for each in body.get("recipients", ())]
    return f"{statuses.count(RecipientStatus.CONFIRMED.value)} of {len(statuses)}" if statuses else ""


def _flat(answer: dict[str, Any]) -> dict[str, Any]:
    secret = {} if answer["secret"] is None else {"secret": answer["secret"]}
    return {**answer["webhookEndpoint"], **secret}
