"""``preview``: the changelog of a local checkout, with no server and no database."""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click
from attrs import evolve

from contentsvc_cli.develop.git import Checkout, GitFailed, NoRepository
from contentsvc_cli.develop.history import NO_HOST, hosted_repository
from contentsvc_cli.start.previewing import Preview, previews, range_line, stretches, text, title
from contentsvc_cli.terminal.output import fail, misused
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_core.content.house_style import HouseStyle, merged_styles, style_fault
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.style_fields import AUDIENCE, Audience, options_of, read_style
from contentsvc_core.refusals import Refusal
from contentsvc_core.text import one_line

if TYPE_CHECKING:
    from contentsvc_cli.develop.native_bodies import HostedRepository

_WIDEST: Final = 100
#: No name of a tag or a branch begins with one of these (git check-ref-format).
_PATHS: Final = ("/", "./", "../", "~")


@click.command()
@click.argument("path", default=".")
@click.argument("range_", metavar="[FROM..TO]", required=False)
@click.option("--public", "audience", flag_value=Audience.PUBLIC.value, default=True, help="Write for users. [default]")
@click.option(
    "--team", "audience", flag_value=Audience.TEAM.value, help="Write for the team: commits, upkeep and contributors."
)
@click.option(
    "--type",
    "content_type",
    type=click.Choice([each.value for each in ContentType]),
    default=ContentType.CHANGELOG.value,
    show_default=True,
    help="Content type of the posts.",
)
@click.option("--style", "style", type=click.File(), metavar="FILE", help="A house style in JSON, as for 'style set'.")
@click.option(
    "--releases",
    type=click.IntRange(1, 1000),
    default=2,
    show_default=True,
    help="Number of releases to show without a range.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 36_500),
    default=30,
    show_default=True,
    help="Number of days to show if there are no releases.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a self-contained HTML file.",
)
@click.option("--open", "opens", is_flag=True, help="Open the HTML in your browser.")
@click.option("--json", "as_json", is_flag=True, help="Print the posts as JSON.")
def preview(  # noqa: PLR0913, PLR0917  # one parameter an option
    path: str,
    range_: str | None,
    audience: str,
    content_type: str,
    style: IO[str] | None,
    releases: int,
    days: int,
    page: Path | None,
    *,
    opens: bool,
    as_json: bool,
) -> None:
    """Preview the changelog of the git checkout at PATH (default: the current folder), or its posts of another type.

    Without a range it shows the changes since the last release, and the last releases; without releases, the last days.
    A range is FROM..TO, such as v1.0.0..HEAD, or one tag, such as v2.0.0, for that release. Releases are tags that name
    versions. In a pipe, the output is Markdown. The command only reads the checkout. It needs no server or database.
    """
    is_only_range = range_ is None and _is_range(path)
    if is_only_range:
        # A range without a path applies to the current folder.
        path, range_ = ".", path
    _check_range(range_ or "")
    options = options_of(merged_styles(HouseStyle({AUDIENCE: audience}), _read_style(style)))
    try:
        with waiting("reading the history"):
            repository = Checkout(Path(path))
            hosted = hosted_repository(
                origin=repository.origin(), folder=repository.folder_name, branch=repository.line().branch
            )
            if hosted.html_url.startswith(f"{NO_HOST}/"):
                # Links would lead nowhere.
                hosted = evolve(hosted, html_url="")
            ranges = stretches(repository, range_, releases=releases, days=days)
            shown = list(previews(repository, hosted, ranges, options, ContentType(content_type)))
    except GitFailed as exc:
        more = ""
        if isinstance(exc, NoRepository):
            more = (
                f", and '{range_}' is no folder"
                if is_only_range
                else ": name a checkout as in 'contentsvc preview PATH'"
            )
        raise click.ClickException(one_line(f"{exc}{more}", 1000)) from exc
    if not shown:
        fail(f"there are no commits in {', '.join(stretch.range for stretch in ranges)}")
    if page is not None or opens:
        _write_page(page, hosted, shown, opens=opens)
    elif as_json:
        _print_json(hosted, shown)
    elif sys.stdout.isatty():
        _print_on_terminal(hosted, shown)
    else:
        _print_markdown(shown)


def _is_range(text: str) -> bool:
    # Unlike those of `Path`, these functions raise no error for a name that is too long.
    if text.startswith(_PATHS) or os.path.isdir(text):  # noqa: PTH112  # see above
        return False
    return ".." in text or not os.path.exists(text)  # noqa: PTH110  # see above


def _check_range(text: str) -> None:
    if "..." in text:
        misused("write a range with two dots, such as v1.0.0..HEAD")
    if text.startswith(".."):
        misused(f"the range '{text}' needs a start, such as v1.0.0{text}")


def _read_style(file: IO[str] | None) -> HouseStyle | None:
    if file is None:
        return None
    try:
        read = read_style(json.load(file))
    except (ValueError, RecursionError) as exc:
        fail(f"the house style is not valid JSON: {exc}")
    if isinstance(read, Refusal):
        raise click.ClickException(style_fault(read))
    return read


def _print_markdown(shown: Sequence[Preview]) -> None:
    parts = [f"# {title(preview)}\n\n_{range_line(preview)}_\n\n{text(preview)}\n" for preview in shown]
    sys.stdout.buffer.write("\n".join(parts).encode())


def _print_json(hosted: "HostedRepository", shown: Sequence[Preview]) -> None:
    from contentsvc_cli.terminal.output import json_text  # noqa: PLC0415  # only this option needs it

    posts = [
        {
            "range": preview.stretch.range,
            "tag": None if preview.stretch.tag is None else preview.stretch.tag.name,
            "date": preview.at,
            "commits": preview.commits,
            "title": None if preview.draft is None else preview.draft.title,
            "markdown": None if preview.draft is None else preview.draft.markdown,
        }
        for preview in shown
    ]
    click.echo(json_text({"repository": hosted.full_name, "posts": posts}, indent=2))


def _print_on_terminal(hosted: "HostedRepository", shown: Sequence[Preview]) -> None:
    # Rich costs as much as all the rest, and only a terminal needs it.
    from rich.console import Console  # noqa: PLC0415
    from rich.rule import Rule  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from contentsvc_cli.terminal.markdown import PlainMarkdown  # noqa: PLC0415
    from contentsvc_cli.terminal.output import printable  # noqa: PLC0415

    console = Console()
    width = min(console.width, _WIDEST)
    for preview in shown:
        console.print(Rule(style="dim"), width=width)
        console.print(Text(printable(title(preview), sys.stdout), style="bold cyan"), width=width)
        console.print(Text(printable(range_line(preview), sys.stdout), style="dim"), width=width)
        console.print()
        console.print(PlainMarkdown(printable(text(preview), sys.stdout)), width=width)
        console.print()
    posts = f"{len(shown)} post" + ("s" if len(shown) > 1 else "")
    console.print(
        Text(f"{posts} about {hosted.full_name}. As a page: contentsvc preview --open", style="dim"), soft_wrap=True
    )


def _write_page(page: Path | None, hosted: "HostedRepository", shown: Sequence[Preview], *, opens: bool) -> None:
    from contentsvc_cli.start.preview_page import page_of  # noqa: PLC0415  # only this option needs it
    from contentsvc_cli.wiring import safe_html  # noqa: PLC0415  # as above

    html = page_of(hosted, shown, safe_html).encode()
    if page is None:
        with tempfile.NamedTemporaryFile(prefix="contentsvc-preview-", suffix=".html", delete=False) as file:
            file.write(html)
        page = Path(file.name)
    else:
        try:
            page.write_bytes(html)
        except OSError as exc:
            fail(f"cannot write {page}: {exc.strerror}")
    click.echo(f"{page.resolve()}")
    if opens and click.launch(page.resolve().as_uri()):
        fail(f"no browser could be opened: open {page.resolve()} yourself")
