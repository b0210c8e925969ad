from contentsvc_core.content.phrases.phrasebook import (
    ENGLISH,
    PHRASEBOOKS,
    Count,
    Phrasebook,
    Toned,
    is_foreign,
    language_in,
    language_of,
    phrases_in,
)

__all__ = [
    "ENGLISH",
    "PHRASEBOOKS",
    "Count",
    "Phrasebook",
    "Toned",
    "is_foreign",
    "language_in",
    "language_of",
    "phrases_in",
]
