"""The webhook receiver (specification 4.1): a driver of :class:`~contentsvc_core.usecases.receive.Receiver`.

It is an ASGI application, not a route of the framework: it is called more often than everything else together, and
needs nothing of what the framework does for a route (docs/decisions/0017-receiver-before-the-framework.md).
"""

import asyncio
from collections.abc import Iterable
from functools import lru_cache, partial
from time import perf_counter
from typing import Final, NamedTuple, Protocol, final

import msgspec
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from contentsvc_core.ports import Aside
from contentsvc_core.usecases.receive import LARGE_BODY
from contentsvc_core.webhooks.decision import locate
from contentsvc_core.webhooks.delivery import Address, Delivery
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Rejected, answer
from contentsvc_http.errors import STOPPING, Refused, refusal
from contentsvc_http.exchange import body_at_hand, send_answer
from contentsvc_http.intake import Intake
from contentsvc_http.logs import REQUEST_ID_HEADER, Requests

#: How the route is called in metrics.
_TEMPLATE: Final = "/api/webhooks/{provider}/{organization_id}/{integration_id}/{repository_id}"
_START: Final = ["api", "webhooks"]
_PARTS: Final = 6
_ALLOWED: Final = (b"allow", b"POST, OPTIONS")
_JSON: Final = ((b"content-type", b"application/json"),)
_JSON_AND_CLOSE: Final = (*_JSON, (b"connection", b"close"))
#: What an intake refuses, by status. A body whose sender leaves is none of it.
_LOGGED: Final = {fault.status: fault for fault in (Fault.BODY_LATE, Fault.BODY_TOO_LARGE, Fault.UNAVAILABLE)}
_FIRST: Final = frozenset({b"expect", b"content-encoding"})
#: A path that is longer, in characters, is not worth remembering.
_USUAL_LENGTH: Final = 256
#: A Content-Length of more digits is no size that could be held.
_LENGTH_DIGITS: Final = 20


class Receiving(Protocol):
    """What receives: :class:`~contentsvc_core.usecases.receive.Receiver`, or something that watches one."""

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Refuse what can be refused before the body is read."""
        ...

    async def receive(self, delivery: Delivery) -> Outcome:
        """Decide a delivery and make the decision durable."""
        ...

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> None:
        """Log that a delivery is refused whose body was not read whole."""
        ...


class _Answer(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...]


@final
class Webhooks:
    """An ASGI application that answers for the webhooks' addresses, and leaves all others to another one."""

    def __init__(
        self,
        receiver: Receiving,
        elsewhere: ASGIApp,
        *,
        aside: Aside,
        intake: Intake | None = None,
        requests: Requests | None = None,
    ) -> None:
        """Take what receives and what answers for everything else.

        Args:
            receiver: Receives.
            elsewhere: Answers for all other addresses.
            aside: Where the answers to large deliveries are written.
            intake: The room for bodies; unless given, that of a process.
            requests: Logs and counts what is answered here.
        """
        self._receiver = receiver
        self._elsewhere = elsewhere
        self._aside = aside
        self._intake = intake or Intake()
        self._requests = requests or Requests()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._elsewhere(scope, receive, send)
            return
        path: str = scope["path"]
        address = _address_of(path) if len(path) > _USUAL_LENGTH else _address_again(path)
        if address is None:
            await self._elsewhere(scope, receive, send)
            return
        began_s = perf_counter()
        request_id = self._requests.begin(scope)
        status = 0
        try:
            answer = await self._answer(address, scope, receive)
            status = answer.status
            headers = (*answer.headers, (REQUEST_ID_HEADER, request_id.encode()))
            await send_answer(scope, send, status, headers, answer.body)
        finally:
            self._requests.end(scope, request_id, path, status, began_s)

    async def _answer(self, address: Address | Rejected, scope: HTTPScope, receive: Receive) -> _Answer:
        """Give the answer to a request, whatever happens."""
        if scope["method"] == "OPTIONS":
            return _Answer(204, b"", (_ALLOWED,))
        if scope["method"] != "POST":
            return _refusing(Refused(405, {"error": "Method Not Allowed"}, {"Allow": "POST, OPTIONS"}))
        scope["path_template"] = _TEMPLATE
        try:
            if isinstance(address, Rejected):
                return _rejecting(address)
            return await self._received_or_refused(address, scope, receive)
        except asyncio.CancelledError:
            # The server stops and waits no longer. What was being written may still become durable: the sender has to
            # come again, and is told so.
            return _refusing(STOPPING)
        except Exception as exc:  # noqa: BLE001  # whatever it is, the sender is answered
            return _refusing(refusal(exc))

    async def _received_or_refused(self, address: Address, scope: HTTPScope, receive: Receive) -> _Answer:
        headers = tuple(scope["headers"])
        try:
            return await self._received(address, headers, receive)
        except Refused as refused:
            # The room of the body is free again.
            if (fault := _LOGGED.get(refused.status)) is not None:
                delivery = Delivery(address=address, headers=headers, body=b"")
                await self._receiver.refuse(delivery, fault, str(refused))
            raise

    async def _received(self, address: Address, headers: tuple[tuple[bytes, bytes], ...], receive: Receive) -> _Answer:
        announced, waits = _announced(headers)
        # A small body usually arrives with its head: then all of it is decided at once.
        body = None if waits else body_at_hand(receive)
        if body is None and (refused := await self._preflight(address, headers)):
            return _rejecting(refused)
        with self._intake.place(announced, address.integration_id) as place:
            if body is None:
                body = body_at_hand(receive)
            if body is None:
                body = await place.read(receive)
            else:
                place.take(body)
            outcome = await self._receiver.receive(Delivery(address=address, headers=headers, body=body))
            if len(body) <= LARGE_BODY:
                written = _written(outcome)
            else:
                # It holds the commits again.
                written = await self._aside(partial(_written, outcome))
        return _Answer(outcome.status, written, _JSON)

    async def _preflight(self, address: Address, headers: tuple[tuple[bytes, bytes], ...]) -> Rejected | None:
        return await self._receiver.preflight(Delivery(address=address, headers=headers, body=b""))


def _address_of(path: str) -> Address | Rejected | None:
    """Give the address that a path names; ``None``: it is not of our form."""
    # As everywhere else: of several slashes in a row one counts, and one at the end does not.
    parts = [part for part in path.split("/") if part]
    return locate(*parts[2:]) if len(parts) == _PARTS and parts[:2] == _START else None


#: Code hosts come to the same few addresses again and again.
_address_again: Final = lru_cache(maxsize=1024)(_address_of)


def _announced(headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, bool]:
    """Give how long a body says that it is, in bytes, and whether it is worth looking at the headers before it comes.

    The length is 0 when it does not say, or says what is no length that can be held. Headers come first when the body
    may be large, when its sender waits to be told to go on, and when it is encoded: that is a refusal anyway.
    """
    named = dict(headers)
    length = named.get(b"content-length", b"")
    announced = int(length) if length.isdigit() and len(length) <= _LENGTH_DIGITS else -1
    return max(announced, 0), not 0 <= announced <= LARGE_BODY or not _FIRST.isdisjoint(named)


def _written(outcome: Outcome) -> bytes:
    return msgspec.json.encode(answer(outcome))


def _rejecting(refused: Rejected) -> _Answer:
    # The rest of the body is not worth waiting for.
    headers = _JSON_AND_CLOSE if refused.fault is Fault.BODY_TOO_LARGE else _JSON
    return _Answer(refused.status, _written(refused), headers)


def _refusing(refused: Refused) -> _Answer:
    headers = ((name.lower().encode(), value.encode()) for name, value in refused.headers.items())
    return _Answer(refused.status, msgspec.json.encode(refused.body), (*_JSON, *headers))
