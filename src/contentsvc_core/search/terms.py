"""What somebody searches for: words, all of which have to be there."""

from collections.abc import Collection
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.content.queries import InvalidQuery
from contentsvc_core.search.words import asked_words

#: How long a question may be, in characters.
QUERY_LIMIT: Final = 500
#: How many terms it may have.
TERMS_LIMIT: Final = 32
_MARKS: Final = "*-\"'"


@final
@frozen(kw_only=True)
class Term:
    """One part of a question, between spaces; what has inner signs, such as ``rate_limit``, has several words."""

    #: All of them have to be there; never empty.
    words: tuple[str, ...] = field(converter=tuple)
    #: The last word may go on.
    is_prefix: bool = False
    #: What has it is not looked for.
    is_excluded: bool = False

    def holds(self, words: Collection[str]) -> bool:
        """Tell whether a document of these words is found by this term."""
        *whole, last = self.words
        ends = any(word.startswith(last) for word in words) if self.is_prefix else last in words
        return (ends and all(word in words for word in whole)) is not self.is_excluded


def read_terms(text: str) -> tuple[Term, ...] | InvalidQuery:
    """Read a question: words with spaces between them, ``word*`` for a beginning, ``-word`` for what is not wanted.

    An empty text asks for nothing, and finds everything. What has signs alone is an error, and so is a question that
    is too long; quotes mean nothing.
    """
    if len(text) > QUERY_LIMIT:
        return InvalidQuery(error=f"Invalid query: it has more than {QUERY_LIMIT} characters")
    terms = tuple(dict.fromkeys(term for part in text.split() if (term := _term(part)) is not None))
    if text.strip() and not terms:
        return InvalidQuery(error="Invalid query: it has no word, only signs")
    if len(terms) > TERMS_LIMIT:
        return InvalidQuery(error=f"Invalid query: it has more than {TERMS_LIMIT} words")
    return terms


def _term(part: str) -> Term | None:
    words = asked_words(part.strip(_MARKS))
    if not words:
        return None
    bare = part.strip("\"'")
    return Term(words=words, is_prefix=bare.endswith("*"), is_excluded=bare.startswith("-"))
