"""The documentation for its tests: pages, headings, fences."""

import re
import shlex
from pathlib import Path
from typing import Final, final

import click
from attrs import frozen

from contentsvc_cli.main import main

ROOT: Final = Path(__file__).parents[2]
#: All Markdown files of the project, without those of the site's packages.
PAGES: Final = tuple(
    sorted(
        page
        for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        if not any(part.startswith(".venv") for part in page.parts)
    )
)

_FENCE: Final = re.compile(r"^```(?P<language>[a-z]*) ?(?P<rest>.*)\n(?P<text>(?:.*\n)*?)```$", re.MULTILINE)
_HEADING: Final = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
_CALL: Final = re.compile(r"(?:^|[|&;(] ?)((?:contentsvc|make)\b[^|&;<>)#]*)")
_HERE_DOCUMENT: Final = re.compile(r"<<'EOF'\n(?:.*\n)*?EOF$", re.MULTILINE)
_ROW: Final = re.compile(r"^\|(.+)\|$", re.MULTILINE)


@final
@frozen(kw_only=True)
class Fence:
    """A fenced block: ``language`` and ``rest`` are the words after the opening backticks."""

    language: str
    rest: str
    text: str

    @property
    def title(self) -> str | None:
        """Return the file of the block's content or change."""
        return self.rest.removeprefix("title=") if self.rest.startswith("title=") else None


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def fences(text: str, language: str | None = None) -> list[Fence]:
    found = [Fence(**match.groupdict()) for match in _FENCE.finditer(text)]
    return [fence for fence in found if language in {None, fence.language}]


def without_fences(text: str) -> str:
    return _FENCE.sub("", text)


def headings(text: str) -> list[tuple[int, str]]:
    return [(len(marks), words) for marks, words in _HEADING.findall(without_fences(text))]


def anchors(text: str) -> set[str]:
    """Return the anchors of headings, as code hosts derive them."""
    found: set[str] = set()
    for _, words in headings(text):
        base = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        anchor, number = base, 0
        while anchor in found:
            number += 1
            anchor = f"{base}-{number}"
        found.add(anchor)
    return found


def section(text: str, heading: str) -> str:
    """Return the text under a heading, up to the next one of its level or a higher one."""
    level = len(heading) - len(heading.lstrip("#"))
    _, found, rest = f"\n{text}".partition(f"\n{heading}\n")
    assert found, f"there is no heading {heading!r}"
    fenced = False
    lines: list[str] = []
    for line in rest.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if not fenced and re.match(rf"#{{1,{level}}} ", line):
            break
        lines.append(line)
    return "".join(lines)


def rows(text: str) -> list[list[str]]:
    """Return the cells of the tables in ``text``, without the heads."""
    cells = [[cell.strip() for cell in match.split(" | ")] for match in _ROW.findall(without_fences(text))]
    rules = [index for index, row in enumerate(cells) if set("".join(row)) <= set("-| :")]
    heads = {index - 1 for index in rules}
    return [row for index, row in enumerate(cells) if index not in heads and index not in rules]


def code(cell: str) -> list[str]:
    """Return the texts in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def shell_lines(text: str) -> list[list[str]]:
    """Return the calls of ``contentsvc`` and ``make`` in a shell text, as words, without pipes."""
    lines = _HERE_DOCUMENT.sub("", text.replace("\\\n", " ")).splitlines()
    calls = [call for line in lines for call in _CALL.findall(line)]
    # The number of standard error precedes its sign.
    return [shlex.split(re.sub(r" [12]$", "", call.rstrip())) for call in calls]


def command_at(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command at the beginning of ``words``, and the words after it."""
    command: click.Command = main
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            break
        command, words = found, words[1:]
    return command, words


def options_of(command: click.Command) -> set[str]:
    options = [option for option in command.params if isinstance(option, click.Option)]
    return {name for option in options for name in (*option.opts, *option.secondary_opts)}


def leaves() -> list[tuple[str, click.Command]]:
    """Return every command by its full name, without groups."""
    found: list[tuple[str, click.Command]] = []

    def walk(name: str, command: click.Command) -> None:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for part in command.list_commands(context):
                child = command.get_command(context, part)
                assert child is not None
                walk(f"{name} {part}", child)
        else:
            found.append((name, command))

    walk("contentsvc", main)
    return found
