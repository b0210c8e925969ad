from datetime import timedelta
from typing import TYPE_CHECKING

import click

from contentsvc_cli.servers import LOCAL_PORT, local_port
from contentsvc_cli.terminal.completing import organization_slugs
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, fail, list_output, show, show_rows
from contentsvc_cli.wiring import accepted, organization_named, sign_in_link, with_app
from contentsvc_core.access.keys import DEFAULT_SCOPES, ApiKey, Scope, is_active, key_prefix
from contentsvc_core.application import Application
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import iso_ms
from contentsvc_http.settings import load_settings

if TYPE_CHECKING:
    from contentsvc_core.usecases.operate import IssuedKey


@click.group()
def key() -> None:
    """Issue, list and revoke API keys."""


@key.command()
@ORGANIZATION
@click.option("--name", default="", help="Name of the key.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.value for scope in Scope]),
    help="Scope of the key. Repeat for several. 'admin': manage keys in the dashboard.  [default: read and write]",
)
@click.option("--expires-in-days", type=click.IntRange(1, 36_500), help="Days until the key expires.  [default: never]")
@JSON
def issue(organization: str, name: str, scopes: tuple[str, ...], expires_in_days: int | None) -> None:
    """Issue a key, and print it. It is shown only once; the service stores a digest."""

    async def work(app: Application) -> "IssuedKey":
        owner = await organization_named(app, organization)
        expires_at = None if expires_in_days is None else app.clock.now() + timedelta(days=expires_in_days)
        granted = [Scope(scope) for scope in scopes] or DEFAULT_SCOPES
        issued = await app.operator.issue_key(owner, name=name, scopes=granted, expires_at=expires_at)
        return accepted(issued)

    issued = with_app(work)
    show({"key": issued.key, **_body(issued.record)})


@key.command("list")
@click.option(
    "-o", "--organization", metavar="SLUG", shell_complete=organization_slugs, help="Only keys of this organization."
)
@list_output
def list_keys(organization: str | None) -> None:
    """List the keys, oldest first."""

    async def work(app: Application) -> list[ApiKey]:
        owner = None if organization is None else await organization_named(app, organization)
        return list(await app.stores.keys.keys(None if owner is None else owner.id))

    rows = [_body(issued) for issued in with_app(work)]
    columns = ("prefix", "name", "scopes", "organizationId", "expiresAt", "revokedAt", "lastUsedAt")
    optional = ("organizationId", "lastUsedAt")
    show_rows(rows, columns=columns, empty="No keys yet.", optional=optional)


@key.command("show")
@click.argument("prefix")
@JSON
def show_key(prefix: str) -> None:
    """Show a key without its secret part. PREFIX is the beginning of the key (csk_…)."""
    named = key_prefix(prefix) or prefix
    issued = with_app(lambda app: app.stores.keys.key(named))
    if issued is None:
        raise _unknown(named)
    show(_body(issued))


@key.command()
@click.argument("prefix")
@JSON
def revoke(prefix: str) -> None:
    """Revoke a key and every key issued with it. PREFIX is the beginning of the key (csk_…).

    They stop working at once.
    """
    # A complete key is accepted as well, but never printed.
    named = key_prefix(prefix) or prefix

    async def work(app: Application) -> ApiKey | None:
        await app.stores.keys.revoke(named, app.clock.now())
        return await app.stores.keys.key(named)

    revoked = with_app(work)
    if revoked is None:
        raise _unknown(named)
    show(_body(revoked))


@key.command("sign-in")
@click.argument("prefix")
@LOCAL_PORT
@JSON
def sign_in(prefix: str, port: int | None) -> None:
    """Print a one-time link that signs a browser in.

    The link is for a browser on this machine, and for the key that begins with PREFIX (csk_…). It is valid for 10
    minutes, while a server runs on this machine.
    """
    named = key_prefix(prefix) or prefix

    async def work(app: Application) -> str:
        issued = await app.stores.keys.key(named)
        if issued is None or not is_active(issued, app.clock.now()):
            fail(f"there is no key '{one_line(named, 14)}' that is valid")
        return await sign_in_link(app, issued, port or local_port(load_settings().base_url))

    show({"url": with_app(work)})


def _unknown(prefix: str) -> click.ClickException:
    return click.ClickException(f"there is no key '{one_line(prefix, 14)}'")


def _body(key: ApiKey) -> dict[str, object]:
    return {
        "prefix": key.prefix,
        "name": key.name,
        "scopes": [scope.value for scope in key.scopes],
        "organizationId": key.organization_id,
        "createdAt": iso_ms(key.created_at),
        "issuedBy": key.issued_by,
        "expiresAt": key.expires_at and iso_ms(key.expires_at),
        "revokedAt": key.revoked_at and iso_ms(key.revoked_at),
        "lastUsedAt": key.last_used_at and iso_ms(key.last_used_at),
    }
