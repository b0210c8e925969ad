from collections.abc import Awaitable, Callable
from typing import Any

import click
from msgspec import to_builtins

from contentsvc_cli.searching import SINCE, show_list
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import (
    ALL,
    JSON,
    LIMIT,
    ORGANIZATION,
    fail,
    fetched,
    hint,
    list_output,
    show,
    wants_json,
)
from contentsvc_cli.wiring import owned, with_app
from contentsvc_core.application import Application
from contentsvc_core.workflows.runs import CANCELLED, RunBody, RunStatus


@click.group()
def run() -> None:
    """List, show, cancel and retry workflow runs."""


@run.command("list")
@ORGANIZATION
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([status.value for status in RunStatus]),
    help="Only runs with this status. Repeat for several.",
)
@SINCE
@LIMIT
@list_output
def list_runs(organization: str, statuses: tuple[str, ...], since: str, limit: int | None) -> None:
    """List workflow runs, newest first."""
    at_most = fetched(limit)

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        if wants_json() and not statuses:
            return to_builtins([RunBody.of(run) for run in await app.stores.ledger.runs(owner, limit=at_most)])
        chosen = [RunStatus(status) for status in statuses]
        listed = await app.stores.run_lists.runs(owner, statuses=chosen, limit=at_most or ALL)
        return to_builtins([RunBody.of(run) for run in listed])

    columns = ("createdAt", "id", "status", "eventType", "deliveryId", "attempts", "postId", "error")
    show_list(
        organization,
        rows,
        columns,
        optional=("deliveryId", "attempts", "eventType"),
        limit=limit,
        since=since,
        remote=lambda api: api.list("/v1/runs", "runs", at_most, status=statuses),
    )


@run.command("show")
@click.argument("run_id")
@JSON
def show_run(run_id: str) -> None:
    """Show a workflow run."""

    async def work(app: Application) -> dict[str, Any]:
        return to_builtins(RunBody.of(await owned(app, "run", run_id, app.stores.run_lists.run)))

    show(with_app(work, remote=lambda api: api.get(f"/v1/runs/{part(run_id)}")["run"]))


@run.command()
@click.argument("run_id")
@JSON
def cancel(run_id: str) -> None:
    """Cancel a run that has not ended. Its current step finishes, and it writes no post."""
    _change_run(
        run_id,
        "cancel",
        lambda app, owner: app.stores.ledger.cancel(owner, run_id, CANCELLED),
        otherwise="has ended already",
    )
    show({"runId": run_id, "status": RunStatus.CANCELLED.value})


@run.command()
@click.argument("run_id")
@JSON
def retry(run_id: str) -> None:
    """Retry a run that ended without a post."""
    _change_run(
        run_id,
        "retry",
        lambda app, owner: app.stores.ledger.restart(owner, run_id, due_at=app.clock.now()),
        otherwise="has not ended, or has its post",
    )
    show({"runId": run_id, "status": RunStatus.PENDING.value})
    hint("contentsvc run show", run_id)


def _change_run(
    run_id: str, operation: str, work: Callable[[Application, str], Awaitable[bool]], *, otherwise: str
) -> None:
    async def change(app: Application) -> None:
        run = await owned(app, "run", run_id, app.stores.run_lists.run)
        if not await work(app, run.organization_id):
            fail(f"the run '{run_id}' {otherwise}")

    with_app(change, remote=lambda api: api.send("POST", f"/v1/runs/{part(run_id)}/{operation}"))
