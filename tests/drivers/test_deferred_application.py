"""The application behind the receiver: its opening, and the answers before it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import httpx
import pytest

from contentsvc_core.errors import StoreUnavailable
from contentsvc_http.asgi import ASGIApp, Receive, Scope, Send
from contentsvc_http.deferred_application import DeferredApplication
from contentsvc_http.logs import Requests
from contentsvc_http.probes import Probes


class Opening:
    """An application that a test opens."""

    def __init__(self, failing: Exception | None = None) -> None:
        self.requests: Final[list[tuple[str, str, int]]] = []
        self.may_open: Final = asyncio.Event()
        self.events: Final[list[str]] = []
        self.failing = failing
        requests = Requests(
            lambda method, route, status, number: self.requests.extend([(method, route or "", status)] * number)
        )
        probes = Probes(self._why_not_ready, requests)
        self.behind = DeferredApplication(
            self._opened, probes, requests, on_failed=lambda: self.events.append("failed")
        )
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(cast("Any", self.behind)), base_url="http://test")

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[ASGIApp]:
        self.events.append("opening")
        await self.may_open.wait()
        if self.failing is not None:
            raise self.failing
        yield self._application
        self.events.append("closed")

    async def _why_not_ready(self) -> str | None:
        return None

    async def _application(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"opened", "more_body": False})


async def test_requests_wait_until_the_application_is_open() -> None:
    opening = Opening()
    requests = [asyncio.create_task(opening.client.get("/v1/status")) for _ in range(3)]
    while not opening.events:
        await asyncio.sleep(0)
    assert not any(each.done() for each in requests)

    opening.may_open.set()
    assert [(await each).text for each in requests] == ["opened"] * 3
    await opening.behind.close()
    assert opening.events == ["opening", "closed"]


async def test_health_checks_are_answered_without_the_application() -> None:
    opening = Opening()

    assert (await opening.client.get("/health/ready")).json() == {"status": "ready"}
    assert (await opening.client.get("/health/live")).json() == {"status": "live"}

    assert opening.events == []
    assert opening.requests == [("GET", "/health/ready", 200), ("GET", "/health/live", 200)]
    await opening.behind.close()


async def test_an_application_that_cannot_be_opened_stops_the_server_with_its_reason() -> None:
    opening = Opening(failing=StoreUnavailable("the engine's tables are not there"))
    opening.may_open.set()

    refused = await opening.client.get("/v1/status")

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert opening.requests == [("GET", "", 503)]
    assert opening.events == ["opening", "failed"]
    with pytest.raises(StoreUnavailable, match="the engine's tables"):
        await opening.behind.close()


async def test_a_stop_while_the_application_is_opened_refuses_waiting_requests() -> None:
    opening = Opening()
    status: list[int] = []

    async def send(message: Any) -> None:
        status.append(message.get("status", 0))

    scope: Any = {"type": "http", "method": "GET", "path": "/v1/status", "headers": []}
    waiting = asyncio.create_task(opening.behind(scope, cast("Any", None), send))
    while not opening.events:
        await asyncio.sleep(0)
    # As the server does at the end of the grace period.
    waiting.cancel()
    await waiting
    await opening.behind.close()

    assert status == [503, 0]
    assert opening.events == ["opening"]
