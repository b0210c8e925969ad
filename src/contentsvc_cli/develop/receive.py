import sys
from collections import Counter
from typing import Final

import click

from contentsvc_cli.develop.recordings import BadRecording, RecordedDelivery, headers_for, read_recording
from contentsvc_cli.terminal.output import JSON, fail, show_rows, wants_json
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_cli.wiring import owned, receiver_of, with_app
from contentsvc_core.application import Application
from contentsvc_core.errors import ReceivingFailed, StoreUnavailable
from contentsvc_core.organizations import Integration
from contentsvc_core.usecases.receive import Receiver
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers
from contentsvc_core.webhooks.outcomes import answer
from contentsvc_core.webhooks.providers import Provider, provider_named

_OK: Final = 200


@click.command()
@click.argument("recording", metavar="FILE.jsonl")
@click.option("--integration", "integration_id", required=True, help="Integration of the deliveries.")
@JSON
def receive(recording: str, integration_id: str) -> None:
    """Receive recorded deliveries directly, without a server: `-` reads standard input.

    They are signed with the integration's secret and processed like any delivery: verified, settled once, logged. A
    running `serve` performs the workflow runs that they start. The exit code is 1 if a delivery was refused.
    """
    rows: list[dict[str, object]] = []

    async def work(app: Application) -> None:
        integration = await owned(app, "integration", integration_id, app.stores.directory.integration)
        secrets = await app.stores.directory.secrets(integration.organization_id, integration.id, app.clock.now())
        provider = provider_named(integration.provider)
        if provider is None or not secrets:
            fail(f"the integration '{integration_id}' cannot receive")
        receiver = receiver_of(app)
        for recorded in read_recording(recording):
            rows.append(await receive_recorded(receiver, integration, provider, secrets[0], recorded))
            shown.count(len(rows))

    fault: Exception | None = None
    try:
        with waiting("receiving") as shown:
            with_app(work, busy=None)
    except (BadRecording, StoreUnavailable) as exc:
        fault = exc
    if rows or fault is None:
        _show(rows)
    if fault is not None:
        after = f"; received before it: {len(rows)}" if rows else ""
        fail(f"{fault}{after}")
    if not all(row["status"] == _OK for row in rows):
        sys.exit(1)


def _show(rows: list[dict[str, object]]) -> None:
    shown = rows
    if not wants_json():
        counted = Counter((row["status"], row["message"]) for row in rows)
        shown = [{"count": count, "status": status, "message": text} for (status, text), count in counted.items()]
    columns = ("count", "status", "message")
    show_rows(shown, columns=columns, empty="The recording is empty.")


async def receive_recorded(
    receiver: Receiver, integration: Integration, provider: Provider, secret: str, recorded: RecordedDelivery
) -> dict[str, object]:
    delivery = Delivery(
        address=Address(
            provider=provider.slug,
            organization_id=integration.organization_id,
            integration_id=integration.id,
            repository_id=integration.repositories[0].id,
        ),
        headers=Headers.of((name.encode(), value.encode()) for name, value in headers_for(recorded, provider, secret)),
        body=recorded.body,
    )
    try:
        outcome = await receiver.receive(delivery)
    except ReceivingFailed as exc:
        status, body = 500, {"error": str(exc)}
    else:
        status, body = outcome.status, answer(outcome)
    message = body.get("message", body.get("error"))
    return {
        "event": recorded.event,
        "delivery": recorded.delivery,
        "status": status,
        "message": message,
        "answer": body,
    }
