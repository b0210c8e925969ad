"""The checks of native bodies before they are parsed."""

import re
from typing import Final
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contentsvc_core.webhooks.providers import decoding
from contentsvc_core.webhooks.providers.decoding import Malformed
from contentsvc_core.webhooks.providers.native import read_object

#: Characters of one to four bytes, and lone surrogates.
_BITS: Final = st.sampled_from(
    [
        b"a",
        "é".encode(),
        "灯".encode(),
        "🗼".encode(),
        b"\x80",
        b"\xff",
        b"\xc3",
        b"\xe7\x81",
        b"\xf0\x9f\x97",
        b"\xed\xa0\x80",
    ]
)


def whole(body: bytes) -> int | None:
    """Find the first byte that is not UTF-8 by decoding at once."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as exc:
        return exc.start
    return None


@given(st.lists(_BITS).map(b"".join), st.integers(1, 9))
@example(b"\x80" * 20, 4)
@example("🗼".encode() * 9, 1)
def test_decoding_in_pieces_finds_the_same_invalid_byte(body: bytes, piece: int) -> None:
    # Pieces that are smaller than real ones, so that each ends within a character.
    with patch.object(decoding, "_PIECE", piece + 3), pytest.raises(Malformed) as raised:
        read_object(body)
    match = re.search(r"not UTF-8 \(byte (\d+)\)", str(raised.value))
    assert (match and int(match[1])) == whole(body)


def test_the_place_of_the_fault_is_counted_from_the_bodys_beginning() -> None:
    with patch.object(decoding, "_PIECE", 4), pytest.raises(Malformed, match=r"not UTF-8 \(byte 21\)"):
        read_object('{"skipped": "🗼🗼'.encode() + b'\x80"}' + b" " * 9)
