"""``Idempotency-Key`` of ``/v1``: a repeated request gets the answer of the first one (decision 0074)."""

import contextlib
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final, final

import msgspec
import structlog
from litestar import Request
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from contentsvc_core.access.keyed_requests import NAME_LIMIT, KeyedRequest, StoredAnswer
from contentsvc_core.access.keys import Scope as KeyScope
from contentsvc_core.errors import ContentServiceError
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.keyed_requests import Idempotency
from contentsvc_http.auth import presented_key
from contentsvc_http.described import DOCUMENT, Described, header, parameter
from contentsvc_http.errors import Refused, accepted
from contentsvc_http.responses import ErrorBody

HEADER: Final = "Idempotency-Key"
#: A repeated ``PUT`` or ``PATCH`` has the same effect and answer by itself; a repeated ``DELETE`` is 404 without a key.
_METHODS: Final = frozenset({"POST", "DELETE"})
#: The header of a repeated answer.
REPLAYED: Final = "Idempotent-Replayed"
_FORM: Final = rf"[\x21-\x7e]{{1,{NAME_LIMIT}}}"
_NAME: Final = re.compile(_FORM)
_MALFORMED: Final = f"Malformed {HEADER} header: send one key of 1 to {NAME_LIMIT} visible ASCII characters"
_DOCUMENTED: Final = {
    400: f"The request is invalid, or the header `{HEADER}` is. `error` names the fault.",
    409: "The request conflicts with an existing resource, or the first request with this idempotency key is running.",
    422: "The idempotency key was used with another request.",
}
_DESCRIBED: Final = Described(
    parameters=[
        parameter(
            "header",
            HEADER,
            "A unique value of your choice, such as a UUID. If you repeat the request with the same value "
            "within 24 hours, it has no second effect, and you get the first answer again.",
            {"type": "string", "pattern": f"^{_FORM}$"},
        )
    ],
    headers={
        "2XX": {REPLAYED: header("`true`: a repeated answer.")},
        "409": {"Retry-After": header("Seconds until you can repeat the request.", least=1)},
    },
)
#: The largest body, in bytes, that may be written differently in a repetition. Larger bodies are compared byte by byte,
#: because reading one builds all of its values: 1 MiB of empty lists held up the event loop for a tenth of a second.
REWRITABLE: Final = 32 * 1024
_CLIENT_ERROR: Final = 400
_SERVER_ERROR: Final = 500
_LOG: Final = structlog.get_logger("contentsvc.http")


@final
class IdempotencyKeys:
    def __init__(self, idempotency: Idempotency, authenticator: Authenticator) -> None:
        self._idempotency = idempotency
        self._authenticator = authenticator

    def on(self, routes: Iterable[HTTPRouteHandler]) -> list[HTTPRouteHandler]:
        """Return the routes; each ``POST`` and ``DELETE`` among them honours the header. Rate limits come first."""
        handlers = list(routes)
        for route in handlers:
            if not _METHODS.isdisjoint(route.http_methods):
                route.middleware = [*(route.middleware or ()), self._executing_once]
                described = {
                    status: ResponseSpec(ErrorBody, description=text, generate_examples=False)
                    for status, text in _DOCUMENTED.items()
                }
                route.responses = {**(route.responses or {}), **described}
                route.opt.setdefault(DOCUMENT, []).append(_DESCRIBED)
        return handlers

    def _executing_once(self, app: ASGIApp) -> ASGIApp:
        async def executing_once(scope: Scope, receive: Receive, send: Send) -> None:
            request = await self._begun(scope, receive) if scope["type"] == "http" else None
            if request is None:
                await app(scope, receive, send)
                return
            answer = request.answer or await self._execute(request, app, scope, receive)
            replayed = [] if request.answer is None else [(REPLAYED, "true")]
            headers = [(name.encode(), value.encode("latin-1")) for name, value in (*answer.headers, *replayed)]
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            await send({"type": "http.response.body", "body": answer.body.encode(), "more_body": False})

        return executing_once

    async def _begun(self, scope: Scope, receive: Receive) -> KeyedRequest | None:
        """Return the request as it begins; ``None``: it has no idempotency key, or its API key may not write."""
        request = Request[Any, Any, Any](scope, receive)
        names = request.headers.getall(HEADER, [])
        if not names:
            return None
        key = await presented_key(request, self._authenticator)
        if key is None or KeyScope.WRITE not in key.scopes:
            # The operation refuses it. Nothing is stored for a key that can only read.
            return None
        if len(names) > 1 or not _NAME.fullmatch(names[0]):
            raise Refused(400, {"error": _MALFORMED})
        digest = _digest(scope["path"], scope["query_string"], await request.body())
        return accepted(await self._idempotency.begin(key.prefix, names[0], digest))

    async def _execute(self, request: KeyedRequest, app: ASGIApp, scope: Scope, receive: Receive) -> StoredAnswer:
        messages: list[Message] = []

        async def keeping(message: Message) -> None:
            messages.append(message)

        with self._idempotency.executing(request):
            await app(scope, receive, keeping)
        answer = _answer_of(messages)
        # After a server error, the outcome may be unknown.
        stored = answer if answer.status < _CLIENT_ERROR else None
        refused = _CLIENT_ERROR <= answer.status < _SERVER_ERROR
        try:
            await self._idempotency.end(request, stored, refused=refused)
        except ContentServiceError as exc:
            # The operation has happened. A repetition executes it again, with the same ids.
            _LOG.warning("the answer to an idempotency key was not kept", reason=str(exc))
        return answer


def _digest(path: str, query: bytes, body: bytes) -> str:
    if len(body) <= REWRITABLE:
        with contextlib.suppress(msgspec.MsgspecError, ValueError, RecursionError):
            # Clients may write the same object differently each time.
            body = msgspec.json.encode(msgspec.json.decode(body), order="sorted")
    return sha256(b"\n".join((path.encode(), query, body))).hexdigest()


def _answer_of(messages: Iterable[Message]) -> StoredAnswer:
    status, headers, body = 0, (), b""
    for message in messages:
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"])
        elif message["type"] == "http.response.body":
            body += message["body"]
    return StoredAnswer(status=status, headers=headers, body=body.decode())
