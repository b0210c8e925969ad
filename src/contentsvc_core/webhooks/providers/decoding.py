"""Decodes bodies of deliveries, and names the first fault in the sender's terms."""

from typing import Final, TypeVar

import msgspec

from contentsvc_core.on_demand import late

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


def decode(body: bytes, decoder: "msgspec.json.Decoder[_T]") -> _T:
    """Decode a body, or raise :class:`Malformed`."""
    body = body.removeprefix(_BOM)
    # The decoder does not check the encoding of skipped strings.
    if not body.isascii() and (at := _misencoded_at(body)) is not None:
        message = f"the body is not UTF-8 (byte {at})"
        raise Malformed(message)
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as exc:
        raise Malformed(_fault(str(exc))) from exc
    except RecursionError as exc:
        message = "the body is nested too deep"
        raise Malformed(message) from exc
    except (msgspec.MsgspecError, ValueError, OverflowError) as exc:
        message = f"the body is not valid JSON ({str(exc).removeprefix('JSON is malformed: ')})"
        raise Malformed(message) from exc


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


# The decoder's messages, e.g. "Expected `str`, got `int` - at `$.commits[0].id`"; the tests pin each one.
_AT: Final = late(r" - at `\$\.?(?P<path>.*)`$")
_WRONG_TYPE: Final = late(r"^Expected `(?P<wanted>[^`]*)`, got")
_TOO_LONG: Final = late(r"^Expected `array` of length <= (?P<most>\d+)")
_MISSING: Final = late(r"^Object missing required field `(?P<field>[^`]*)`")
_TYPES: Final = {
    "str": "a string",
    "int": "an integer",
    "bool": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def _fault(message: str) -> str:
    at = _AT.search(message)
    path = at["path"] if at else ""
    if missing := _MISSING.match(message):
        return f"{path}.{missing['field']} is missing" if path else f"{missing['field']} is missing"
    subject = path or "the body"
    if too_long := _TOO_LONG.match(message):
        return f"{subject} must hold at most {too_long['most']} items"
    if wrong := _WRONG_TYPE.match(message):
        expected = " or ".join(_TYPES.get(name, name) for name in wrong["wanted"].split(" | "))
        return f"{subject} must be {expected}"
    return f"{subject} is out of range"
