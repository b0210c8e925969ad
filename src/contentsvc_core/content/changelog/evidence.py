"""The evidence about a change: its words, and the tables that they may match."""

import re
from typing import Final, final

from msgspec import Struct

from contentsvc_core.content.changelog import critical, patterns, words
from contentsvc_core.content.changelog.paths import Touched
from contentsvc_core.content.changelog.read import CommitMessage
from contentsvc_core.content.changelog.tables import Table, tables_of
from contentsvc_core.content.sections import Section
from contentsvc_core.on_demand import late

_WORD: Final = late(r"[\w'\u2019+-]+")
#: Verbs of two words, by the verb of the table that has their meaning.
_TWO_WORDS: Final = late(
    r"(?:(?P<ensure>(?:make|be) sure)|(?P<workaround>work(?:s|ed)? around)|(?P<backout>back(?:ed)? out)"
    r"|(?P<add>addition of)|(?P<deprecate>deprecation of)|(?P<introduce>introduction of)|(?P<remove>removal of))\b",
    re.IGNORECASE,
)
_FIRST_OF_TWO: Final = frozenset({
    "addition", "back", "backed", "be", "deprecation", "introduction", "make", "removal", "work", "worked", "works",
})  # fmt: skip
#: Adverbs and clauses before a verb.
_BEFORE_VERBS: Final = late(r"(?:\w+ly|se) (?=\w)|(?:for|if|in|when|while|with) [^,]{1,60}, (?=\w)", re.IGNORECASE)
_FIRST_OF_CLAUSES: Final = frozenset({"for", "if", "in", "se", "when", "while", "with"})
#: Not names in capitals: macros, and variables of the environment.
_PRIVATE_NAME: Final = late(r"(?:^|[\s`(])_(?!_|[A-Z0-9_]+\b)\w+(?:\.py)?\b|\b\w+\._(?!_)\w+")

#: Clauses about circumstances, and tests that come with the change.
_ASIDE: Final = late(
    r" (?:after|because|before|if|so|that|unless|until|when|where|which|while)\b.*"
    r"| (?:and|&|\+) (?:add|adds|added|extend|improve|its|their|update) (?:\S+ ){0,3}(?:tests?|specs?)\b.*",
    re.IGNORECASE,
)

#: The evidence that rules need, beside the tables of :func:`tables_of`.
ANY, BREAKS, MERGES, UNDOES, DOT, PRIVATE, FOREIGN = (1 << shift for shift in range(48, 55))
_MARKS: Final = (BREAKS, UNDOES, MERGES, DOT, PRIVATE)
VERB, REMOVES, DEPRECATES, TAKES_AWAY, TIDIES = (1 << shift for shift in range(55, 60))
_FIRST_WORDS: Final = (
    (VERB, words.VERBS.keys()),
    (REMOVES, {word for word, section in words.VERBS.items() if section is Section.REMOVED}),
    (DEPRECATES, {word for word, section in words.VERBS.items() if section is Section.DEPRECATED}),
    (TAKES_AWAY, critical.REMOVING.split()),
    (TIDIES, words.INTERNAL_VERBS | words.DOCUMENTATION_VERBS),
)
_OF_FIRST_WORDS: Final = {
    word: sum(bit for bit, of in _FIRST_WORDS if word in of) for _, known in _FIRST_WORDS for word in known
}


@final
class Evidence(Struct, gc=False):
    message: CommitMessage
    touched: Touched
    text: str
    scope: str
    first: str
    bits: int
    found: set[str]

    @property
    def typed(self) -> Section | None:
        return typed_as(self.message.kind, self.message.sign)

    @property
    def verb(self) -> Section | None:
        return words.VERBS.get(self.first) or _of_last(self.text)

    def matches(self, table: Table, of: str | None = None) -> bool:
        """Return whether the words match a table; ``of``: fewer words than the description."""
        return bool(table.bit & self.bits) and table.search(self.text if of is None else of, self.found)

    def matches_apart(self, table: Table) -> bool:
        """Return whether the words match a table apart from clauses about circumstances."""
        return bool(table.bit & self.bits) and table.search(_ASIDE.sub("", self.text), self.found)

    @property
    def is_dependency(self) -> bool:
        return self.matches(patterns.DEPENDENCY, of=self.text.rstrip("."))

    @property
    def unnoticed(self) -> bool:
        return (
            any(map(self.matches, (critical.UNNOTICED, patterns.INTERNAL, patterns.DOCUMENTATION)))
            or self.names_private
        )

    @property
    def raises_compiler(self) -> bool:
        return critical.raises_compiler(self.scope, self.text)

    @property
    def names_private(self) -> bool:
        """Whether the words name something private of the code."""
        return self.scope.startswith("_") or ("_" in self.text and _PRIVATE_NAME.search(self.text) is not None)

    @property
    def breaks(self) -> bool:
        """Whether the words announce a breaking change, and do not mend one."""
        if not self.matches(critical.BREAKING):
            return False
        return critical.MENDS_BREAKING.match(self.text) is None or critical.MARKED.search(self.text) is not None


def typed_as(kind: str, sign: str) -> Section | None:
    typed = words.TYPES.get(kind)
    return typed if typed or kind or sign in words.VAGUE_SIGNS else words.GITMOJI.get(sign)


def evidence_of(message: CommitMessage, touched: Touched) -> Evidence:
    text = message.description
    bits, found = tables_of(text)
    if "`" in text:
        more, also = tables_of(text.replace("`", ""))
        bits |= more
        found |= also
    named = bits & patterns.THING.bit and patterns.THING.search(text, found)
    first = "" if named else _first(text)
    bits |= ANY | (_OF_FIRST_WORDS.get(first) or (VERB if _of_last(text) else 0))
    marks = (message.breaking, message.may_undo, message.subject[:1] in "Mm", "." in text, "_" in text)
    if True in marks:
        bits |= sum(bit for bit, marked in zip(_MARKS, marks, strict=True) if marked)
    bits |= FOREIGN * (not text.isascii())
    scope = message.scope.casefold() if message.scope else ""
    return Evidence(message, touched, text, scope, first, bits, found)


def _last(text: str) -> str:
    return text[text.rfind(" ") + 1 :].rstrip(".!").lower()


def _of_last(text: str) -> Section | None:
    """Return the section of the last word, or of the last one before a comma: "Ton repariert, wenn er fehlt"."""
    section = words.LAST_WORDS.get(_last(text))
    return section or (words.LAST_WORDS.get(_last(text.partition(",")[0])) if "," in text else None)


def _first(text: str) -> str:
    word = _word(text)
    if word in _FIRST_OF_TWO and (two := _TWO_WORDS.match(text)):
        return two.lastgroup or word
    may_be_before = word.endswith("ly") or word in _FIRST_OF_CLAUSES
    before = _BEFORE_VERBS.match(text) if may_be_before and word not in _OF_FIRST_WORDS else None
    verb = _word(text[before.end() :]) if before else ""
    return verb if verb in words.VERBS else word


def _word(text: str) -> str:
    word = text.partition(" ")[0]
    if not word.isalpha():
        match = _WORD.match(text.lstrip("`*_\"'"))
        word = match[0].replace("\u2019", "'") if match else ""
    return word.casefold()
