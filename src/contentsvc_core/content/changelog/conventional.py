"""Commit messages, read by Conventional Commits 1.0.0 and the habits of code hosts."""

import re
from typing import Final, final

from attrs import frozen

from contentsvc_core.content.changelog.wording import masked_line

SUBJECT_LIMIT: Final = 400
#: How much of a message's beginning and end is read: a 25 MB message costs no more than this.
_READ: Final = 16_384

# Rules 1, 4, 5, 13. A type is a noun: one word.
_HEADER: Final = re.compile(
    r"(?P<type>[A-Za-z][A-Za-z0-9_-]{0,39})(?:\((?P<scope>[^()]*)\))?(?P<mark>!)?: +(?P<description>\S.*)"
)
# Rules 8, 9, 12, 15, 16: `Token: value` or `Token #value`; only the breaking token has a space, and needs capitals.
_BREAKING: Final = re.compile(r"(BREAKING[ -]CHANGE)(?::(?: +|$)| (?=#))(.*)")
_BREAKING_TOKENS: Final = frozenset({"BREAKING CHANGE", "BREAKING-CHANGE"})
_FOOTER: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*)(?:: +| (?=#))(.*)")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n\s*")
_NUMBER: Final = re.compile(r" ?\(#([0-9]{1,10})\)\Z")
_NUMBER_SCOPE: Final = re.compile(r"#([0-9]{1,10})")
# An order to a machine, not words for a reader.
_SKIP_MARK: Final = re.compile(r" ?\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]", re.IGNORECASE)


@final
@frozen(kw_only=True)
class Footer:
    """One trailer of a message."""

    #: As written; tokens are compared without regard to case, except the breaking one.
    token: str
    #: May span several lines.
    value: str


@final
@frozen(kw_only=True)
class Message:
    """A commit message, taken apart."""

    #: The first line as one clean line, without the numbers at its end.
    subject: str
    #: In the author's spelling; ``None``: the subject follows no convention.
    type: str | None
    scope: str | None
    #: The subject without type and scope.
    description: str
    breaking: bool
    #: What the breaking footers say, each as one line.
    breaking_notes: tuple[str, ...]
    #: Pull requests and issues that the end of the subject names, without ``#``.
    numbers: tuple[str, ...]
    #: What follows the first line; cut, and never printed as it is.
    body: str
    footers: tuple[Footer, ...]

    @property
    def kind(self) -> str:
        """The type in lower case (rule 15), ``""`` without one."""
        return (self.type or "").casefold()


def parse(message: str) -> Message:
    """Take a commit message apart. Every text is a message: what follows no convention is all description."""
    head = message[:_READ].replace("\r\n", "\n").lstrip()
    first_line, _, body = head.partition("\n")
    footers = _footers(message)
    subject, numbers = _subject(first_line, body)
    notes = tuple(footer.value for footer in footers if footer.token in _BREAKING_TOKENS)
    kind = scope = None
    description, marked = subject, False
    if header := _HEADER.fullmatch(subject):
        kind, description = header["type"], header["description"]
        scope = (header["scope"] or "").strip() or None
        marked = header["mark"] is not None
    if scope and (reference := _NUMBER_SCOPE.fullmatch(scope)):
        # `fix(#481): …` names an issue, not a part of the code.
        scope, numbers = None, (reference[1], *numbers)
    return Message(
        subject=subject,
        type=kind,
        scope=scope,
        description=description,
        breaking=marked or bool(notes),
        breaking_notes=tuple(dict.fromkeys(filter(None, (masked_line(note, 1_000) for note in notes)))),
        numbers=tuple(dict.fromkeys(numbers)),
        body=body,
        footers=footers,
    )


def without_numbers(line: str) -> tuple[str, tuple[str, ...]]:
    """Split the references at the end of a line from it: ``text (#1) (#2)`` is ``text`` and ``1``, ``2``."""
    numbers: list[str] = []
    while (found := _NUMBER.search(line)) and found.start():
        numbers.append(found[1])
        line = line[: found.start()]
    return line, tuple(reversed(numbers))


def _subject(first_line: str, body: str) -> tuple[str, tuple[str, ...]]:
    line = masked_line(_SKIP_MARK.sub("", first_line[: 8 * SUBJECT_LIMIT]), SUBJECT_LIMIT)
    line, numbers = without_numbers(line)
    # A code host that cuts a long title puts its rest at the beginning of the body.
    if line.endswith("…") and body.lstrip().startswith("…"):
        rest = body.lstrip()[1:].partition("\n")[0]
        line, more = without_numbers(masked_line(line[:-1] + rest, SUBJECT_LIMIT))
        numbers += more
    return line, numbers


def _footers(message: str) -> tuple[Footer, ...]:
    """Read the trailer block: the last paragraphs, as far as each begins with a token."""
    # The first paragraph is the subject, or what the cut left of a paragraph.
    paragraphs = _BLANK_LINE.split(message[-_READ:].replace("\r\n", "\n").strip())[1:]
    block: list[str] = []
    for paragraph in reversed(paragraphs):
        if not _footer(paragraph.partition("\n")[0]):
            break
        block.append(paragraph)
    footers: list[tuple[str, list[str]]] = []
    for paragraph in reversed(block):
        for line in paragraph.split("\n"):
            if found := _footer(line):
                footers.append((found[1], [found[2]]))
            else:
                # Rule 10: a value goes on until the next token.
                footers[-1][1].append(line.strip())
    return tuple(Footer(token=token, value="\n".join(lines).strip()) for token, lines in footers)


def _footer(line: str) -> re.Match[str] | None:
    return _BREAKING.match(line) or _FOOTER.match(line)
