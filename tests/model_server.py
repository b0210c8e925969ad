"""A server of OpenAI's chat completions on loopback, with scripted answers.

It has no model: a test sets each answer, including faults.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any, Final, final

from attrs import field, frozen

#: Writes one answer to a connection, which is then closed; the event is set when the server ends.
Answer = Callable[[asyncio.StreamWriter, asyncio.Event], Awaitable[None]]
EVENTS: Final = "text/event-stream"


@final
@frozen(kw_only=True)
class ReceivedRequest:
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    question: dict[str, Any]

    def message(self, role: str) -> str:
        (content,) = [each["content"] for each in self.question["messages"] if each["role"] == role]
        return str(content)


@final
@frozen(kw_only=True)
class ModelServer:
    """The running server."""

    url: str
    #: The requests so far.
    requests: list[ReceivedRequest] = field(factory=list)


def _head(status: int, content_type: str, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} x", f"Content-Type: {content_type}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode()


def sent(*pieces: bytes, status: int = 200, content_type: str = EVENTS, **headers: str) -> Answer:
    """Answer with pieces of bytes, then close the connection."""

    async def answer(writer: asyncio.StreamWriter, _ending: asyncio.Event) -> None:
        writer.write(_head(status, content_type, headers))
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return answer


def event(content: str | None, finish: str | None = None, **delta: object) -> bytes:
    """Return an event of a stream."""
    choice = {"index": 0, "delta": {"content": content} | delta, "finish_reason": finish}
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"


DONE: Final = b"data: [DONE]\n\n"


def streamed(text: str) -> Answer:
    """Answer with a complete stream of events, with some characters in each, and the usual extras."""
    parts = [text[at : at + 7] for at in range(0, len(text), 7)]
    return sent(
        b": keep alive\n\n",
        event("", role="assistant"),
        *(event(part) for part in parts),
        event(None, "stop"),
        b'data: {"choices": [], "usage": {"total_tokens": 3}}\r\n\r\n',
        DONE,
    )


def whole(text: str, *, finish: str = "stop", **message: object) -> Answer:
    """Answer without a stream."""
    body = {"choices": [{"index": 0, "message": {"content": text} | message, "finish_reason": finish}]}
    return sent(json.dumps(body).encode(), content_type="application/json")


def refused(status: int, error: object = None, **headers: str) -> Answer:
    """Answer with a refusal."""
    return sent(json.dumps({"error": error}).encode(), status=status, content_type="application/json", **headers)


def silent_after(*pieces: bytes) -> Answer:
    """Answer with some pieces, then keep the connection open."""

    async def answer(writer: asyncio.StreamWriter, ending: asyncio.Event) -> None:
        await sent(*pieces)(writer, ending)
        await ending.wait()

    return answer


def slow(pieces: Iterable[bytes], *, pause_s: float) -> Answer:
    async def answer(writer: asyncio.StreamWriter, ending: asyncio.Event) -> None:
        await sent()(writer, ending)
        for piece in pieces:
            await asyncio.sleep(pause_s)
            writer.write(piece)
            await writer.drain()

    return answer


async def hung_up(writer: asyncio.StreamWriter, _ending: asyncio.Event) -> None:
    """Close the connection without an answer."""
    writer.transport.abort()


@contextlib.asynccontextmanager
async def model_server(*answers: Answer) -> AsyncGenerator[ModelServer]:
    """Serve ``answers``, one for each request; the last one is repeated."""
    ending = asyncio.Event()
    requests: list[ReceivedRequest] = []
    working: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        working.add(task)
        # The client may have disconnected during an answer.
        with contextlib.suppress(ConnectionError):
            requests.append(await _read(reader))
            await answers[min(len(requests), len(answers)) - 1](writer, ending)
            writer.close()
            await writer.wait_closed()
        working.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield ModelServer(url=f"http://127.0.0.1:{port}/v1", requests=requests)
    finally:
        ending.set()
        server.close()
        await asyncio.gather(*working)


async def _read(reader: asyncio.StreamReader) -> ReceivedRequest:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers["content-length"]))
    return ReceivedRequest(method=method, path=path, headers=headers, question=json.loads(body))
