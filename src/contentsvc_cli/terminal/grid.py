from collections.abc import Generator, Mapping, Sequence
from typing import Final, final

from rich.text import Text

_GAP: Final = 2
#: Columns with longer single words, in cells, contain ids or addresses, which are not cut so that they can be copied.
_LONG_WORD: Final = 24
#: The minimum width of a text column before other columns are omitted for it, in cells: some three words.
_TEXT: Final = 20
#: The absolute minimum width of a text column, in cells.
_LEAST: Final = 8
_UTC: Final = " UTC"


@final
class Grid:
    def __init__(self, rows: Sequence[Mapping[str, Text]], columns: Sequence[str]) -> None:
        self._rows = rows
        self._columns = list(columns)
        self._heads = {column: column for column in columns}
        for column in columns:
            self._move_time_zone(column)
        self._widths = {column: self._natural(column) for column in columns}
        #: Columns that are printed beneath each row, with their names.
        self._beneath: list[str] = []

    def fit(self, width: int, optional: Sequence[str]) -> None:
        """Fit the table to ``width`` cells.

        Empty columns are omitted first, then optional ids. Other ids move beneath their rows. Then other ``optional``
        columns are omitted in the given order. Last, a short id moves beneath its row, and the rightmost columns are
        omitted. Remaining texts are cut.
        """
        if self._needed() <= width:
            return
        words = [column for column in self._columns if self._is_word(column)]
        self._leave_out([column for column in self._columns if not any(row[column].plain for row in self._rows)], width)
        self._leave_out([column for column in optional if column in words], width)
        if self._needed(_TEXT) > width:
            self._beneath = [column for column in self._columns if column in words]
            self._columns = [column for column in self._columns if column not in words]
        self._leave_out(optional, width)
        if "id" in self._columns[:-1] and self._needed(_LEAST) > width:
            # A state is more useful than an id.
            self._columns.remove("id")
            self._beneath.insert(0, "id")
        while len(self._columns) > 1 and self._needed(_LEAST) > width:
            self._columns.pop()
        while self._needed() > width:
            widest = max(filter(self._is_text, self._columns), key=lambda column: self._widths[column], default="")
            if not widest or self._widths[widest] <= _LEAST:
                break
            self._widths[widest] -= 1

    def lines(self) -> Generator[list[Text]]:
        """Yield the lines as cells: the header, then each row with its continuation lines."""
        yield [self._cut(Text(self._heads[column], style="bold"), column) for column in self._columns]
        label = max(map(len, self._beneath), default=0)
        for row in self._rows:
            yield [self._cut(row[column], column) for column in self._columns]
            for column in self._beneath:
                if row[column].plain:
                    yield [Text(f"  {column:{label}}", style="dim"), row[column]]

    def _leave_out(self, columns: Sequence[str], width: int) -> None:
        for column in columns:
            if self._needed(_TEXT) > width and column in self._columns and len(self._columns) > 1:
                self._columns.remove(column)

    def _move_time_zone(self, column: str) -> None:
        filled = [row[column] for row in self._rows if row[column].plain]
        if column.endswith("At") and filled and all(text.plain.endswith(_UTC) for text in filled):
            self._heads[column] = f"{column} (UTC)"
            for text in filled:
                text.right_crop(len(_UTC))

    def _natural(self, column: str) -> int:
        return max(len(self._heads[column]), *(row[column].cell_len for row in self._rows))

    def _needed(self, text: int | None = None) -> int:
        widths = [
            self._widths[column]
            if text is None or not self._is_text(column)
            else max(len(self._heads[column]), min(self._widths[column], text))
            for column in self._columns
        ]
        return sum(widths) + _GAP * (len(widths) - 1)

    def _is_text(self, column: str) -> bool:
        return any(" " in row[column].plain for row in self._rows) and not column.endswith("At")

    def _is_word(self, column: str) -> bool:
        return self._widths[column] > _LONG_WORD and not self._is_text(column)

    def _cut(self, text: Text, column: str) -> Text:
        text = text.copy()
        text.truncate(self._widths[column], overflow="ellipsis", pad=True)
        return text
