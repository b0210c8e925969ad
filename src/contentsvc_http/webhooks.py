"""The webhook receiver (specification 4.1): drivers of :class:`~contentsvc_http.deliveries.Deliveries`.

The protocol receives small deliveries that arrive whole (docs/decisions/0056); others go through ASGI.
"""

import asyncio
from functools import lru_cache, partial
from time import perf_counter
from typing import Any, Final, TypeAlias, cast, final

import msgspec
from httptools import HttpParserInvalidURLError, parse_url
from msgspec.structs import replace

from contentsvc_core.ports import Offload
from contentsvc_core.usecases.receive import LARGE_BODY
from contentsvc_core.webhooks.decision import locate
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Rejected, answer_json
from contentsvc_http.asgi import ASGIApp, HTTPScope, Receive, Scope, Send
from contentsvc_http.body_budget import BodyBudget
from contentsvc_http.deliveries import Deliveries, Receiving
from contentsvc_http.errors import STOPPING, Refused, refusal
from contentsvc_http.exchange import Exchange, send_answer
from contentsvc_http.logs import REQUEST_ID_HEADER, Requests, serving

_Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]
#: Status, headers and body.
_Answer: TypeAlias = tuple[int, _Headers, bytes]

TEMPLATE: Final = "/api/webhooks/{provider}/{organization_id}/{integration_id}/{repository_id}"
_START: Final = ["api", "webhooks"]
_PARTS: Final = 6
_NO_CONTENT: Final = 204
#: Part of every target of a hook address, unless the target is percent-encoded.
_MARK: Final = b"/webhooks/"
_ALLOWED: Final = (b"allow", b"POST, OPTIONS")
_JSON: Final = ((b"content-type", b"application/json"),)
_JSON_AND_CLOSE: Final = (*_JSON, (b"connection", b"close"))
#: The refusals of a budget that are logged, by status. A disconnected sender is not logged.
_LOGGED: Final = {fault.status: fault for fault in (Fault.BODY_LATE, Fault.BODY_TOO_LARGE, Fault.UNAVAILABLE)}
#: Headers of deliveries that ASGI receives: their answer may come before the body.
_BEFORE_BODY: Final = frozenset({b"expect", b"content-encoding"})
#: Longer paths, in characters, are not cached.
_USUAL_LENGTH: Final = 256
#: A Content-Length with more digits exceeds any small body.
_SMALL_DIGITS: Final = len(str(LARGE_BODY))
#: A Content-Length with more digits exceeds any body.
_LENGTH_DIGITS: Final = 20


@final
class Webhooks:
    """Answers requests to hook addresses, and passes all others to another application."""

    def __init__(
        self,
        receiver: Receiving,
        elsewhere: ASGIApp,
        *,
        offload: Offload,
        budget: BodyBudget | None = None,
        requests: Requests | None = None,
    ) -> None:
        """``elsewhere`` serves all other addresses; ``offload`` encodes the answers to large deliveries."""
        self._receiver = receiver
        self._deliveries = receiver if isinstance(receiver, Deliveries) else None
        self._elsewhere = elsewhere
        self._offload = offload
        self._budget = budget or BodyBudget()
        self._requests = requests or Requests()
        #: The deliveries that were answered in this turn of the event loop.
        self._answered: list[Exchange] = []

    def find(self, target: bytes, headers: Headers) -> tuple[Address, str] | None:
        """Return the hook address and the path of a request target; ``None``: the request goes through ASGI.

        Only a small body with a Content-Length, and without ``Expect`` and ``Content-Encoding``, is received here.
        """
        length = headers.sole.get(b"content-length", b"")
        if not length.isdigit() or len(length) > _SMALL_DIGITS or not 0 < int(length) <= LARGE_BODY:
            return None
        if len(target) > _USUAL_LENGTH or not _BEFORE_BODY.isdisjoint(headers.names) or self._deliveries is None:
            return None
        return _cached_target(target)

    def take(self, exchange: Exchange) -> None:
        deliveries, delivery = self._deliveries, exchange.delivery
        assert deliveries is not None
        headers = delivery.headers
        exchange.began_s = perf_counter()
        exchange.request_id = self._requests.id_of(headers if REQUEST_ID_HEADER in headers.names else ())
        try:
            self._budget.small.take(delivery.address.integration_id, len(delivery.body))
        except Refused as refused:
            deliveries.spawn(self._refused(exchange, refused))
        else:
            exchange.on_end = self._ended
            deliveries.go(exchange)

    def stop(self, exchange: Exchange) -> None:
        """Answer a delivery whose grace period at a stop has ended; its settlement may still become durable."""
        exchange.ended_s = perf_counter()
        self._answer_exchange(exchange, *_refusing(STOPPING))

    async def _refused(self, exchange: Exchange, refused: Refused) -> None:
        if (fault := _LOGGED.get(refused.status)) is not None:
            await self._receiver.refuse(exchange.delivery, fault, str(refused))
        exchange.ended_s = perf_counter()
        self._answer_exchange(exchange, *_refusing(refused))

    def _ended(self, exchange: Exchange) -> None:
        delivery, end = exchange.delivery, exchange.end
        assert end is not None
        self._budget.small.leave(delivery.address.integration_id, len(delivery.body))
        if isinstance(end, Exception):
            with serving(exchange.request_id):
                self._answer_exchange(exchange, *_refusing(refusal(end)))
        else:
            self._answer_exchange(exchange, *_answering(end, answer_json(end)))

    def _answer_exchange(self, exchange: Exchange, status: int, headers: _Headers, body: bytes) -> None:
        if exchange.status:
            # Answered at a stop.
            return
        if not self._answered:
            asyncio.get_running_loop().call_soon(self._log)
        self._answered.append(exchange)
        exchange.answer(status, headers, body)

    def _log(self) -> None:
        answered, self._answered = self._answered, []
        self._requests.end_together("POST", TEMPLATE, answered)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._elsewhere(scope, receive, send)
            return
        path: str = scope["path"]
        address = _address_of(path) if len(path) > _USUAL_LENGTH else _cached_address(path)
        if address is None:
            await self._elsewhere(scope, receive, send)
            return
        began_s = perf_counter()
        request_id = self._requests.begin(scope["headers"])
        method = scope["method"]
        status = 0
        try:
            status, headers, body = await self._answer(address, scope, receive)
            await send_answer(scope, send, status, headers, request_id, body)
        finally:
            route = TEMPLATE if method == "POST" else None
            self._requests.end(method, route, request_id, path, status, began_s)

    async def _answer(self, address: Address | Rejected, scope: HTTPScope, receive: Receive) -> _Answer:
        if scope["method"] == "OPTIONS":
            return _NO_CONTENT, (_ALLOWED,), b""
        if scope["method"] != "POST":
            return _refusing(Refused(405, {"error": "Method Not Allowed"}, {"Allow": "POST, OPTIONS"}))
        try:
            if isinstance(address, Rejected):
                return _answering(address, answer_json(address))
            return await self._received_or_refused(address, scope, receive)
        except asyncio.CancelledError:
            # As in stop().
            return _refusing(STOPPING)
        except Exception as exc:  # noqa: BLE001  # every exception is answered
            return _refusing(refusal(exc))

    async def _received_or_refused(self, address: Address, scope: HTTPScope, receive: Receive) -> _Answer:
        client: tuple[str, int] | None = cast("Any", scope).get("client")
        head = Delivery(address=address, headers=Headers.of(scope["headers"]), body=b"", peer=client and client[0])
        try:
            return await self._received(head, receive)
        except Refused as refused:
            # The body's memory is free again.
            if (fault := _LOGGED.get(refused.status)) is not None:
                await self._receiver.refuse(head, fault, str(refused))
            raise

    async def _received(self, head: Delivery, receive: Receive) -> _Answer:
        refused = await self._receiver.preflight(head)
        if refused is not None:
            return _answering(refused, answer_json(refused))
        with self._budget.reserve(_announced(head.headers), head.address.integration_id) as reservation:
            body = await reservation.read(receive)
            outcome = await self._receiver.receive(replace(head, body=body))
            # The answer to a large delivery repeats its commits.
            encode = partial(answer_json, outcome)
            written = encode() if len(body) <= LARGE_BODY else await self._offload(encode)
        return _answering(outcome, written)


def _announced(headers: Headers) -> int:
    length = headers.sole.get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) <= _LENGTH_DIGITS else 0


def _address_of(path: str) -> Address | Rejected | None:
    # As in all routes: repeated slashes count as one, and a trailing slash is ignored.
    parts = [part for part in path.split("/") if part]
    return locate(*parts[2:]) if len(parts) == _PARTS and parts[:2] == _START else None


def _target(target: bytes) -> tuple[Address, str] | None:
    if _MARK not in target or b"%" in target:
        return None
    try:
        path = (parse_url(target).path or b"").decode("ascii")
    except (HttpParserInvalidURLError, UnicodeDecodeError):
        return None
    address = _address_of(path)
    return (address, path) if isinstance(address, Address) else None


#: Cached: code hosts use few addresses.
_cached_address: Final = lru_cache(maxsize=1024)(_address_of)
_cached_target: Final = lru_cache(maxsize=4096)(_target)


def _answering(outcome: Outcome, body: bytes) -> _Answer:
    # The rest of a body that is too large is not worth waiting for.
    is_too_large = isinstance(outcome, Rejected) and outcome.fault is Fault.BODY_TOO_LARGE
    return outcome.status, _JSON_AND_CLOSE if is_too_large else _JSON, body


def _refusing(refused: Refused) -> _Answer:
    headers = ((name.lower().encode(), value.encode()) for name, value in refused.headers.items())
    return refused.status, (*_JSON, *headers), msgspec.json.encode(refused.body)
