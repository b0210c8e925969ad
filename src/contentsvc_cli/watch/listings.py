"""``log`` and ``run``: the webhook log and workflow runs."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import click

from contentsvc_cli.terminal.output import JSON, LIMIT, ORGANIZATION, show, show_rows
from contentsvc_cli.wiring import accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.insights import LogSearch
from contentsvc_core.journal import UNKNOWN_LOG, line_body, log_body
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.workflows.runs import CANCELLED, RunStatus, run_body

#: Number of rows without a limit: the highest that both databases take.
_ALL: Final = 2**31 - 1


@click.group()
def log() -> None:
    """List and replay entries of the webhook log."""


@log.command("list")
@ORGANIZATION
@LIMIT
@JSON
def list_log(organization: str, limit: int | None, *, as_json: bool) -> None:
    """List log entries, newest first."""

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        if as_json:
            entries = await app.stores.journal.entries(owner, limit=limit)
            return [{**log_body(entry), "reason": entry.reason} for entry in entries]
        # Tables show no payloads, so none are read.
        lines = await app.stores.insights.log(owner, LogSearch(), limit=limit or _ALL)
        return [{**line_body(line), "reason": line.reason} for line in lines]

    columns = ("createdAt", "id", "status", "statusCode", "title", "referenceId", "reason")
    show_list(organization, rows, columns, as_json=as_json, optional=("referenceId", "status"))


@log.command()
@click.argument("log_id")
@JSON
def replay(log_id: str, *, as_json: bool) -> None:
    """Replay a log entry.

    A processed delivery is processed again as a new delivery, with the current triggers. A message to a webhook
    endpoint is sent again with the same id.
    """

    async def work(app: Application) -> dict[str, Any]:
        # An id alone finds only processed deliveries: entries of messages are searched in their organization.
        owner = await app.stores.directory.owner_of(log_id)
        owners = [owner] if owner else [each.id for each in await app.stores.directory.organizations()]
        answer = UNKNOWN_LOG
        for each in owners:
            answer = await app.replayer.replay(each, log_id)
            if not isinstance(answer, Refusal) or answer.kind is not RefusalKind.NOT_FOUND:
                break
        replayed = accepted(answer, missing=f"there is no log entry '{log_id}'")
        return {"logId": log_id, "deliveryId": replayed.delivery_id, "runs": replayed.runs}

    show(with_app(work), as_json=as_json)


@click.group()
def run() -> None:
    """List, cancel and retry workflow runs."""


@run.command("list")
@ORGANIZATION
@LIMIT
@JSON
def list_runs(organization: str, limit: int | None, *, as_json: bool) -> None:
    """List workflow runs, newest first."""

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        if as_json:
            return [run_body(run) for run in await app.stores.ledger.runs(owner, limit=limit)]
        return [run_body(run) for run in await app.stores.insights.runs(owner, limit=limit or _ALL)]

    columns = ("createdAt", "id", "eventType", "deliveryId", "status", "attempts", "postId", "error")
    show_list(organization, rows, columns, as_json=as_json, optional=("deliveryId", "attempts"))


@run.command()
@click.argument("run_id")
@JSON
def cancel(run_id: str, *, as_json: bool) -> None:
    """Cancel a run that has not ended. Its current step finishes, and it writes no post."""

    async def work(app: Application) -> str | None:
        owner = await app.stores.directory.owner_of(run_id)
        if owner is None:
            return f"there is no run '{run_id}'"
        cancelled = await app.stores.ledger.cancel(owner, run_id, CANCELLED)
        return None if cancelled else f"the run '{run_id}' has ended already"

    if (refused := with_app(work)) is not None:
        raise click.ClickException(refused)
    show({"runId": run_id, "status": RunStatus.CANCELLED.value}, as_json=as_json)


@run.command()
@click.argument("run_id")
@JSON
def retry(run_id: str, *, as_json: bool) -> None:
    """Retry a run that ended without a post."""

    async def work(app: Application) -> str | None:
        owner = await app.stores.directory.owner_of(run_id)
        if owner is None:
            return f"there is no run '{run_id}'"
        restarted = await app.stores.ledger.restart(owner, run_id, due_at=app.clock.now())
        return None if restarted else f"the run '{run_id}' has not ended, or has its post"

    if (refused := with_app(work)) is not None:
        raise click.ClickException(refused)
    show({"runId": run_id, "status": RunStatus.PENDING.value}, as_json=as_json)


def show_list(
    organization: str,
    rows: Callable[[Application, str], Awaitable[list[dict[str, Any]]]],
    columns: Sequence[str],
    *,
    as_json: bool,
    optional: Sequence[str] = (),
) -> None:
    """Print a list of an organization; ``optional`` columns are omitted on a narrow terminal."""

    async def work(app: Application) -> list[dict[str, Any]]:
        return await rows(app, (await organization_named(app, organization)).id)

    show_rows(with_app(work), columns=columns, as_json=as_json, empty="Nothing yet.", optional=optional)
