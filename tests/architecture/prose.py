"""Check that docstrings and comments are plain technical English: ``python -m tests.architecture.prose``.

Rule 1: the docstring of a function begins with what the function does: Return, Create, Check, Delete, Raise …
Rule 2: its subject is a component ("the queue", "the client"), not a person or a pronoun.

Both rules look for words, and can be wrong about a good sentence. A comment ``# prose: REASON`` in the text, or in the
line before or after it, keeps the sentence and says why.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "campaigns", "benchmarks", "docs", "examples")
_HINT = (
    "The rules are in CONTRIBUTING.md, under Docstrings and comments. If a sentence is right as it stands, write the "
    "comment '# prose: REASON' beside it."
)

_OPENING = re.compile(r"(Give|Tell|Say|Take|Have|Look|Let|Put|Make it|Be|Leave|Ask)\b")
_PERSON = re.compile(
    r"\b(whoever|(?:no|some|any|every)body|those (?:that|who)|what (?:is|has|comes|came|was|it|they|there)|of whom|"
    r"in whose|(?:is|are) told|tells? of|is none|are none|stands?|comes? to|as it is|has become|(?:is|are) to be)\b",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(r"#[:!]?\s*(noqa|pyright|type:|fmt|ruff|pragma|prose:)")
_ESCAPE = re.compile(r"#\s*prose:\s*\S")


def faults(source: str) -> Iterator[tuple[int, str]]:
    """Return the line and the fault of each text of a module that breaks a rule."""
    kept = {number for number, line in enumerate(source.splitlines(), 1) if _ESCAPE.search(line)}
    for first, last, text, is_function in sorted(_texts(source)):
        if kept.intersection(range(first - 1, last + 2)):
            continue
        if is_function and (found := _OPENING.match(text)):
            yield first, f"rule 1: begin with what the function does (Return, Create, Check …), not with '{found[1]}'"
        if found := _PERSON.search(" ".join(text.split())):
            yield first, f"rule 2: name the component or the thing instead of '{found[1]}'"


def _texts(source: str) -> Iterator[tuple[int, int, str, bool]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None:
                body = node.body[0]
                is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                yield body.lineno, body.end_lineno or body.lineno, text, is_function
    block: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
            if block and block[-1][0] != token.start[0] - 1:
                yield _joined(block)
                block = []
            block.append((token.start[0], token.string.lstrip("#: ")))
    if block:
        yield _joined(block)


def _joined(block: list[tuple[int, str]]) -> tuple[int, int, str, bool]:
    return block[0][0], block[-1][0], " ".join(text for _, text in block), False


def main() -> int:
    """Print the faults of all modules; return the exit code."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        # Benchmarks install their peers into environments of their own.
        if ".venv" not in path.parts
        for line, fault in faults(path.read_text("utf-8"))
    ]
    if found:
        sys.stderr.write("\n".join((*found, _HINT, "")))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
