"""Addresses of pages of a repository at its code host."""

from typing import Final
from urllib.parse import quote

from contentsvc_core.text import storable

#: The code host's own bound for the name of a ref, in characters.
_TAG_LINKED: Final = 255


def compare_url(before: str | None, after: str, base: str | None) -> str | None:
    """Return the page with what lies between two tags; ``None`` if a tag or the repository's address is unknown."""
    tags = (before or "", after)
    if base is None or not all(tags) or tags[0] == tags[1] or any(len(tag) > _TAG_LINKED for tag in tags):
        return None
    return f"{base}/compare/{'...'.join(quote(storable(tag), safe='') for tag in tags)}"
