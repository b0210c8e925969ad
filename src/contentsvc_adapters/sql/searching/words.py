"""The full-text index: FTS5 in SQLite, ``tsvector`` in PostgreSQL.

The core supplies the words: letters, digits and non-ASCII characters, which neither database splits, folds or drops.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final, Protocol, TypeAlias

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Connection, Text, bindparam, literal_column, text

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema.searching import search_documents
from contentsvc_core.lists.terms import Term
from contentsvc_core.search.documents import DocumentKind

#: The prefix of the word that names organization and kind: a private-use character, which no text contains.
_SCOPE_MARK: Final = "\ue000"

Indexed: TypeAlias = tuple[int, Sequence[str]]


class WordIndex(Protocol):
    def store(self, connection: Connection, documents: Sequence[Indexed]) -> None: ...

    def drop(self, connection: Connection, documents: Sequence[int]) -> None: ...

    def found(self, scope: str, terms: Sequence[Term]) -> ColumnElement[bool]: ...


def scope_word(organization_id: str, kind: DocumentKind) -> str:
    return _SCOPE_MARK + blake2b(f"{kind.value} {organization_id}".encode(), digest_size=12).hexdigest()


def word_index(database: Database) -> WordIndex:
    return _Fts5() if database.dialect.is_sqlite else _Tsvector()


class _Fts5:
    """SQLite's index. Its tokenizer ``ascii`` forms words of ASCII letters, digits and all non-ASCII characters."""

    _DROP: Final = text("DELETE FROM search_words WHERE rowid = :id")
    _STORE: Final = text("INSERT INTO search_words (rowid, words) VALUES (:id, :words)")

    def store(self, connection: Connection, documents: Sequence[Indexed]) -> None:
        self.drop(connection, [id_ for id_, _ in documents])
        rows: list[dict[str, Any]] = [{"id": id_, "words": " ".join(words)} for id_, words in documents]
        if rows:
            connection.execute(self._STORE, rows)

    def drop(self, connection: Connection, documents: Sequence[int]) -> None:
        if documents:
            connection.execute(self._DROP, [{"id": id_} for id_ in documents])

    def found(self, scope: str, terms: Sequence[Term]) -> ColumnElement[bool]:
        required = " AND ".join([f'"{scope}"', *(_fts5(term) for term in terms if not term.is_excluded)])
        unwanted = " OR ".join(_fts5(term) for term in terms if term.is_excluded)
        expression = f"({required}) NOT ({unwanted})" if unwanted else required
        matches = text("SELECT rowid FROM search_words WHERE search_words MATCH :asked").bindparams(asked=expression)
        return search_documents.c.id.in_(matches.columns(literal_column("rowid")))


class _Tsvector:
    """PostgreSQL's index, from an array of words: its dictionaries and parsers are not used."""

    # One statement for all documents: if the driver has to cancel a batch of statements, it waits forever.
    _STORE: Final = text(
        "INSERT INTO search_words (id, words) "
        "SELECT id, array_to_tsvector(string_to_array(words, ' ')) FROM unnest(:ids, :words) AS given (id, words) "
        "ON CONFLICT (id) DO UPDATE SET words = excluded.words"
    ).bindparams(bindparam("ids", type_=ARRAY(BigInteger)), bindparam("words", type_=ARRAY(Text)))
    _DROP: Final = text("DELETE FROM search_words WHERE id = ANY (:ids)").bindparams(
        bindparam("ids", type_=ARRAY(BigInteger))
    )

    def store(self, connection: Connection, documents: Sequence[Indexed]) -> None:
        if documents:
            ids, words = [id_ for id_, _ in documents], [" ".join(words) for _, words in documents]
            connection.execute(self._STORE, {"ids": ids, "words": words})

    def drop(self, connection: Connection, documents: Sequence[int]) -> None:
        if documents:
            connection.execute(self._DROP, {"ids": list(documents)})

    def found(self, scope: str, terms: Sequence[Term]) -> ColumnElement[bool]:
        expression = " & ".join([f"'{scope}'", *(_tsquery(term) for term in terms)])
        matches = text("SELECT id FROM search_words WHERE words @@ CAST(:asked AS tsquery)").bindparams(
            asked=expression
        )
        return search_documents.c.id.in_(matches.columns(literal_column("id")))


def _fts5(term: Term) -> str:
    # FTS5 does not interpret a quoted word.
    words = [f'"{word}"' for word in term.words]
    return f"({' AND '.join(words)}{' *' if term.is_prefix else ''})"


def _tsquery(term: Term) -> str:
    words = [f"'{word}'" for word in term.words]
    return f"{'!' if term.is_excluded else ''}({' & '.join(words)}{':*' if term.is_prefix else ''})"
