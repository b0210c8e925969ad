"""One line of foreign text: line breaks become spaces, spaces are single, and no character is hidden."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contentsvc_core.text import has_controls, one_line, storable

TEXT = st.text(st.sampled_from("ab é\u00a0\u2003\u200b\u202e\t\n\x00\x85\ud800\ufeff ") | st.characters(), max_size=12)


@given(TEXT)
@example("a  b")
@example(" a")
@example("a ")
@example("so\u00adft")
@example("plain words, as nearly always")
def test_a_short_text_keeps_its_words_and_nothing_else(text: str) -> None:
    words = "".join(" " if has_controls(char) else char for char in storable(text.replace("\u00ad", ""))).split()

    assert one_line(text, 100) == " ".join(words)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("abcde", "abcde"),
        ("abcdef", "abcd…"),
        ("abc def", "abc…"),
        ("a\nbcd", "a bcd"),
        ("a\nbcdef", "a bc…"),
        ("ab\n\ncdef", "ab c…"),
        ("abc\ndef", "abc…"),
        # Of a longer text, only eight times the limit is read.
        ("a" + " " * 38 + "b", "a b"),
        ("a" + " " * 39 + "b", "a"),
    ],
)
def test_a_long_text_is_cut_at_its_limit(text: str, line: str) -> None:
    assert one_line(text, 5) == line
