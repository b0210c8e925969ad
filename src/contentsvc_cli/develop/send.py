import asyncio
import re
import sys
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import click
import httpx
import msgspec
from attrs import frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from contentsvc_cli.develop.recordings import BadRecording, RecordedDelivery, read_recording
from contentsvc_cli.develop.sending import RETRIES, TIMEOUT_S, DeliveryAnswer, Unreachable, send_recorded
from contentsvc_cli.terminal.output import JSON, say, show_rows, wants_json
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, PROVIDERS, Provider, provider_named
from contentsvc_core.webhooks.providers.decoding import Malformed

#: Exit code after Ctrl-C: 128 plus the signal's number.
_INTERRUPTED: Final = 130

_COLUMNS: Final = (
    TextColumn("{task.description}"),
    BarColumn(),
    TextColumn("{task.completed} answered"),
    TimeElapsedColumn(),
)
_WEBHOOK_PATH: Final = re.compile(r"/api/webhooks/(?P<provider>[^/]+)/")


@frozen(kw_only=True)
class _Repository:
    id: int


@frozen(kw_only=True)
class _Body:
    repository: _Repository


_BODIES: Final = msgspec.json.Decoder(_Body)


def of_repository(delivery: RecordedDelivery, repository_id: int, provider: Provider = DEFAULT_PROVIDER) -> bool:
    reader = provider.readers.get(delivery.event)
    with suppress(Malformed):
        if reader is not None:
            return reader(delivery.body).repository_id == repository_id
    try:
        return _BODIES.decode(delivery.body).repository.id == repository_id
    except (ValueError, RecursionError):
        return False


def provider_of(url: str) -> Provider:
    """Return the provider in a webhook's path (specification 4.1); the default one for any other URL."""
    match = _WEBHOOK_PATH.search(httpx.URL(url).path)
    return (match and provider_named(match["provider"])) or DEFAULT_PROVIDER


def webhook_url_option(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        url = httpx.URL(value)
    except httpx.InvalidURL as exc:
        raise click.BadParameter(str(exc)) from exc
    if url.scheme not in ("http", "https") or not url.host:
        message = "use an http or https URL"
        raise click.BadParameter(message)
    return value


@click.command()
@click.argument("recording", metavar="FILE.jsonl", type=click.Path(allow_dash=True))
@click.option("--url", required=True, metavar="URL", callback=webhook_url_option, help="URL of the webhook.")
@click.option(
    "--secret",
    required=True,
    envvar="CONTENTSVC_WEBHOOK_SECRET",
    show_envvar=True,
    metavar="SECRET",
    help="Secret of the webhook. Set the variable to keep it out of the shell history and the process list.",
)
@click.option(
    "--provider",
    "provider_slug",
    type=click.Choice([provider.slug for provider in PROVIDERS]),
    help=f"Provider of the headers.  [default: the provider in the URL's path, else {DEFAULT_PROVIDER.slug}]",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of concurrent requests; 1 keeps the order.",
)
@click.option(
    "--repository-id",
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    metavar="N",
    help="Send only deliveries with this repository.id.  [default: all]",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    default=TIMEOUT_S,
    show_default=True,
    metavar="SECONDS",
    help="Timeout of each request.",
)
@click.option(
    "--retries",
    type=click.IntRange(0, 100),
    default=RETRIES,
    show_default=True,
    metavar="N",
    help="Number of retries without an answer, or after 429, 502, 503 or 504.",
)
@click.option("--verbose", "-v", is_flag=True, help="Also print a row for each delivery.")
@JSON
def send(  # noqa: PLR0913  # one parameter an option
    *,
    recording: str,
    url: str,
    secret: str,
    provider_slug: str | None,
    concurrency: int,
    repository_id: int | None,
    timeout_s: float,
    retries: int,
    verbose: bool,
) -> None:
    """Sign the recorded deliveries of FILE.jsonl and send them to a webhook. '-' reads standard input.

    A line is {"event", "delivery", "body"}. For a body that is not JSON, use "bodyBase64" instead of "body".
    'contentsvc history' writes such lines.

    Prints the number of answers by status and kind. With --json, prints an array with a row for each delivery, in the
    file's order: event, delivery, status (null: no answer), answer (processed, filtered, ignored, pong, duplicate,
    error, unknown), message or error, ms (of the last try), retries.

    You can send the file again within 24 hours: processed deliveries are answered as duplicates. If a delivery cannot
    connect after its retries, the command ends: nothing after it is sent.

    Exit codes: 0 every delivery got a 2xx status, 1 a delivery failed or the file is invalid, 2 wrong usage, 130
    interrupted (the results so far are printed).
    """
    answers: list[DeliveryAnswer] = []
    provider = (provider_slug and provider_named(provider_slug)) or provider_of(url)
    console = Console(stderr=True)
    broken_off, code = None, 0
    with (
        Progress(*_COLUMNS, console=console, transient=True, disable=not console.is_terminal) as progress,
        closing(_chosen(recording, repository_id, provider)) as deliveries,
    ):
        task = progress.add_task("Sending", total=_total(recording, repository_id) if console.is_terminal else None)

        def note(answer: DeliveryAnswer) -> None:
            answers.append(answer)
            progress.advance(task)

        try:
            asyncio.run(
                send_recorded(
                    deliveries,
                    url=url,
                    secret=secret,
                    provider=provider,
                    concurrency=concurrency,
                    timeout_s=timeout_s,
                    retries=retries,
                    on_answer=note,
                )
            )
        except BadRecording as exc:
            broken_off, code = f"{exc}; nothing after it was sent" if answers else str(exc), 1
        except Unreachable as exc:
            again = "start the server or correct --url, and send the file again"
            broken_off, code = f"{exc}; nothing after it was sent: {again}", 1
        except KeyboardInterrupt:
            broken_off, code = "interrupted; what was on its way may have been processed", _INTERRUPTED
    answers.sort(key=lambda answer: answer.position)
    if answers or wants_json() or not broken_off:
        _show(answers, verbose=verbose)
    if broken_off:
        say(f"Error: {broken_off}", err=True)
    sys.exit(code or int(not all(answer.accepted for answer in answers)))


def _chosen(recording: str, repository_id: int | None, provider: Provider) -> Generator[RecordedDelivery]:
    # A sending that ends early closes the file.
    with closing(read_recording(recording)) as deliveries:
        for delivery in deliveries:
            if repository_id is None or of_repository(delivery, repository_id, provider):
                yield delivery


def _total(recording: str, repository_id: int | None) -> int | None:
    if repository_id is not None or not Path(recording).is_file():
        return None
    # Reading the deliveries reports the same fault.
    with suppress(OSError), Path(recording).open("rb") as lines:
        return sum(1 for _ in lines)
    return None


def _show(answers: Sequence[DeliveryAnswer], *, verbose: bool) -> None:
    if wants_json():
        show_rows([_row(answer) for answer in answers], columns=(), empty="")
        return
    counts = Counter((answer.status, answer.kind, answer.text if answer.kind == "error" else "") for answer in answers)
    grouped = [
        {"deliveries": count, "status": status or "-", "answer": kind, "error": error}
        for (status, kind, error), count in counts.most_common()
    ]
    show_rows(grouped, columns=("deliveries", "status", "answer", "error"), empty="No delivery was sent.")
    if again := [answer.retries for answer in answers if answer.retries]:
        click.echo(f"Retried {len(again)} of {len(answers)} deliveries; total number of retries: {sum(again)}.")
    if verbose and answers:
        click.echo()
        rows = [_row(answer) | {"text": answer.text} for answer in answers]
        columns = ("event", "delivery", "status", "answer", "ms", "retries", "text")
        show_rows(rows, columns=columns, empty="")


def _row(answer: DeliveryAnswer) -> dict[str, Any]:
    return {
        "event": answer.event,
        "delivery": answer.delivery,
        "status": answer.status,
        "answer": answer.kind,
        "error" if answer.kind == "error" else "message": answer.text,
        "ms": answer.ms,
        "retries": answer.retries,
    }
