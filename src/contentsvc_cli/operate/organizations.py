from typing import Any, Final

import click
from msgspec import to_builtins

from contentsvc_cli.terminal.completing import time_zones
from contentsvc_cli.terminal.options import check_changes, given, options
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, fail, hint, list_output, show, show_rows
from contentsvc_cli.wiring import Api, accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.commands import read_command
from contentsvc_core.organizations import RETENTION_DAYS, ChangeOrganization, Organization, OrganizationBody
from contentsvc_core.zones import DEFAULT_ZONE

_DAYS: Final = click.Choice([str(days) for days in RETENTION_DAYS])
_PLAN: Final = "Plan; sets how long webhook logs are kept."
_DELETED: Final = "The server deletes older entries within an hour. Only on the machine of the service."


@click.group()
def organization() -> None:
    """Create, list and change organizations. Every other object belongs to one."""


@organization.command()
@click.argument("name")
@click.option("--slug", help="Slug, used in commands.  [default: from the name]")
@click.option("--retention-days", type=_DAYS, default="30", show_default=True, help=_PLAN)
@click.option(
    "--time-zone",
    metavar="ZONE",
    default=DEFAULT_ZONE.key,
    show_default=True,
    shell_complete=time_zones,
    help="Time zone of schedules and days, such as Europe/Berlin.",
)
@JSON
def create(name: str, slug: str | None, retention_days: str, time_zone: str) -> None:
    """Create an organization."""

    async def work(app: Application) -> Organization:
        return accepted(
            await app.operator.create_organization(
                name, slug=slug, retention_days=int(retention_days), time_zone=time_zone
            )
        )

    show(_body(with_app(work, may_make=True)))
    hint("contentsvc integration connect OWNER/REPO")


@organization.command("list")
@list_output
def list_organizations() -> None:
    """List the organizations, by slug."""

    async def work(app: Application) -> list[Organization]:
        return list(await app.stores.directory.organizations())

    rows = [_body(organization) for organization in with_app(work)]
    show_rows(
        rows,
        columns=("slug", "name", "timeZone", "retentionDays", "id"),
        empty="No organizations yet.",
    )


@organization.command("show")
@ORGANIZATION
@JSON
def show_organization(organization: str) -> None:
    """Show an organization. On a server, it is the organization of your API key."""

    async def work(app: Application) -> dict[str, object]:
        return _body(await organization_named(app, organization))

    show(with_app(work, remote=lambda api: api.get("/v1/organization")["organization"]))


@organization.command()
@ORGANIZATION
@options(ChangeOrganization, {}, {"time_zone": {"metavar": "ZONE", "shell_complete": time_zones}})
@click.option("--retention-days", type=_DAYS, help=f"{_PLAN} {_DELETED}")
@JSON
def edit(organization: str, retention_days: str | None, **fields: Any) -> None:  # noqa: ANN401  # one for each field
    """Change an organization. In another time zone, schedules fire at the same local times there."""
    days = None if retention_days is None else int(retention_days)
    check_changes(days or given(fields))
    change = accepted(read_command(ChangeOrganization, given(fields)))

    async def work(app: Application) -> dict[str, object]:
        current = await organization_named(app, organization)
        return _body(accepted(await app.operator.change_organization(current, change, retention_days=days)))

    def remote(api: Api) -> dict[str, object]:
        if days is not None:
            # Clients do not choose their plan.
            fail("--retention-days works on the machine of the service: use it there, without a server")
        return api.send("PATCH", "/v1/organization", to_builtins(change))["organization"]

    show(with_app(work, remote=remote))


def _body(organization: Organization) -> dict[str, object]:
    return to_builtins(OrganizationBody.of(organization))
