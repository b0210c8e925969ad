import asyncio
import contextlib
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from datetime import timedelta
from itertools import count
from typing import Any, Final, final

import click
from attrs import evolve
from rich.text import Text

from contentsvc_cli.searching import SINCE, newer_than
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import ORGANIZATION, cell, console, json_text, misused, say, style_of
from contentsvc_cli.watch.logs import EVENT, INTEGRATIONS, STATUSES, TEXT, log_row, remote_row
from contentsvc_cli.wiring import Api, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.journal import ListedEntry, LogStatus, line_body, log_body
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.ports import ReadModel
from contentsvc_core.read_model import LogSearch
from contentsvc_core.text import one_line

_TEXT: Final = 200
#: Entries of each request to a server, and the polling interval in seconds: half of a usual rate limit.
_NEWEST: Final = 100
#: The most entries that appear at once after an outage, as many as ``--lines`` may name.
_MOST: Final = 10_000
_ASK_EVERY_S: Final = 2.0
#: The most older pending entries that are remembered. A message may be pending for days.
_PENDING: Final = 100
#: Every tenth poll of a server asks for the next older pending entries, few enough for a usual rate limit.
_PENDING_EVERY: Final = 10
_PENDING_AT_ONCE: Final = 5
_IS_PENDING: Final = LogStatus.PENDING.value
_STATUS_WIDTH: Final = max(len(status.value) for status in LogStatus)
EVERY_S: Final = 0.5
#: Entries may become visible out of order: they were written concurrently, or by nodes with different clocks. So each
#: poll starts a little before the last cursor, and sometimes well before it.
_SHORTLY: Final = timedelta(seconds=2)
_LONG: Final = timedelta(seconds=20)
_LONG_EVERY: Final = 20
_PAGE: Final = 500


@click.command()
@ORGANIZATION
@STATUSES
@EVENT
@INTEGRATIONS
@TEXT
@SINCE
@click.option(
    "-n",
    "--lines",
    "earlier",
    type=click.IntRange(0, _MOST),
    default=10,
    show_default=True,
    help="Number of existing entries to print first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print each entry as a line of JSON.")
def tail(  # noqa: PLR0917  # its options
    organization: str,
    statuses: tuple[str, ...],
    event: str,
    integrations: tuple[str, ...],
    text: str,
    since: str,
    earlier: int,
    *,
    as_json: bool,
) -> None:
    """Print new webhook log entries, oldest first, until you press Ctrl-C (exit code 0).

    A pending entry is printed again when it ends. If the database or the server is unavailable, the command keeps
    trying.
    """
    search = LogSearch(
        integration_ids=integrations, statuses=[LogStatus(status) for status in statuses], event=event, text=text
    )

    async def work(app: Application) -> None:
        with _two_interrupts():
            owner = await organization_named(app, organization)
            shown = _Lines(app, owner.id, as_json=as_json)
            follower = LogFollower(app.stores.read_model, owner.id, search)
            await shown.show(await follower.start(earlier), since=since)
            outage = _Outage("database")
            while True:
                await asyncio.sleep(EVERY_S)
                try:
                    new = await follower.new()
                except StoreUnavailable as exc:
                    outage.report(str(exc))
                    continue
                outage.end()
                await shown.show(new)

    def remote(api: Api) -> None:
        if event or text:
            misused("--event and --text work on the machine of the service")
        _follow_server(api, earlier, since, as_json=as_json, status=statuses, integrationId=integrations)

    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        with_app(work, busy=None, remote=remote)


@contextlib.contextmanager
def _two_interrupts() -> Generator[None]:
    """Cancel the current task at the first Ctrl-C, and end the process at a second one, while the stores are closed."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    is_interrupted = False

    def interrupt(*_: object) -> None:
        nonlocal is_interrupted
        if is_interrupted:
            # Everything is printed, and nothing is written elsewhere.
            os._exit(0)
        is_interrupted = True
        loop.call_soon_threadsafe(task.cancel)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        if not is_interrupted:
            signal.signal(signal.SIGINT, before)


def _follow_server(api: Api, earlier: int, since: str, *, as_json: bool, **filters: Sequence[str]) -> None:
    from contentsvc_cli.remote import Unavailable  # noqa: PLC0415  # a local command does not import the client

    terminal = console()

    def show(entries: Sequence[dict[str, Any]]) -> None:
        for entry in reversed(newer_than(since, entries)):
            if as_json:
                click.echo(json_text(entry))
            else:
                terminal.print(_line(remote_row(entry), entry["integrationType"]), soft_wrap=True)
        sys.stdout.flush()

    wanted = filters["status"]
    newest = api.list("/v1/webhook-logs", "logs", max(earlier, _NEWEST), **filters)
    show(newest[:earlier])
    # Pending entries are followed, whatever statuses are shown: they may end with one of those.
    waiting = api.list("/v1/webhook-logs", "logs", _PENDING, **filters | {"status": [_IS_PENDING]})
    filters["status"] = [*wanted, _IS_PENDING] if wanted else wanted
    statuses: dict[str, str] = {entry["id"]: entry["status"] for entry in [*newest, *waiting]}
    outage = _Outage("server")
    pending: deque[str] = deque(maxlen=_PENDING)
    for poll in count(1):
        time.sleep(_ASK_EVERY_S)
        try:
            newest = _newest_until(api, statuses, filters)
            ended = [] if poll % _PENDING_EVERY else _ended(api, pending)
        except Unavailable as exc:
            outage.report(exc.message)
            continue
        outage.end()
        # By id: an entry that arrives between two pages shifts the others, and one of them is on both.
        by_id = {entry["id"]: entry for entry in newest}
        changed = [entry for entry in by_id.values() if statuses.get(entry["id"]) != entry["status"]]
        show([entry for entry in [*changed, *ended] if not wanted or entry["status"] in wanted])
        pending += [id_ for id_, status in statuses.items() if status == _IS_PENDING and id_ not in by_id]
        # Older entries are not listed again.
        statuses = {id_: entry["status"] for id_, entry in by_id.items()}


def _ended(api: Api, pending: deque[str]) -> list[dict[str, Any]]:
    """Return those of the next pending entries that have ended, and remove them."""
    from contentsvc_cli.remote import NotFound, Unavailable  # noqa: PLC0415  # as above

    ended: list[dict[str, Any]] = []
    for _ in range(min(len(pending), _PENDING_AT_ONCE)):
        try:
            entry = api.get(f"/v1/webhook-logs/{part(pending[0])}")["log"]
        except Unavailable:
            break
        except NotFound:
            # It has been swept.
            pending.popleft()
            continue
        pending.rotate(-1)
        if entry["status"] != _IS_PENDING:
            pending.pop()
            ended.append(entry)
    return ended


class _Outage:
    """Reports the beginning and the end of an outage, each once."""

    def __init__(self, of: str) -> None:
        self._of = of
        self._lasts = False

    def report(self, reason: str) -> None:
        if not self._lasts:
            say(f"{reason}; trying again", err=True)
        self._lasts = True

    def end(self) -> None:
        if self._lasts:
            click.echo(f"the {self._of} is available again", err=True)
        self._lasts = False


def _newest_until(api: Api, seen: Mapping[str, str], filters: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return the newest entries: as many as a page has, and more until one of them was seen before."""
    limit = _NEWEST
    while True:
        newest = api.list("/v1/webhook-logs", "logs", limit, **filters)
        if len(newest) < limit or any(entry["id"] in seen for entry in newest) or limit >= _MOST:
            return newest
        limit = min(2 * limit, _MOST)


class _Lines:
    def __init__(self, app: Application, organization_id: str, *, as_json: bool) -> None:
        self._app = app
        self._organization_id = organization_id
        self._as_json = as_json
        self._console = console()
        #: Names of integrations and endpoints by id; a removed one has its id.
        self._names: dict[str, str] = {}

    async def show(self, entries: Sequence[ListedEntry], *, since: str = "") -> None:
        rows = {row["id"]: row for row in newer_than(since, await self._rows(entries))}
        for entry in entries:
            if entry.id not in rows:
                continue
            if self._as_json:
                full = await self._app.stores.journal.entry(self._organization_id, entry.id)
                # The entry may have been swept meanwhile.
                if full is not None:
                    click.echo(json_text({**log_body(full), **line_body(entry), "reason": entry.reason}))
            else:
                name = await self._name(entry.integration_id)
                self._console.print(_line(rows[entry.id], name), soft_wrap=True)
        sys.stdout.flush()

    async def _rows(self, entries: Sequence[ListedEntry]) -> list[dict[str, Any]]:
        if self._as_json:
            return [dict(line_body(entry)) for entry in entries]
        return [log_row(entry) for entry in entries]

    async def _name(self, integration_id: str) -> str:
        if integration_id not in self._names:
            for integration in await self._app.stores.directory.integrations(self._organization_id):
                self._names[integration.id] = (
                    integration.repositories[0].full_name if integration.repositories else integration.id
                )
            for endpoint in await self._app.stores.endpoints.endpoints(self._organization_id):
                self._names[endpoint.id] = endpoint.url
            self._names.setdefault(integration_id, integration_id)
        return self._names[integration_id]


def _line(row: Mapping[str, Any], name: str) -> Text:
    status = one_line(row["status"], _TEXT)
    why = dict.fromkeys(part for part in (row["errorMessage"], row["reason"]) if part)
    code = "-" if row["statusCode"] is None else one_line(str(row["statusCode"]), _TEXT)
    about = row["about"] if row["about"] not in {row["title"], row["reason"], row["errorMessage"]} else ""
    return Text("  ").join(
        part
        for part in (
            cell("createdAt", row["createdAt"]),
            Text(f"{status:{_STATUS_WIDTH}}", style=style_of("status", status)),
            Text(f"{code:3}", style=style_of("statusCode", code)),
            Text(one_line(row["title"], _TEXT)),
            Text(one_line(name, _TEXT), style="bold"),
            Text(one_line(about, _TEXT)),
            Text(one_line(row["post"], _TEXT), style="green"),
            Text(one_line(row["referenceId"] or "", _TEXT), style="dim"),
            Text(one_line(": ".join(why), _TEXT)),
        )
        if part.plain
    )


@final
class LogFollower:
    def __init__(self, read_model: ReadModel, organization_id: str, search: LogSearch, *, page: int = _PAGE) -> None:
        self._read_model = read_model
        self._organization_id = organization_id
        self._search = search
        # Pending entries are followed, whatever statuses are shown: they may end with one of those.
        self._followed = evolve(search, statuses=[*search.statuses, LogStatus.PENDING]) if search.statuses else search
        self._page = page
        #: Cursor of the newest entry, matching or not. Only late entries can appear before it.
        self._newest: Cursor | None = None
        self._shown: dict[str, tuple[Cursor, LogStatus]] = {}
        self._polls = 0

    async def start(self, earlier: int) -> Sequence[ListedEntry]:
        """Return the newest existing entries, oldest first. Later calls return newer entries."""
        self._newest = await self._find_newest()
        if self._newest is None:
            return ()
        first = await self._log(self._search, earlier) if earlier else []
        pending = await self._log(evolve(self._search, statuses=[LogStatus.PENDING]), _PENDING)
        for entry in [*pending[::-1], *first, *await self._since(self._newest, _LONG)]:
            self._note(entry)
        return first[::-1]

    async def new(self) -> Sequence[ListedEntry]:
        newest = await self._find_newest()
        self._polls += 1
        far = self._polls % _LONG_EVERY == 0
        entries = await self._since(self._newest, _LONG if far else _SHORTLY)
        if far:
            entries = [*await self._ended(entries), *entries]
        changed = [entry for entry in entries if self._shown.get(entry.id, (None, None))[1] is not entry.status]
        for entry in changed:
            self._note(entry)
        # Set at the end: after a failure, the next poll begins at the same cursor.
        self._newest = newest
        if far and newest is not None:
            kept = newest.at - 2 * _LONG
            pending = {*self._pending()[-_PENDING:]}
            self._shown = {id_: shown for id_, shown in self._shown.items() if shown[0].at >= kept or id_ in pending}
        return [entry for entry in changed if self._search.finds(entry)]

    def _pending(self) -> list[str]:
        return [id_ for id_, (_, status) in self._shown.items() if status is LogStatus.PENDING]

    async def _ended(self, newest: Sequence[ListedEntry]) -> list[ListedEntry]:
        """Return the older entries that were pending and have ended."""
        listed = {entry.id for entry in newest}
        ended: list[ListedEntry] = []
        for id_ in self._pending():
            entry = None if id_ in listed else await self._read_model.entry(self._organization_id, id_)
            if entry is not None and entry.status is not LogStatus.PENDING:
                ended.append(entry)
        return ended

    def _note(self, entry: ListedEntry) -> None:
        self._shown[entry.id] = (Cursor.of(entry), entry.status)

    async def _find_newest(self) -> Cursor | None:
        newest = await self._read_model.log(self._organization_id, LogSearch(), limit=1)
        return Cursor.of(newest[0]) if newest else None

    async def _since(self, cursor: Cursor | None, before: timedelta) -> list[ListedEntry]:
        after = None if cursor is None else Cursor(at=cursor.at - before, id="")
        entries: list[ListedEntry] = []
        page: Sequence[ListedEntry] = ()
        while not entries or len(page) == self._page:
            end = Cursor.of(page[-1]) if page else None
            page = await self._log(self._followed, self._page, before=end, after=after)
            if not page:
                break
            entries += page
        return entries[::-1]

    async def _log(
        self, search: LogSearch, limit: int, *, before: Cursor | None = None, after: Cursor | None = None
    ) -> list[ListedEntry]:
        return list(await self._read_model.log(self._organization_id, search, limit=limit, before=before, after=after))
