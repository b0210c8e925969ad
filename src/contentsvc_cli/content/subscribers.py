from typing import Any

import click

from contentsvc_cli.terminal.output import JSON, ORGANIZATION, fail, list_output, show, show_rows
from contentsvc_cli.wiring import organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.outgoing.subscribers import Subscriber, read_address
from contentsvc_core.timestamps import iso_ms


@click.group()
def subscriber() -> None:
    """List and delete the e-mail subscribers of public changelogs."""


@subscriber.command("list")
@ORGANIZATION
@list_output
def list_subscribers(organization: str) -> None:
    """List the subscribers of all changelogs. Use --json to export them."""

    async def work(app: Application) -> list[dict[str, Any]]:
        owner = await organization_named(app, organization)
        slugs = {changelog.id: changelog.slug for changelog in await app.stores.changelogs.all_of(owner.id)}
        errors = await app.stores.mailbox.errors(owner.id)
        return [_body(each, slugs, errors.get(each.id)) for each in await app.stores.subscribers.subscribers(owner.id)]

    rows = with_app(work)
    show_rows(rows, columns=("address", "changelog", "status", "createdAt", "mailError"), empty="No subscribers.")


@subscriber.command()
@ORGANIZATION
@click.argument("address")
@JSON
def delete(organization: str, address: str) -> None:
    """Delete an address with all its subscriptions and mails."""
    normal = read_address(address)
    if normal is None:
        fail(f"'{address}' is not an e-mail address")

    async def work(app: Application) -> int:
        owner = await organization_named(app, organization)
        return await app.stores.subscribers.remove_address(owner.id, normal)

    removed = with_app(work)
    if not removed:
        fail(f"'{normal}' is not subscribed")
    show({"address": normal, "deleted": removed})


def _body(subscriber: Subscriber, slugs: dict[str, str], error: str | None) -> dict[str, Any]:
    return {
        "address": subscriber.address,
        "changelog": slugs.get(subscriber.changelog_id, subscriber.changelog_id),
        "status": subscriber.status.value,
        "createdAt": iso_ms(subscriber.created_at),
        "confirmedAt": None if subscriber.confirmed_at is None else iso_ms(subscriber.confirmed_at),
        "mailError": error,
    }
