"""The application behind the receiver. It is loaded while deliveries are answered (docs/decisions/0057)."""

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, final

from contentsvc_http.asgi import ASGIApp, Receive, Scope, Send
from contentsvc_http.logs import RequestLog, Requests, send_unavailable
from contentsvc_http.probes import Probes


@final
class DeferredApplication:
    """An ASGI application that its first request opens, or :meth:`load`. Requests wait until it is open."""

    def __init__(
        self,
        opened: Callable[[], AbstractAsyncContextManager[ASGIApp]],
        probes: Probes,
        requests: Requests,
        *,
        on_failed: Callable[[], None],
    ) -> None:
        """``opened`` opens the application, and closes it in the end; ``probes`` answers health checks before."""
        self._opened = opened
        self._probes = probes
        self._refuse: Final[ASGIApp] = RequestLog(_refuse, requests)
        self._on_failed = on_failed
        self._application: Final[asyncio.Future[ASGIApp]] = asyncio.get_running_loop().create_future()
        self._closing: Final = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._task is None and self._probes.serves(scope):
            await self._probes(scope, receive, send)
            return
        try:
            application = await self.load()
        except (Exception, asyncio.CancelledError):  # noqa: BLE001  # the server stops, perhaps because of it
            await self._refuse(scope, receive, send)
        else:
            await application(scope, receive, send)

    async def load(self) -> ASGIApp:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="application")
        return await asyncio.shield(self._application)

    async def close(self) -> None:
        """Close the application; raise the reason if it could not be opened."""
        self._closing.set()
        if self._task is None:
            return
        if self._application.done():
            await self._task
            return
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        # The same task opens and closes: some resources are bound to the task that opens them.
        try:
            async with self._opened() as application:
                self._application.set_result(application)
                await self._closing.wait()
        except Exception as exc:
            if not self._application.done():
                self._application.set_exception(exc)
                self._application.exception()
            self._on_failed()
            raise


async def _refuse(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send_unavailable(send)
