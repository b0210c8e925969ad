"""How results are shown: JSON for programs, tables for people."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contentsvc_core.text import one_line

_CELL: Final = 200
#: Wide enough for a row when nobody's terminal decides.
_PIPE_WIDTH: Final = 2000

#: ``--organization SLUG``, as most commands take it.
ORGANIZATION: Final = click.option("--organization", required=True, metavar="SLUG", help="The organization's slug.")
#: ``--limit N``, as every list takes it.
LIMIT: Final = click.option("--limit", type=click.IntRange(1, 2**31 - 1), help="At most so many rows.  [default: all]")
#: ``--json``, as every command takes it.
JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON alone on standard output.")


def show(record: Mapping[str, Any], *, as_json: bool) -> None:
    """Show one record."""
    if as_json:
        _print_json(record)
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in record.items():
        # Never cut: this is where a key or a secret is shown, once.
        table.add_row(Text(name, style="bold"), Text(_cell(value, limit=None)))
    _console().print(table)


def show_rows(rows: Sequence[Mapping[str, Any]], *, columns: Sequence[str], as_json: bool, empty: str) -> None:
    """Show a list: as JSON all of every row, as a table the named columns."""
    if as_json:
        _print_json(rows)
        return
    if not rows:
        click.echo(empty)
        return
    table = Table(header_style="bold", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(row[column], limit=_CELL)) for column in columns))
    _console().print(table)


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _cell(value: object, *, limit: int | None) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if limit is None else one_line(text, limit)


def _console() -> Console:
    return Console() if sys.stdout.isatty() else Console(width=_PIPE_WIDTH)
