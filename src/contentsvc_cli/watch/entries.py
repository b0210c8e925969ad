import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click
from msgspec import to_builtins
from msgspec.structs import replace

from contentsvc_cli.searching import SINCE, UNTIL
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, hint, misused, say, show, wants_json
from contentsvc_cli.wiring import Api, accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.journal import UNKNOWN_LOG, LogOutcome, LogStatus
from contentsvc_core.lists.parameters import read_time
from contentsvc_core.refusals import Refusal, RefusalKind

if TYPE_CHECKING:
    from contentsvc_core.usecases.replay_many import ReplayDeliveries


@click.command("show")
@click.argument("log_id")
@JSON
def show_log(log_id: str) -> None:
    """Show a log entry, its cause and how to fix it."""

    async def work(app: Application) -> dict[str, Any]:
        from contentsvc_http.v1.schemas_webhook_logs import OneLogBody  # noqa: PLC0415  # only this command needs it

        for owner in await _owners(app, log_id):
            entry = await app.stores.journal.entry(owner, log_id)
            if entry is not None:
                return to_builtins(OneLogBody.of(entry, await app.diagnoses.explain(entry)))
        return accepted(UNKNOWN_LOG, missing=f"there is no log entry '{log_id}'")

    shown = with_app(work, remote=lambda api: api.get(f"/v1/webhook-logs/{part(log_id)}"))
    show({**shown["log"], **shown["explanation"]} if wants_json() else _lines(**shown))


def _lines(log: Mapping[str, Any], explanation: Mapping[str, Any]) -> Mapping[str, object]:
    diagnosis, similar, received = (explanation[name] for name in ("diagnosis", "similar", "received"))
    lines: dict[str, object] = {
        "id": log["id"],
        "createdAt": log["createdAt"],
        "outcome": explanation["outcome"] or log["status"],
        "statusCode": log["statusCode"],
        "title": log["title"],
        "error": log["errorMessage"] if log["errorMessage"] != explanation["reason"] else None,
        "reason": explanation["reason"],
        "noPost": explanation.get("noPost"),
        "integrationId": explanation["integrationId"],
        "referenceId": log["referenceId"],
    }
    if diagnosis is not None:
        lines |= {"cause": diagnosis["sentence"], "advice": diagnosis["advice"], "command": diagnosis["command"]}
    if similar is not None and similar["number"]:
        lines["similar"] = f"{similar['number']} since {similar['since']}"
    if received is not None:
        headers = {name.lower(): value for name, value in received["headers"].items()}
        lines |= {
            "source": received["source"],
            "size": received["size"],
            "contentType": headers.get("content-type"),
            "userAgent": headers.get("user-agent"),
            "signature": received["signature"],
        }
    return {name: value for name, value in lines.items() if value is not None}


@click.command()
@click.argument("log_id", required=False)
@ORGANIZATION
@click.option("--failed", is_flag=True, help="Only failed entries. Messages are sent again; refused bodies are gone.")
@click.option(
    "--outcome",
    "outcomes",
    multiple=True,
    type=click.Choice([outcome.value for outcome in LogOutcome]),
    help="Only deliveries with this outcome. Repeat for several.",
)
@click.option("--integration", metavar="ID", help="Only entries of this integration.")
@click.option("--event", metavar="WORD", help="Only entries of this event type, e.g. 'push'.")
@click.option("--text", help="Only entries with this text in title, delivery id, error or reason.")
@SINCE
@UNTIL
@click.option("--request", "request_id", metavar="ID", help="Continue an interrupted request: no entry runs twice.")
@click.option("--dry-run", is_flag=True, help="Count the entries, and replay nothing.")
@JSON
def replay(log_id: str | None, organization: str, *, dry_run: bool, **options: Any) -> None:  # noqa: ANN401  # the filter's options
    """Replay a log entry, or all entries of a filter.

    A processed delivery is processed again as a new delivery, with the current triggers. A message to a webhook
    endpoint is sent again with the same id. With a filter, at least one of its options is needed, and the exit code is
    1 if an entry could not be replayed.
    """
    if log_id is None:
        _replay_filter(organization, dry_run=dry_run, **options)
        return
    if dry_run or any(value for name, value in options.items() if name != "request_id"):
        misused("give a log id or a filter, not both")

    def remote(api: Api) -> dict[str, Any]:
        return {"logId": log_id, **api.send("POST", f"/v1/webhook-logs/{part(log_id)}/replay")}

    replayed = with_app(lambda app: _replay_one(app, log_id), remote=remote)
    show(replayed)
    # The entry explains why no trigger matched. The answer of a server has no number of runs.
    if replayed.get("runs") == 0:
        hint("contentsvc log show", log_id)
    else:
        hint("contentsvc run list")


def _replay_filter(organization: str, *, dry_run: bool, **options: Any) -> None:  # noqa: ANN401  # as above
    request_id = options.pop("request_id") or f"req_{uuid4()}"
    failed = options.pop("failed")
    if not failed and not any(options.values()):
        misused("give a log id, or a filter such as --outcome processed --since 1h")
    command = _command(options, request_id, failed=failed)

    async def work(app: Application) -> dict[str, Any]:
        from contentsvc_http.v1.schemas_webhook_logs import (  # noqa: PLC0415  # only this command needs it
            ReplayCountBody,
            ReplayedBatchBody,
        )

        owner = (await organization_named(app, organization)).id
        if dry_run:
            return to_builtins(ReplayCountBody.of(accepted(await app.bulk_replayer.count(owner, command))))

        async def batch(part: "ReplayDeliveries") -> dict[str, Any]:
            return to_builtins(ReplayedBatchBody.of(accepted(await app.bulk_replayer.replay(owner, part))))

        return await _replay_all(batch, command)

    def remote_filter(api: Api) -> dict[str, Any]:
        filters = to_builtins(command)
        if dry_run:
            return api.get(
                "/v1/webhook-logs/replay",
                **{name: value for name, value in filters.items() if name not in {"requestId", "cursor"}},
            )

        async def batch(part: "ReplayDeliveries") -> dict[str, Any]:
            return api.send("POST", "/v1/webhook-logs/replay", to_builtins(part))

        return asyncio.run(_replay_all(batch, command))

    done = with_app(work, remote=remote_filter)
    show(done)
    if done.get("refused"):
        raise SystemExit(1)


async def _replay_all(
    replay_batch: "Callable[[ReplayDeliveries], Awaitable[dict[str, Any]]]", command: "ReplayDeliveries"
) -> dict[str, Any]:
    click.echo(f"request {command.request_id}", err=True)
    cursor: str | None = None
    counts = dict.fromkeys(("replayed", "repeated", "refused", "runs"), 0)
    while True:
        batch = await replay_batch(replace(command, cursor=cursor))
        cursor = batch["next"]
        for entry in batch["refused"]:
            say(f"{entry['logId']} was not replayed: {entry['reason']}", err=True)
        for name in ("replayed", "repeated", "refused"):
            counts[name] += len(batch[name])
        counts["runs"] += batch["runs"]
        click.echo(f"{counts['replayed'] + counts['repeated']} replayed{', continuing' if cursor else ''}", err=True)
        if cursor is None:
            return {"requestId": command.request_id, **counts}


def _command(options: Mapping[str, Any], request_id: str, *, failed: bool) -> "ReplayDeliveries":
    from contentsvc_core.commands import read_command  # noqa: PLC0415  # only this command needs it
    from contentsvc_core.usecases.replay_many import ReplayDeliveries  # noqa: PLC0415  # as above

    filters: dict[str, object] = {
        "request_id": request_id,
        "outcomes": list(options["outcomes"]),
        "statuses": [LogStatus.FAILED.value] if failed else [],
        "integration_id": options["integration"],
        "event": options["event"] or "",
        "text": options["text"] or "",
        "since": accepted(read_time("since", options["since"])),
        "until": accepted(read_time("until", options["until"])),
    }
    return accepted(read_command(ReplayDeliveries, filters))


async def _replay_one(app: Application, log_id: str) -> dict[str, Any]:
    answer = UNKNOWN_LOG
    for organization_id in await _owners(app, log_id):
        answer = await app.replayer.replay(organization_id, log_id)
        if not isinstance(answer, Refusal) or answer.kind is not RefusalKind.NOT_FOUND:
            break
    replayed = accepted(answer, missing=f"there is no log entry '{log_id}'")
    return {"logId": log_id, "deliveryId": replayed.delivery_id, "runs": replayed.runs}


async def _owners(app: Application, log_id: str) -> list[str]:
    owner = await app.stores.directory.owner_of(log_id)
    return [owner] if owner else [organization.id for organization in await app.stores.directory.organizations()]
