"""What commands that search have in common."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from contentsvc_cli.output import show_rows
from contentsvc_cli.wiring import Desk, at_desk
from contentsvc_core.content.queries import InvalidQuery
from contentsvc_core.search import HITS_DEFAULT, HITS_LIMIT

if TYPE_CHECKING:
    from contentsvc_core.search.questions import Hits

_Asked = TypeVar("_Asked")
_Found = TypeVar("_Found")

#: ``--since TIME``.
SINCE: Final = click.option(
    "--since", default="", metavar="TIME", help="Only what is not older: a date, or a time with Z or an offset."
)
#: ``--limit N``, of what is found.
HITS: Final = click.option(
    "--limit",
    type=click.IntRange(1, HITS_LIMIT),
    default=HITS_DEFAULT,
    show_default=True,
    help="At most so many, the newest.",
)


def accepted(asked: _Asked | InvalidQuery) -> _Asked:
    """Give what was asked for.

    Raises:
        UsageError: It is no question.
    """
    if isinstance(asked, InvalidQuery):
        raise click.UsageError(asked.error)
    return asked


def warn(hits: "Hits[_Found]") -> None:
    """Say on standard error what is not shown."""
    if hits.behind:
        click.echo(f"{hits.behind} could not be looked at yet, because many arrived just now", err=True)
    if hits.has_more:
        click.echo("There is more: raise --limit, or search for more words.", err=True)


def show_hits(
    organization: str,
    rows: Callable[[Desk, str], Awaitable[list[dict[str, Any]]]],
    columns: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Show what an organization's search has found; for people, with where the words stand."""

    async def work(desk: Desk) -> list[dict[str, Any]]:
        return await rows(desk, (await desk.organization(organization)).id)

    found = at_desk(work)
    listed = found if as_json else [{**row, **row.get("metadata", {}), "where": _where(row)} for row in found]
    show_rows(listed, columns=[*columns, "where"], as_json=as_json, empty="Nothing is found.")


def _where(row: Mapping[str, Any]) -> str:
    excerpts: list[Mapping[str, str]] = row["excerpts"]
    return excerpts[0]["text"] if excerpts else ""
