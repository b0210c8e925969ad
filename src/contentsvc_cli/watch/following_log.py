from collections.abc import Sequence
from datetime import timedelta
from typing import Final, final

from contentsvc_core.journal import ListedEntry, LogStatus
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.ports import ReadModel
from contentsvc_core.read_model import LogSearch

EVERY_S: Final = 0.5
#: Entries may become visible out of order: they were written concurrently, or by nodes with different clocks. So each
#: poll starts a little before the last cursor, and sometimes well before it.
_SHORTLY: Final = timedelta(seconds=2)
_LONG: Final = timedelta(seconds=20)
_LONG_EVERY: Final = 20
_PAGE: Final = 500


@final
class LogFollower:
    def __init__(self, read_model: ReadModel, organization_id: str, search: LogSearch, *, page: int = _PAGE) -> None:
        self._read_model = read_model
        self._organization_id = organization_id
        self._search = search
        self._page = page
        #: Cursor of the newest entry, matching or not. Only late entries can appear before it.
        self._newest: Cursor | None = None
        self._shown: dict[str, tuple[Cursor, LogStatus]] = {}
        self._polls = 0

    async def start(self, earlier: int) -> Sequence[ListedEntry]:
        """Return the newest existing entries, oldest first. Later calls return newer entries."""
        self._newest = await self._find_newest()
        if self._newest is None:
            return ()
        first = await self._log(earlier) if earlier else []
        for entry in [*first, *await self._since(self._newest, _LONG)]:
            self._note(entry)
        return first[::-1]

    async def new(self) -> Sequence[ListedEntry]:
        newest = await self._find_newest()
        self._polls += 1
        far = self._polls % _LONG_EVERY == 0
        entries = await self._since(self._newest, _LONG if far else _SHORTLY)
        fresh = [entry for entry in entries if self._shown.get(entry.id, (None, None))[1] is not entry.status]
        for entry in fresh:
            self._note(entry)
        # Set at the end: after a failure, the next poll begins at the same cursor.
        self._newest = newest
        if far and newest is not None:
            kept = newest.created_at - 2 * _LONG
            self._shown = {id_: shown for id_, shown in self._shown.items() if shown[0].created_at >= kept}
        return fresh

    def _note(self, entry: ListedEntry) -> None:
        self._shown[entry.id] = (Cursor.of(entry), entry.status)

    async def _find_newest(self) -> Cursor | None:
        newest = await self._read_model.log(self._organization_id, LogSearch(), limit=1)
        return Cursor.of(newest[0]) if newest else None

    async def _since(self, place: Cursor | None, before: timedelta) -> list[ListedEntry]:
        after = None if place is None else Cursor(created_at=place.created_at - before, id="")
        entries: list[ListedEntry] = []
        page: Sequence[ListedEntry] = ()
        while not entries or len(page) == self._page:
            end = Cursor.of(page[-1]) if page else None
            page = await self._log(self._page, before=end, after=after)
            if not page:
                break
            entries += page
        return entries[::-1]

    async def _log(self, limit: int, *, before: Cursor | None = None, after: Cursor | None = None) -> list[ListedEntry]:
        entries = await self._read_model.log(
            self._organization_id, self._search, limit=limit, before=before, after=after
        )
        return list(entries)
