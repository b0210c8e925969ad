"""How results are shown: JSON for programs, tables for people."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contentsvc_cli.completing import organization_slugs
from contentsvc_core.text import has_controls, one_line

_CELL: Final = 200
#: Wide enough for a row when nobody's terminal decides.
_PIPE_WIDTH: Final = 2000
#: The columns that say how something stands or has ended.
_STATES: Final = frozenset({"status", "statusCode", "state", "answer", "result", "enabled"})
#: What a state looks like on a terminal; the word alone says as much.
_LOOKS: Final = {
    **dict.fromkeys(
        ("success", "completed", "published", "processed", "pong", "answered already", "ok", "yes"), "green"
    ),
    **dict.fromkeys(("failed", "error", "fault", "refused", "not asked"), "red"),
    **dict.fromkeys(("pending", "running", "queued", "draft", "redelivery asked", "unknown", "warning"), "yellow"),
    **dict.fromkeys(("skipped", "cancelled", "filtered", "ignored", "duplicate", "no"), "dim"),
}
_HTTP_STATUS: Final = re.compile(r"[1-5][0-9]{2}")
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z")

#: ``--organization SLUG``, as most commands take it.
ORGANIZATION: Final = click.option(
    "--organization",
    required=True,
    metavar="SLUG",
    shell_complete=organization_slugs,
    help="The organization's slug.",
)
#: ``--limit N``, as every list takes it.
LIMIT: Final = click.option("--limit", type=click.IntRange(1, 2**31 - 1), help="At most so many rows.  [default: all]")
#: ``--json``, as every command takes it.
JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON alone on standard output.")


def show(record: Mapping[str, Any], *, as_json: bool) -> None:
    """Show one record."""
    if as_json:
        click.echo(json_text(record, indent=2))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in record.items():
        # Never cut: this is where a key or a secret is shown, once.
        table.add_row(Text(name, style="bold"), cell(name, value))
    console().print(table)


def show_rows(rows: Sequence[Mapping[str, Any]], *, columns: Sequence[str], as_json: bool, empty: str) -> None:
    """Show a list: as JSON all of every row, as a table the named columns."""
    if as_json:
        click.echo(json_text(rows, indent=2))
        return
    if not rows:
        click.echo(empty)
        return
    table = Table(header_style="bold", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(cell(column, row[column], limit=_CELL) for column in columns))
    console().print(table)


def json_text(value: object, *, indent: int | None = None) -> str:
    """Give a value as JSON that may be printed on a terminal, whoever has written what is in it."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if not has_controls(text.replace("\n", "")):
        return text
    # JSON itself escapes but a few of the characters that terminals act on.
    return json.dumps(value, indent=indent).replace("\x7f", r"\u007f")


def cell(column: str, value: object, *, limit: int | None = None) -> Text:
    """Give what stands in a table: states in their colours and, on a terminal, times for people.

    Args:
        column: The column's name, or a field's.
        value: What it holds.
        limit: A longer text is cut.
    """
    text = _words(value)
    if limit is not None:
        text = one_line(text, limit)
    elif has_controls(text):
        # Most of it has come from somewhere else, and this may be a terminal.
        text = one_line(text, len(text))
    if column.endswith("At") and sys.stdout.isatty():
        text = _TIME.sub(r"\1 \2 UTC", text)
    return Text(text, style=look(column, text))


def look(column: str, text: str) -> str:
    """Give the style that a column's text is shown in on a terminal; empty: it is no state."""
    if column not in _STATES:
        return ""
    if _HTTP_STATUS.fullmatch(text):
        return "green" if text.startswith("2") else "red"
    return _LOOKS.get(text, "")


def _words(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case _:
            return json.dumps(value, ensure_ascii=False)


def console() -> Console:
    """Give where tables go: as wide as a row needs, when nobody's terminal decides."""
    return Console() if sys.stdout.isatty() else Console(width=_PIPE_WIDTH)
