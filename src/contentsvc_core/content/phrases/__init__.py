from contentsvc_core.content.phrases.phrasebook import ENGLISH, PHRASEBOOKS, Count, Phrasebook, Toned, phrases_in

__all__ = ["ENGLISH", "PHRASEBOOKS", "Count", "Phrasebook", "Toned", "phrases_in"]
