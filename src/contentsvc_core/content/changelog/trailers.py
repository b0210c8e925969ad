"""The marks in the body of a commit message: breaking changes, and trailers."""

import re
from typing import Final, final

from msgspec import Struct

#: The last characters of a message, which are searched for trailers. Code hosts cut far below.
_READ: Final = 16_384
_BREAKING: Final = re.compile(r"(BREAKING[ -]CHANGE)(?::(?: +|$)| (?=#))(.*)")
BREAKING_TOKENS: Final = frozenset({"BREAKING CHANGE", "BREAKING-CHANGE"})
_FOOTER: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*)(?:: +| (?=#))(.*)")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n\s*")
#: Breaking changes in a body, at the beginning of a line: ``BREAKING CHANGE: x``, ``**Breaking**: x``,
#: ``[breaking] x``, ``## Breaking changes``, ``Breaking changes:``. Code hosts put the messages of a branch into the
#: body of its merge.
_NOTE: Final = re.compile(
    r"^[ \t>]{0,12}(?:[-*][ \t]{1,4})?(?P<heading>\#{1,6}[ \t]{1,4})?(?:[*_`]|(?P<bracket>[\[(])|:\w{1,20}:"
    r"|[\u26a0\ufe0f\U0001f4a5]){0,6}[ \t]{0,4}"
    r"(?:(?:api|bc|user[ -]facing|potentially)[ -])?(?:breaking(?:[ -](?:api[ -])?changes?)?|bc[ -]breaks?"
    r"|backwards?[ -]incompatib(?:le changes?|ilit(?:y|ies)))"
    r"(?P<end>[\])]:?|[*_`]{0,3}[ \t]*(?::[*_`]{0,3}|[*_`]{0,3}(?=$|\n)))[ \t]*(?P<text>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
#: Answers that nothing breaks, and forms that are not filled in.
_NO_NOTE: Final = re.compile(
    r"\W*(?:none|no|nope|n/?a|nil|false|nothing|not|never|there (?:is|are) no|tbd|todo)(?!\w)|[ \t]*[-*] \[ ?\]|\W*\Z",
    re.IGNORECASE,
)
_YES: Final = re.compile(r"\W*(?:x\W+)?yes\b[\s:.,;-]*", re.IGNORECASE)
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
#: A ticked box of a code host's form.
_TICKED: Final = re.compile(
    r"breaking changes?\?\W*(?:[-*] \[ ?\] no\s*)?[-*] \[x\] yes\b|^[ \t]*[-*] \[x\] \W*(?:this (?:is"
    r"|introduces) )?(?:a )?breaking\b(?: changes?\b)?"
    r"(?!(?: changes?)? (?:are|is|have|has|document|note|\w+ed\b))",
    re.MULTILINE | re.IGNORECASE,
)
#: A sentence that announces a breaking change.
_SAID: Final = re.compile(
    r"\b(?:this|which|it|that|pr|commit|patch|change)s? (?:change )?(?:(?:is|are|introduces?|contains?"
    r"|constitutes?) (?:technically |also )?"
    r"(?:a |an |some )?(?:\w+ly )?(?:breaking|backwards?[- ]incompatible|(?:api|bc)[- ]break\w*)(?: api)?(?: change)?"
    r"|breaks (?:backwards?|api|bc|binary|source)[ -](?:compat\w*)?)\b(?![^.\n]*\?)",
    re.IGNORECASE,
)
#: A squashed commit with a breaking type: ``* feat(x)!: y``.
_SQUASHED: Final = re.compile(r"^[ \t]*[-*] [a-z]{2,12}(?:\([^()\n]{1,40}\))?!: +(?P<text>\S[^\n]*)$", re.MULTILINE)
_NOTE_ENDS: Final = re.compile(r"[ \t]*(?:$|[-*+#][ \t]|---|===|[A-Za-z][A-Za-z-]*: |BREAKING[ -]CHANGE|\* )")
_ITEM: Final = re.compile(r"[ \t]*[-*+][ \t]+(?=\S)")
_NOTES_READ: Final = 10


@final
class Footer(Struct, frozen=True, kw_only=True, gc=False):
    """One trailer of a message."""

    #: As written; tokens are compared without regard to case, except the breaking one.
    token: str
    #: May span several lines.
    value: str


def breaking_notes(body: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether a body announces breaking changes, and its notes about them."""
    lower = body.lower()
    if not ("break" in lower or "ncompatib" in lower or "!:" in lower):
        # Each of the patterns needs one of these texts.
        return False, ()
    body = _COMMENT.sub("", body)
    notes: list[str] = []
    for found in _NOTE.finditer(body):
        # A bracket or a bold word inside a sentence is no note.
        if found["bracket"] and not found["end"].startswith(("]", ")")):
            continue
        notes += _note(found, body)
        if len(notes) >= _NOTES_READ:
            break
    notes += [found["text"] for found in _SQUASHED.finditer(body)][: _NOTES_READ - len(notes)]
    said = bool(notes) or _TICKED.search(body) is not None or _SAID.search(body) is not None
    return said, tuple(filter(None, notes))


def _note(found: "re.Match[str]", body: str) -> list[str]:
    """Return the notes of a mark: its text up to a blank line or the next item, or the list below it."""
    lines = [found["text"]]
    items: list[str] = []
    for line in body[found.end() + 1 : found.end() + 2_000].split("\n"):
        if len(lines) > _NOTES_READ or len(items) >= _NOTES_READ:
            break
        if not any(lines) and (item := _ITEM.match(line)) and (found["heading"] or not found["text"]):
            items.append(line[item.end() :].strip())
        elif items and (not line.strip() or line[:1] in " \t"):
            items[-1] = f"{items[-1]} {line.strip()}".strip()
        elif items or (_NOTE_ENDS.match(line) and any(lines)) or line[:1] == "#":
            break
        else:
            lines.append(line.strip())
    said = items or [" ".join(lines).strip()]
    if _NO_NOTE.match(said[0]):
        return []
    # A form with "Breaking change? Yes" may add a text.
    return [_YES.sub("", each, count=1) for each in said]


def footers_of(message: str) -> tuple[Footer, ...]:
    """Return the trailer block: the last paragraphs, as far as each begins with a token."""
    if "\n" not in message or not (": " in message or " #" in message or "BREAKING" in message):
        return ()
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
