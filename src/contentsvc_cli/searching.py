import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

import click

from contentsvc_cli.terminal.output import first_rows, misused, show_rows, wants_json
from contentsvc_cli.wiring import Api, accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.lists.parameters import read_time
from contentsvc_core.on_demand import late
from contentsvc_core.refusals import Refusal
from contentsvc_core.search import HITS_DEFAULT, HITS_LIMIT
from contentsvc_core.timestamps import iso_ms

_Rows: TypeAlias = Callable[[Application, str], Awaitable[list[dict[str, Any]]]]
_RemoteRows: TypeAlias = "Callable[[Api], list[dict[str, Any]]]"

_AGO: Final = late(r"([1-9][0-9]{0,4})([mhdw])", re.ASCII)
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def _time(_: click.Context, option: click.Parameter, value: str) -> str:
    ago = _AGO.fullmatch(value.strip())
    if ago is None:
        at = read_time(option.human_readable_name, value)
        if isinstance(at, Refusal):
            misused(f"{at.message(option.opts[0])}, and no age, such as 30m, 2h, 3d or 1w")
        return value
    return iso_ms(datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])}))


SINCE: Final = click.option(
    "--since",
    default="",
    callback=_time,
    metavar="TIME",
    help="Only newer rows: since 30m, 2h, 3d or 1w ago, a date, or a time (with Z or an offset).",
)
UNTIL: Final = click.option(
    "--until", default="", callback=_time, metavar="TIME", help="Only rows before this time, written as in --since."
)
HITS: Final = click.option(
    "--limit",
    type=click.IntRange(1, HITS_LIMIT),
    default=HITS_DEFAULT,
    show_default=True,
    help="Maximum number of results, newest first.",
)


def newer_than(since: str, rows: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Return the rows that were created at a time or later; empty: all."""
    at = accepted(read_time("since", since))
    return rows if at is None else [row for row in rows if row["createdAt"] >= iso_ms(at)]


def _rows_of(organization: str, rows: _Rows, remote: _RemoteRows) -> list[dict[str, Any]]:
    async def work(app: Application) -> list[dict[str, Any]]:
        return await rows(app, (await organization_named(app, organization)).id)

    return with_app(work, remote=remote)


def show_list(
    organization: str,
    rows: _Rows,
    columns: Sequence[str],
    *,
    remote: _RemoteRows,
    limit: int | None,
    optional: Sequence[str] = (),
    since: str = "",
) -> None:
    """Print a list of an organization; ``optional`` columns are omitted on a narrow terminal."""
    shown = first_rows(newer_than(since, _rows_of(organization, rows, remote)), limit)
    show_rows(shown, columns=columns, empty="Nothing yet.", optional=optional)


def warn(*, behind: int, has_more: bool) -> None:
    if behind:
        click.echo(f"{behind} new items are not searchable yet", err=True)
    if has_more:
        click.echo("There are more results: raise --limit, or add words.", err=True)


def show_hits(organization: str, rows: _Rows, columns: Sequence[str], *, remote: _RemoteRows) -> None:
    hits = _rows_of(organization, rows, remote)
    listed = hits if wants_json() else [{**row, **row.get("metadata", {}), "where": _where(row)} for row in hits]
    show_rows(listed, columns=[*columns, "where"], empty="Nothing is found.")


def _where(row: Mapping[str, Any]) -> str:
    excerpts: list[Mapping[str, str]] = row["excerpts"]
    return excerpts[0]["text"] if excerpts else ""
