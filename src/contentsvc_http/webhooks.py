"""The webhook receiver (specification 4.1): drivers of :class:`~contentsvc_http.deliveries.Deliveries`.

The protocol receives small deliveries that arrive whole (docs/decisions/0056); others go through ASGI.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from time import perf_counter
from typing import Any, Final, NamedTuple, cast, final

import msgspec
from httptools import HttpParserInvalidURLError, parse_url
from msgspec.structs import replace

from contentsvc_core.ports import Offload
from contentsvc_core.usecases.receive import LARGE_BODY
from contentsvc_core.webhooks.decision import locate
from contentsvc_core.webhooks.delivery import Address, Delivery
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Rejected, answer_json
from contentsvc_http.asgi import ASGIApp, HTTPScope, Receive, Scope, Send
from contentsvc_http.body_budget import BodyBudget
from contentsvc_http.deliveries import Deliveries, Receiving
from contentsvc_http.errors import STOPPING, Refused, refusal
from contentsvc_http.exchange import Exchange, send_answer
from contentsvc_http.logs import REQUEST_ID_HEADER, Requests, serving

_TEMPLATE: Final = "/api/webhooks/{provider}/{organization_id}/{integration_id}/{repository_id}"
_START: Final = ["api", "webhooks"]
_PARTS: Final = 6
_NO_CONTENT: Final = 204
#: Part of every target of a hook address, unless the target is percent-encoded.
_MARK: Final = b"/webhooks/"
_ALLOWED: Final = (b"allow", b"POST, OPTIONS")
_JSON: Final = ((b"content-type", b"application/json"),)
_JSON_AND_CLOSE: Final = (*_JSON, (b"connection", b"close"))
#: The refusals of an budget that are logged, by status. A disconnected sender is not logged.
_LOGGED: Final = {fault.status: fault for fault in (Fault.BODY_LATE, Fault.BODY_TOO_LARGE, Fault.UNAVAILABLE)}
_FIRST: Final = frozenset({b"expect", b"content-encoding"})
#: Longer paths, in characters, are not cached.
_USUAL_LENGTH: Final = 256
#: A Content-Length with more digits exceeds any size.
_LENGTH_DIGITS: Final = 20


class _Answer(NamedTuple):
    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...]


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

    def find(self, target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> tuple[Address, str] | None:
        """Return the hook address and the path of a request target; ``None``: the request goes through ASGI.

        Only a small body with a Content-Length and without ``Expect`` is received here.
        """
        if self._deliveries is None or _MARK not in target or b"%" in target or len(target) > _USUAL_LENGTH:
            return None
        named = dict(headers)
        if not 0 < _announced(named) <= LARGE_BODY or not _FIRST.isdisjoint(named):
            return None
        return _target_again(target)

    def take(self, exchange: Exchange) -> None:
        deliveries = self._deliveries
        assert deliveries is not None
        exchange.began_s = perf_counter()
        exchange.request_id = self._requests.id_of(exchange.headers)
        address, content = exchange.address, exchange.content
        delivery = Delivery(address=address, headers=tuple(exchange.headers), body=content, peer=exchange.peer)
        exchange.reservation = self._budget.reserve(owner=address.integration_id)
        try:
            exchange.reservation.take(content)
        except Refused as refused:
            deliveries.spawn(self._refused(exchange, delivery, refused))
            return
        deliveries.go(deliveries.passage(delivery, partial(self._ended, exchange)))

    def stop(self, exchange: Exchange) -> None:
        """Answer a delivery whose grace period at a stop has ended; its settlement may still become durable."""
        self._answer_exchange(exchange, _refusing(STOPPING))

    async def _refused(self, exchange: Exchange, delivery: Delivery, refused: Refused) -> None:
        if (fault := _LOGGED.get(refused.status)) is not None:
            await self._receiver.refuse(delivery, fault, str(refused))
        self._answer_exchange(exchange, _refusing(refused))

    def _ended(self, exchange: Exchange, end: Outcome | Exception) -> None:
        if isinstance(end, Exception):
            with serving(exchange.request_id):
                answer = _refusing(refusal(end))
        elif isinstance(end, Rejected):
            answer = _rejecting(end)
        else:
            answer = _Answer(end.status, answer_json(end), _JSON)
        self._answer_exchange(exchange, answer)

    def _answer_exchange(self, exchange: Exchange, answer: _Answer) -> None:
        if exchange.reservation is None:
            return
        exchange.reservation.leave()
        exchange.reservation = None
        request_id = exchange.request_id
        self._requests.end("POST", _TEMPLATE, request_id, exchange.path, answer.status, exchange.began_s)
        exchange.answer(answer.status, (*answer.headers, (REQUEST_ID_HEADER, request_id.encode())), answer.body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._elsewhere(scope, receive, send)
            return
        path: str = scope["path"]
        address = _address_of(path) if len(path) > _USUAL_LENGTH else _address_again(path)
        if address is None:
            await self._elsewhere(scope, receive, send)
            return
        began_s = perf_counter()
        request_id = self._requests.begin(scope["headers"])
        method = scope["method"]
        status = 0
        try:
            answer = await self._answer(address, scope, receive)
            status = answer.status
            headers = (*answer.headers, (REQUEST_ID_HEADER, request_id.encode()))
            await send_answer(scope, send, status, headers, answer.body)
        finally:
            route = _TEMPLATE if method == "POST" else None
            self._requests.end(method, route, request_id, path, status, began_s)

    async def _answer(self, address: Address | Rejected, scope: HTTPScope, receive: Receive) -> _Answer:
        """Return the answer to a request; never raises."""
        if scope["method"] == "OPTIONS":
            return _Answer(_NO_CONTENT, b"", (_ALLOWED,))
        if scope["method"] != "POST":
            return _refusing(Refused(405, {"error": "Method Not Allowed"}, {"Allow": "POST, OPTIONS"}))
        try:
            if isinstance(address, Rejected):
                return _rejecting(address)
            return await self._received_or_refused(address, scope, receive)
        except asyncio.CancelledError:
            # As in stop().
            return _refusing(STOPPING)
        except Exception as exc:  # noqa: BLE001  # whatever it is, the sender is answered
            return _refusing(refusal(exc))

    async def _received_or_refused(self, address: Address, scope: HTTPScope, receive: Receive) -> _Answer:
        client: tuple[str, int] | None = cast("Any", scope).get("client")
        head = Delivery(address=address, headers=tuple(scope["headers"]), body=b"", peer=client and client[0])
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
            return _rejecting(refused)
        with self._budget.reserve(_announced(dict(head.headers)), head.address.integration_id) as reservation:
            body = await reservation.read(receive)
            outcome = await self._receiver.receive(replace(head, body=body))
            # The answer to a large delivery repeats its commits.
            encode = partial(answer_json, outcome)
            written = encode() if len(body) <= LARGE_BODY else await self._offload(encode)
        return _Answer(outcome.status, written, _JSON)


def _announced(named: Mapping[bytes, bytes]) -> int:
    length = named.get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) <= _LENGTH_DIGITS else 0


def _address_of(path: str) -> Address | Rejected | None:
    # As in all routes: repeated slashes count as one, and a trailing slash is ignored.
    parts = [part for part in path.split("/") if part]
    return locate(*parts[2:]) if len(parts) == _PARTS and parts[:2] == _START else None


def _target(target: bytes) -> tuple[Address, str] | None:
    try:
        path = (parse_url(target).path or b"").decode("ascii")
    except (HttpParserInvalidURLError, UnicodeDecodeError):
        return None
    address = _address_of(path)
    return (address, path) if isinstance(address, Address) else None


#: Cached: code hosts use few addresses.
_address_again: Final = lru_cache(maxsize=1024)(_address_of)
_target_again: Final = lru_cache(maxsize=4096)(_target)


def _rejecting(refused: Rejected) -> _Answer:
    # The rest of the body is not worth waiting for.
    headers = _JSON_AND_CLOSE if refused.fault is Fault.BODY_TOO_LARGE else _JSON
    return _Answer(refused.status, answer_json(refused), headers)


def _refusing(refused: Refused) -> _Answer:
    headers = ((name.lower().encode(), value.encode()) for name, value in refused.headers.items())
    return _Answer(refused.status, msgspec.json.encode(refused.body), (*_JSON, *headers))
