from typing import TYPE_CHECKING, Any, Final

import click

from contentsvc_cli.searching import SINCE, UNTIL, show_list
from contentsvc_cli.terminal.output import ALL, LIMIT, ORGANIZATION, fetched, list_output, misused, wants_json
from contentsvc_cli.watch.entries import replay, show_log
from contentsvc_cli.wiring import accepted
from contentsvc_core.application import Application
from contentsvc_core.journal import ListedEntry, LogStatus, line_body, log_body
from contentsvc_core.lists.parameters import read_time
from contentsvc_core.read_model import LogSearch

if TYPE_CHECKING:
    from contentsvc_cli.remote import Api

STATUSES: Final = click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([status.value for status in LogStatus]),
    help="Only entries with this status. Repeat for several.",
)
EVENT: Final = click.option("--event", default="", metavar="WORD", help="Only entries of this event type, e.g. 'push'.")
INTEGRATIONS: Final = click.option(
    "--integration",
    "integrations",
    multiple=True,
    metavar="ID",
    help="Only entries of this integration. Repeat for several.",
)
TEXT: Final = click.option(
    "--text", default="", help="Only entries with this text in title, delivery id, error or reason."
)


@click.group()
def log() -> None:
    """List, show and replay entries of the webhook log."""


@log.command("list")
@ORGANIZATION
@STATUSES
@EVENT
@INTEGRATIONS
@TEXT
@SINCE
@UNTIL
@LIMIT
@list_output
def list_log(  # noqa: PLR0917  # its options
    organization: str,
    statuses: tuple[str, ...],
    event: str,
    integrations: tuple[str, ...],
    text: str,
    since: str,
    until: str,
    limit: int | None,
) -> None:
    """List log entries, newest first. A table has the commit and the post of each delivery."""
    search = LogSearch(
        integration_ids=integrations,
        statuses=[LogStatus(status) for status in statuses],
        event=event,
        text=text,
        since=accepted(read_time("since", since)),
        until=accepted(read_time("until", until)),
    )
    at_most = fetched(limit)

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        if wants_json() and search == LogSearch():
            entries = await app.stores.journal.entries(owner, limit=at_most)
            return [{**log_body(entry), "reason": entry.reason} for entry in entries]
        lines = await app.stores.read_model.log(owner, search, limit=at_most or ALL)
        if wants_json():
            full = [(line, await app.stores.journal.entry(owner, line.id)) for line in lines]
            return [{**log_body(entry), "reason": line.reason} for line, entry in full if entry is not None]
        # Tables show no payloads, so none are read.
        return [log_row(line) for line in lines]

    def remote(api: "Api") -> list[dict[str, Any]]:
        if event or text:
            misused("--event and --text work on the machine of the service")
        filters = {"status": statuses, "integrationId": integrations, "since": since, "until": until}
        logs = api.list("/v1/webhook-logs", "logs", at_most, **filters)
        return [{**entry, "reason": entry["errorMessage"]} if wants_json() else remote_row(entry) for entry in logs]

    columns = ("createdAt", "id", "status", "about", "post", "statusCode", "title", "referenceId", "reason")
    show_list(
        organization,
        rows,
        columns,
        optional=("referenceId", "reason", "title", "statusCode"),
        limit=limit,
        remote=remote,
    )


def log_row(line: ListedEntry) -> dict[str, Any]:
    return {
        **line_body(line),
        "reason": "; no post: ".join(filter(None, (line.reason, line.no_post))),
        "about": (line.event and line.event.about) or line.error_message or line.reason or line.title,
        "post": "" if line.post is None else line.post.title,
    }


def remote_row(entry: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = (entry["payload"] and entry["payload"].get("data")) or {}
    commits: list[dict[str, Any]] = data.get("commits") or []
    about: str = commits[-1]["message"] if commits else data.get("name") or data.get("tagName") or ""
    reason = entry["errorMessage"]
    return {**entry, "reason": reason, "about": about.partition("\n")[0] or reason or entry["title"], "post": ""}


log.add_command(replay)
log.add_command(show_log)
