"""Places in lists: clients keep them, and bring them back to where they were."""

from datetime import timedelta

import pytest

from contentsvc_core.insights import Place
from contentsvc_core.places import BEGINNING, read_place, written_place
from contentsvc_core.testing import START


def test_a_place_is_read_as_it_was_written() -> None:
    place = Place(created_at=START + timedelta(milliseconds=7), id="log_1")

    assert written_place(place) == "1767225600007_log_1"
    assert read_place("1767225600007_log_1") == place
    assert read_place(written_place(BEGINNING)) == BEGINNING


@pytest.mark.parametrize("text", ["", "_", "1", "1_", "_log_1", "x_log_1", "-1_log_1", "1_a/b", "1_\u00f6", "٣_log_1"])
def test_what_is_no_place_is_none(text: str) -> None:
    assert read_place(text) is None
    assert read_place(f"{'9' * 14}_a") is not None
    assert read_place(f"{'9' * 15}_a") is None
