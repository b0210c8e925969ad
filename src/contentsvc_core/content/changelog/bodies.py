"""The body of a commit message: the author's own prose, breaking changes, and trailers."""

import re
from itertools import takewhile
from typing import Final, final

from msgspec import Struct

from contentsvc_core.content.changelog.markdown import (
    HIDDEN_ADDRESS,
    NOT_ABBREVIATED,
    first_sentence,
    masked_line,
    sentence,
    with_period,
)
from contentsvc_core.on_demand import late
from contentsvc_core.text import lowered

_READ: Final = 4_000
_SENTENCE_LIMIT: Final = 220
#: In characters. A first sentence that is shorter is followed by the next one.
_SHORT: Final = 40
#: An explanation that has fewer words of its own says what the subject says.
_NEW_WORDS: Final = 4
#: An explanation also needs this many new words that carry meaning, or half of its words that do, if that is less and
#: it does not repeat the subject.
_ENOUGH_MEANINGFUL: Final = 5
#: The first characters that forms of a word share.
_SAME: Final = 5
#: The share of the subject's words from which an explanation only says the same at more length.
_MOST: Final = 0.6
#: The fewest words that count as a repetition: a verb with its object.
_REPEATED: Final = 3

_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n\s*")
_HEADING: Final = late(r"#{1,6}[ \t]+(.*)")
#: Headings of asides: the problem before the change, its tests, the procedure.
_ASIDE: Final = late(
    r"\b(?:problems?|issues?|background|motivation|context|cause|why|before|tests?|testing|verif\w+|validat\w+|check\w*"
    r"|review\w*|todo|related|links?|references|scope|documentation|docs|dependenc\w+|chores?|follow-?ups?|limitations?)\b",
    re.IGNORECASE,
)
_FENCED: Final = late(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_ITEM: Final = late(r"[ \t]*[-*+][ \t]+(?=\S)")
_NEXT_ITEM: Final = late(r"\n[ \t]*[-*+][ \t]+")
_SENTENCE_END: Final = late(rf"(?<=[.!?]){NOT_ABBREVIATED}[ \t]+(?=[A-Z`\"“])")
#: Words with which no subject ends: its author wrapped the line. What follows is no item of a list, and no trailer.
_GOES_ON: Final = (
    " a", " an", " and", " as", " for", " from", " into", " of", " or", " that", " the", " to", " when", " with",
)  # fmt: skip
_CONTINUED: Final = late(r"(?![\w-]+: |BREAKING CHANGE\b)[\w`\"'(]")
# No explanations: trailers, references, orders to the code host, links, markup, talk about the work itself.
_NO_EXPLANATION: Final = late(
    r"\A[\w-]+: |\A[\w-]+\([^)]*\)!?: |\A(?:close|fix|resolve)[sd]?(?:es|ed)?:? +#|\b(?:ref|refs|see) +#|#[0-9]"
    r"|https?:|www\.|[<>|\[\]{}]|\*\*|__|~~|\A[-=*_]{3,}"
    r"|\A(?:co-authored-|discovered |found |reported |signed-off-)by\b"
    r"|\b(?:this|the) (?:pr|pull request|commit|patch|mr|merge request|branch|change ?set)\b"
    r"|\bGH-[0-9]|\Aadd(?:s|ed)? (?:[\w-]+ ){0,3}tests?\b|\blet['\u2019]s\b"
    r"|\b(?:I|I'm|I've|I'll|my|me|we|we're|we've|our|us|TODO|FIXME|WIP)\b",
    re.IGNORECASE,
)
#: The beginnings of sentences that describe a change, in lower case. Other sentences may describe the earlier fault.
_DOES: Final = re.compile(
    r"(?:this (?:change )?)?(?:[a-z]+ly )?(?:accept|add|adjust|align|allow|avoid|bring|centrali[sz]e|change"
    r"|clarif(?:y|ie)|consolidate|convert|correct|create|deprecate|detect|disable|drop|enable|enhance|ensure|expose|extend|extract|fix|handle|harden"
    r"|hide|implement|improve|include|increase|integrate|introduce|keep|let|limit|make|migrate|move|normali[sz]e|optimi[sz]e"
    r"|pass|preserve|prevent|provide|raise|reduce|refactor|register|reject|remove|rename|replace|report|resolve|restore"
    r"|return|reuse|set|show|simplif(?:y|ie)|skip|speed|stop|store|strip|support|surface|switch|track|unif(?:y|ie)|update"
    r"|upgrade|use|validate|verif(?:y|ie)|wire|wrap)(?:s|es|d|ed)?\b"
)
_NOW: Final = late(r"[^.]*\bnow\b")
_BEFORE: Final = late(r"\b(?:currently|at the moment|previously|today)\b", re.IGNORECASE)
#: Where the messages of a squashed branch or trailers begin: nothing from there on is an explanation.
_SQUASHED: Final = re.compile(
    r"\n(?:\* .*|-{3,}[ \t]*|[A-Z][A-Za-z]*-[A-Za-z-]+: .*|- (?:[a-z]+(?:\([^)\n]*\))?!?: .*"
    r"|(?i:add|bump|change|fix|make|merge|move|refactor|remove|rename|revert|update|use|wip)\b.*))$",
    re.MULTILINE,
)
_CODE: Final = late(r"`[^`]*`")
_WORD: Final = late(r"[^\W_]{2,}")
#: Words that carry no meaning of their own, beside the verbs of changes.
_EMPTY: Final = """
    about after all also an and any are as at be been before both but by can correctly could did do does each for from
    has have if in into is it its may more no not now of on only or properly so such than that the their them then there
    these they this those to via was were when where which while will with would you your
"""
_EMPTY_WORDS: Final = frozenset(_EMPTY.split())


def whole_subject(first_line: str, body: str) -> tuple[str, str]:
    """Return a subject as one line although its author wrapped it, and the rest of the body."""
    if not first_line.endswith(_GOES_ON) or _CONTINUED.match(body) is None:
        return first_line, body
    lines = body.split("\n")
    own = list(takewhile(_CONTINUED.match, lines))
    subject, more = first_sentence(" ".join([first_line, *" ".join(own).split()]))
    return subject, "\n".join([more, *lines[len(own) :]]).lstrip("\n")


def explanation(text: str, subject: str = "") -> str:
    """Return the first sentences of a text in Markdown that explain something, and more than ``subject`` does."""
    aside = False
    body = text[:_READ].replace("\r\n", "\n")
    if "```" in body or "~~~" in body:
        body = _FENCED.sub("", body)
    if squashed := _SQUASHED.search(f"\n{body}"):
        body = body[: max(0, squashed.start() - 1)]
    for block in _BLANK_LINE.split(body):
        paragraph = block.strip()
        if paragraph[:1] == "#" and (heading := _HEADING.match(paragraph)):
            aside = _ASIDE.search(heading[1]) is not None
            paragraph = paragraph.partition("\n")[2].strip()
        if not aside and (sentences := _sentences(paragraph)) and _adds_information(sentences, subject):
            return sentences
    return ""


def _sentences(paragraph: str) -> str:
    if item := _ITEM.match(paragraph):
        paragraph = _NEXT_ITEM.split(paragraph[item.end() :])[0]
    elif _NEXT_ITEM.search(paragraph):
        paragraph = paragraph[: paragraph.index("\n")] if paragraph.partition("\n")[0].endswith(".") else ""
    line = " ".join(paragraph.split())
    if not _does(line):
        return ""
    sentences = ""
    for part in _SENTENCE_END.split(masked_line(line, _READ)):
        if not (sentences or _does(part)) or not _is_printable(part):
            break
        sentences = f"{sentences} {part}" if sentences else part
        if len(sentences) >= _SHORT:
            break
    return sentence(with_period(sentences)) if sentences else ""


def _does(text: str) -> bool:
    line = lowered(text)
    return _DOES.match(line) is not None or ("now" in line and _NOW.match(line) is not None)


def _is_printable(part: str) -> bool:
    return (
        len(part) <= _SENTENCE_LIMIT
        and not part.endswith((":", ";", ",", "…", "-"))
        and part.count("`") % 2 == 0
        and part.count("(") == part.count(")")
        and HIDDEN_ADDRESS not in part
        and _NO_EXPLANATION.search(_CODE.sub("", part)) is None
        and _BEFORE.search(part) is None
    )


def _adds_information(sentences: str, subject: str) -> bool:
    # A plural or another form of a word of the subject is no new one.
    before, line = _WORD.findall(subject.casefold()), _WORD.findall(sentences.casefold())
    prefixes, words = {word[:_SAME] for word in before}, set(line)
    new = {word for word in words if word[:_SAME] not in prefixes}
    meaningful = {word for word in words if word not in _EMPTY_WORDS and not _DOES.fullmatch(word)}
    # "Add a lid" and "This adds a lid" have the same object.
    repeats = len(before) >= _REPEATED and f" {' '.join(before[1:])} " in f" {' '.join(line)} "
    enough = _ENOUGH_MEANINGFUL if repeats else min(_ENOUGH_MEANINGFUL, len(meaningful) / 2)
    return len(new) >= _NEW_WORDS and len(new & meaningful) >= enough


def restates(sentences: str, subject: str) -> bool:
    """Return whether an explanation repeats the beginning and most words of the subject: "Adds a lid to pots"."""
    before, line = _WORD.findall(subject.casefold()), _WORD.findall(sentences.casefold())
    prefixes = [word[:_SAME] for word in line]
    meaningful = [word[:_SAME] for word in before if word not in _EMPTY_WORDS]
    repeated = sum(word in prefixes for word in meaningful)
    return prefixes[:1] == meaningful[:1] and repeated >= _MOST * len(meaningful)


#: The last characters of a message, which are searched for trailers. Code hosts cut far below.
_FOOTERS_READ: Final = 16_384
_BREAKING: Final = late(r"(BREAKING[ -]CHANGE)(?::(?: +|$)| (?=#))(.*)")
BREAKING_TOKENS: Final = frozenset({"BREAKING CHANGE", "BREAKING-CHANGE"})
_FOOTER: Final = late(r"([A-Za-z][A-Za-z0-9-]*)(?:: +| (?=#))(.*)")
#: Breaking changes in a body: ``BREAKING CHANGE: x``, ``**Breaking**: x``, ``[breaking] x``, ``## Breaking changes``,
#: ``Breaking changes:``, ``Is this a breaking change? Yes, x``, ``| BC breaks? | yes |``. Code hosts put the messages
#: of a branch into the body of its merge.
_NOTE: Final = late(
    r"^[ \t>]{0,12}(?:[-*|][ \t]{1,4})?(?P<heading>\#{1,6}[ \t]{1,4})?(?:[*_`]|(?P<bracket>[\[(])|:\w{1,20}:"
    r"|[\u26a0\ufe0f\U0001f4a5]){0,6}[ \t]{0,4}"
    r"(?:(?P<asks>is|are|does|do)\b[^\n?]{1,60}?\b(?:an?|any) )?"
    r"(?:(?:api|bc|user[ -]facing|potentially)[ -])?(?:breaking(?:[ -](?:api[ -])?changes?)?|bc[ -]breaks?"
    r"|backwards?[ -]incompatib(?:le changes?|ilit(?:y|ies)))"
    r"(?P<end>[\])]:?|[*_`]{0,3}(?P<question>\?)[*_`]{0,3}[ \t]*[:|]?"
    r"|[*_`]{0,3}[ \t]*(?::[*_`]{0,3}|[*_`]{0,3}(?=$|\n)))[ \t]*(?P<text>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
#: Answers that nothing breaks, and forms that are not filled in.
_NO_NOTE: Final = late(
    r"\W*(?:none|no|nope|n/?a|nil|false|nothing|not|never|there (?:is|are) no|tbd|todo)(?!\w)|[ \t]*[-*] \[ ?\]|\W*\Z",
    re.IGNORECASE,
)
_YES: Final = late(r"(?!\W*\[ ?\])\W*(?:x\W+)?yes\b(?!\s*(?:/|\||or\b)\s*no\b)[\s:.,;-]*", re.IGNORECASE)
_COMMENT: Final = late(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TICKED: Final = late(
    r"breaking changes?\?\W*(?:[-*] \[ ?\] no\s*)?[-*] \[x\] yes\b|^[ \t]*[-*] \[x\] \W*(?:this (?:is"
    r"|introduces) )?(?:a )?breaking\b(?: changes?\b)?"
    r"(?!(?: changes?)? (?:are|is|have|has|document|note|\w+ed\b))",
    re.MULTILINE | re.IGNORECASE,
)
_BREAKING_SENTENCE: Final = late(
    r"\b(?:this|which|it|that|pr|commit|patch|change)s? (?:change )?(?:(?:is|are|introduces?|contains?"
    r"|constitutes?) (?:technically |also )?"
    r"(?:a |an |some )?(?:\w+ly )?(?:breaking|backwards?[- ]incompatible|(?:api|bc)[- ]break\w*)(?: api)?(?: change)?"
    r"|breaks (?:backwards?|api|bc|binary|source)[ -](?:compat\w*)?)\b(?![^.\n]*\?)",
    re.IGNORECASE,
)
#: A squashed commit with a breaking type: ``* feat(x)!: y``.
_SQUASHED_BREAK: Final = late(r"^[ \t]*[-*] [a-z]{2,12}(?:\([^()\n]{1,40}\))?!: +(?P<text>\S[^\n]*)$", re.MULTILINE)
_NOTE_ENDS: Final = late(r"[ \t]*(?:$|[-*+#|][ \t]|---|===|[A-Za-z][A-Za-z-]*: |BREAKING[ -]CHANGE|\* )")
_NOTES_READ: Final = 10


@final
class Footer(Struct, frozen=True, kw_only=True, gc=False):
    #: As written; tokens are compared without regard to case, except the breaking one.
    token: str
    value: str


def breaking_notes(body: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether a body announces breaking changes, and its notes about them."""
    lower = body.lower()
    if not ("break" in lower or "ncompatib" in lower or "!:" in lower):
        # Each of the patterns needs one of these texts.
        return False, ()
    body = _COMMENT.sub("", body)
    notes: list[str] = []
    for match in _NOTE.finditer(body):
        # A bracket or a bold word inside a sentence is no note.
        if match["bracket"] and not match["end"].startswith(("]", ")")):
            continue
        if match["asks"] and not match["question"]:
            continue
        notes += _note(match, body)
        if len(notes) >= _NOTES_READ:
            break
    notes += [match["text"] for match in _SQUASHED_BREAK.finditer(body)][: _NOTES_READ - len(notes)]
    announced = bool(notes) or _TICKED.search(body) is not None or _BREAKING_SENTENCE.search(body) is not None
    return announced, tuple(filter(None, notes))


def _note(match: "re.Match[str]", body: str) -> list[str]:
    lines = [match["text"]]
    items: list[str] = []
    for line in body[match.end() + 1 : match.end() + 2_000].split("\n"):
        if len(lines) > _NOTES_READ or len(items) >= _NOTES_READ:
            break
        if not any(lines) and (item := _ITEM.match(line)) and (match["heading"] or not match["text"]):
            items.append(line[item.end() :].strip())
        elif items and (not line.strip() or line[:1] in " \t"):
            items[-1] = f"{items[-1]} {line.strip()}".strip()
        elif items or (_NOTE_ENDS.match(line) and any(lines)) or line[:1] == "#":
            break
        else:
            lines.append(line.strip())
    notes = [each for each in items if not each.startswith("[ ]")] if items else [" ".join(lines).strip()]
    if not notes or _NO_NOTE.match(notes[0]) or (match["question"] and not _YES.match(notes[0])):
        return []
    # A form with "Breaking change? Yes" may add a text.
    return [_YES.sub("", each, count=1).rstrip(" |") for each in notes]


def footers_of(message: str) -> tuple[Footer, ...]:
    """Return the trailer block: the last paragraphs, as far as each begins with a token."""
    # The first paragraph is the subject, or what the cut left of a paragraph.
    paragraphs = _BLANK_LINE.split(message[-_FOOTERS_READ:].replace("\r\n", "\n").strip())[1:]
    block: list[str] = []
    for paragraph in reversed(paragraphs):
        if not _footer(paragraph.partition("\n")[0]):
            break
        block.append(paragraph)
    footers: list[tuple[str, list[str]]] = []
    for paragraph in reversed(block):
        for line in paragraph.split("\n"):
            if match := _footer(line):
                footers.append((match[1], [match[2]]))
            else:
                # Rule 10: a value goes on until the next token.
                footers[-1][1].append(line.strip())
    return tuple(Footer(token=token, value="\n".join(lines).strip()) for token, lines in footers)


def _footer(line: str) -> re.Match[str] | None:
    return _BREAKING.match(line) or _FOOTER.match(line)
