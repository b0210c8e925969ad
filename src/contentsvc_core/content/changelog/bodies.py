"""The author's own prose: one or two whole sentences of a commit's body, or nothing."""

import re
from typing import Final

from contentsvc_core.content.changelog.wording import HIDDEN_ADDRESS, masked_line, sentence, with_period

_READ: Final = 4_000
_SENTENCE_LIMIT: Final = 220
#: A first sentence that is shorter is followed by the next one.
_SHORT: Final = 40
#: An explanation that has fewer words of its own says what the subject says.
_NEW_WORDS: Final = 4

_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.*)")
#: Headings of asides: the problem before the change, its tests, the procedure.
_ASIDE: Final = re.compile(
    r"\b(?:problems?|issues?|background|motivation|context|cause|why|before|tests?|testing|verif\w+|validat\w+|check\w*"
    r"|review\w*|todo|related|links?|references|scope|documentation|docs|dependenc\w+|chores?|follow-?ups?|limitations?)\b",
    re.IGNORECASE,
)
_FENCED: Final = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_ITEM: Final = re.compile(r"[-*+][ \t]+")
_NEXT_ITEM: Final = re.compile(r"\n[ \t]*[-*+][ \t]+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z`\"“])")
_ABBREVIATED: Final = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|incl)\.\Z", re.IGNORECASE)
#: The longest abbreviation and the sign before it, in characters.
_ABBREVIATION: Final = 8
# No explanations: trailers, references, orders to the code host, links, markup, talk about the work itself.
_NO_EXPLANATION: Final = re.compile(
    r"\A[\w-]+: |\A[\w-]+\([^)]*\)!?: |\A(?:close|fix|resolve)[sd]?(?:es|ed)?:? +#|\b(?:ref|refs|see) +#|#[0-9]"
    r"|https?:|www\.|[<>|\[\]{}]|\*\*|__|~~|\A[-=*_]{3,}|\A(?:co-authored|signed-off)-by"
    r"|\b(?:this|the) (?:pr|pull request|commit|patch|mr|merge request|branch|change ?set)\b"
    r"|\b(?:I|I'm|I've|I'll|my|me|we|we're|we've|our|us|TODO|FIXME|WIP)\b",
    re.IGNORECASE,
)
#: The beginnings of sentences that describe a change. Other sentences may describe the earlier fault.
_DOES: Final = re.compile(
    r"(?:this (?:change )?)?(?:[a-z]+ly )?(?:accept|add|adjust|align|allow|avoid|bring|centrali[sz]e|change"
    r"|clarif(?:y|ie)|consolidate|convert|correct|create|deprecate|detect|disable|drop|enable|enhance|ensure|expose|extend|extract|fix|handle|harden"
    r"|hide|implement|improve|include|increase|integrate|introduce|keep|let|limit|make|migrate|move|normali[sz]e|optimi[sz]e"
    r"|pass|preserve|prevent|provide|raise|reduce|refactor|register|reject|remove|rename|replace|report|resolve|restore"
    r"|return|reuse|set|show|simplif(?:y|ie)|skip|speed|stop|store|strip|support|surface|switch|track|unif(?:y|ie)|update"
    r"|upgrade|use|validate|verif(?:y|ie)|wire|wrap)(?:s|es|d|ed)?\b|[^.]*\bnow\b",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"\b(?:currently|at the moment|previously|today)\b", re.IGNORECASE)
#: Where the messages of a squashed branch or trailers begin: nothing from there on is an explanation.
_SQUASHED: Final = re.compile(
    r"\* .*|-{3,}[ \t]*|[A-Z][A-Za-z]*-[A-Za-z-]+: .*|- (?:[a-z]+(?:\([^)\n]*\))?!?: .*"
    r"|(?i:add|bump|change|fix|make|merge|move|refactor|remove|rename|revert|update|use|wip)\b.*)"
)
_CODE: Final = re.compile(r"`[^`]*`")
_WORD: Final = re.compile(r"[^\W_]{2,}")


def explanation(text: str, said: str = "") -> str:
    """Return the first sentences of a text in Markdown that explain something, and more than ``said`` does."""
    aside = False
    body = text[:_READ].replace("\r\n", "\n")
    if "```" in body or "~~~" in body:
        body = _FENCED.sub("", body)
    lines = body.split("\n")
    end = next((place for place, line in enumerate(lines) if _SQUASHED.fullmatch(line)), len(lines))
    for block in _BLANK_LINE.split("\n".join(lines[:end])):
        paragraph = block.strip()
        if heading := _HEADING.match(paragraph):
            aside = _ASIDE.search(heading[1]) is not None
            paragraph = paragraph.partition("\n")[2].strip()
        if not aside and (found := _sentences(paragraph)) and _adds(found, said):
            return found
    return ""


def _sentences(paragraph: str) -> str:
    if item := _ITEM.match(paragraph):
        paragraph = _NEXT_ITEM.split(paragraph[item.end() :])[0]
    elif _NEXT_ITEM.search(paragraph):
        # The text before a list introduces the list, and says little alone.
        paragraph = paragraph[: paragraph.index("\n")] if paragraph.partition("\n")[0].endswith(".") else ""
    line = masked_line(paragraph, _READ)
    found = ""
    for part in _parts(line):
        if not (found or _DOES.match(part)) or not _is_printable(part):
            break
        found = f"{found} {part}" if found else part
        if len(found) >= _SHORT:
            break
    if not found:
        return ""
    return sentence(with_period(found))


def _parts(line: str) -> list[str]:
    parts: list[list[str]] = []
    for piece in _SENTENCE_END.split(line):
        if parts and _ABBREVIATED.search(parts[-1][-1][-_ABBREVIATION:]):
            parts[-1].append(piece)
        else:
            parts.append([piece])
    return [" ".join(pieces) for pieces in parts]


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


def _adds(found: str, said: str) -> bool:
    words = {word.casefold() for word in _WORD.findall(found)}
    # A plural or another form of a word that was said is no new one.
    known = {word.casefold()[:5] for word in _WORD.findall(said)}
    new = {word for word in words if word[:5] not in known}
    return len(new) >= _NEW_WORDS
