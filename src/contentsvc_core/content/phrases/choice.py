"""Which language a brand identity asks for."""

import re
from typing import Final

from contentsvc_core.content.phrases.english import ENGLISH
from contentsvc_core.content.phrases.french import FRENCH
from contentsvc_core.content.phrases.german import GERMAN
from contentsvc_core.content.phrases.phrasebook import Phrasebook
from contentsvc_core.content.phrases.spanish import SPANISH

#: Each language by its English name.
PHRASEBOOKS: Final = {"English": ENGLISH, "French": FRENCH, "German": GERMAN, "Spanish": SPANISH}
_NAMES: Final = {
    "de": GERMAN, "deutsch": GERMAN, "german": GERMAN,
    "en": ENGLISH, "english": ENGLISH,
    "fr": FRENCH, "francais": FRENCH, "français": FRENCH, "french": FRENCH,
    "es": SPANISH, "castellano": SPANISH, "espanol": SPANISH, "español": SPANISH, "spanish": SPANISH,
}  # fmt: skip
_FIRST_WORD: Final = re.compile(r"[^\W\d_]+")


def phrases_in(language: str | None) -> Phrasebook:
    """Find the phrases for a language by its name or code (``German``, ``Deutsch``, ``de-AT``); else English."""
    found = _FIRST_WORD.search((language or "")[:64].casefold())
    return _NAMES.get(found[0], ENGLISH) if found else ENGLISH
