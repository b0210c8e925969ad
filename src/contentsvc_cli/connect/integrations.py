"""``integration``: connected repositories."""

import sys
from typing import Final

import click

from contentsvc_cli.connect.webhooks import CALLING, owner_of, reconcile, rotate_secret, unknown
from contentsvc_cli.terminal.completing import integration_ids
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, say, show, show_rows
from contentsvc_cli.wiring import accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.organizations import Integration, removed_body, webhook_url
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, PROVIDERS, Provider
from contentsvc_http.settings import Settings, load_settings

#: Variable of the token; an argument would be visible in process lists.
TOKEN_VARIABLE: Final = "CONTENTSVC_CODEHOST_TOKEN"  # noqa: S105  # its name


def _named(provider: Provider) -> str:
    return provider.slug if provider.name == provider.slug else f"{provider.slug} for {provider.name}"


@click.group()
def integration() -> None:
    """Connect repositories, enable and disable them, and manage their webhooks."""


integration.add_command(rotate_secret)
integration.add_command(reconcile)


@integration.command()
@click.argument("repository", metavar="OWNER/REPO")
@ORGANIZATION
@click.option(
    "--repository-id",
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    help="Repository id at the code host.  [default: looked up]",
)
@click.option(
    "--provider",
    type=click.Choice([provider.slug for provider in PROVIDERS]),
    default=DEFAULT_PROVIDER.slug,
    show_default=True,
    help=f"Provider: {', '.join(_named(provider) for provider in PROVIDERS)}.",
)
@click.option(
    "--branch",
    help="Default branch.  [default: looked up at the code host]",
)
@click.option(
    "--token",
    envvar=TOKEN_VARIABLE,
    show_envvar=True,
    metavar="TOKEN|-",
    help="Token to create the webhook with; '-' reads standard input. It is stored encrypted and never shown.",
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

    Without a token, this prints the webhook's URL and secret. Enter them at the code host. They are shown only once.
    """
    read = _read_token(token)

    async def work(app: Application) -> dict[str, object]:
        owner = await organization_named(app, organization)
        connected = accepted(
            await app.connector.connect(
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

    show(with_app(work, busy=CALLING), as_json=as_json)
    if load_settings().base_url == Settings().base_url:
        hint = "CONTENTSVC_BASE_URL is not set: a code host elsewhere cannot reach the address above."
        click.echo(hint, err=True)


@integration.command("list")
@ORGANIZATION
@JSON
def list_integrations(organization: str, *, as_json: bool) -> None:
    """List an organization's integrations, oldest first."""

    async def work(app: Application) -> list[dict[str, object]]:
        owner = await organization_named(app, organization)
        found = await app.stores.directory.integrations(owner.id)
        return [_body(one, app.base_url) for one in found]

    rows = with_app(work)
    columns = ("id", "provider", "repository", "repositoryId", "enabled", "webhookUrl")
    show_rows(rows, columns=columns, as_json=as_json, empty="No integrations yet.")


@integration.command()
@click.argument("integration_id", shell_complete=integration_ids)
@JSON
def enable(integration_id: str, *, as_json: bool) -> None:
    """Enable an integration."""
    _switch(integration_id, enabled=True, as_json=as_json)


@integration.command()
@click.argument("integration_id", shell_complete=integration_ids)
@JSON
def disable(integration_id: str, *, as_json: bool) -> None:
    """Disable an integration. Its next deliveries are refused with 403."""
    _switch(integration_id, enabled=False, as_json=as_json)


def _switch(integration_id: str, *, enabled: bool, as_json: bool) -> None:
    async def work(app: Application) -> bool:
        owner = await owner_of(app, integration_id)
        return await app.stores.directory.enable_integration(owner, integration_id, enabled=enabled)

    if not with_app(work):
        raise unknown(integration_id)
    show({"integrationId": integration_id, "enabled": enabled}, as_json=as_json)


@integration.command()
@click.argument("integration_id", shell_complete=integration_ids)
@JSON
def delete(integration_id: str, *, as_json: bool) -> None:
    """Delete an integration and its webhook, and disable the triggers and schedules that use it.

    Log entries, context records and posts stay.
    """
    from contentsvc_core.usecases.connect import Disconnected, HookEnd  # noqa: PLC0415  # this command alone

    async def work(app: Application) -> Disconnected:
        gone = await app.connector.disconnect(await owner_of(app, integration_id), integration_id)
        if gone is None:
            raise unknown(integration_id)
        return gone

    gone = with_app(work, busy=CALLING)
    show({"id": gone.id, **removed_body(gone.removed), "webhook": gone.hook.value}, as_json=as_json)
    if gone.hook is HookEnd.BY_HAND:
        click.echo("You created the webhook by hand: delete it at the code host, too.", err=True)
    elif gone.refusal is not None:
        say(f"Its webhook is left at the code host, remove it there: {gone.refusal.reason}", err=True)


def _read_token(given: str | None) -> str | None:
    if given != "-":
        return given
    token = sys.stdin.readline().strip()
    if not token:
        message = "there is no token on standard input"
        raise click.ClickException(message)
    return token


def _body(found: Integration, base_url: str) -> dict[str, object]:
    # Integrations connected here have one repository; of several, show the first.
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
