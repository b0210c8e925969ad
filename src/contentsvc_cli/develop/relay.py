"""Deliveries from a relay such as smee.io: a stream of server-sent events, one for each delivery."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from http import HTTPStatus
from typing import Final, final

import httpx
import msgspec
from attrs import frozen

from contentsvc_cli.develop.recordings import MAX_LINE
from contentsvc_core.text import one_line
from contentsvc_http.wiring.tls import authorities, failure_reason

#: The longest silence of a stream, in seconds: smee.io sends a comment or a ping every 30 seconds.
_SILENCE_S: Final = 90.0
_CONNECT_S: Final = 10.0
#: The first and the longest pause before a new connection, in seconds.
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 30.0
#: Statuses of a relay that is busy: a timeout and a rate limit.
_LATER: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
#: Headers of the connection between the code host and the relay, of the relay itself, and of other services' secrets.
_NOT_FORWARDED: Final = frozenset(
    {
        *("host", "connection", "content-length", "transfer-encoding", "content-encoding", "accept-encoding", "te"),
        *("keep-alive", "upgrade", "trailer", "expect", "proxy-authorization", "authorization", "cookie", "forwarded"),
        *("body", "query", "timestamp"),
    }
)
_FORM: Final = "application/x-www-form-urlencoded"
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXTS: Final = msgspec.json.Decoder(dict[str, str])


@final
@frozen(kw_only=True)
class RelayedDelivery:
    headers: tuple[tuple[str, str], ...]
    #: The relay's text of the body, byte for byte. It is the body of the code host only if that was compact JSON.
    body: bytes

    def header(self, *endings: str) -> str:
        """Return the first header whose name ends with one of these texts; empty without one."""
        return next((value for name, value in self.headers if name.endswith(endings)), "")


def read_event(data: bytes) -> RelayedDelivery | None:
    """Return the delivery of an event; ``None``: no delivery. The body keeps its bytes, because they are signed."""
    try:
        fields = _FIELDS.decode(data)
    except (ValueError, RecursionError):
        return None
    if "body" not in fields:
        return None
    headers: list[tuple[str, str]] = []
    for name, raw in fields.items():
        text = bytes(raw)
        if name.lower() not in _NOT_FORWARDED and text.startswith(b'"'):
            try:
                value = msgspec.json.decode(text, type=str)
            except ValueError:
                # No UTF-8: one such event must not end the command.
                continue
            if value.isascii() and value.isprintable() and name.isascii() and name.replace("-", "").isalnum():
                headers.append((name.lower(), value))
    kind = next((value for name, value in headers if name == "content-type"), "")
    return RelayedDelivery(headers=tuple(headers), body=_body(bytes(fields["body"]), kind))


def _body(raw: bytes, content_type: str) -> bytes:
    if content_type.partition(";")[0].strip().lower() != _FORM:
        return raw
    from urllib.parse import urlencode  # noqa: PLC0415  # a code host that sends forms

    try:
        return urlencode(_TEXTS.decode(raw)).encode()
    except ValueError:
        return raw


async def events(lines: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Yield the data of each server-sent event (WHATWG HTML, section 9.2); pings and comments have none."""
    data: list[bytes] = []
    size = 0
    kind = b""
    async for line in lines:
        if not line:
            if data and kind in {b"", b"message"}:
                yield b"\n".join(data)
            data, size, kind = [], 0, b""
            continue
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            size += len(value)
            if size > MAX_LINE:
                message = f"an event is larger than {MAX_LINE // 1024**2} MiB"
                raise ValueError(message)
            data.append(value)
        elif name == b"event":
            kind = value


async def lines_of(parts: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Yield the lines of a stream without their ends: line feed, carriage return, or both."""
    begun: list[bytes] = []
    size = 0
    after_return = False
    async for part in parts:
        # This line feed belongs to the carriage return before it, whose line has been returned.
        new = part.removeprefix(b"\n") if after_return else part
        after_return = new.endswith(b"\r")
        first, *others = new.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        begun.append(first)
        size += len(first)
        if size > MAX_LINE:
            message = f"a line is larger than {MAX_LINE // 1024**2} MiB"
            raise ValueError(message)
        if others:
            yield b"".join(begun)
            for line in others[:-1]:
                yield line
            begun, size = [others[-1]], len(others[-1])


async def relayed(url: str, report: Callable[[str], None]) -> AsyncGenerator[RelayedDelivery]:
    """Yield deliveries from a relay, without an end. Deliveries are lost while a broken connection is opened again."""
    pause = _FIRST_PAUSE_S
    timeout = httpx.Timeout(_SILENCE_S, connect=_CONNECT_S)
    verify = authorities(httpx.URL(url).scheme)
    async with httpx.AsyncClient(timeout=timeout, verify=verify, follow_redirects=False) as client:
        while True:
            try:
                async with client.stream("GET", url, headers={"Accept": "text/event-stream"}) as answer:
                    if (answer.is_client_error and answer.status_code not in _LATER) or answer.is_redirect:
                        message = f"{url} answers with {answer.status_code}: is this the URL of a channel?"
                        raise ValueError(message)
                    kind = answer.headers.get("Content-Type", "")
                    if answer.is_success and not kind.startswith("text/event-stream"):
                        message = f"{url} is not a relay: it sends '{one_line(kind, 64)}', not server-sent events"
                        raise ValueError(message)
                    answer.raise_for_status()
                    report(f"listening to {url}")
                    async for data in events(lines_of(answer.aiter_raw())):
                        pause = _FIRST_PAUSE_S
                        if (delivery := read_event(data)) is not None:
                            yield delivery
                fault = "the relay has closed the connection"
            except httpx.HTTPError as exc:
                fault = one_line(failure_reason(exc), 300)
            report(f"{fault}; connecting again in {pause:.0f} s")
            await asyncio.sleep(pause * random.uniform(0.8, 1))  # noqa: S311  # jitter, no secret
            pause = min(2 * pause, _LONGEST_PAUSE_S)
