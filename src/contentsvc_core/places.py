"""The text form of cursors in lists: a creation time in milliseconds, and an id."""

import re
from typing import Final

from contentsvc_core.identifiers import is_own_id
from contentsvc_core.insights import Place
from contentsvc_core.timestamps import from_ms, to_ms

#: Fourteen digits end before the year 9999.
_WRITTEN: Final = re.compile(r"(?P<ms>[0-9]{1,14})_(?P<id>.+)", re.ASCII)
#: The cursor before an empty list: every item is newer.
BEGINNING: Final = Place(created_at=from_ms(0), id="0")


def written_place(place: Place) -> str:
    """Return the text form of a cursor."""
    return f"{to_ms(place.created_at)}_{place.id}"


def read_place(text: str) -> Place | None:
    """Read a cursor; ``None``: the text is no cursor."""
    found = _WRITTEN.fullmatch(text)
    if found is None or not is_own_id(found["id"]):
        return None
    return Place(created_at=from_ms(int(found["ms"])), id=found["id"])
