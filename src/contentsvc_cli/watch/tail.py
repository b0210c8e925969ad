"""``tail``: follow the webhook log."""

import asyncio
import contextlib
import sys
from collections.abc import Sequence
from typing import Final, final

import click
from rich.text import Text

from contentsvc_cli.terminal.completing import integration_ids
from contentsvc_cli.terminal.output import ORGANIZATION, cell, console, json_text, look, say
from contentsvc_cli.watch.following_log import EVERY_S, LogFollower
from contentsvc_cli.wiring import organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.insights import LogSearch
from contentsvc_core.journal import ListedEntry, LogStatus, line_body, log_body
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import iso_ms

_TEXT: Final = 200
#: Length of the longest status.
_STATUS_WIDTH: Final = max(len(status.value) for status in LogStatus)


@click.command()
@ORGANIZATION
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([status.value for status in LogStatus]),
    help="Only entries with this status. Repeat for several.",
)
@click.option("--event", default="", metavar="WORD", help="Only entries of this event type, e.g. 'push'.")
@click.option(
    "--integration",
    "integrations",
    multiple=True,
    metavar="ID",
    shell_complete=integration_ids,
    help="Only entries of this integration. Repeat for several.",
)
@click.option("--text", default="", help="Only entries with this text in title, delivery id, error or reason.")
@click.option(
    "-n",
    "--lines",
    "earlier",
    type=click.IntRange(0, 10_000),
    default=10,
    show_default=True,
    help="Number of existing entries to print first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print each entry as a line of JSON.")
def tail(
    organization: str,
    statuses: tuple[str, ...],
    event: str,
    integrations: tuple[str, ...],
    text: str,
    earlier: int,
    *,
    as_json: bool,
) -> None:
    """Print new webhook log entries, oldest first, until you press Ctrl-C (exit code 0).

    A pending entry is printed again when it ends. If the database is unavailable, the command keeps trying.
    """
    search = LogSearch(
        integration_ids=integrations, statuses=[LogStatus(status) for status in statuses], event=event, text=text
    )

    async def work(app: Application) -> None:
        owner = await organization_named(app, organization)
        shown = _Lines(app, owner.id, as_json=as_json)
        follower = LogFollower(app.stores.insights, owner.id, search)
        await shown.show(await follower.start(earlier))
        away = False
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                new = await follower.new()
            except StoreUnavailable as exc:
                if not away:
                    say(f"{exc}; trying again", err=True)
                away = True
                continue
            if away:
                click.echo("the database is available again", err=True)
            away = False
            await shown.show(new)

    with contextlib.suppress(KeyboardInterrupt):
        with_app(work, busy=None)


@final
class _Lines:
    def __init__(self, app: Application, organization_id: str, *, as_json: bool) -> None:
        self._app = app
        self._organization_id = organization_id
        self._as_json = as_json
        self._console = console()
        #: Names of integrations and endpoints by id; a removed one has its id.
        self._names: dict[str, str] = {}

    async def show(self, entries: Sequence[ListedEntry]) -> None:
        """Print the entries. For JSON, payloads are read one at a time."""
        for entry in entries:
            if self._as_json:
                whole = await self._app.stores.journal.entry(self._organization_id, entry.id)
                # The entry may have been swept meanwhile.
                if whole is not None:
                    click.echo(json_text({**log_body(whole), **line_body(entry), "reason": entry.reason}))
            else:
                self._console.print(await self._line(entry), soft_wrap=True)
        sys.stdout.flush()

    async def _line(self, entry: ListedEntry) -> Text:
        status = entry.status.value
        why = dict.fromkeys(part for part in (entry.error_message, entry.reason) if part)
        code = "-" if entry.status_code is None else str(entry.status_code)
        return Text("  ").join(
            part
            for part in (
                cell("createdAt", iso_ms(entry.created_at)),
                Text(f"{status:{_STATUS_WIDTH}}", style=look("status", status)),
                Text(f"{code:3}", style=look("statusCode", code)),
                Text(one_line(entry.title, _TEXT)),
                Text(one_line(await self._name(entry.integration_id), _TEXT), style="bold"),
                Text(one_line(entry.reference_id or "", _TEXT), style="dim"),
                Text(one_line(": ".join(why), _TEXT)),
            )
            if part.plain
        )

    async def _name(self, integration_id: str) -> str:
        if integration_id not in self._names:
            for found in await self._app.stores.directory.integrations(self._organization_id):
                self._names[found.id] = found.repositories[0].full_name if found.repositories else found.id
            for endpoint in await self._app.stores.endpoints.endpoints(self._organization_id):
                self._names[endpoint.id] = endpoint.url
            self._names.setdefault(integration_id, integration_id)
        return self._names[integration_id]
