"""Log lines of requests in JSON: written together, in order, without a loss."""

import asyncio
import contextlib
import io
import json
import logging
from collections.abc import Generator
from select import PIPE_BUF
from typing import Any, cast

from contentsvc_http.logs import RequestLog, configure_logging


class Written(io.StringIO):
    """Records each write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str, /) -> int:
        self.writes.append(text)
        return len(text)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in "".join(self.writes).splitlines()]


@contextlib.contextmanager
def written_lines() -> Generator[Written]:
    """Redirect the log to a buffer. No fixture: until the test begins, pytest replaces its own handlers."""
    root = logging.getLogger()
    before = (root.handlers, root.level)
    written = Written()
    try:
        with contextlib.redirect_stderr(written):
            configure_logging(level="info", style="json")
        yield written
    finally:
        root.handlers, root.level = before


async def serve(*paths: str) -> None:
    """Serve requests in one turn of the event loop."""

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def nothing(*_: Any) -> None:
        pass

    log = RequestLog(app)
    for path in paths:
        scope: dict[str, Any] = {"type": "http", "method": "POST", "path": path, "headers": []}
        await log(cast("Any", scope), cast("Any", nothing), cast("Any", nothing))


async def test_the_lines_of_a_turn_are_written_together_at_its_end() -> None:
    with written_lines() as written:
        await serve("/1", "/2", "/3")
        assert written.writes == []

        await asyncio.sleep(0)
        assert len(written.writes) == 1
        assert [line["path"] for line in written.lines] == ["/1", "/2", "/3"]

        # The next turn checks again.
        await serve("/4")
        await asyncio.sleep(0)
        assert [line["path"] for line in written.lines] == ["/1", "/2", "/3", "/4"]


async def test_another_line_comes_at_once_and_after_the_requests_before_it() -> None:
    with written_lines() as written:
        await serve("/1")
        logging.getLogger("somebody").error("a fault")
        await serve("/2")
        assert [line["event"] for line in written.lines] == ["request", "a fault"]

        await asyncio.sleep(0)
        assert [line["event"] for line in written.lines] == ["request", "a fault", "request"]


async def test_waiting_lines_are_written_at_the_end_of_logging() -> None:
    with written_lines() as written:
        await serve("/1")
        logging.shutdown()

        assert [line["path"] for line in written.lines] == ["/1"]


async def test_no_write_exceeds_the_atomic_size_of_a_pipe() -> None:
    with written_lines() as written:
        paths = [f"/{number}/{'ä€' * 150}" for number in range(40)]
        await serve(*paths)
        await asyncio.sleep(0)

        assert [line["path"] for line in written.lines] == paths
        assert 1 < len(written.writes) < len(paths)
        for write in written.writes:
            assert write.endswith("\n")
            assert len(write.encode()) <= PIPE_BUF
