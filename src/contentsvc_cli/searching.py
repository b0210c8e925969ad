"""Options and output of search commands."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from contentsvc_cli.terminal.output import show_rows
from contentsvc_cli.wiring import organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.search import HITS_DEFAULT, HITS_LIMIT

if TYPE_CHECKING:
    from contentsvc_core.search.questions import Hits

_Found = TypeVar("_Found")

#: Option ``--since TIME``.
SINCE: Final = click.option(
    "--since", default="", metavar="TIME", help="Only results from this date or time (with Z or an offset) or later."
)
#: Option ``--limit N``.
HITS: Final = click.option(
    "--limit",
    type=click.IntRange(1, HITS_LIMIT),
    default=HITS_DEFAULT,
    show_default=True,
    help="Maximum number of results, newest first.",
)


def warn(hits: "Hits[_Found]") -> None:
    """Report results that are not shown, on standard error."""
    if hits.behind:
        click.echo(f"{hits.behind} new items are not searchable yet", err=True)
    if hits.has_more:
        click.echo("There are more results: raise --limit, or add words.", err=True)


def show_hits(
    organization: str,
    rows: Callable[[Application, str], Awaitable[list[dict[str, Any]]]],
    columns: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Print search results; without --json, with the matching lines."""

    async def work(app: Application) -> list[dict[str, Any]]:
        return await rows(app, (await organization_named(app, organization)).id)

    found = with_app(work)
    listed = found if as_json else [{**row, **row.get("metadata", {}), "where": _where(row)} for row in found]
    show_rows(listed, columns=[*columns, "where"], as_json=as_json, empty="Nothing is found.")


def _where(row: Mapping[str, Any]) -> str:
    excerpts: list[Mapping[str, str]] = row["excerpts"]
    return excerpts[0]["text"] if excerpts else ""
