"""Recorded deliveries: one JSON object per line, ``{"event", "delivery", "body"}``, or ``bodyBase64``."""

import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, final

import msgspec
from attrs import Attribute, field, frozen

from contentsvc_core.identifiers import is_delivery_id
from contentsvc_core.refusals import validation_fault

if TYPE_CHECKING:
    from contentsvc_core.webhooks.providers import Provider

STANDARD_INPUT: Final = "-"
#: Maximum length of a line, in bytes: the largest body, 25 MiB, in Base64, with a margin. A file that is not a
#: recording may be one very long line.
MAX_LINE: Final = 64 * 1024 * 1024

#: The longest delivery id, in characters; an event kind has no longer one.
_LONGEST_HEADER: Final = 255
_BOM: Final = b"\xef\xbb\xbf"


class BadRecording(Exception):
    """A recording that cannot be read; the message names the file, the line and the fault."""


def _is_header_value(_: object, attribute: "Attribute[str]", value: str) -> None:
    # Both travel in headers. The kinds of some code hosts have spaces between their words.
    parts = value.split(" ") if attribute.name == "event" else [value]
    if len(value) > _LONGEST_HEADER or not all(is_delivery_id(part) for part in parts):
        message = f"`{attribute.name}` must be 1 to {_LONGEST_HEADER} visible ASCII characters"
        raise ValueError(message)


@final
@frozen(kw_only=True)
class RecordedDelivery:
    event: str = field(validator=_is_header_value)
    delivery: str = field(validator=_is_header_value)
    body: bytes = field(repr=False)


class _Line(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One line; unknown fields are ignored, so that recorders may add their own."""

    event: str
    delivery: str
    #: Raw JSON, so that large numbers and repeated keys are sent unchanged; empty: absent.
    body: msgspec.Raw = msgspec.Raw()
    body_base64: bytes | None = msgspec.field(name="bodyBase64", default=None)


_LINES: Final = msgspec.json.Decoder(_Line)
_ANY_JSON: Final = msgspec.json.Decoder(msgspec.Raw)


def read_recording(path: str | Path) -> Generator[RecordedDelivery]:
    """Yield the deliveries of a recording; ``-`` is standard input. ``BadRecording`` comes after the earlier lines."""
    if str(path) == STANDARD_INPUT:
        yield from read_lines(sys.stdin.buffer, "standard input")
        return
    try:
        with Path(path).open("rb") as lines:
            yield from read_lines(lines, str(path))
    except OSError as exc:
        message = f"{path}: {exc.strerror or exc}"
        raise BadRecording(message) from exc


def read_lines(lines: BinaryIO, name: str) -> Iterator[RecordedDelivery]:
    """Yield deliveries from ``lines``; errors call the source ``name``. Empty lines are skipped."""
    number = 0
    try:
        # Split at line feeds only, as bytes: JSON strings may contain other line separators.
        while line := lines.readline(MAX_LINE + 1):
            number += 1
            text = line.removeprefix(_BOM) if number == 1 else line
            if text.strip():
                yield _delivery(text)
    except (OSError, ValueError) as exc:
        fault = exc.strerror if isinstance(exc, OSError) else str(exc)
        message = f"{name}, line {number or 1}: {fault}"
        raise BadRecording(message) from exc


def line_of(delivery: RecordedDelivery) -> bytes:
    """Return the line of a ``delivery``, with its line feed, for :func:`read_lines`."""
    try:
        plain = delivery.body == _compact(delivery.body)
    except ValueError:
        plain = False
    line = (
        _Line(event=delivery.event, delivery=delivery.delivery, body=msgspec.Raw(delivery.body))
        if plain
        else _Line(event=delivery.event, delivery=delivery.delivery, body_base64=delivery.body)
    )
    return msgspec.json.encode(line) + b"\n"


def headers_for(delivery: RecordedDelivery, provider: "Provider", secret: str) -> list[tuple[str, str]]:
    return [
        *provider.headers(delivery.event, delivery.delivery, delivery.body, secret).items(),
        ("Content-Type", "application/json"),
        ("User-Agent", _user_agent()),
    ]


@cache
def _user_agent() -> str:
    from importlib.metadata import version  # noqa: PLC0415  # it imports e-mail; most recordings are not sent

    return f"contentsvc/{version('contentsvc')}"


def _delivery(text: bytes) -> RecordedDelivery:
    if len(text) > MAX_LINE:
        message = f"the line is longer than {MAX_LINE // 1024**2} MiB"
        raise ValueError(message)
    try:
        # The decoder does not check the encoding of raw values.
        text.decode("utf-8")
        line = _LINES.decode(text)
    except UnicodeDecodeError as exc:
        message = f"not UTF-8 (byte {exc.start + 1})"
        raise ValueError(message) from exc
    except RecursionError as exc:
        message = "the body is nested too deep"
        raise ValueError(message) from exc
    except msgspec.ValidationError as exc:
        path, fault = validation_fault(str(exc))
        message = f"{f'`{path}`' if path else 'the line'} {fault}"
        raise ValueError(message) from exc
    written = bytes(line.body)
    if bool(written) == (line.body_base64 is not None):
        message = "exactly one of `body` and `bodyBase64` is needed"
        raise ValueError(message)
    body = _compact(written) if line.body_base64 is None else line.body_base64
    return RecordedDelivery(event=line.event, delivery=line.delivery, body=body)


def _compact(json: bytes) -> bytes:
    json.decode("utf-8")
    try:
        return msgspec.json.format(_ANY_JSON.decode(json), indent=-1)
    except RecursionError as exc:
        message = "nested too deep"
        raise ValueError(message) from exc
