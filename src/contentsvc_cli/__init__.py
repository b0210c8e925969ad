"""The command ``contentsvc``."""
