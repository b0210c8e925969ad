"""``log``, ``run``, ``context`` and ``post``: what has happened."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import click

from contentsvc_cli.output import JSON, LIMIT, ORGANIZATION, show, show_rows
from contentsvc_cli.wiring import Desk, at_desk
from contentsvc_core.content.posts import post_body
from contentsvc_core.journal import log_body
from contentsvc_core.workflows.context import context_body
from contentsvc_core.workflows.runs import CANCELLED, RunStatus, run_body


@click.group()
def log() -> None:
    """The webhook log."""


@log.command("list")
@ORGANIZATION
@LIMIT
@JSON
def list_log(organization: str, limit: int | None, *, as_json: bool) -> None:
    """List log entries, newest first."""

    async def rows(desk: Desk, owner: str) -> list[dict[str, Any]]:
        entries = await desk.stores.journal.entries(owner, limit=limit)
        return [{**log_body(entry), "reason": entry.reason} for entry in entries]

    _list(organization, rows, ("createdAt", "status", "statusCode", "title", "referenceId", "reason"), as_json=as_json)


@click.group()
def run() -> None:
    """The workflow runs."""


@run.command("list")
@ORGANIZATION
@LIMIT
@JSON
def list_runs(organization: str, limit: int | None, *, as_json: bool) -> None:
    """List workflow runs, newest first."""

    async def rows(desk: Desk, owner: str) -> list[dict[str, Any]]:
        return [run_body(found) for found in await desk.stores.ledger.runs(owner, limit=limit)]

    columns = ("createdAt", "id", "eventType", "deliveryId", "status", "attempts", "postId", "error")
    _list(organization, rows, columns, as_json=as_json)


@run.command()
@click.argument("run_id")
@JSON
def cancel(run_id: str, *, as_json: bool) -> None:
    """End a run that has not ended yet: the step under way is its last, and it writes no post."""

    async def work(desk: Desk) -> str | None:
        owner = await desk.stores.directory.owner_of(run_id)
        if owner is None:
            return f"there is no run '{run_id}'"
        cancelled = await desk.stores.ledger.cancel(owner, run_id, CANCELLED)
        return None if cancelled else f"the run '{run_id}' has ended already"

    if (refused := at_desk(work)) is not None:
        raise click.ClickException(refused)
    show({"runId": run_id, "status": RunStatus.CANCELLED.value}, as_json=as_json)


@click.group()
def context() -> None:
    """The context records for AI agents."""


@context.command("list")
@ORGANIZATION
@LIMIT
@JSON
def list_context(organization: str, limit: int | None, *, as_json: bool) -> None:
    """List context records, newest first."""

    async def rows(desk: Desk, owner: str) -> list[dict[str, Any]]:
        return [context_body(record) for record in await desk.stores.contexts.records(owner, limit=limit)]

    _list(organization, rows, ("createdAt", "customId", "content"), as_json=as_json)


@click.group()
def post() -> None:
    """The posts."""


@post.command("list")
@ORGANIZATION
@LIMIT
@JSON
def list_posts(organization: str, limit: int | None, *, as_json: bool) -> None:
    """List posts, newest first."""

    async def rows(desk: Desk, owner: str) -> list[dict[str, Any]]:
        return [post_body(found) for found in await desk.stores.posts.posts(owner, limit=limit)]

    _list(organization, rows, ("createdAt", "id", "contentType", "status", "title"), as_json=as_json)


def _list(
    organization: str,
    rows: Callable[[Desk, str], Awaitable[list[dict[str, Any]]]],
    columns: Sequence[str],
    *,
    as_json: bool,
) -> None:
    async def work(desk: Desk) -> list[dict[str, Any]]:
        return await rows(desk, (await desk.organization(organization)).id)

    show_rows(at_desk(work), columns=columns, as_json=as_json, empty="Nothing yet.")
