import re
from datetime import datetime
from typing import Final, Protocol, Self, final

from contentsvc_core.identifiers import is_own_id
from contentsvc_core.on_demand import late
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.values import Value

#: Fourteen digits end before the year 9999.
_WRITTEN: Final = late(r"(?P<ms>[0-9]{1,14})_(?P<id>.+)", re.ASCII)


class _Listed(Protocol):
    @property
    def created_at(self) -> datetime: ...

    @property
    def id(self) -> str: ...


@final
class Cursor(Value, frozen=True, kw_only=True, order=True):
    """A position in a list that is sorted by a time and then by id."""

    at: datetime
    id: str

    @classmethod
    def of(cls, listed: _Listed) -> Self:
        return cls(at=listed.created_at, id=listed.id)


BEGINNING: Final = Cursor(at=from_ms(0), id="0")


def written_cursor(cursor: Cursor) -> str:
    return f"{to_ms(cursor.at)}_{cursor.id}"


def read_cursor(text: str) -> Cursor | None:
    """Read a cursor; ``None``: the text is no cursor."""
    match = _WRITTEN.fullmatch(text)
    if match is None or not is_own_id(match["id"]):
        return None
    return Cursor(at=from_ms(int(match["ms"])), id=match["id"])
