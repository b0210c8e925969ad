"""What the writers say in their own words, in each language that they speak."""

from contentsvc_core.content.phrases.phrasebook import ENGLISH, PHRASEBOOKS, Count, Phrasebook, Toned, phrases_in

__all__ = ["ENGLISH", "PHRASEBOOKS", "Count", "Phrasebook", "Toned", "phrases_in"]
