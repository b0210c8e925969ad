"""The index of words: FTS5 in SQLite, ``tsvector`` in PostgreSQL, both with words that the core has made.

A word has letters and digits alone, and what is not ASCII is a letter to both: nothing is parted, folded or left out.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final, Protocol, TypeAlias, final

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Connection, Text, bindparam, literal_column, text

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.dialects import Sqlite
from contentsvc_adapters.sql.schema import search_documents
from contentsvc_core.search.documents import DocumentKind
from contentsvc_core.search.terms import Term

#: Begins the word that says whose and of what kind a document is: for private use, so that no text's word has it.
_OURS: Final = "\ue000"

#: A document's number in the index, and its words.
Indexed: TypeAlias = tuple[int, Sequence[str]]


class WordIndex(Protocol):
    """Which documents have which words."""

    def keep(self, connection: Connection, documents: Sequence[Indexed]) -> None:
        """Write the words of documents in the place of those that they had."""
        ...

    def drop(self, connection: Connection, documents: Sequence[int]) -> None:
        """Forget documents."""
        ...

    def found(self, scope: str, terms: Sequence[Term]) -> ColumnElement[bool]:
        """Give the condition that a document of ``scope`` is found by all terms."""
        ...


def scope_word(organization_id: str, kind: DocumentKind) -> str:
    """Give the word that all documents of one kind of one organization have, and no others."""
    return _OURS + blake2b(f"{kind.value} {organization_id}".encode(), digest_size=12).hexdigest()


def word_index(database: Database) -> WordIndex:
    """Give the index of a database."""
    return _Fts5() if isinstance(database.dialect, Sqlite) else _Tsvector()


@final
class _Fts5:
    """SQLite's, with the tokenizer ``ascii``: letters are ASCII's letters and digits, and all that is not ASCII."""

    _DROP: Final = text("DELETE FROM search_words WHERE rowid = :id")
    _KEEP: Final = text("INSERT INTO search_words (rowid, words) VALUES (:id, :words)")

    def keep(self, connection: Connection, documents: Sequence[Indexed]) -> None:
        self.drop(connection, [id_ for id_, _ in documents])
        rows: list[dict[str, Any]] = [{"id": id_, "words": " ".join(words)} for id_, words in documents]
        if rows:
            connection.execute(self._KEEP, rows)

    def drop(self, connection: Connection, documents: Sequence[int]) -> None:
        if documents:
            connection.execute(self._DROP, [{"id": id_} for id_ in documents])

    def found(self, scope: str, terms: Sequence[Term]) -> ColumnElement[bool]:
        wanted = " AND ".join([f'"{scope}"', *(_fts5(term) for term in terms if not term.is_excluded)])
        unwanted = " OR ".join(_fts5(term) for term in terms if term.is_excluded)
        asked = f"({wanted}) NOT ({unwanted})" if unwanted else wanted
        found = text("SELECT rowid FROM search_words WHERE search_words MATCH :asked").bindparams(asked=asked)
        return search_documents.c.id.in_(found.columns(literal_column("rowid")))


@final
class _Tsvector:
    """PostgreSQL's, from an array of words: none of its dictionaries and parsers has a say."""

    # One statement for all of them: of many that are sent at once, the driver waits for ever when it has to give up.
    _KEEP: Final = text(
        "INSERT INTO search_words (id, words) "
        "SELECT id, array_to_tsvector(string_to_array(words, ' ')) FROM unnest(:ids, :words) AS given (id, words) "
        "ON CONFLICT (id) DO UPDATE SET words = excluded.words"
    ).bindparams(bindparam("ids", type_=ARRAY(BigInteger)), bindparam("words", type_=ARRAY(Text)))
    _DROP: Final = text("DELETE FROM search_words WHERE id = ANY (:ids)").bindparams(
        bindparam("ids", type_=ARRAY(BigInteger))
    )

    def keep(self, connection: Connection, documents: Sequence[Indexed]) -> None:
        if documents:
            ids, words = [id_ for id_, _ in documents], [" ".join(words) for _, words in documents]
            connection.execute(self._KEEP, {"ids": ids, "words": words})

    def drop(self, connection: Connection, documents: Sequence[int]) -> None:
        if documents:
            connection.execute(self._DROP, {"ids": list(documents)})

    def found(self, scope: str, terms: Sequence[Term]) -> ColumnElement[bool]:
        asked = " & ".join([f"'{scope}'", *(_tsquery(term) for term in terms)])
        found = text("SELECT id FROM search_words WHERE words @@ CAST(:asked AS tsquery)").bindparams(asked=asked)
        return search_documents.c.id.in_(found.columns(literal_column("id")))


def _fts5(term: Term) -> str:
    # In quotes, a word is a word, whatever FTS5 would read in it.
    words = [f'"{word}"' for word in term.words]
    return f"({' AND '.join(words)}{' *' if term.is_prefix else ''})"


def _tsquery(term: Term) -> str:
    words = [f"'{word}'" for word in term.words]
    return f"{'!' if term.is_excluded else ''}({' & '.join(words)}{':*' if term.is_prefix else ''})"
