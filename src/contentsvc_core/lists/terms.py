"""Search terms: a document matches when it contains all of them."""

from collections.abc import Collection
from typing import Final, final

from contentsvc_core.lists.parameters import bad_query
from contentsvc_core.lists.words import query_words
from contentsvc_core.refusals import Refusal
from contentsvc_core.values import Value

#: The longest query, in characters.
QUERY_LIMIT: Final = 500
#: The most terms of a query.
TERMS_LIMIT: Final = 32
_MARKS: Final = "*-\"'"


@final
class Term(Value, frozen=True, kw_only=True):
    """One part of a query, between spaces. A part with inner punctuation, such as ``rate_limit``, has several words."""

    words: tuple[str, ...]
    #: Whether the last word is a prefix.
    is_prefix: bool = False
    is_excluded: bool = False

    def matches(self, words: Collection[str]) -> bool:
        *complete, last = self.words
        ends = any(word.startswith(last) for word in words) if self.is_prefix else last in words
        return (ends and all(word in words for word in complete)) is not self.is_excluded


def read_terms(text: str) -> tuple[Term, ...] | Refusal:
    """Read a query: ``word*`` is a prefix, ``-word`` excludes. A query of punctuation alone is an error."""
    if len(text) > QUERY_LIMIT:
        return bad_query("query", f"it has more than {QUERY_LIMIT} characters")
    terms = tuple(dict.fromkeys(term for part in text.split() if (term := _term(part)) is not None))
    if text.strip() and not terms:
        return bad_query("query", "it has no word, only signs")
    if len(terms) > TERMS_LIMIT:
        return bad_query("query", f"it has more than {TERMS_LIMIT} words")
    return terms


def _term(part: str) -> Term | None:
    words = query_words(part.strip(_MARKS))
    if not words:
        return None
    bare = part.strip("\"'")
    return Term(words=words, is_prefix=bare.endswith("*"), is_excluded=bare.startswith("-"))
