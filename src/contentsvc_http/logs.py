"""Structured logs on standard error, with a request id on every line of a request."""

import asyncio
import logging
import re
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from select import PIPE_BUF
from typing import Any, Final, Protocol, TextIO, TypeAlias, final

import msgspec
import structlog
import uuid_utils

from contentsvc_core.text import one_line
from contentsvc_http.asgi import ASGIApp, Message, Receive, Scope, Send
from contentsvc_http.errors import STOPPING

_PATH_LENGTH: Final = 500
REQUEST_ID_HEADER: Final = b"x-request-id"
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_NAME: Final = "contentsvc.http"
_LOG: Final = structlog.get_logger(_NAME)
_LOGGER: Final = logging.getLogger(_NAME)
_serving: Final[ContextVar[str | None]] = ContextVar("request_id", default=None)
#: Counts requests by their method, their route and their status, 0 if there was no answer; and their number.
AnswerObserver: TypeAlias = Callable[[str, str | None, int, int], None]
#: Id, method, path, status and duration in ms of a request, and its end in ns since the epoch.
_Line: TypeAlias = tuple[str, str, str, int, float, int]
_STATUS: Final = 3


class Answered(Protocol):
    """A request that was answered; the times are of :func:`time.perf_counter`."""

    request_id: str
    path: str
    status: int
    began_s: float
    ended_s: float


@contextmanager
def serving(request_id: str) -> Generator[None]:
    """Add the id of a request to every line that is logged meanwhile."""
    token = _serving.set(request_id)
    try:
        yield
    finally:
        _serving.reset(token)


def configure_logging(*, level: str, style: str, worker: int | None = None) -> None:
    """Configure logging of this service and its libraries to standard error.

    ``style`` ``auto`` is the console format on a terminal. The number ``worker`` of this process is added to each line.
    """

    def named(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if worker is not None:
            line["worker"] = worker
        return line

    for_people = style == "console" or (style == "auto" and sys.stderr.isatty())
    # Plain tracebacks: rich ones print local variables, which include keys, signatures and bodies.
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    renderer = console if for_people else structlog.processors.JSONRenderer(ensure_ascii=False)
    shared: list[Any] = [
        _with_request_id,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        named,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr) if for_people else _JsonLines(sys.stderr, worker=worker)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *([] if for_people else [structlog.processors.format_exc_info]),
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # RequestLog logs requests with their ids, so uvicorn's access log is redundant.
    logging.getLogger("uvicorn.access").disabled = True
    # The library logs invalid messages with their content.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    for chatty in ("httpx", "httpcore", "alembic", "uvicorn.error"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _with_request_id(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    request_id = _serving.get()
    if request_id is not None:
        line["request_id"] = request_id
    return line


class _JsonLines(logging.StreamHandler[TextIO]):
    """Handler for JSON lines that formats request lines by itself: structlog would take twenty times as long.

    Request lines of one turn of the event loop are written together at its end, or before any other line.
    """

    def __init__(self, stream: TextIO, *, worker: int | None) -> None:
        super().__init__(stream)
        ending = "" if worker is None else f', "worker": {worker}'
        self._end = f"{ending}}}\n"
        # Appended to by the event loop's thread, and emptied by any, under the lock.
        self._waiting: deque[_Line] = deque()
        self._is_due = False
        self._at_ns = 0
        self._timestamp = ""

    def requests(self, lines: Iterable[_Line]) -> None:
        self._waiting.extend(lines)
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._at_the_end_of_the_turn)

    def _rendered(self, line: _Line) -> str:
        request_id, method, path, status, ms, at_ns = line
        if at_ns != self._at_ns:
            second, ns = divmod(at_ns, 1_000_000_000)
            self._at_ns = at_ns
            self._timestamp = f"{datetime.fromtimestamp(second, UTC).isoformat()[:-6]}.{ns // 1000:06d}Z"
        quoted = _quoted_again(path) if len(path) <= _PATH_LENGTH else _quoted(one_line(path, _PATH_LENGTH))
        return (
            f'{{"method": {_quoted_again(method)}, "path": {quoted}, "status": {status}, "ms": {round(ms, 1)}, '
            f'"event": "request", "request_id": "{request_id}", "logger": "{_NAME}", "level": "info", '
            f'"timestamp": "{self._timestamp}"{self._end}'
        )

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write_waiting()
        except (OSError, ValueError):
            self.handleError(record)
        super().emit(record)

    def flush(self) -> None:
        self.acquire()
        try:
            self._write_waiting()
            super().flush()
        finally:
            self.release()

    def _at_the_end_of_the_turn(self) -> None:
        # Reset first, so that lines added during the flush schedule another one.
        self._is_due = False
        self.flush()

    def _write_waiting(self) -> None:
        lines = [self._rendered(self._waiting.popleft()) for _ in range(len(self._waiting))]
        if not lines:
            return
        # Write at most PIPE_BUF bytes per call, so that lines of several processes do not interleave in a pipe.
        together = max(1, PIPE_BUF // max(map(len, map(str.encode, lines))))
        for start in range(0, len(lines), together):
            if start:
                self.stream.flush()
            self.stream.write("".join(lines[start : start + together]))


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


@lru_cache(maxsize=512)
def _quoted_again(text: str) -> str:
    # Cached: code hosts send to few addresses.
    return _quoted(one_line(text, _PATH_LENGTH))


@final
class Requests:
    """Assigns request ids, logs one line for each request, and counts requests.

    A line has the path, and never a header, query or body, which may contain secrets.
    """

    def __init__(self, answered: AnswerObserver | None = None) -> None:
        self._answered = answered

    def begin(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the id of a request, and add it to every line logged in the current task."""
        request_id = self.id_of(headers)
        _serving.set(request_id)
        return request_id

    def id_of(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the client's request id if it is safe to log, else a new one."""
        for name, value in headers:
            if name == REQUEST_ID_HEADER and _REQUEST_ID.fullmatch(value):
                return value.decode("ascii")
        return str(uuid_utils.uuid7())

    def end(self, method: str, route: str | None, request_id: str, path: str, status: int, began_s: float) -> None:
        """Log and count a request.

        ``path`` is the path as received: mounted applications may change it in the scope. ``began_s`` is a time of
        :func:`time.perf_counter`.
        """
        line = (request_id, method, path, status, (time.perf_counter() - began_s) * 1000, time.time_ns())
        self._end(method, route, [line])

    def end_together(self, method: str, route: str, requests: Sequence[Answered]) -> None:
        """Log and count requests that were answered in one turn of the event loop."""
        now_ns = time.time_ns()
        lines = [(x.request_id, method, x.path, x.status, (x.ended_s - x.began_s) * 1000, now_ns) for x in requests]
        self._end(method, route, lines)

    def _end(self, method: str, route: str | None, lines: Sequence[_Line]) -> None:
        _log_requests(lines)
        if self._answered is not None:
            for status, number in Counter(line[_STATUS] for line in lines).items():
                self._answered(method, route, status, number)


@final
class RequestLog:
    """ASGI middleware that adds a request id to each response and logs one line for each request."""

    def __init__(self, app: ASGIApp, requests: Requests | None = None) -> None:
        self._app = app
        self._requests = requests or Requests()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        status = 0
        began_s = time.perf_counter()
        request_id = self._requests.begin(scope["headers"])

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (REQUEST_ID_HEADER, request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except asyncio.CancelledError:
            # The server stops. The request's work may still be committed, so the answer asks the client to try again.
            if status:
                raise
            # Not raised again: with the response sent, the exception would only be logged with a traceback.
            await send_unavailable(send_with_id)
        finally:
            # The framework notes which route it took.
            self._requests.end(scope["method"], scope.get("path_template"), request_id, path, status, began_s)


def _log_requests(lines: Sequence[_Line]) -> None:
    if not _LOGGER.isEnabledFor(logging.INFO):
        return
    match logging.root.handlers:
        case [_JsonLines() as handler]:
            handler.requests(lines)
        case _:
            for _, method, path, status, ms, _ in lines:
                _LOG.info("request", method=method, path=one_line(path, _PATH_LENGTH), status=status, ms=round(ms, 1))


async def send_unavailable(send: Send) -> None:
    """Send 503: the server stops, or cannot start."""
    body = msgspec.json.encode(STOPPING.body)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.lower().encode(), value.encode()) for name, value in STOPPING.headers.items()]
    await send({"type": "http.response.start", "status": STOPPING.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
