"""Processes without a command of their own: ``python -m benchmarks.serving KIND``.

``receiver``: the server with the role that only receives, on a SQLite file, too. The command refuses that combination,
since no process would perform the runs; here that is intended, as peers perform none. ``null``: the same with a store
that does nothing, which leaves HTTP, verification and decision. ``floor``: an HMAC and a 200, mounted in Litestar, with
the same uvicorn.
"""

import asyncio
import contextlib
import hashlib
import hmac
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from datetime import datetime
from typing import Final, final

import uvloop

from contentsvc_http.starting import prepare_imports

# Before all other imports, as the command does.
prepare_imports()

from contentsvc_adapters.sql import SqlStores  # noqa: E402
from contentsvc_core.ports import DeliveryStore  # noqa: E402
from contentsvc_core.webhooks.delivery import Address, HookConfiguration  # noqa: E402
from contentsvc_core.webhooks.settlement import Settled, Settlement  # noqa: E402
from contentsvc_http.logs import configure_logging  # noqa: E402
from contentsvc_http.protocol import BoundedHttp  # noqa: E402
from contentsvc_http.roles import Role  # noqa: E402
from contentsvc_http.server import serve  # noqa: E402
from contentsvc_http.settings import Settings, load_settings  # noqa: E402
from contentsvc_http.sockets import listen  # noqa: E402
from contentsvc_http.wiring import receiving as wiring  # noqa: E402

_SIGNATURE: Final = b"x-hub-signature-256"
_OK: Final = b'{"message":"Processed push event (pushed)"}'


@final
class NullStore:
    """A delivery store that reads each configuration once, and writes nothing."""

    def __init__(self, store: DeliveryStore) -> None:
        self._store = store
        self._configurations: dict[Address, HookConfiguration | None] = {}

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        """Return the configuration of the first read."""
        _ = allow_cached
        if address not in self._configurations:
            self._configurations[address] = await self._store.configuration(address, now)
        return self._configurations[address]

    def cached(self, address: Address, now: datetime) -> HookConfiguration | None:
        """Return the configuration of the first read."""
        _ = now
        return self._configurations.get(address)

    async def settle(self, settlement: Settlement) -> Settled:
        """Do nothing."""
        _ = settlement
        return Settled.AS_DECIDED

    def put(self, settlement: Settlement, on_settled: Callable[[Settled | Exception], object]) -> None:
        """Do nothing."""
        _ = settlement
        asyncio.get_running_loop().call_soon(on_settled, Settled.AS_DECIDED)


def _receive(*, store_nothing: bool) -> None:
    settings = load_settings()
    configure_logging(level=settings.log_level, style=settings.log_format)
    if store_nothing:
        opened = wiring.open_stores

        @contextlib.asynccontextmanager
        async def open_null(settings: Settings) -> AsyncGenerator[SqlStores]:
            async with opened(settings) as stores:
                # A cached property: an attribute of the instance has precedence.
                vars(stores)["deliveries"] = NullStore(stores.deliveries)
                yield stores

        # Only the store differs.
        wiring.open_stores = open_null
    serve(settings, Role.RECEIVER, listen("127.0.0.1", int(os.environ["PORT"])), on_ready=lambda: None)


def _floor() -> None:
    import uvicorn  # noqa: PLC0415  # the receiver imports some of its modules only
    from litestar import Litestar, asgi, get  # noqa: PLC0415  # the receiver answers without the framework
    from litestar.types import Receive, Scope, Send  # noqa: PLC0415  # as above; read by the framework

    key = os.environ["SECRET"].encode()

    @asgi("/api/webhooks", is_mount=True, copy_scope=False)
    async def take(scope: Scope, receive: Receive, send: Send) -> None:
        chunks: list[bytes] = []
        more = True
        while more:
            message = await receive()
            # The end of a connection needs no cleanup here.
            chunks.append(message.get("body", b""))  # pyright: ignore[reportArgumentType]  # one of two shapes has it
            more = bool(message.get("more_body", False))
        signature = next((value for name, value in scope["headers"] if name == _SIGNATURE), b"")
        computed = b"sha256=" + hmac.new(key, b"".join(chunks), hashlib.sha256).hexdigest().encode()
        status = 200 if hmac.compare_digest(computed, signature) else 401
        body = _OK if status == 200 else b'{"error":"Invalid signature"}'  # noqa: PLR2004  # OK
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    @get("/ready", sync_to_thread=False)
    def ready() -> str:
        return "ready"

    app = Litestar([take, ready], openapi_config=None, logging_config=None)
    # The same as the server's.
    config = uvicorn.Config(
        app,
        http=BoundedHttp,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    bound = listen("127.0.0.1", int(os.environ["PORT"]))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, contextlib.suppress(KeyboardInterrupt):
        runner.run(uvicorn.Server(config).serve(sockets=[bound]))


def _end(_number: int, _frame: object) -> None:
    sys.exit(0)


def _main(kind: str) -> None:
    match kind:
        case "receiver" | "null":
            _receive(store_nothing=kind == "null")
        case "floor":
            # uvicorn raises the signal again after an orderly end.
            signal.signal(signal.SIGTERM, _end)
            _floor()
        case _:
            sys.exit(f"no such kind: {kind}")


if __name__ == "__main__":
    _main(sys.argv[1])
