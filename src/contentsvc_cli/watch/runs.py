from collections.abc import Awaitable, Callable
from typing import Any

import click
from msgspec import to_builtins

from contentsvc_cli.searching import SINCE, show_list
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import ALL, JSON, LIMIT, ORGANIZATION, fetched, hint, list_output, show
from contentsvc_cli.wiring import with_app
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
def list_runs(organization: str, statuses: tuple[str, ...], since: str, limit: int | None, *, as_json: bool) -> None:
    """List workflow runs, newest first."""
    at_most = fetched(limit, as_json=as_json)

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        if as_json and not statuses:
            return to_builtins([RunBody.of(run) for run in await app.stores.ledger.runs(owner, limit=at_most)])
        chosen = [RunStatus(status) for status in statuses]
        listed = await app.stores.run_lists.runs(owner, statuses=chosen, limit=at_most or ALL)
        return to_builtins([RunBody.of(run) for run in listed])

    columns = ("createdAt", "id", "status", "eventType", "deliveryId", "attempts", "postId", "error")
    show_list(
        organization,
        rows,
        columns,
        as_json=as_json,
        optional=("deliveryId", "attempts", "eventType"),
        limit=limit,
        since=since,
        remote=lambda api: api.list("/v1/runs", "runs", at_most, status=statuses),
    )


@run.command("show")
@click.argument("run_id")
@JSON
def show_run(run_id: str, *, as_json: bool) -> None:
    """Show a workflow run."""

    async def work(app: Application) -> dict[str, Any]:
        owner = await app.stores.directory.owner_of(run_id)
        run = None if owner is None else await app.stores.run_lists.run(owner, run_id)
        if run is None:
            raise _no_run(run_id)
        return to_builtins(RunBody.of(run))

    show(with_app(work, remote=lambda api: api.get(f"/v1/runs/{part(run_id)}")["run"]), as_json=as_json)


@run.command()
@click.argument("run_id")
@JSON
def cancel(run_id: str, *, as_json: bool) -> None:
    """Cancel a run that has not ended. Its current step finishes, and it writes no post."""

    async def work(app: Application, owner: str) -> str | None:
        cancelled = await app.stores.ledger.cancel(owner, run_id, CANCELLED)
        return None if cancelled else f"the run '{run_id}' has ended already"

    _change_run(run_id, "cancel", work)
    show({"runId": run_id, "status": RunStatus.CANCELLED.value}, as_json=as_json)


@run.command()
@click.argument("run_id")
@JSON
def retry(run_id: str, *, as_json: bool) -> None:
    """Retry a run that ended without a post."""

    async def work(app: Application, owner: str) -> str | None:
        restarted = await app.stores.ledger.restart(owner, run_id, due_at=app.clock.now())
        return None if restarted else f"the run '{run_id}' has not ended, or has its post"

    _change_run(run_id, "retry", work)
    show({"runId": run_id, "status": RunStatus.PENDING.value}, as_json=as_json)
    hint(f"contentsvc run show {run_id}", as_json=as_json)


def _change_run(run_id: str, operation: str, work: Callable[[Application, str], Awaitable[str | None]]) -> None:
    async def change(app: Application) -> None:
        owner = await app.stores.directory.owner_of(run_id)
        if owner is None:
            raise _no_run(run_id)
        if (refused := await work(app, owner)) is not None:
            raise click.ClickException(refused)

    with_app(change, remote=lambda api: api.send("POST", f"/v1/runs/{part(run_id)}/{operation}"))


def _no_run(run_id: str) -> click.ClickException:
    return click.ClickException(f"there is no run '{run_id}'")
