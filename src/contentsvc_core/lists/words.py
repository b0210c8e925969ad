"""Tokenizes texts into the words that searches match: databases would split and compare them differently."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from contentsvc_core.on_demand import late
from contentsvc_core.text import compatible

#: The longest word, in characters; the rest of a longer word is cut off.
WORD_LIMIT: Final = 64
#: The searched part of a document, in characters from its beginning.
TEXT_LIMIT: Final = 2_000_000
#: The size of all words of one document, in bytes; PostgreSQL's ``tsvector`` holds 1 MiB.
BYTES_LIMIT: Final = 400_000
#: Replaces the dots in a version's word. The code point is for private use: no word of a text contains it.
_DOT: Final = "\ue001"

_TOKEN: Final = late(r"[^\W_]+")
#: Scripts that write no spaces: each of their characters is a word.
_UNSPACED: Final = late(
    "([\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff])"
)
#: The parts of a name like ``DeliveryStore`` or ``HTTPServer``.
_HUMP: Final = late(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VERSION: Final = late(r"(?<![\w.])v?([0-9]+(?:\.[0-9]+)+)(?![\w]|\.[0-9])", re.IGNORECASE | re.ASCII)


def words_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct words of a document, in the order of their first occurrence.

    Letters are compared without case, in their compatibility form (:func:`.text.compatible`). ``1.2.3`` is a word
    beside its numbers, and so is each part of ``DeliveryStore``. Of a large document, the beginning counts.
    """
    words: dict[str, None] = {}
    bytes_left, remaining = BYTES_LIMIT, TEXT_LIMIT
    for text in texts:
        for word in _words(text[:remaining]):
            if word not in words:
                bytes_left -= len(word.encode()) + 1
                if bytes_left < 0:
                    return tuple(words)
                words[word] = None
        remaining -= len(text)
        if remaining <= 0:
            break
    return tuple(words)


def query_words(text: str) -> tuple[str, ...]:
    """Return the words that a document must contain to match ``text``, which has no spaces."""
    normal = compatible(text)
    version = _VERSION.fullmatch(normal)
    return (_dotted(version[1]),) if version else tuple(dict.fromkeys(_plain(normal)))


def _words(text: str) -> Iterator[str]:
    normal = compatible(text)
    for version in _VERSION.finditer(normal):
        yield _dotted(version[1])
    for token in _TOKEN.findall(normal):
        if token.isascii():
            yield token.lower()[:WORD_LIMIT]
            if not token.islower() and not token.isupper() and not token.isdecimal():
                yield from _humps(token)
        else:
            yield from _foreign(token)


def _plain(normal: str) -> Iterator[str]:
    for token in _TOKEN.findall(normal):
        if token.isascii():
            yield token.lower()[:WORD_LIMIT]
        else:
            yield from _foreign(token)


def _foreign(token: str) -> Iterator[str]:
    for part in _UNSPACED.split(token):
        if part:
            yield part.casefold()[:WORD_LIMIT]


def _humps(token: str) -> Iterator[str]:
    parts = _HUMP.findall(token)
    if len(parts) > 1:
        for part in parts:
            # A single letter would match nearly every document.
            if len(part) > 1:
                yield part.lower()[:WORD_LIMIT]


def _dotted(version: str) -> str:
    return version.replace(".", _DOT)[:WORD_LIMIT]
