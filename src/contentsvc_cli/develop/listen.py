import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator
from typing import Any, Final

import click

from contentsvc_cli.develop.recordings import BadRecording, RecordedDelivery, headers_for, read_recording
from contentsvc_cli.develop.relay import RelayedDelivery, relayed
from contentsvc_cli.develop.send import provider_of, webhook_url_option
from contentsvc_cli.develop.sending import RETRIES, DeliveryAnswer, client_for, send_request
from contentsvc_cli.servers import LOCAL_PORT, local_port
from contentsvc_cli.terminal.output import json_text, misused, say
from contentsvc_cli.wiring import organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.organizations import webhook_url
from contentsvc_core.text import one_line
from contentsvc_http.settings import load_settings

_SECRET_VARIABLE: Final = "CONTENTSVC_WEBHOOK_SECRET"  # noqa: S105  # its name
_TEXT: Final = 120
_UNAUTHORIZED: Final = 401
_TIMEOUT_S: Final = 30.0


@click.command()
@click.option("--from", "source", metavar="URL", callback=webhook_url_option, help="URL of a smee.io-like channel.")
@click.option("--file", "recording", metavar="FILE", type=click.Path(allow_dash=True), help="A recorded file.")
@click.option(
    "--to",
    "target",
    metavar="URL",
    callback=webhook_url_option,
    help="Forward to this webhook.  [default: the only integration, on this machine]",
)
@click.option(
    "--secret",
    envvar=_SECRET_VARIABLE,
    show_envvar=True,
    metavar="SECRET",
    help="Sign each delivery again with this secret. --file needs it.",
)
@LOCAL_PORT
@click.option("--count", type=click.IntRange(1), metavar="N", help="Stop after N deliveries.")
@click.option("--json", "as_json", is_flag=True, help="Print each delivery as a line of JSON.")
def listen(
    *,
    source: str | None,
    recording: str | None,
    target: str | None,
    secret: str | None,
    port: int | None,
    count: int | None,
    as_json: bool,
) -> None:
    """Forward deliveries from a relay to your machine, until you press Ctrl-C (exit code 0).

    Create a channel at smee.io, enter its URL at your code host, and run this command. It prints a line for each
    delivery. A broken connection is opened again.

    The body keeps the bytes that the relay sends. smee.io writes JSON anew: the signature holds if your code host
    sends compact JSON, as GitHub does. If it does not hold, set CONTENTSVC_WEBHOOK_SECRET.
    """
    if (source is None) is (recording is None):
        misused("name a relay with --from, or a recorded file with --file")
    if recording is not None and not secret:
        misused(f"a recorded file has no signatures: set {_SECRET_VARIABLE}")
    if target is not None and port is not None:
        misused("--to names the port already: leave out --port")
    to = target or _own_webhook(port)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            refused = asyncio.run(_forward(source, recording, to, secret, count, as_json=as_json))
            if refused and source is None:
                sys.exit(1)
    except (BadRecording, ValueError) as exc:
        raise click.ClickException(str(exc)) from exc


def _own_webhook(port: int | None) -> str:
    async def work(app: Application) -> str:
        integrations = await app.stores.directory.integrations((await organization_named(app, "")).id)
        if len(integrations) != 1:
            misused(f"name the webhook with --to: there are {len(integrations)} integrations")
        server = f"http://127.0.0.1:{port or local_port(load_settings().base_url)}"
        return webhook_url(server, integrations[0], integrations[0].repositories[0].id)

    return with_app(work)


async def _forward(
    source: str | None, recording: str | None, to: str, secret: str | None, count: int | None, *, as_json: bool
) -> int:
    done = refused = 0
    provider = provider_of(to)
    async with client_for(to, 1) as client, contextlib.aclosing(_deliveries(source, recording)) as deliveries:
        async for delivery in deliveries:
            recorded = delivery if isinstance(delivery, RecordedDelivery) else _recorded(delivery)
            # Without a secret, the signature of the code host is forwarded unchanged.
            headers = headers_for(recorded, provider, secret) if secret else getattr(delivery, "headers", ())
            request = client.build_request("POST", to, content=recorded.body, headers=headers, timeout=_TIMEOUT_S)
            answer = await send_request(client, request, (done, recorded), RETRIES if source is None else 1)
            _print(answer, as_json=as_json)
            refused += not answer.accepted
            if answer.is_unreachable and source is None:
                message = (
                    f"{answer.text}; nothing after it was forwarded: start the server or correct --to, and try again"
                )
                raise click.ClickException(message)
            if answer.status == _UNAUTHORIZED and not secret:
                say(
                    f"If the relay has changed the body, its signature cannot hold: set {_SECRET_VARIABLE} to sign "
                    "deliveries again.",
                    err=True,
                )
            done += 1
            if done == count:
                break
    return refused


async def _deliveries(source: str | None, recording: str | None) -> AsyncGenerator[RelayedDelivery | RecordedDelivery]:
    if source is None:
        for recorded in read_recording(recording or "-"):
            yield recorded
        return
    async with contextlib.aclosing(relayed(source, lambda text: say(text, err=True))) as received:
        async for delivery in received:
            yield delivery


def _recorded(relayed_delivery: RelayedDelivery) -> RecordedDelivery:
    event = relayed_delivery.header("-event", "x-event-key")
    delivery = relayed_delivery.header("-delivery", "-event-uuid", "-request-uuid")
    with contextlib.suppress(ValueError):
        return RecordedDelivery(event=event, delivery=delivery, body=relayed_delivery.body)
    # The headers are absent or no such values: one such event must not end the command.
    return RecordedDelivery(event="unknown", delivery="unknown", body=relayed_delivery.body)


def _print(answer: DeliveryAnswer, *, as_json: bool) -> None:
    if as_json:
        row: dict[str, Any] = {
            "event": answer.event,
            "delivery": answer.delivery,
            "status": answer.status,
            "answer": answer.kind,
            "message": answer.text,
            "ms": answer.ms,
        }
        click.echo(json_text(row))
    else:
        text = one_line(answer.text, _TEXT)
        say(f"{answer.status or '-'}  {answer.kind:9}  {answer.event}  {answer.delivery}  {text}")
    sys.stdout.flush()
