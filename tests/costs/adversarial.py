"""Expensive texts, and the measurement of a function's time for them."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

#: Returns a text of about the given number of characters.
Family: TypeAlias = Callable[[int], str]

#: Pieces whose repetition is expensive for some function.
UNITS: Final = (
    # Words and marks.
    *("a", "A", "aB", "1.", "v1.", "日本", "_", "a_", "한글", "ﷺ", "İ", "ß", "😀"),
    *("\u0300\u0316", "a\u0316\u0300", "\uff9e\u0316", "\u0f75", "\u0f71\u0f72\u0f74", "\u1100\u1161\u11a8"),
    # Space, lines and controls.
    *(" ", "\t", "\n", " \n", "a\n", "a\n\n", "\r\n"),
    *("\r", "a  \n", "   \n   x", "    a\n", "\x1b\x07", "\x00", "\u202e\u2066"),
    # Links, references and footnotes.
    *("[", "]", "[]", "[](", "[a](", "[a](http://b) "),
    *("[a](b[c", '[a](b "c', "![", "[a][b] ", "[^1]", "[a]: x\n", "[a\n"),
    *("http://", "http://a.b/c ", "<http://a>", "www.", "://", "a@b.cd ", "@", "a@", "a@b.", '"a"@', "<a@b", "=@"),
    # Emphasis, code, quotations, lists, headings, tables.
    *("*", "*a ", "a* ", "**a** ", "a**b", "***a**b*", "~~a", "_a ", "`", "`a", "``a", "```\n", "~~~\n", "~~~a "),
    *(">", "> ", "> a\n", ">>>>>>>>>>>>>>>>>>>>\n\n", "- ", "- a\n"),
    *("**2026", "**2026** · a\n\n", "# Contributors\n", "-\n", "1. a\n", "+ a\n- a\n", "# a\n", "#", "a\n=\n"),
    *("|", "|a|b|\n|-|-|\n", "a|b\n", "|-|-\n"),
    # HTML, entities, escapes.
    *("<", "<a ", '<a b="', "<!--", "<!-- a -->", "<!--\n-->", "`<!--"),
    *("<meta ", '<meta a="', "<meta a='b' ", "<script>", "<svg></svg>", "<h1>x</h1>", "<h1><</h1 "),
    *("<?", "<h1>", "<title>", "&", "&amp;", "&#64;", "\\", "\\*"),
    # Commit messages.
    *("(#1)", " (#1)", "#1 ", "feat(", "feat: ", "a-by", 'Revert "', "abcdef01 ", "Refs: abcdef01\n", "[skip ci]"),
    *("\n\nCo-authored-by: a <a@b.cd>\n", "A: b\n"),
    *("BREAKING CHANGE: b\n", "bump a from 1 to 2 ", "Merge pull request '", "and "),
    # Versions.
    *("1-", "-1", "1.0-rc1 "),
    # Prose.
    *("e.g. A ", "This adds a b. ", "a now ", "n't ", "for a ", "…", "."),
    *("(", ")", '"', "{", "%", "<think>", '{"title":"'),
)  # fmt: skip


def _repeated(unit: str) -> Family:
    return lambda size: unit * (size // len(unit) + 1)


def _table(*, columns: int, rows: int) -> str:
    return f"{'|a' * columns}\n{'|-' * columns}\n" + "x\n" * rows + "\n"


FAMILIES: Final[Mapping[str, Family]] = {
    **{repr(unit): _repeated(unit) for unit in UNITS},
    "two runs of marks": lambda size: "a" + "\u0300" * (size // 2) + "\u0316" * (size // 2),
    "one reference, many uses": lambda size: f"[a]: http://x/{'y' * (size // 2)}\n\n{'[a] ' * (size // 8)}",
    "one title, many uses": lambda size: f'[a]: http://x/ "{"y" * (size // 2)}"\n\n{"[a] " * (size // 8)}',
    "many references": lambda size: "".join(f"[a{number}]: http://x/{number}\n" for number in range(size // 20)),
    "nested brackets": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "nested emphasis": lambda size: "*a " * (size // 6) + "a* " * (size // 6),
    "growing runs of backticks": lambda size: " ".join("`" * length for length in range(int((2 * size) ** 0.5))),
    "a long fence": lambda size: "`" * (size // 2) + "\n" + "```\n" * (size // 8),
    "deep quotations": lambda size: ("> " * 30 + "a\n") * (size // 62),
    "a stair of quotations": lambda size: "\n".join(">" * depth for depth in range(int((2 * size) ** 0.5))),
    "a deep list": lambda size: "\n".join("  " * depth + "- a" for depth in range(int(size**0.5))),
    "a table that lacks cells": lambda size: _table(columns=40, rows=size // 2 - 80),
    "a wide table that lacks cells": lambda size: _table(columns=size // 5, rows=size // 10),
    "many tables that lack cells": lambda size: _table(columns=40, rows=100) * (size // 363 + 1),
    "many co-authors": lambda size: "feat: a\n\n" + "Co-authored-by: a b <a@b.cd>\n" * (size // 29),
    "many attributes": lambda size: f"<meta {'= ' * (size // 2)}>",
    "nested data of a page": lambda size: f"<script type=application/ld+json>{'[' * size}</script>",
    "a long trailer": lambda size: "feat: a\n\nA: b\n" + "c\n" * (size // 2),
    "dropped platforms": lambda size: "drop " + "python " * (size // 7) + "!",
    "updated names": lambda size: "bump a to " + "and " * (size // 4) + "!",
    "nested reverts": lambda size: 'Revert "' * (size // 9) + "a" + '"' * (size // 9),
    "many hashes": lambda size: "revert: a\n\n" + "This reverts commit abcdef0. " * (size // 29),
    "a long label": lambda size: f"[{'a' * size}]: x",
    "a long entity": lambda size: f"&#{'0' * size};",
    "spaces before a word": lambda size: " " * size + "x",
    "spaces between words": lambda size: f"a{' ' * size}b",
    "a number before a letter": lambda size: f"v1.0-rc{'1' * size}x",
    "a bold row of digits": lambda size: f"**{'0' * size}** a",
}  # fmt: skip


def seconds(work: Callable[[str], Any], text: str) -> float:
    """Return the processor time that ``work`` takes for a text, in seconds."""
    begun = time.process_time()
    work(text)
    return time.process_time() - begun
