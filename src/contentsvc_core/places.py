"""Places in lists, as clients read them and give them back: when something was made, in milliseconds, and its id."""

import re
from typing import Final

from contentsvc_core.identifiers import is_own_id
from contentsvc_core.insights import Place
from contentsvc_core.timestamps import from_ms, to_ms

#: Fourteen digits end before the last year that a calendar of four digits holds.
_WRITTEN: Final = re.compile(r"(?P<ms>[0-9]{1,14})_(?P<id>.+)", re.ASCII)
#: Where a list begins that nothing stands in yet: everything is newer.
BEGINNING: Final = Place(created_at=from_ms(0), id="0")


def written_place(place: Place) -> str:
    """Spell a place."""
    return f"{to_ms(place.created_at)}_{place.id}"


def read_place(text: str) -> Place | None:
    """Read a place; ``None``: it is none."""
    found = _WRITTEN.fullmatch(text)
    if found is None or not is_own_id(found["id"]):
        return None
    return Place(created_at=from_ms(int(found["ms"])), id=found["id"])
