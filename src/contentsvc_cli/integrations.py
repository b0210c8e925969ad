"""``integration``: connections to code hosts."""

import sys
from typing import Final

import click

from contentsvc_cli.completing import integration_ids
from contentsvc_cli.output import JSON, ORGANIZATION, say, show, show_rows
from contentsvc_cli.webhooks import CALLING, owner_of, reconcile, rotate_secret, unknown
from contentsvc_cli.wiring import Desk, accepted, at_desk
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.organizations import Integration, removed_body, webhook_url
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_http.settings import Settings, load_settings

#: Where a token is read from that stands in no command.
TOKEN_VARIABLE: Final = "CONTENTSVC_CODEHOST_TOKEN"  # noqa: S105  # its name


@click.group()
def integration() -> None:
    """Connect repositories, list them, switch them on and off, and look after their webhooks."""


integration.add_command(rotate_secret)
integration.add_command(reconcile)


@integration.command()
@click.argument("repository", metavar="OWNER/REPO")
@ORGANIZATION
@click.option(
    "--repository-id",
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    help="The repository's id at the code host.  [default: the code host is asked]",
)
@click.option(
    "--provider",
    type=click.Choice([provider.slug for provider in PROVIDERS]),
    default=PROVIDERS[0].slug,
    show_default=True,
    help="The code host's dialect; github also serves Forgejo and Gitea.",
)
@click.option(
    "--branch",
    help="The branch that content is generated from on demand.  [default: the code host's, if it is asked]",
)
@click.option(
    "--token",
    envvar=TOKEN_VARIABLE,
    show_envvar=True,
    metavar="TOKEN|-",
    help="Have the webhook created at the code host; '-' reads standard input. Stored, sealed, and shown nowhere.",
)
@JSON
def connect(
    repository: str,
    organization: str,
    repository_id: int | None,
    provider: str,
    branch: str | None,
    token: str | None,
    *,
    as_json: bool,
) -> None:
    """Connect a repository.

    Without a token, the webhook's address and its secret are printed, here and once, to be entered at the code host.
    """
    read = _read_token(token)

    async def work(desk: Desk) -> dict[str, object]:
        owner = await desk.organization(organization)
        connected = accepted(
            await desk.connector.connect(
                owner.id,
                full_name=repository,
                provider=provider,
                repository_id=repository_id,
                branch=branch,
                token=read,
            )
        )
        made = connected.integration
        return {
            "organizationId": owner.id,
            "integrationId": made.id,
            "repositoryId": str(made.repositories[0].id),
            "branch": made.repositories[0].branch,
            "webhookUrl": connected.url,
            "webhookSecret": None if connected.created_at_host else connected.secret,
            "createdAtHost": connected.created_at_host,
        }

    show(at_desk(work, busy=CALLING), as_json=as_json)
    if load_settings().base_url == Settings().base_url:
        hint = "CONTENTSVC_BASE_URL is not set: a code host elsewhere cannot reach the address above."
        click.echo(hint, err=True)


@integration.command("list")
@ORGANIZATION
@JSON
def list_integrations(organization: str, *, as_json: bool) -> None:
    """List an organization's integrations, oldest first."""

    async def work(desk: Desk) -> list[dict[str, object]]:
        owner = await desk.organization(organization)
        found = await desk.stores.directory.integrations(owner.id)
        return [_body(one, desk.settings.base_url) for one in found]

    rows = at_desk(work)
    columns = ("id", "provider", "repository", "repositoryId", "enabled", "webhookUrl")
    show_rows(rows, columns=columns, as_json=as_json, empty="No integrations yet.")


@integration.command()
@click.argument("integration_id", shell_complete=integration_ids)
@JSON
def enable(integration_id: str, *, as_json: bool) -> None:
    """Switch an integration on."""
    _switch(integration_id, enabled=True, as_json=as_json)


@integration.command()
@click.argument("integration_id", shell_complete=integration_ids)
@JSON
def disable(integration_id: str, *, as_json: bool) -> None:
    """Switch an integration off: its deliveries are refused with 403, from the next one on."""
    _switch(integration_id, enabled=False, as_json=as_json)


def _switch(integration_id: str, *, enabled: bool, as_json: bool) -> None:
    async def work(desk: Desk) -> bool:
        owner = await owner_of(desk, integration_id)
        return await desk.stores.directory.enable_integration(owner, integration_id, enabled=enabled)

    if not at_desk(work):
        raise unknown(integration_id)
    show({"integrationId": integration_id, "enabled": enabled}, as_json=as_json)


@integration.command()
@click.argument("integration_id", shell_complete=integration_ids)
@JSON
def delete(integration_id: str, *, as_json: bool) -> None:
    """Delete an integration and its webhook, and switch off the triggers and schedules that used it.

    Log entries, context records and posts stay.
    """
    from contentsvc_core.usecases.connect import Disconnected, HookEnd  # noqa: PLC0415  # this command alone

    async def work(desk: Desk) -> Disconnected:
        gone = await desk.connector.disconnect(await owner_of(desk, integration_id), integration_id)
        if gone is None:
            raise unknown(integration_id)
        return gone

    gone = at_desk(work, busy=CALLING)
    show({"id": gone.id, **removed_body(gone.removed), "webhook": gone.hook.value}, as_json=as_json)
    if gone.hook is HookEnd.BY_HAND:
        click.echo("Its webhook was entered by hand: remove it at the code host, too.", err=True)
    elif gone.refusal is not None:
        say(f"Its webhook is left at the code host, remove it there: {gone.refusal.reason}", err=True)


def _read_token(given: str | None) -> str | None:
    if given != "-":
        return given
    token = sys.stdin.readline().strip()
    if not token:
        message = "standard input holds no token"
        raise click.ClickException(message)
    return token


def _body(found: Integration, base_url: str) -> dict[str, object]:
    # What is connected here has one repository; where there are more, the first one stands for them.
    repository = found.repositories[0]
    return {
        "id": found.id,
        "organizationId": found.organization_id,
        "provider": found.provider,
        "repository": repository.full_name,
        "repositoryId": str(repository.id),
        "branch": repository.branch,
        "enabled": found.enabled,
        "webhookUrl": webhook_url(base_url, found, repository.id),
        "createdAt": iso_ms(found.created_at),
    }
