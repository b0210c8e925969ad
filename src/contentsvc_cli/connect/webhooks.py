from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec import to_builtins

from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import JSON, fail, list_output, show, show_rows
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_cli.wiring import Api, owned, with_app
from contentsvc_core.application import Application
from contentsvc_core.organizations import LOOK_BACK_HOURS, MAX_LOOK_BACK_HOURS, MAX_OVERLAP_HOURS, OVERLAP_HOURS

if TYPE_CHECKING:
    from contentsvc_http.v1.schemas_integrations import IntegrationSecretBody

CALLING: Final = "waiting for the code host"
_MISSED: Final = ("repository", "event", "action", "statusCode", "deliveredAt", "result")


@click.command("rotate-secret")
@click.argument("integration_id")
@click.option(
    "--overlap-hours",
    type=click.IntRange(0, MAX_OVERLAP_HOURS),
    default=OVERLAP_HOURS,
    show_default=True,
    help="How long deliveries signed with the old secret are also accepted; 0 stops at once.",
)
@JSON
def rotate_secret(integration_id: str, overlap_hours: int) -> None:
    """Rotate the webhook secret of an integration.

    With a token, contentsvc updates the webhook at the code host. Without a token, it prints the new secret once; enter
    it at the code host. The exit code is 1 if the code host refuses: enter the printed secret there before the old one
    expires.
    """

    async def work(app: Application) -> "IntegrationSecretBody":
        from contentsvc_http.v1.schemas_integrations import (  # noqa: PLC0415  # only this command needs it
            integration_secret_body,
        )

        rotate, overlap = app.rotator.rotate, timedelta(hours=overlap_hours)
        rotated = await owned(
            app, "integration", integration_id, lambda owner, id_: rotate(owner, id_, overlap=overlap)
        )
        return integration_secret_body(rotated)

    def remote(api: Api) -> "IntegrationSecretBody":
        path = f"/v1/integrations/{part(integration_id)}/rotate-secret"
        return api.send("POST", path, {"overlapHours": overlap_hours})

    rotated = with_app(work, busy=CALLING, remote=remote)
    body = {"integrationId": rotated["id"], "webhookSecret": rotated["secret"]}
    show(body | {"overlapUntil": rotated["overlapUntil"], "changedAtHost": rotated["changedAtHost"]})
    if rotated["hostError"] is not None:
        fail(f"the code host still signs with the old secret; enter the new one there: {rotated['hostError']}")


@click.command()
@click.argument("integration_id")
@click.option(
    "--hours",
    type=click.IntRange(1, MAX_LOOK_BACK_HOURS),
    default=LOOK_BACK_HOURS,
    show_default=True,
    help="Hours to look back.",
)
@click.option("--dry-run", is_flag=True, help="Only print the deliveries that would be requested.")
@list_output
def reconcile(integration_id: str, hours: int, *, dry_run: bool) -> None:
    """Request failed deliveries again from the code host.

    Deliveries that were not accepted are requested, too. The integration must have a token, and the code host must list
    its deliveries. The exit code is 1 if a redelivery could not be requested.
    """

    async def work(app: Application) -> dict[str, Any]:
        from contentsvc_http.v1.schemas_integrations import ReconciledBody  # noqa: PLC0415  # only this command needs it

        reconcile, lookback = app.reconciler.reconcile, timedelta(hours=hours)
        reconciled = await owned(
            app,
            "integration",
            integration_id,
            lambda owner, id_: reconcile(owner, id_, lookback=lookback, dry_run=dry_run, on_progress=shown.count),
        )
        return to_builtins(ReconciledBody.of(reconciled))

    def remote(api: Api) -> dict[str, Any]:
        body = {"lookBackHours": hours, "dryRun": dry_run}
        return api.send("POST", f"/v1/integrations/{part(integration_id)}/reconcile", body)

    with waiting(CALLING) as shown:
        done = with_app(work, busy=None, remote=remote)
    missed: list[dict[str, Any]] = done["deliveries"]
    rows = [{"delivery": each["deliveryId"], **{name: each[name] for name in _MISSED}} for each in missed]
    columns = ("delivery", "event", "action", "statusCode", "deliveredAt", "result")
    show_rows(rows, columns=columns, empty="Nothing is missing.")
    if not done["complete"]:
        click.echo("There are too many deliveries: the oldest were not checked.", err=True)
    refused = [each["error"] for each in missed if each["error"] is not None]
    if refused:
        fail(f"{len(refused)} could not be requested: {refused[0]}")
