"""The languages that the writers speak, each read from its file, and which one a brand identity asks for."""

import re
from pathlib import Path
from typing import Final

from msgspec import json

from contentsvc_core.content.phrases.phrasebook import Phrasebook


def _book(language: str) -> Phrasebook:
    file = Path(__file__).with_name(f"{language.lower()}.json")
    return json.decode(file.read_bytes(), type=Phrasebook)


#: Each language by its English name.
PHRASEBOOKS: Final = {name: _book(name) for name in ("English", "French", "German", "Spanish")}
ENGLISH: Final = PHRASEBOOKS["English"]
_NAMES: Final = {
    "German": ("de", "deutsch", "german"),
    "French": ("fr", "francais", "français", "french"),
    "Spanish": ("es", "castellano", "espanol", "español", "spanish"),
}
_FIRST_WORD: Final = re.compile(r"[^\W\d_]+")


def phrases_in(language: str | None) -> Phrasebook:
    """Return the phrases for a language by its name or code (``German``, ``Deutsch``, ``de-AT``); else English."""
    found = _FIRST_WORD.search((language or "")[:64].casefold())
    return next((PHRASEBOOKS[name] for name, asked in _NAMES.items() if found and found[0] in asked), ENGLISH)
