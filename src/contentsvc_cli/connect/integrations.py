from typing import Any

import click

from contentsvc_cli.connect.webhooks import CALLING, reconcile, rotate_secret
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, list_output, say, show, show_rows
from contentsvc_cli.wiring import Api, organization_named, owned, refuse_unknown, with_app
from contentsvc_core.application import Application
from contentsvc_core.organizations import Integration, webhook_url
from contentsvc_core.timestamps import iso_ms


class _Integration(click.Group):
    """Imports ``connect`` on demand: its options name all providers, which the other commands do not need."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        self._add_connect()
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands:
            self._add_connect()
        return super().get_command(ctx, cmd_name)

    def _add_connect(self) -> None:
        from contentsvc_cli.connect.connecting import connect  # noqa: PLC0415  # see above

        self.add_command(connect)


@click.group(cls=_Integration)
def integration() -> None:
    """Connect repositories, enable and disable them, and manage their webhooks."""


integration.add_command(rotate_secret)
integration.add_command(reconcile)


@integration.command("list")
@ORGANIZATION
@list_output
def list_integrations(organization: str) -> None:
    """List an organization's integrations, oldest first."""

    async def work(app: Application) -> list[dict[str, Any]]:
        owner = await organization_named(app, organization)
        integrations = await app.stores.directory.integrations(owner.id)
        return [_body(one, app.base_url) for one in integrations]

    rows = with_app(work, remote=_on_server)
    columns = ("id", "provider", "repository", "repositoryId", "enabled", "webhookUrl")
    show_rows(rows, columns=columns, empty="No integrations yet.", optional=("webhookUrl", "provider"))


@integration.command("show")
@click.argument("integration_id")
@JSON
def show_integration(integration_id: str) -> None:
    """Show an integration with its webhook's URL."""

    async def work(app: Application) -> dict[str, Any]:
        integration = await owned(app, "integration", integration_id, app.stores.directory.integration)
        return _body(integration, app.base_url)

    def remote(api: Api) -> dict[str, Any]:
        body = next((row for row in _on_server(api) if row["id"] == integration_id), None)
        if body is None:
            refuse_unknown("integration", integration_id)
        return body

    show(with_app(work, remote=remote))


def _on_server(api: Api) -> list[dict[str, Any]]:
    # `/v1` does not tell the other fields.
    return [
        {
            "id": row["id"],
            "organizationId": None,
            "provider": provider,
            "repository": row["displayName"],
            "repositoryId": row["repositoryId"],
            "branch": row["defaultBranch"],
            "enabled": None,
            "webhookUrl": None,
            "createdAt": None,
        }
        for provider, row in api.integrations()
    ]


@integration.command()
@click.argument("integration_id")
@JSON
def enable(integration_id: str) -> None:
    """Enable an integration."""
    _switch(integration_id, enabled=True)


@integration.command()
@click.argument("integration_id")
@JSON
def disable(integration_id: str) -> None:
    """Disable an integration. Its next deliveries are refused with 403."""
    _switch(integration_id, enabled=False)


def _switch(integration_id: str, *, enabled: bool) -> None:
    async def work(app: Application) -> bool:
        switch = app.stores.directory.enable_integration
        return await owned(app, "integration", integration_id, lambda owner, id_: switch(owner, id_, enabled=enabled))

    path = f"/v1/integrations/{part(integration_id)}"
    with_app(work, remote=lambda api: api.send("PATCH", path, {"enabled": enabled}))
    show({"integrationId": integration_id, "enabled": enabled})


@integration.command()
@click.argument("integration_id")
@JSON
def delete(integration_id: str) -> None:
    """Delete an integration and its webhook.

    The triggers and schedules that use it are disabled. Log entries, context records and posts stay.
    """
    from contentsvc_core.usecases.connect import Disconnected, HookRemoval  # noqa: PLC0415  # only this command needs it
    from contentsvc_core.workflows.removals import removed_body  # noqa: PLC0415  # as above

    def remote(api: Api) -> None:
        show(api.send("DELETE", f"/v1/integrations/{part(integration_id)}"))
        # `/v1` does not tell what became of the webhook.
        click.echo("If you created its webhook by hand, delete it at the code host, too.", err=True)

    gone: Disconnected | None = with_app(
        lambda app: owned(app, "integration", integration_id, app.connector.disconnect), busy=CALLING, remote=remote
    )
    if gone is None:
        return
    show({"id": gone.id, **removed_body(gone.removed), "webhook": gone.hook.value})
    if gone.hook is HookRemoval.BY_HAND:
        click.echo("You created the webhook by hand: delete it at the code host, too.", err=True)
    elif gone.refusal is not None:
        say(f"Its webhook is left at the code host, remove it there: {gone.refusal.reason}", err=True)


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
