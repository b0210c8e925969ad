"""What the writers say in their own words, in each language that they speak."""

from contentsvc_core.content.phrases.choice import ENGLISH, PHRASEBOOKS, phrases_in
from contentsvc_core.content.phrases.phrasebook import Count, Phrasebook, Toned

__all__ = ["ENGLISH", "PHRASEBOOKS", "Count", "Phrasebook", "Toned", "phrases_in"]
