import sys
from typing import TYPE_CHECKING, Any, Final

import click

from contentsvc_cli.connect.webhooks import CALLING, owner_of, reconcile, rotate_secret, unknown
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.completing import integration_ids
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, hint, list_output, say, show, show_rows
from contentsvc_cli.wiring import accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.organizations import Integration, webhook_url
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, PROVIDERS, Provider
from contentsvc_http.settings import Settings, load_settings

if TYPE_CHECKING:
    from contentsvc_cli.remote import Api

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
        integration = connected.integration
        return {
            "organizationId": owner.id,
            "integrationId": integration.id,
            "repositoryId": str(integration.repositories[0].id),
            "branch": integration.repositories[0].branch,
            "webhookUrl": connected.url,
            "webhookSecret": None if connected.created_at_host else connected.secret,
            "createdAtHost": connected.created_at_host,
        }

    def remote(api: "Api") -> dict[str, object]:
        owner, _, name = repository.rpartition("/")
        body = {
            "owner": owner,
            "repo": name,
            "repositoryId": None if repository_id is None else str(repository_id),
            "branch": branch,
            "token": read,
        }
        answer = api.send("POST", f"/v1/integrations/{provider}", body)
        connected, webhook = answer[provider], answer["webhook"]
        return {
            "integrationId": connected["id"],
            "repositoryId": connected["repositoryId"],
            "branch": connected["defaultBranch"],
            "webhookUrl": webhook["url"],
            "webhookSecret": webhook["secret"],
            "createdAtHost": webhook["createdAtHost"],
        }

    connection_body = with_app(work, busy=CALLING, remote=remote)
    show(connection_body, as_json=as_json)
    hint(
        f"contentsvc trigger create --repository-id {connection_body['repositoryId']} --event release", as_json=as_json
    )
    if "organizationId" in connection_body and load_settings().base_url == Settings().base_url:
        warning = "CONTENTSVC_BASE_URL is not set: a code host elsewhere cannot reach the address above."
        click.echo(warning, err=True)


@integration.command("list")
@ORGANIZATION
@list_output
def list_integrations(organization: str, *, as_json: bool) -> None:
    """List an organization's integrations, oldest first."""

    async def work(app: Application) -> list[dict[str, Any]]:
        owner = await organization_named(app, organization)
        integrations = await app.stores.directory.integrations(owner.id)
        return [_body(one, app.base_url) for one in integrations]

    rows = with_app(work, remote=_on_server)
    columns = ("id", "provider", "repository", "repositoryId", "enabled", "webhookUrl")
    show_rows(rows, columns=columns, as_json=as_json, empty="No integrations yet.", optional=("webhookUrl", "provider"))


@integration.command("show")
@click.argument("integration_id", shell_complete=integration_ids)
@JSON
def show_integration(integration_id: str, *, as_json: bool) -> None:
    """Show an integration with its webhook's URL."""

    async def work(app: Application) -> dict[str, Any]:
        owner = await owner_of(app, integration_id)
        integrations = await app.stores.directory.integrations(owner)
        return next(_body(one, app.base_url) for one in integrations if one.id == integration_id)

    def remote(api: "Api") -> dict[str, Any]:
        body = next((row for row in _on_server(api) if row["id"] == integration_id), None)
        if body is None:
            raise unknown(integration_id)
        return body

    show(with_app(work, remote=remote), as_json=as_json)


def _on_server(api: "Api") -> list[dict[str, Any]]:
    return [
        {**row, "provider": provider, "repository": row["displayName"], "enabled": None, "webhookUrl": None}
        for provider, rows in api.get("/v1/integrations").items()
        for row in rows
    ]


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

    def remote(api: "Api") -> bool:
        api.send("PATCH", f"/v1/integrations/{part(integration_id)}", {"enabled": enabled})
        return True

    if not with_app(work, remote=remote):
        raise unknown(integration_id)
    show({"integrationId": integration_id, "enabled": enabled}, as_json=as_json)


@integration.command()
@click.argument("integration_id", shell_complete=integration_ids)
@JSON
def delete(integration_id: str, *, as_json: bool) -> None:
    """Delete an integration and its webhook.

    The triggers and schedules that use it are disabled. Log entries, context records and posts stay.
    """
    from contentsvc_core.usecases.connect import Disconnected, HookEnd  # noqa: PLC0415  # this command alone
    from contentsvc_core.workflows.removals import removed_body  # noqa: PLC0415  # as above

    async def work(app: Application) -> Disconnected | None:
        gone = await app.connector.disconnect(await owner_of(app, integration_id), integration_id)
        if gone is None:
            raise unknown(integration_id)
        return gone

    def remote(api: "Api") -> None:
        show(api.send("DELETE", f"/v1/integrations/{part(integration_id)}"), as_json=as_json)

    gone = with_app(work, busy=CALLING, remote=remote)
    if gone is None:
        return
    show({"id": gone.id, **removed_body(gone.removed), "webhook": gone.hook.value}, as_json=as_json)
    if gone.hook is HookEnd.BY_HAND:
        click.echo("You created the webhook by hand: delete it at the code host, too.", err=True)
    elif gone.refusal is not None:
        say(f"Its webhook is left at the code host, remove it there: {gone.refusal.reason}", err=True)


def _read_token(option: str | None) -> str | None:
    if option != "-":
        return option
    token = sys.stdin.readline().strip()
    if not token:
        message = "there is no token on standard input"
        raise click.ClickException(message)
    return token


def _body(integration: Integration, base_url: str) -> dict[str, Any]:
    # Integrations connected here have one repository; of several, show the first.
    repository = integration.repositories[0]
    return {
        "id": integration.id,
        "organizationId": integration.organization_id,
        "provider": integration.provider,
        "repository": repository.full_name,
        "repositoryId": str(repository.id),
        "branch": repository.branch,
        "enabled": integration.enabled,
        "webhookUrl": webhook_url(base_url, integration, repository.id),
        "createdAt": iso_ms(integration.created_at),
    }
