"""``organization``: tenants."""

import click

from contentsvc_cli.terminal.output import JSON, show, show_rows
from contentsvc_cli.wiring import accepted, with_app
from contentsvc_core.application import Application
from contentsvc_core.organizations import RETENTION_DAYS, Organization
from contentsvc_core.timestamps import iso_ms


@click.group()
def organization() -> None:
    """Create and list organizations. Every other object belongs to one."""


@organization.command()
@click.argument("name")
@click.option("--slug", help="Slug, used in commands.  [default: from the name]")
@click.option(
    "--retention-days",
    type=click.Choice([str(days) for days in RETENTION_DAYS]),
    default="30",
    show_default=True,
    help="Plan; sets how long webhook logs are kept.",
)
@JSON
def create(name: str, slug: str | None, retention_days: str, *, as_json: bool) -> None:
    """Create an organization."""

    async def work(app: Application) -> Organization:
        return accepted(await app.operator.create_organization(name, slug=slug, retention_days=int(retention_days)))

    show(_body(with_app(work, may_make=True)), as_json=as_json)


@organization.command("list")
@JSON
def list_organizations(*, as_json: bool) -> None:
    """List the organizations, by slug."""

    async def work(app: Application) -> list[Organization]:
        return list(await app.stores.directory.organizations())

    rows = [_body(found) for found in with_app(work)]
    show_rows(rows, columns=("slug", "name", "retentionDays", "id"), as_json=as_json, empty="No organizations yet.")


def _body(found: Organization) -> dict[str, object]:
    return {
        "id": found.id,
        "slug": found.slug,
        "name": found.name,
        "retentionDays": found.retention_days,
        "createdAt": iso_ms(found.created_at),
    }
