"""Cursors of lists, and their text form."""

from datetime import timedelta

import pytest

from contentsvc_core.lists.cursors import BEGINNING, Cursor, read_cursor, written_cursor
from contentsvc_core.testing import START


def test_a_cursor_is_read_as_it_was_written() -> None:
    cursor = Cursor(at=START + timedelta(milliseconds=7), id="log_1")

    assert written_cursor(cursor) == "1767225600007_log_1"
    assert read_cursor("1767225600007_log_1") == cursor
    assert read_cursor(written_cursor(BEGINNING)) == BEGINNING


@pytest.mark.parametrize("text", ["", "_", "1", "1_", "_log_1", "x_log_1", "-1_log_1", "1_a/b", "1_\u00f6", "٣_log_1"])
def test_an_invalid_cursor_is_not_read(text: str) -> None:
    assert read_cursor(text) is None
    assert read_cursor(f"{'9' * 14}_a") is not None
    assert read_cursor(f"{'9' * 15}_a") is None
