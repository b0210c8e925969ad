"""``integration``: connections to code hosts."""

import click

from contentsvc_cli.output import JSON, ORGANIZATION, show, show_rows
from contentsvc_cli.wiring import Desk, accepted, at_desk
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.organizations import Integration
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_http.settings import Settings, load_settings


@click.group()
def integration() -> None:
    """Connect repositories, list them, and switch them on and off."""


@integration.command()
@click.argument("repository", metavar="OWNER/REPO")
@ORGANIZATION
@click.option(
    "--repository-id",
    required=True,
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    help="The repository's id at the code host.",
)
@click.option(
    "--provider",
    type=click.Choice([provider.slug for provider in PROVIDERS]),
    default=PROVIDERS[0].slug,
    show_default=True,
    help="The code host's dialect; github also serves Forgejo and Gitea.",
)
@click.option("--branch", help="The branch that content is generated from on demand.")
@JSON
def connect(
    repository: str, organization: str, repository_id: int, provider: str, branch: str | None, *, as_json: bool
) -> None:
    """Connect a repository; print the webhook's address and its secret, which is shown here, once."""

    async def work(desk: Desk) -> dict[str, object]:
        owner = await desk.organization(organization)
        connection = accepted(
            await desk.operator.connect(
                owner, full_name=repository, repository_id=repository_id, provider=provider, branch=branch
            )
        )
        made = connection.integration
        return {
            "organizationId": owner.id,
            "integrationId": made.id,
            "repositoryId": str(repository_id),
            "webhookUrl": webhook_url(desk.settings.base_url, made, repository_id),
            "webhookSecret": connection.secret,
        }

    show(at_desk(work), as_json=as_json)
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
    columns = ("id", "provider", "repository", "repositoryId", "enabled")
    show_rows(rows, columns=columns, as_json=as_json, empty="No integrations yet.")
    if not as_json:
        # A line each, so that they can be copied from a narrow terminal.
        for row in rows:
            click.echo(row["webhookUrl"])


@integration.command()
@click.argument("integration_id")
@JSON
def enable(integration_id: str, *, as_json: bool) -> None:
    """Switch an integration on."""
    _switch(integration_id, enabled=True, as_json=as_json)


@integration.command()
@click.argument("integration_id")
@JSON
def disable(integration_id: str, *, as_json: bool) -> None:
    """Switch an integration off: its deliveries are refused with 403, from the next one on."""
    _switch(integration_id, enabled=False, as_json=as_json)


def _switch(integration_id: str, *, enabled: bool, as_json: bool) -> None:
    async def work(desk: Desk) -> bool:
        owner = await desk.stores.directory.owner_of(integration_id)
        return owner is not None and await desk.stores.directory.enable_integration(
            owner, integration_id, enabled=enabled
        )

    if not at_desk(work):
        message = f"there is no integration '{integration_id}'"
        raise click.ClickException(message)
    show({"integrationId": integration_id, "enabled": enabled}, as_json=as_json)


def webhook_url(base_url: str, made: Integration, repository_id: int) -> str:
    """Give the address that a code host sends a repository's deliveries to."""
    return f"{base_url}/api/webhooks/{made.provider}/{made.organization_id}/{made.id}/{repository_id}"


def _body(found: Integration, base_url: str) -> dict[str, object]:
    # So far each integration has one repository; the first one stands for it.
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
