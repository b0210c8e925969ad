"""``integration rotate-secret`` and ``integration reconcile``: webhooks at the code host."""

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import click

from contentsvc_cli.completing import integration_ids
from contentsvc_cli.output import JSON, show, show_rows
from contentsvc_cli.waiting import waiting
from contentsvc_cli.wiring import Desk, accepted, at_desk
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import iso_ms

if TYPE_CHECKING:
    from contentsvc_core.usecases.reconcile import Missed, Reconciled
    from contentsvc_core.usecases.rotate import Rotated

#: What is said on a terminal when a code host takes its time.
CALLING: Final = "waiting for the code host"


@click.command("rotate-secret")
@click.argument("integration_id", shell_complete=integration_ids)
@click.option(
    "--overlap-hours",
    type=click.IntRange(0, 24 * 30),
    default=24,
    show_default=True,
    help="How long the old secret verifies, too; 0 ends it at once.",
)
@JSON
def rotate_secret(integration_id: str, overlap_hours: int, *, as_json: bool) -> None:
    """Give an integration a new webhook secret.

    With a token the code host is told. Without one the new secret is printed, here and once, to be entered there.
    Exit code 1 when the code host refused: enter the secret that is printed there before the old one ends.
    """
    from contentsvc_core.hosts import HostAnswer, HostRefusal  # noqa: PLC0415  # this command alone

    async def work(desk: Desk) -> "Rotated":
        owner = await owner_of(desk, integration_id)
        return accepted(await desk.rotator.rotate(owner, integration_id, overlap=timedelta(hours=overlap_hours)))

    rotated = at_desk(work, busy=CALLING)
    told = isinstance(rotated.at_host, HostAnswer)
    body = {
        "integrationId": rotated.integration.id,
        "webhookSecret": None if told else rotated.secret,
        "overlapUntil": iso_ms(rotated.overlap_until),
        "changedAtHost": told,
    }
    show(body, as_json=as_json)
    if isinstance(rotated.at_host, HostRefusal):
        message = f"the webhook signs with the old secret still, enter the new one there: {rotated.at_host.reason}"
        raise click.ClickException(message)


@click.command()
@click.argument("integration_id", shell_complete=integration_ids)
@click.option("--hours", type=click.IntRange(1, 24 * 7), default=72, show_default=True, help="How far to look back.")
@click.option("--dry-run", is_flag=True, help="Only show what would be asked for.")
@JSON
def reconcile(integration_id: str, hours: int, *, dry_run: bool, as_json: bool) -> None:
    """Have the code host deliver again what it failed to deliver, and what we have not answered with success.

    It needs an integration that was connected with a token, and a code host that lists deliveries. Exit code 1 when
    one could not be asked for.
    """

    async def work(desk: Desk) -> "Reconciled":
        owner = await owner_of(desk, integration_id)
        return accepted(
            await desk.reconciler.reconcile(
                owner,
                integration_id,
                look_back=timedelta(hours=hours),
                dry_run=dry_run,
                told=shown.count,
            )
        )

    with waiting(CALLING) as shown:
        done = at_desk(work, busy=None)
    rows = [_missed(each) for each in done.missed]
    columns = ("delivery", "event", "action", "statusCode", "deliveredAt", "result")
    show_rows(rows, columns=columns, as_json=as_json, empty="Nothing is missing.")
    if not done.complete:
        click.echo("There are more deliveries than are read: the oldest were not looked at.", err=True)
    refused = [each for each in done.missed if each.refusal is not None]
    if refused and refused[0].refusal is not None:
        message = f"{len(refused)} could not be asked for: {refused[0].refusal.reason}"
        raise click.ClickException(message)


def _missed(each: "Missed") -> dict[str, object]:
    return {
        "delivery": each.attempt.delivery_id,
        "repository": each.repository,
        "event": each.attempt.event,
        "action": each.attempt.action,
        "statusCode": each.attempt.status_code,
        "deliveredAt": iso_ms(each.attempt.delivered_at),
        "result": each.end.value,
    }


async def owner_of(desk: Desk, integration_id: str) -> str:
    """Find whose an integration is.

    Raises:
        ClickException: There is none of that id.
    """
    owner = await desk.stores.directory.owner_of(integration_id)
    if owner is None:
        raise unknown(integration_id)
    return owner


def unknown(integration_id: str) -> click.ClickException:
    """Say that there is no such integration."""
    return click.ClickException(f"there is no integration '{one_line(integration_id, 64)}'")
