"""Decodes bodies of deliveries, and names the first fault in the sender's terms."""

from typing import Final, TypeVar

import msgspec

from contentsvc_core.refusals import validation_fault
from contentsvc_core.schemas import syntax_fault

_T = TypeVar("_T")

_BOM: Final = b"\xef\xbb\xbf"
#: The size of a piece of a body for decoding as text, in bytes; and the maximum number of bytes of a character.
_PIECE: Final = 1024 * 1024
_LONGEST: Final = 4
#: A byte 10xxxxxx continues a character (RFC 3629, section 3).
_HIGHEST_TWO: Final = 0b1100_0000
_GOES_ON: Final = 0b1000_0000


class Malformed(ValueError):
    """A body that cannot be read; the message names the first fault."""


def decode_body(body: bytes, decoder: "msgspec.json.Decoder[_T]") -> _T:
    """Return a body as ``decoder`` reads it; raise :class:`Malformed` with the first fault."""
    body = body.removeprefix(_BOM)
    # The decoder does not check the encoding of skipped strings.
    if not body.isascii() and (at := _misencoded_at(body)) is not None:
        message = f"the body is not UTF-8 (byte {at})"
        raise Malformed(message)
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as exc:
        path, fault = validation_fault(str(exc))
        message = f"{path or 'the body'} {fault}"
        raise Malformed(message) from exc
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as exc:
        raise Malformed(syntax_fault(body, exc)) from exc


def _misencoded_at(body: bytes) -> int | None:
    start = 0
    # In pieces: as one text, a large body would take up to four times its size.
    while start < len(body):
        end = _between_characters(body, start + _PIECE)
        try:
            body[start:end].decode("utf-8")
        except UnicodeDecodeError as exc:
            return start + exc.start
        start = end
    return None


def _between_characters(body: bytes, end: int) -> int:
    for at in range(end, end - _LONGEST, -1):
        if at >= len(body) or body[at] & _HIGHEST_TWO != _GOES_ON:
            return at
    # More continuation bytes in a row than any valid character has.
    return end
