import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, TypeVar, cast

import click

from contentsvc_cli.terminal.completing import organization_slugs
from contentsvc_core.text import has_controls, one_line

if TYPE_CHECKING:
    # Only a terminal needs rich: importing and using it takes a tenth of a command's processor time.
    from rich.console import Console
    from rich.text import Text

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Row = TypeVar("_Row")

#: Maximum length of a table cell in characters, also in a pipe: a commit message may have megabytes.
_CELL: Final = 200
#: Rows of a table without ``--limit``: a list in a terminal of usual height, twice.
_ROWS: Final = 50
#: The limit of a query that reads all rows: the highest that both databases take.
ALL: Final = 2**31 - 1
_LAST_BYTE: Final = 0xFF
_PIPE_WIDTH: Final = 2000
_STATES: Final = frozenset({"status", "statusCode", "state", "answer", "result", "enabled"})
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

ORGANIZATION_VARIABLE: Final = "CONTENTSVC_ORGANIZATION"
ORGANIZATION: Final = click.option(
    "-o",
    "--organization",
    default="",
    envvar=ORGANIZATION_VARIABLE,
    show_envvar=True,
    metavar="SLUG",
    shell_complete=organization_slugs,
    help="Slug of the organization.  [default: the only one]",
)
LIMIT: Final = click.option(
    "--limit",
    type=click.IntRange(1, 2**31 - 1),
    help=f"Maximum number of rows.  [default: {_ROWS}; all with --json]",
)


def _keep(ctx: click.Context, parameter: click.Parameter, value: object) -> None:
    ctx.meta[f"contentsvc.{parameter.name}"] = value


def _is_kept(name: str) -> bool:
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(f"contentsvc.{name}"))


def wants_json() -> bool:
    """Check whether the command has the option ``--json``."""
    return _is_kept("json")


JSON: Final = click.option(
    "--json", is_flag=True, expose_value=False, callback=_keep, help="Print only JSON on standard output."
)


def list_output(command: _Command) -> _Command:
    wide = click.option(
        "--wide",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="Print all columns and whole ids, however wide the terminal is.",
    )
    return JSON(wide(command))


def fetched(limit: int | None) -> int | None:
    """Return the number of rows to read for a list: one more than it shows; ``None``: all."""
    return None if wants_json() and limit is None else (limit or _ROWS) + 1


def first_rows(rows: Sequence[_Row], limit: int | None) -> Sequence[_Row]:
    if wants_json() and limit is None:
        return rows
    shown = limit or _ROWS
    if len(rows) > shown:
        click.echo(f"There are more than {shown}: raise --limit.", err=True)
    return rows[:shown]


def fail(message: str) -> NoReturn:
    """Raise an error with exit code 1: the command is refused, or has failed."""
    raise click.ClickException(message)


def misused(message: str) -> NoReturn:
    """Raise an error with exit code 2: the usage is wrong."""
    raise click.UsageError(message)


def hint(command: str, *ids: str) -> None:
    """Print the next command on standard error, if that is a terminal and the output is for people.

    ``ids`` follow the command, each as one word for a shell: they may be untrusted.
    """
    if not wants_json() and sys.stderr.isatty():
        words = [command, *map(shlex.quote, ids)]
        click.echo(f"next: {printable(' '.join(words), sys.stderr)}", err=True)


def say(text: str, *, err: bool = False) -> None:
    """Print untrusted text with a line break: unchanged in a pipe, without control characters on a terminal."""
    click.echo(printable(text, sys.stderr if err else sys.stdout), err=err)


def printable(text: str, stream: IO[str]) -> str:
    r"""Return text that is safe to write to a stream.

    A terminal acts on escape sequences and lets bidirectional controls reorder a line: there, each such character is
    shown as an escape such as ``\x1b`` or ``\u202e``. Line feeds and tabs stay.
    """
    if not stream.isatty():
        return text
    text = text.replace("\r\n", "\n")
    controls = {ord(character): _escape(character) for character in set(text) - {"\n", "\t"} if has_controls(character)}
    return text.translate(controls) if controls else text


def show(record: Mapping[str, Any]) -> None:
    """Print one record, a line for each field. Lines are never cut: they may have a secret that is shown once."""
    if wants_json():
        click.echo(json_text(record, indent=2))
        return
    record = {one_line(name, _CELL): value for name, value in record.items()}
    width = max(map(len, record), default=0)
    if not sys.stdout.isatty():
        for name, value in record.items():
            click.echo(f"{name:{width}}  {_text(name, value)}".rstrip())
        return
    from rich.text import Text  # noqa: PLC0415  # see above

    terminal = console()
    for name, value in record.items():
        _print_line(terminal, [Text(name.ljust(width), style="bold"), cell(name, value)])


def show_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    columns: Sequence[str],
    empty: str,
    optional: Sequence[str] = (),
) -> None:
    """Print a list: all fields as JSON, or the named columns as a table.

    On a narrow terminal, ``optional`` columns are omitted first, least important first, and texts are cut; ``--wide``
    prints all columns. Without rows, ``empty`` is printed on standard error: scripts count the lines of the output.
    """
    if wants_json():
        click.echo(json_text(rows, indent=2))
        return
    if not rows:
        if empty:
            click.echo(empty, err=True)
        return
    if not sys.stdout.isatty():
        _echo_table([columns, *([_text(name, row[name], _CELL) for name in columns] for row in rows)])
        return
    from contentsvc_cli.terminal.grid import Grid  # noqa: PLC0415  # rich comes with it
    from contentsvc_cli.terminal.ids import shortened  # noqa: PLC0415  # only terminals need it

    terminal = console()
    wide = _is_kept("wide")
    short = {} if wide else shortened([row[name] for row in rows for name in columns if isinstance(row[name], str)])
    cells = [
        {
            name: cell(name, short.get(row[name]) or row[name], limit=_CELL)
            if isinstance(row[name], str)
            else cell(name, row[name], limit=_CELL)
            for name in columns
        }
        for row in rows
    ]
    table = Grid(cells, columns)
    if not wide:
        table.fit(terminal.width, optional)
    for parts in table.lines():
        _print_line(terminal, parts)


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON that is safe to print on a terminal."""
    encoding: str = getattr(sys.stdout, "encoding", None) or "utf-8"
    text = json.dumps(value, ensure_ascii=not encoding.lower().startswith("utf"), indent=indent)
    if not has_controls(text.replace("\n", "")):
        return text
    # JSON escapes only a few of the characters that terminals interpret.
    return json.dumps(value, indent=indent).replace("\x7f", r"\u007f")


def cell(column: str, value: object, *, limit: int | None = None) -> "Text":
    """Return the text of a table cell, cut at ``limit``: states in colour and, on a terminal, readable times."""
    from rich.text import Text  # noqa: PLC0415  # see above

    text = _text(column, value, limit)
    return Text(text, style=style_of(column, text))


def _text(column: str, value: object, limit: int | None = None) -> str:
    text = _words(value)
    if limit is not None:
        text = one_line(text, limit)
    elif has_controls(text):
        # Most texts are untrusted, and the output may be a terminal.
        text = one_line(text, len(text))
    if column.endswith("At") and sys.stdout.isatty():
        text = _TIME.sub(r"\1 \2 UTC", text)
    return text


def style_of(column: str, text: str) -> str:
    """Return the terminal style of a cell; empty if the column is not a state."""
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
        case list() if all(isinstance(item, str) for item in cast("list[object]", value)):
            return ", ".join(cast("list[str]", value))
        case _:
            return json.dumps(value, ensure_ascii=False)


def _escape(character: str) -> str:
    return f"\\x{ord(character):02x}" if ord(character) <= _LAST_BYTE else f"\\u{ord(character):04x}"


def _echo_table(lines: Sequence[Sequence[str]]) -> None:
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (text + " " * (width - _width(text)) for text, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415  # some characters are two cells wide, some none

    return cell_len(text)


def _print_line(terminal: "Console", parts: "Sequence[Text]") -> None:
    from rich.text import Text  # noqa: PLC0415  # see above

    line = Text("  ").join(parts)
    line.rstrip()
    # One line on any terminal, so that copied text has no line breaks.
    terminal.print(line, soft_wrap=True)


def console() -> "Console":
    from rich.console import Console  # noqa: PLC0415  # see above

    return Console() if sys.stdout.isatty() else Console(width=_PIPE_WIDTH)
